//! A margin loss of every sample against every rival.

use margins_losses::{HomogeneousTail, Interval, MarginLoss};
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{
    BlockMove, EmpiricalRisk, FenchelYoung, Margins, Mobility, Rivals, Sums, Weights, laplacian,
    weighted,
};
use crate::space::Decline;
use crate::space::joint::JointRisk;

/// The mean of `sum_(c != y_i) L(s_y - s_c)`, for a margin loss `L`.
pub(crate) struct Pairwise<'r, L: MarginLoss + ?Sized> {
    risk: &'r EmpiricalRisk<'r, L>,
    rivals: &'r Rivals<'r>,
    margins: Margins<'r, L>,
    /// The duals about which the loss is smoothed; by default zeros.
    centres: Option<Vec<f64>>,
}

impl<'r, L: MarginLoss + ?Sized> Pairwise<'r, L> {
    /// Returns the risk of the [margins](Rivals) of samples.
    pub(crate) fn new(risk: &'r EmpiricalRisk<'r, L>, rivals: &'r Rivals<'r>) -> Self {
        Pairwise { risk, rivals, margins: risk.margins(), centres: None }
    }

    /// Returns the weights over n of margins, from those of the samples.
    pub(crate) fn weights(weights: &Weights, rivals: &Rivals<'_>) -> Weights {
        let each = rivals.count() - 1;
        match weights {
            Weights::Equal { weight, .. } => Weights::equal(*weight, rivals.pairs()),
            Weights::Each(weights) => {
                let of_sample = |c: &f64| std::iter::repeat_n(*c, each);
                Weights::Each(weights.iter().flat_map(of_sample).collect())
            }
        }
    }
}

/// Returns true if no duals are feasible for classes with these total weights, beside free intercepts.
///
/// Duals are a flow between the classes that leaves as much in each as it takes there: from class a to each
/// rival flows between `l C_a` and `h C_a`, `C_a` the total weight of the class and `[l, h]` the domain of the
/// conjugate. There is one if and only if the least that must leave any m classes does not exceed the most
/// that may enter them (Hoffman 1960), and the m classes of the largest weight are the ones to look at.
pub(crate) fn has_no_flow(domain: Interval, mut totals: Vec<f64>) -> bool {
    let k = totals.len();
    totals.sort_unstable_by(|a, b| b.total_cmp(a));
    // Rounding may part sums that are equal.
    let slack = SUM_ERROR * UNIT * totals.iter().sum::<f64>() * k as f64;
    (1..k).any(|m| {
        let (largest, others) = totals.split_at(m);
        let out = (k - m) as f64 * largest.iter().sum::<f64>();
        let into = m as f64 * others.iter().sum::<f64>();
        domain.upper * into < domain.lower * out - slack * domain.lower.abs()
    })
}

impl<L: MarginLoss + ?Sized> JointRisk for Pairwise<'_, L> {
    fn tail(&self) -> Option<HomogeneousTail> {
        self.risk.loss.homogeneous_tail()
    }

    fn decline(&self) -> Decline {
        Decline::of(self.risk.loss)
    }

    fn check_loss(&self) -> Result<(), Error> {
        self.risk.check_convex()
    }

    fn is_unbounded(&self) -> bool {
        let k = self.rivals.count();
        let mut totals = vec![0.0; k];
        self.rivals.classes().enumerate().for_each(|(i, class)| {
            totals[class] += self.risk.weights.get(i * (k - 1));
        });
        has_no_flow(self.risk.domain(), totals)
    }

    fn set(&mut self, margins: &[f64]) {
        self.margins.set(margins, 0.0);
    }

    fn margins(&self) -> &[f64] {
        self.margins.get()
    }

    fn risk_at(&mut self, margins: &[f64]) -> f64 {
        self.margins.risk_at(margins, 0.0)
    }

    fn sums(&mut self) -> Sums {
        self.margins.sums()
    }

    fn gradient(&self, out: &mut [f64]) {
        self.rivals.pulls(|pair| self.margins.pull(pair), out);
    }

    fn curvatures(&self) -> Vec<f64> {
        self.margins.curvatures()
    }

    fn bend(&self, curvatures: &[f64], changes: &mut [f64]) {
        let (rivals, k) = (self.rivals, self.rivals.count());
        let of_samples = changes.chunks_exact_mut(k).zip(curvatures.chunks_exact(k - 1));
        for (class, (changes, curvatures)) in rivals.classes().zip(of_samples) {
            let (own, mut total) = (changes[class], 0.0);
            for (c, d) in rivals.of(class).zip(curvatures) {
                let pull = d * (own - changes[c]);
                total += pull;
                changes[c] = -pull;
            }
            changes[class] = total;
        }
    }

    fn edge(&self, curvatures: &[f64], a: usize, b: usize, out: &mut [f64]) {
        let each = self.rivals.count() - 1;
        // The rivals of a class leave it out.
        let place = |class: usize, rival: usize| rival - usize::from(rival > class);
        for ((class, d), out) in self.rivals.classes().zip(curvatures.chunks_exact(each)).zip(out) {
            *out = match class {
                class if class == a => d[place(a, b)],
                class if class == b => d[place(b, a)],
                _ => 0.0,
            };
        }
    }

    fn diagonal(&self, curvatures: &[f64], out: &mut [f64]) {
        self.rivals.pulls(|pair| curvatures[pair], out);
        out.iter_mut().for_each(|d| *d = d.abs());
    }

    fn laplacian(&self, curvatures: &[f64], of_sample: &dyn Fn(usize) -> f64) -> DMatrix<f64> {
        let k = self.rivals.count();
        laplacian(k, |add| {
            self.rivals.for_each_pair(|class, c, pair| {
                add(class, c, curvatures[pair] * of_sample(pair / (k - 1)));
            });
        })
    }

    fn duals(&self) -> Vec<f64> {
        self.margins.duals()
    }

    fn predict(&self, duals: &mut [f64], curvatures: &[f64], changes: &[f64]) {
        let mut of_margins = vec![0.0; self.rivals.pairs()];
        self.rivals.margins(changes, &mut of_margins);
        self.risk.predict(duals, curvatures, |pair| of_margins[pair]);
    }

    fn pulls(&self, duals: &[f64], out: &mut [f64]) {
        self.rivals.pulls(|pair| weighted(self.risk.weights.get(pair), duals[pair]), out);
    }

    fn mobilities(&self, duals: &[f64], by: Mobility) -> Vec<f64> {
        duals.iter().enumerate().map(|(pair, &s)| self.risk.mobility(pair, s, by)).collect()
    }

    fn move_duals(
        &self,
        duals: &mut [f64],
        by: &BlockMove,
        along: &dyn Fn(usize, usize, &[f64]) -> f64,
    ) {
        let each = self.rivals.count() - 1;
        self.risk.move_by(duals, by, |pair, delta| {
            let (i, place) = (pair / each, pair % each);
            let class = self.rivals.class(i);
            along(i, class, delta) - along(i, place + usize::from(place >= class), delta)
        });
    }

    fn total_dual(&self, duals: &[f64]) -> f64 {
        let weights = &self.risk.weights;
        let [total] = sum(duals.len(), &|i| [weighted(weights.get(i), duals[i].abs())]);
        total
    }

    fn fenchel_young(&self, duals: &[f64]) -> FenchelYoung {
        self.margins.risk.fenchel_young(self.margins.get(), duals)
    }

    fn is_contradicted(&self, margins: &[f64]) -> bool {
        self.risk.is_contradicted(margins, 0.0)
    }

    fn is_smoothed(&self) -> bool {
        !self.risk.loss.is_differentiable()
    }

    fn smooth(&mut self, strength: f64) {
        if self.is_smoothed() {
            self.margins = self.risk.smoothed_margins(self.centres.as_deref(), strength);
        }
    }

    fn centre(&mut self, margins: Option<&[f64]>) {
        self.centres = margins.map(|margins| {
            self.margins.set(margins, 0.0);
            self.margins.duals()
        });
    }

    fn set_centres(&mut self, duals: Option<Vec<f64>>) {
        self.centres = duals;
    }
}

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

/// Returns the root of a function that falls by at least as much as its argument rises, to ten digits of its
/// value at 0: by the secant through the ends of the interval that it lies in, of which an end that has stayed
/// twice counts half (the Illinois method of Dowell and Jarratt, BIT 11, 1971).
fn falling_root(excess: impl Fn(f64) -> f64) -> f64 {
    const STEPS: usize = 60;
    const DIGITS: f64 = 1e-10;
    let first = excess(0.0);
    // Between 0 and the value there the function falls to zero.
    let ((mut a, mut at_a), mut b) = ((0.0, first), first);
    let mut at_b = excess(b);
    for _ in 0..STEPS {
        if at_a == 0.0 || a == b {
            return a;
        }
        if at_b.abs() <= DIGITS * first.abs() {
            return b;
        }
        let next = b - at_b * (b - a) / (at_b - at_a);
        let at_next = excess(next);
        if at_next * at_b < 0.0 {
            (a, at_a) = (b, at_b);
        } else {
            at_a *= 0.5;
        }
        (b, at_b) = (next, at_next);
    }
    b
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

    fn laplacian(&self, curvatures: &[f64], of_samples: &[f64]) -> DMatrix<f64> {
        let (rivals, k) = (self.rivals, self.rivals.count());
        // Samples of a class add to the edges of that class alone.
        let mut edges = DMatrix::<f64>::zeros(k, k);
        let each = rivals.classes().zip(of_samples).zip(curvatures.chunks_exact(k - 1));
        for ((class, z), curvatures) in each {
            let mut of_class = edges.column_mut(class);
            rivals.of(class).zip(curvatures).for_each(|(c, d)| of_class[c] += d * z);
        }
        laplacian(&edges)
    }

    fn width(&self) -> usize {
        self.rivals.count() - 1
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

    fn pulls_of(&self, i: usize, duals: &[f64], out: &mut [f64]) {
        let (class, first) = (self.rivals.class(i), i * duals.len());
        let mut own = 0.0;
        for (a, (c, s)) in self.rivals.of(class).zip(duals).enumerate() {
            let pull = weighted(self.risk.weights.get(first + a), *s);
            (out[c], own) = (-pull, own + pull);
        }
        out[class] = own;
    }

    /// At the maximum every dual is the best one for its margin at the change t of the sum of all, and t is
    /// the change that these make: the root of a function that falls.
    fn ascend(&self, _i: usize, margins: &[f64], curvature: f64, duals: &mut [f64]) {
        let loss = self.risk.loss;
        let best = |s: f64, u: f64, t: f64| loss.dual_step(s, u + curvature * t, curvature);
        let given = duals.to_vec();
        let excess = |t: f64| {
            let each = given.iter().zip(margins).map(|(s, u)| best(*s, *u, t) - s);
            each.sum::<f64>() - t
        };
        let total = falling_root(excess);
        duals.iter_mut().zip(margins).for_each(|(s, u)| *s = best(*s, *u, total));
    }

    /// A convex function that is no less in the middle of an interval than on the line through its ends is
    /// this line.
    fn kink(&self) -> Option<(f64, Interval)> {
        const ROUNDING: f64 = 1e-9;
        let domain = self.risk.domain();
        let Interval { lower, upper } = domain;
        let conjugate = |s: f64| self.risk.loss.conjugate(s);
        let (low, high) = (conjugate(lower), conjugate(upper));
        let bend = low + high - 2.0 * conjugate(0.5 * (lower + upper));
        let size = low.abs() + high.abs();
        let is_line = upper > lower && size.is_finite() && bend.abs() <= ROUNDING * size;
        is_line.then(|| ((low - high) / (upper - lower), domain))
    }

    fn mobilities(&self, duals: &[f64], by: Mobility) -> Vec<f64> {
        duals.iter().enumerate().map(|(pair, &s)| self.risk.mobility(pair, s, by)).collect()
    }

    fn move_duals(&self, duals: &mut [f64], by: &BlockMove, changes: &[f64]) {
        let mut of_margins = vec![0.0; self.rivals.pairs()];
        self.rivals.margins(changes, &mut of_margins);
        self.risk.move_by(duals, by, |pair, _| of_margins[pair]);
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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use margins_losses::{Hinge, Interval, LeakyHockeyStick, LeakyRelu, Logistic, MarginLoss};
    use proptest::prelude::*;

    use super::*;
    use crate::space::joint::CrammerSinger;

    fn losses() -> Vec<Box<dyn MarginLoss>> {
        vec![
            Box::new(Hinge),
            Box::new(LeakyRelu::new(0.3).expect("a loss")),
            Box::new(Logistic),
            Box::new(LeakyHockeyStick),
        ]
    }

    /// Returns what the dual of a sample gains by a change of its duals, but for its conjugates.
    fn quadratic(margins: &[f64], curvature: f64, change: &[f64]) -> f64 {
        let total: f64 = change.iter().sum();
        let square: f64 = change.iter().map(|d| d * d).sum();
        let linear: f64 = change.iter().zip(margins).map(|(d, u)| d * u).sum();
        -linear - 0.5 * curvature * (square + total * total)
    }

    fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a - b).collect()
    }

    proptest! {
        /// No other duals of a sample give a larger dual than those that a step leads to.
        #[test]
        fn steps_are_the_best_over_one_sample(
            margins in proptest::collection::vec(-3.0..3.0f64, 3),
            from in proptest::collection::vec(0.0..1.0f64, 3),
            to in proptest::collection::vec(0.0..1.0f64, 4),
            curvature in prop_oneof![Just(0.0), Just(1e-3), Just(0.7), Just(300.0)],
        ) {
            let rivals = Rivals::new(Cow::Owned(vec![1]), 4);
            let weights = Weights::equal(1.0, 3);
            for loss in losses() {
                let risk = EmpiricalRisk::of_margins(&*loss, weights.clone());
                let domain = risk.domain();
                let within = |share: &f64| {
                    let upper = domain.upper.min(domain.lower + 5.0);
                    domain.lower + (0.01 + 0.98 * share) * (upper - domain.lower)
                };
                let given: Vec<f64> = from.iter().map(within).collect();
                let pairwise = Pairwise::new(&risk, &rivals);
                let value = |duals: &[f64]| {
                    let conjugates: f64 = duals.iter().map(|s| loss.conjugate(*s)).sum();
                    quadratic(&margins, curvature, &minus(duals, &given)) - conjugates
                };
                let mut best = given.clone();
                pairwise.ascend(0, &margins, curvature, &mut best);
                let other: Vec<f64> = to.iter().take(3).map(within).collect();
                // On the way to other duals the dual does not rise.
                for share in [1.0, 1e-2, 1e-4] {
                    let near: Vec<f64> =
                        best.iter().zip(&other).map(|(s, o)| s + share * (o - s)).collect();
                    let slack = 1e-9 * (1.0 + value(&best).abs());
                    prop_assert!(
                        value(&near) <= value(&best) + slack,
                        "{} {best:?} {near:?}", loss.specification(),
                    );
                }
            }
            let of_samples = Weights::equal(1.0, 1);
            let largest = CrammerSinger::new(&of_samples, &rivals);
            let simplex = |numbers: &[f64]| -> Vec<f64> {
                let total: f64 = numbers.iter().sum::<f64>() + 1e-3;
                numbers.iter().map(|x| (x + 1e-3 / numbers.len() as f64) / total).collect()
            };
            let given = simplex(&[from[0], from[1], from[2], 0.5]);
            // The class is 1: its own number balances those of its rivals.
            let value = |p: &[f64]| {
                let rivals = |p: &[f64]| vec![p[0], p[2], p[3]];
                let gain: f64 = rivals(p).iter().sum();
                gain + quadratic(&margins, curvature, &minus(&rivals(p), &rivals(&given)))
            };
            let mut best = given.clone();
            largest.ascend(0, &margins, curvature, &mut best);
            prop_assert!(value(&simplex(&to)) <= value(&best) + 1e-9 * (1.0 + value(&best).abs()));
        }
    }

    #[test]
    fn a_loss_has_one_kink_where_its_conjugate_is_a_line() {
        let rivals = Rivals::new(Cow::Owned(vec![0]), 2);
        let losses = losses();
        let kinks = losses.iter().map(|loss| {
            let risk = EmpiricalRisk::of_margins(&**loss, Weights::equal(1.0, 1));
            Pairwise::new(&risk, &rivals)
                .kink()
                .map(|(at, Interval { lower, upper })| [at, lower, upper])
        });
        let kinks: Vec<Option<[f64; 3]>> = kinks.collect();
        assert_eq!(kinks, [Some([1.0, 0.0, 1.0]), Some([0.0, 0.3, 0.7]), None, None]);
    }
}

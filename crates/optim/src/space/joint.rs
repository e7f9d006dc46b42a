//! Samples of several classes in one problem.
//!
//! * [`JointRisk`]: the first part of the objective, as a function of margins over rivals:
//!   [`Pairwise`] for a margin loss, [`Multinomial`] for the multinomial logistic loss.
//! * [`JointSamples`]: the space of such a problem.

mod multinomial;
mod pairwise;
mod risk;

use margins_data::Design;
use margins_losses::HomogeneousTail;
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::summation::{dot, sum_of_blocks};
use crate::problem::{
    BlockMove, BlockSums, FenchelYoung, FreeColumns, MarginSummary, Mobility, Point, Rivals, Sums,
    Weights, balance, weighted,
};
use crate::products::{multiply_all, multiply_all_transposed, weighted_gram};
use crate::space::{Curvature, Decline, Duals, Extent, Scores, Smoothing, Space};

pub(crate) use multinomial::Multinomial;
pub(crate) use pairwise::Pairwise;
pub(crate) use risk::JointRisk;

/// Samples of k classes in memory, as the margins that they have over the other classes.
///
/// The coefficients are the k vectors `w_c`, one after the other, and behind them the intercepts of
/// all classes but the last, which no penalty acts on. The last one is 0: to add a number to all of them
/// changes no margin. Products are the scores of the samples, n x k numbers.
pub(crate) struct JointSamples<'o, R> {
    design: &'o Design,
    rivals: &'o Rivals<'o>,
    /// The weights of the samples over n.
    weights: &'o Weights,
    has_intercepts: bool,
    risk: R,
    extent: Extent,
    mean_square: f64,
    /// The curvatures that are kept.
    curvatures: Vec<f64>,
    /// Memory for margins.
    margins: Vec<f64>,
}

impl<'o, R: JointRisk> JointSamples<'o, R> {
    /// Returns the samples of a design of this extent.
    pub(crate) fn new(
        (design, extent): (&'o Design, &Extent),
        (rivals, weights): (&'o Rivals<'o>, &'o Weights),
        has_intercepts: bool,
        risk: R,
    ) -> Self {
        let square =
            |(i, x): (usize, margins_data::Sample<'_>)| weighted(weights.get(i), x.squared_norm());
        let mean: f64 = design.samples().enumerate().map(square).sum();
        let mean_square = 2.0 * (rivals.count() - 1) as f64 * mean;
        let extent = extent.over_rivals(design, rivals, has_intercepts);
        let (curvatures, margins) = (Vec::new(), vec![0.0; rivals.pairs()]);
        JointSamples {
            design,
            rivals,
            weights,
            has_intercepts,
            risk,
            extent,
            mean_square,
            curvatures,
            margins,
        }
    }

    fn count(&self) -> usize {
        self.rivals.count()
    }

    /// Returns the number of coefficients with a penalty, k p.
    fn penalised(&self) -> usize {
        self.count() * self.design.columns()
    }

    /// Returns the number of free intercepts.
    fn intercepts(&self) -> usize {
        if self.has_intercepts { self.count() - 1 } else { 0 }
    }

    /// Sets the margins to those of scores.
    fn set_scores(&mut self, scores: &[f64]) {
        self.rivals.margins(scores, &mut self.margins);
        self.risk.set(&self.margins);
    }

    /// Writes the sums over the samples of numbers for every class, each times the sample, and behind them
    /// those that belong to the intercepts.
    fn write_sums(&self, of_classes: &[f64], out: &mut [f64]) {
        let (coef, intercepts) = out.split_at_mut(self.penalised());
        multiply_all_transposed(self.design, of_classes, self.count(), coef);
        for (class, out) in intercepts.iter_mut().enumerate() {
            *out = self.total(of_classes, class);
        }
    }

    /// Returns the sum over the samples of the numbers for a class.
    fn total(&self, of_classes: &[f64], class: usize) -> f64 {
        let k = self.count();
        let [total] = sum_of_blocks(self.rivals.samples(), |rows| {
            [rows.map(|i| of_classes[i * k + class]).sum::<f64>()]
        });
        total
    }

    fn block_sums(&self, duals: &[f64], by: Mobility) -> BlockSums {
        let width = self.intercepts();
        let mut pulls = vec![0.0; self.rivals.samples() * self.count()];
        let sums = |pulls: &[f64]| (0..width).map(|class| self.total(pulls, class)).collect();
        self.risk.pulls(duals, &mut pulls);
        let excess = sums(&pulls);
        let sizes_of_duals: Vec<f64> = duals.iter().map(|s| s.abs()).collect();
        self.risk.pulls(&sizes_of_duals, &mut pulls);
        pulls.iter_mut().for_each(|pull| *pull = pull.abs());
        let sizes = sums(&pulls);
        let laplacian = self.risk.laplacian(&self.risk.mobilities(duals, by));
        BlockSums { excess, sizes, gram: laplacian.view((0, 0), (width, width)).into_owned() }
    }
}

impl<R: JointRisk> Space for JointSamples<'_, R> {
    fn shape(&self) -> (usize, usize) {
        (self.rivals.pairs(), self.penalised() + self.intercepts())
    }

    fn is_sparse(&self) -> bool {
        self.design.is_sparse()
    }

    fn has_intercept(&self) -> bool {
        false
    }

    fn free(&self) -> FreeColumns {
        FreeColumns::of((self.penalised()..self.shape().1).collect())
    }

    fn tail(&self) -> Option<HomogeneousTail> {
        self.risk.tail()
    }

    fn decline(&self) -> Decline {
        self.risk.decline()
    }

    fn extent(&self) -> &Extent {
        &self.extent
    }

    fn mean_square(&self) -> f64 {
        self.mean_square
    }

    fn check_loss(&self) -> Result<(), Error> {
        self.risk.check_loss()
    }

    fn is_unbounded(&self) -> bool {
        self.has_intercepts && self.risk.is_unbounded()
    }
}

impl<R: JointRisk> Scores for JointSamples<'_, R> {
    type Products = Vec<f64>;

    fn products(&mut self, coef: &[f64]) -> Vec<f64> {
        let (coef, intercepts) = coef.split_at(self.penalised());
        let mut scores = multiply_all(self.design, coef, self.count());
        for scores in scores.chunks_exact_mut(self.count()) {
            scores.iter_mut().zip(intercepts).for_each(|(s, b)| *s += b);
        }
        scores
    }

    fn set(&mut self, scores: &Vec<f64>, _intercept: f64) -> f64 {
        self.set_scores(scores);
        0.0
    }

    fn set_accurately(&mut self, _intercept: f64, coef: &[f64]) -> bool {
        let (n, p, k) = (self.rivals.samples(), self.design.columns(), self.count());
        let (mut high, mut low) = (vec![0.0; n * k], vec![0.0; n * k]);
        let (mut sums, mut rests) = (vec![0.0; n], vec![0.0; n]);
        for class in 0..k {
            let of_class = &coef[class * p..(class + 1) * p];
            self.design.multiply_accurately(of_class, &mut sums, &mut rests);
            let b = coef[k * p..].get(class).copied().unwrap_or(0.0);
            for i in 0..n {
                // The sum and what rounding takes from it (Knuth 1969).
                let sum = sums[i] + b;
                let part = sum - sums[i];
                high[i * k + class] = sum;
                low[i * k + class] = rests[i] + ((sums[i] - (sum - part)) + (b - part));
            }
        }
        let mut margins = vec![0.0; self.rivals.pairs()];
        let mut rest = margins.clone();
        self.rivals.margins_accurately((&high, &low), (&mut margins, &mut rest));
        margins.iter_mut().zip(&rest).for_each(|(u, rest)| *u += rest);
        self.risk.set(&margins);
        true
    }

    fn settle(&mut self, scores: &Vec<f64>, _intercept: f64) -> f64 {
        self.set_scores(scores);
        0.0
    }

    fn along(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        let ahead = point.step(t, direction);
        self.set_scores(&ahead.products);
        let mut pulls = ahead.products;
        self.risk.gradient(&mut pulls);
        dot(&pulls, &direction.products)
    }

    fn risk_at(&mut self, scores: &Vec<f64>, _intercept: f64) -> f64 {
        self.rivals.margins(scores, &mut self.margins);
        self.risk.risk_at(&self.margins)
    }

    fn sums(&mut self) -> Sums {
        self.risk.sums()
    }

    /// Every two classes have samples, of which one class is on the wrong side of any direction in the
    /// intercepts.
    fn violation(&mut self, _intercept: f64, coef: &[f64]) -> f64 {
        let intercepts = &coef[self.penalised()..];
        f64::from(u8::from(intercepts.iter().any(|b| *b != 0.0)))
    }

    fn gradient(&mut self, out: &mut [f64]) {
        let mut pulls = vec![0.0; self.rivals.samples() * self.count()];
        self.risk.gradient(&mut pulls);
        self.write_sums(&pulls, out);
    }

    fn is_contradicted(&mut self, point: &Point) -> bool {
        self.rivals.margins(&point.products, &mut self.margins);
        self.risk.is_contradicted(&self.margins)
    }

    /// The margin of a sample is the least that it has over a rival.
    fn summary(&mut self) -> MarginSummary {
        let of_samples = self.risk.margins().chunks_exact(self.count() - 1).enumerate();
        MarginSummary::of(of_samples.map(|(i, margins)| {
            let least = margins.iter().fold(f64::INFINITY, |least, u| least.min(*u));
            (least, 1.0, self.weights.get(i))
        }))
    }

    fn all_beyond(&mut self, point: &Point, from: f64) -> bool {
        self.rivals.margins(&point.products, &mut self.margins);
        let of_samples = self.margins.chunks_exact(self.count() - 1).enumerate();
        let mut counted = of_samples.filter(|(i, _)| self.weights.get(*i) > 0.0);
        counted.all(|(_, margins)| margins.iter().all(|u| *u >= from))
    }
}

impl<R: JointRisk> Curvature for JointSamples<'_, R> {
    fn keep_curvatures(&mut self) {
        self.curvatures = self.risk.curvatures();
    }

    fn forget_curvatures(&mut self) {
        self.curvatures = Vec::new();
    }

    /// The intercept that this is asked for does not exist.
    fn curvature(&mut self) -> f64 {
        0.0
    }

    fn normal(&mut self, _shift: f64, v: &[f64], out: &mut [f64]) -> f64 {
        let mut changes = self.products(v);
        self.risk.bend(&self.curvatures, &mut changes);
        self.write_sums(&changes, out);
        0.0
    }

    /// Every edge between two classes adds its weighted Gram matrix where the two meet themselves, and
    /// subtracts it where they meet each other.
    fn gram(&mut self, out: &mut DMatrix<f64>) {
        let (k, p) = (self.count(), self.design.columns());
        let mut weights = vec![0.0; self.rivals.samples()];
        let mut gram = DMatrix::zeros(p + 1, p + 1);
        out.fill(0.0);
        let first = 1 + k * p;
        for b in 1..k {
            for a in 0..b {
                self.risk.edge(&self.curvatures, a, b, &mut weights);
                weighted_gram(self.design, &weights, &mut gram);
                for j in 0..p {
                    let (of_a, of_b) = (1 + a * p, 1 + b * p);
                    for l in j..p {
                        let entry = gram[(l + 1, j + 1)];
                        out[(of_a + l, of_a + j)] += entry;
                        out[(of_b + l, of_b + j)] += entry;
                        out[(of_b + l, of_a + j)] -= entry;
                        if l > j {
                            out[(of_b + j, of_a + l)] -= entry;
                        }
                    }
                    for (class, sign) in [(a, 1.0), (b, -1.0)] {
                        if class < self.intercepts() {
                            let entry = sign * gram[(j + 1, 0)];
                            out[(first + class, of_a + j)] += entry;
                            out[(first + class, of_b + j)] -= entry;
                        }
                    }
                }
                if a < self.intercepts() {
                    out[(first + a, first + a)] += gram[(0, 0)];
                }
                if b < self.intercepts() {
                    out[(first + b, first + b)] += gram[(0, 0)];
                    out[(first + b, first + a)] -= gram[(0, 0)];
                }
            }
        }
    }

    fn diagonal(&mut self, out: &mut [f64]) {
        let (k, p) = (self.count(), self.design.columns());
        let mut weights = vec![0.0; self.rivals.samples() * k];
        self.risk.diagonal(&self.curvatures, &mut weights);
        out.fill(0.0);
        let (coef, intercepts) = out[1..].split_at_mut(k * p);
        for (sample, weights) in self.design.samples().zip(weights.chunks_exact(k)) {
            sample.for_each(|j, x| {
                weights.iter().enumerate().for_each(|(c, d)| coef[c * p + j] += d * x * x);
            });
        }
        intercepts.iter_mut().enumerate().for_each(|(c, o)| *o = self.total(&weights, c));
    }
}

impl<R: JointRisk> Duals for JointSamples<'_, R> {
    type Duals = Vec<f64>;

    fn predict(&mut self, mut duals: Vec<f64>, change: &Point) -> Vec<f64> {
        self.risk.predict(&mut duals, &self.curvatures, &change.products);
        duals
    }

    fn duals(&mut self) -> Vec<f64> {
        self.risk.duals()
    }

    fn balance(&mut self, duals: &mut Vec<f64>) {
        if !self.has_intercepts {
            return;
        }
        let given = std::mem::take(duals);
        let moved = |moves: &[BlockMove]| {
            let mut moved = given.clone();
            moves.iter().for_each(|by| self.risk.move_duals(&mut moved, by));
            moved
        };
        let moves = balance(|moves, by| self.block_sums(&moved(moves), by));
        *duals = moved(&moves);
    }

    fn total_dual(&mut self, duals: &Vec<f64>) -> f64 {
        self.risk.total_dual(duals)
    }

    fn pull(&mut self, duals: &Vec<f64>, accurately: bool, out: &mut [f64]) {
        let (n, p, k) = (self.rivals.samples(), self.design.columns(), self.count());
        let mut pulls = vec![0.0; n * k];
        self.risk.pulls(duals, &mut pulls);
        self.write_sums(&pulls, out);
        if accurately {
            for class in 0..k {
                let of_class: Vec<f64> = pulls.iter().skip(class).step_by(k).copied().collect();
                let out = &mut out[class * p..(class + 1) * p];
                self.design.multiply_transposed_accurately(&of_class, out);
            }
        }
    }

    fn imbalance(&mut self, _duals: &Vec<f64>) -> f64 {
        0.0
    }

    fn fenchel_young(&mut self, duals: &Vec<f64>) -> FenchelYoung {
        self.risk.fenchel_young(duals)
    }
}

impl<R: JointRisk> Smoothing for JointSamples<'_, R> {
    fn is_smoothed(&self) -> bool {
        self.risk.is_smoothed()
    }

    fn smooth(&mut self, strength: f64) {
        self.risk.smooth(strength);
    }

    fn centre(&mut self, at: Option<&Point>) {
        if let Some(point) = at {
            self.rivals.margins(&point.products, &mut self.margins);
        }
        self.risk.centre(at.map(|_| &self.margins[..]));
    }
}

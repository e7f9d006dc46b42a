//! Samples of several classes in one problem.
//!
//! * [`JointRisk`]: the first part of the objective, as a function of margins over rivals:
//!   [`Pairwise`] for a margin loss, [`Multinomial`] for the multinomial logistic loss, and
//!   [`CrammerSinger`] for the largest hinge.
//! * [`JointSamples`]: the space of such a problem. [`DualSolver`]: a method for all of it.

mod crammer_singer;
mod multinomial;
mod pairwise;
mod risk;
mod simplex;

use margins_data::{Design, parallel};
use margins_losses::HomogeneousTail;
use nalgebra::DMatrix;

use crate::problem::summation::{dot, sums_of_rows};
use crate::problem::{
    Block, BlockMove, BlockSums, FenchelYoung, FreeColumns, FreePart, MarginSummary, Mobility,
    Point, Rivals, Sums, Weights, balance, weighted,
};
use crate::products::{multiply_all, multiply_all_transposed, sums_of_squares, weighted_gram};
use crate::space::{Curvature, Decline, Duals, Extent, MergedProblem, Scores, Smoothing, Space};
use crate::{Error, Lambda};

pub(crate) use crammer_singer::CrammerSinger;
pub(crate) use multinomial::Multinomial;
pub(crate) use pairwise::{Pairwise, has_no_flow};
pub(crate) use risk::JointRisk;

/// A method that minimises F over [`JointSamples`] in the dual.
pub(crate) trait DualSolver<'o> {
    /// Returns the coefficients and the duals of the minimum, to the tolerance of a problem in which no sample
    /// is merged; `None` if that takes too long.
    fn solve(
        &mut self,
        samples: &mut JointSamples<'o>,
        lambda: Lambda,
        problem: &MergedProblem<'_>,
    ) -> Option<(Vec<f64>, Vec<f64>)>;
}

/// Samples of k classes in memory, as the margins that they have over the other classes.
///
/// The coefficients are the k vectors `w_c`, one after the other, and behind them the intercepts of
/// all classes but the last, which no penalty acts on. The last one is 0: to add a number to all of them
/// changes no margin. So are the coefficients of the last class for features that no penalty acts on,
/// because derivatives in them are left out. Products are the scores of the samples, n x k numbers.
pub(crate) struct JointSamples<'o> {
    design: &'o Design,
    rivals: &'o Rivals<'o>,
    /// The weights of the samples over n.
    weights: &'o Weights,
    /// The intercept and the features that no penalty acts on, with their values.
    free: FreePart,
    block: Block,
    risk: Box<dyn JointRisk + 'o>,
    extent: Extent,
    mean_square: f64,
    /// The curvatures that are kept.
    curvatures: Vec<f64>,
    /// Memory for margins.
    margins: Vec<f64>,
    /// A faster method for all of the samples.
    solver: Option<Box<dyn DualSolver<'o> + 'o>>,
}

impl<'o> JointSamples<'o> {
    /// Returns the samples of a design of this extent.
    pub(crate) fn new(
        (design, extent): (&'o Design, &Extent),
        (rivals, weights): (&'o Rivals<'o>, &'o Weights),
        free: FreePart,
        risk: impl JointRisk + 'o,
    ) -> Self {
        let square =
            |(i, x): (usize, margins_data::Sample<'_>)| weighted(weights.get(i), x.squared_norm());
        let mean: f64 = design.samples().enumerate().map(square).sum();
        let mean_square = 2.0 * (rivals.count() - 1) as f64 * mean;
        let extent = extent.over_rivals(design, rivals, free.intercept);
        let samples = Self::for_sums(design, (rivals, weights), free, Box::new(risk));
        JointSamples { extent, mean_square, ..samples }
    }

    /// Returns some of the samples, of which the sums alone are asked and not what all are like.
    pub(crate) fn of_part(
        design: &'o Design,
        (rivals, weights): (&'o Rivals<'o>, &'o Weights),
        has_intercepts: bool,
        risk: impl JointRisk + 'o,
    ) -> Self {
        let free = FreePart { columns: FreeColumns::default(), intercept: has_intercepts };
        Self::for_sums(design, (rivals, weights), free, Box::new(risk))
    }

    fn for_sums(
        design: &'o Design,
        (rivals, weights): (&'o Rivals<'o>, &'o Weights),
        free: FreePart,
        risk: Box<dyn JointRisk + 'o>,
    ) -> Self {
        let block = Block::of(design, &free);
        JointSamples {
            design,
            rivals,
            weights,
            free,
            block,
            risk,
            extent: Extent::default(),
            mean_square: 0.0,
            curvatures: Vec::new(),
            margins: vec![0.0; rivals.pairs()],
            solver: None,
        }
    }

    /// Gives the samples a faster method for all of them.
    pub(crate) fn solved_by(self, solver: impl DualSolver<'o> + 'o) -> Self {
        JointSamples { solver: Some(Box::new(solver)), ..self }
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
        if self.free.intercept { self.count() - 1 } else { 0 }
    }

    /// Returns the risk, and the rivals and weights of the samples.
    pub(crate) fn parts(&self) -> (&(dyn JointRisk + 'o), &'o Rivals<'o>, &'o Weights) {
        (&*self.risk, self.rivals, self.weights)
    }

    /// Returns true if the classes have intercepts.
    pub(crate) fn has_intercepts(&self) -> bool {
        self.free.intercept
    }

    /// Returns the duals where all margins are the same number.
    pub(crate) fn duals_at(&mut self, margin: f64) -> Vec<f64> {
        self.margins.fill(margin);
        self.risk.set(&self.margins);
        self.risk.duals()
    }

    /// Sets the margins to those of scores.
    pub(crate) fn set_scores(&mut self, scores: &[f64]) {
        self.rivals.margins(scores, &mut self.margins);
        self.risk.set(&self.margins);
    }

    /// Writes the sums over the samples of numbers for every class, each times the sample, and behind them
    /// those that belong to the intercepts.
    fn write_sums(&self, of_classes: &[f64], out: &mut [f64]) {
        let (coef, intercepts) = out.split_at_mut(self.penalised());
        multiply_all_transposed(self.design, of_classes, self.count(), coef);
        let totals = self.totals(of_classes, &|_| 1.0);
        intercepts.iter_mut().zip(&totals).for_each(|(out, total)| *out = *total);
        self.places_at_zero().for_each(|place| out[place] = 0.0);
    }

    /// Returns the places of the coefficients of the last class for free features, which are 0.
    fn places_at_zero(&self) -> impl Iterator<Item = usize> {
        let of_last = self.penalised() - self.design.columns();
        self.free.columns.get().iter().map(move |j| of_last + j)
    }

    /// Returns the derivatives in the scores that belong to duals, a list a class.
    pub(crate) fn pulls(&self, duals: &[f64]) -> Vec<Vec<f64>> {
        let k = self.count();
        let mut pulls = vec![0.0; self.rivals.samples() * k];
        self.risk.pulls(duals, &mut pulls);
        (0..k).map(|class| pulls.iter().skip(class).step_by(k).copied().collect()).collect()
    }

    /// Returns the sums over the samples of the numbers of every class, each times a number of the sample.
    fn totals(&self, of_classes: &[f64], of_sample: &(dyn Fn(usize) -> f64 + Sync)) -> Vec<f64> {
        sums_of_rows(of_classes, self.count(), of_sample)
    }

    /// Returns the least margin of every sample over a rival.
    pub(crate) fn least_margins(&self) -> impl Iterator<Item = f64> + Clone {
        let of_samples = self.risk.margins().chunks_exact(self.count() - 1);
        of_samples.map(|margins| margins.iter().fold(f64::INFINITY, |least, u| least.min(*u)))
    }

    /// Returns the margins that are set.
    pub(crate) fn margins(&self) -> &[f64] {
        self.risk.margins()
    }

    /// Smooths the loss about duals, or zeros; a strength of 0 smooths nothing.
    pub(crate) fn smooth_about(&mut self, centres: Option<Vec<f64>>, strength: f64) {
        self.risk.set_centres(centres);
        self.risk.smooth(strength);
    }

    /// Moves duals by a function of the free columns.
    pub(crate) fn move_duals(&self, duals: &mut [f64], by: &BlockMove) {
        let (width, last) = (self.block.width(), self.count() - 1);
        let (BlockMove::PullIn(delta) | BlockMove::Shift(delta)) = by;
        let mut changes = vec![0.0; self.rivals.samples() * self.count()];
        for (i, changes) in changes.chunks_exact_mut(self.count()).enumerate() {
            for (change, delta) in changes[..last].iter_mut().zip(delta.chunks_exact(width)) {
                *change = delta.iter().zip(self.block.sample(i)).map(|(d, z)| d * z).sum();
            }
        }
        self.risk.move_duals(duals, by, &changes);
    }

    /// Returns the lower triangles of `Z' D_c Z`, of which every class gets its own samples: all of them if the
    /// share is 1, or else about this share, drawn systematically in proportion to the trace that they add,
    /// with the weights that leave the expectation as it is.
    pub(crate) fn sampled_grams(&self, share: f64) -> Vec<f64> {
        let (n, p, k) = (self.rivals.samples(), self.design.columns(), self.count());
        let mut weights = vec![0.0; n * k];
        self.risk.diagonal(&self.curvatures, &mut weights);
        let sizes: Vec<f64> = self.design.samples().map(|x| 1.0 + x.squared_norm()).collect();
        let (most, design) = ((share * n as f64).ceil(), self.design);
        let of_class = |class: usize| {
            let of_samples = || weights.iter().skip(class).step_by(k).zip(&sizes);
            let step = of_samples().map(|(d, size)| d * size).sum::<f64>() / most;
            let (mut rows, mut curvatures, mut passed) = (Vec::new(), Vec::new(), 0.5f64);
            for (i, (&d, size)) in of_samples().enumerate().filter(|(_, (d, _))| **d > 0.0) {
                let mut weight = d;
                if share < 1.0 && d * size < step {
                    let before = passed.floor();
                    passed += d * size / step;
                    weight = (passed.floor() - before) * step / size;
                }
                if weight > 0.0 {
                    rows.push(i);
                    curvatures.push(weight);
                }
            }
            let mut gram = DMatrix::zeros(p + 1, p + 1);
            if !rows.is_empty() {
                weighted_gram(&design.select(&rows), &curvatures, &mut gram);
            }
            lower_triangle(&gram)
        };
        parallel::map(0..k, of_class).concat()
    }

    /// Returns the sums that duals are balanced by, for one class after another but the last.
    pub(crate) fn block_sums(&self, duals: &[f64], by: Mobility) -> BlockSums {
        let [excess, sizes] = self.excess(duals);
        BlockSums { excess, sizes, gram: self.mobility(duals, by) }
    }

    /// Returns the sums of the pulls of duals, each times a free column, and those of their sizes.
    fn excess(&self, duals: &[f64]) -> [Vec<f64>; 2] {
        let (block, width, others) = (&self.block, self.block.width(), self.count() - 1);
        // One class after another.
        let totals = |pulls: &[f64], factor: fn(f64) -> f64| -> Vec<f64> {
            let of_column = |t| self.totals(pulls, &|i| factor(block.sample(i)[t]));
            let of_columns: Vec<Vec<f64>> = (0..width).map(of_column).collect();
            (0..others).flat_map(|class| of_columns.iter().map(move |of| of[class])).collect()
        };
        let mut pulls = vec![0.0; self.rivals.samples() * self.count()];
        self.risk.pulls(duals, &mut pulls);
        let excess = totals(&pulls, |z| z);
        if duals.iter().any(|s| *s < 0.0) {
            let sizes_of_duals: Vec<f64> = duals.iter().map(|s| s.abs()).collect();
            self.risk.pulls(&sizes_of_duals, &mut pulls);
        }
        pulls.iter_mut().for_each(|pull| *pull = pull.abs());
        [excess, totals(&pulls, f64::abs)]
    }

    /// Returns the matrix that a move of duals is made by.
    fn mobility(&self, duals: &[f64], by: Mobility) -> DMatrix<f64> {
        let (width, others) = (self.block.width(), self.count() - 1);
        let mobilities = self.risk.mobilities(duals, by);
        let mut gram = DMatrix::zeros(others * width, others * width);
        for t in 0..width {
            for u in 0..=t {
                let samples = (0..self.rivals.samples()).map(|i| self.block.sample(i));
                let products: Vec<f64> = samples.map(|z| z[t] * z[u]).collect();
                let laplacian = self.risk.laplacian(&mobilities, &products);
                for (a, b) in (0..others).flat_map(|a| (0..others).map(move |b| (a, b))) {
                    gram[(a * width + t, b * width + u)] = laplacian[(a, b)];
                    gram[(b * width + u, a * width + t)] = laplacian[(a, b)];
                }
            }
        }
        gram
    }
}

/// Returns the lower triangle of a matrix, column after column.
pub(crate) fn lower_triangle(matrix: &DMatrix<f64>) -> Vec<f64> {
    let columns = matrix.column_iter().enumerate();
    columns.flat_map(|(j, column)| column.as_slice()[j..].to_vec()).collect()
}

/// Returns the share of n samples with p features that stands for all in the Gram matrix of a class.
pub(crate) fn share_of(n: usize, p: usize) -> f64 {
    /// The number of samples a feature: with fewer, conjugate gradients take more steps.
    const EACH: usize = 20;
    ((EACH * (p + 1)) as f64 / n.max(1) as f64).min(1.0)
}

/// Returns true if the Gram matrices of k classes cost less than the steps of conjugate gradients that they
/// save, and have at most so many entries.
pub(crate) fn are_worth((n, p, k): (usize, usize, usize), entries: usize) -> bool {
    /// The steps that they save. A step multiplies an entry of the samples four times a class, a Gram matrix
    /// p times.
    const STEPS: f64 = 25.0;
    share_of(n, p) * p as f64 <= 4.0 * STEPS && k * (p + 1) * (p + 1) <= entries
}

impl Space for JointSamples<'_> {
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
        let (k, p) = (self.count(), self.design.columns());
        self.free.columns.of_classes(k, p, self.intercepts())
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
        self.free.intercept && self.risk.is_unbounded()
    }
}

impl Scores for JointSamples<'_> {
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

    fn violation(&mut self, _intercept: f64, coef: &[f64]) -> f64 {
        let (k, p) = (self.count(), self.design.columns());
        // The numbers of every class for the free columns, of which the last has none.
        let of_class = |class: usize| -> Vec<f64> {
            let intercept = self.free.intercept.then(|| coef.get(k * p + class).copied());
            let features = self.free.columns.get().iter().map(|j| coef[class * p + j]);
            intercept.map(Option::unwrap_or_default).into_iter().chain(features).collect()
        };
        let directions: Vec<Vec<f64>> = (0..k).map(of_class).collect();
        let mut worst = 0.0f64;
        for (i, class) in self.rivals.classes().enumerate() {
            if self.weights.get(i) == 0.0 {
                continue;
            }
            let z = self.block.sample(i);
            let terms = |class: usize| directions[class].iter().zip(z).map(|(d, z)| d * z);
            let size = |class: usize| terms(class).map(f64::abs).sum::<f64>();
            let (own, own_size) = (terms(class).sum::<f64>(), size(class));
            for c in self.rivals.of(class) {
                let margin = own - terms(c).sum::<f64>();
                if margin < 0.0 {
                    worst = worst.max(-margin / (own_size + size(c)));
                }
            }
        }
        worst
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
        let of_samples = self.least_margins().enumerate();
        MarginSummary::of(of_samples.map(|(i, least)| (least, 1.0, self.weights.get(i))))
    }

    fn all_beyond(&mut self, point: &Point, from: f64) -> bool {
        self.rivals.margins(&point.products, &mut self.margins);
        let of_samples = self.margins.chunks_exact(self.count() - 1).enumerate();
        let mut counted = of_samples.filter(|(i, _)| self.weights.get(*i) > 0.0);
        counted.all(|(_, margins)| margins.iter().all(|u| *u >= from))
    }
}

impl Curvature for JointSamples<'_> {
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
        let order = out.nrows();
        for place in self.places_at_zero().map(|place| 1 + place) {
            (0..place).for_each(|before| out[(place, before)] = 0.0);
            (place..order).for_each(|behind| out[(behind, place)] = 0.0);
        }
    }

    fn diagonal(&mut self, out: &mut [f64]) {
        let (k, p) = (self.count(), self.design.columns());
        let mut weights = vec![0.0; self.rivals.samples() * k];
        self.risk.diagonal(&self.curvatures, &mut weights);
        out.fill(0.0);
        let (coef, intercepts) = out[1..].split_at_mut(k * p);
        coef.copy_from_slice(&sums_of_squares(self.design, &weights, k));
        let totals = self.totals(&weights, &|_| 1.0);
        intercepts.iter_mut().zip(&totals).for_each(|(out, total)| *out = *total);
        self.places_at_zero().for_each(|place| out[1 + place] = 0.0);
    }

    fn classes(&self) -> Option<(usize, usize)> {
        /// Half a gigabyte.
        const ENTRIES: usize = 1 << 26;
        let (n, p, k) = (self.rivals.samples(), self.design.columns(), self.count());
        let is_penalised = self.free.columns.get().is_empty();
        (is_penalised && are_worth((n, p, k), ENTRIES)).then_some((k, p))
    }

    fn class_grams(&mut self) -> Option<Vec<f64>> {
        let (_, p) = self.classes()?;
        Some(self.sampled_grams(share_of(self.rivals.samples(), p)))
    }
}

impl Duals for JointSamples<'_> {
    type Duals = Vec<f64>;

    fn predict(&mut self, mut duals: Vec<f64>, change: &Point) -> Vec<f64> {
        self.risk.predict(&mut duals, &self.curvatures, &change.products);
        duals
    }

    fn duals(&mut self) -> Vec<f64> {
        self.risk.duals()
    }

    fn balance(&mut self, duals: &mut Vec<f64>) {
        if self.block.width() == 0 {
            return;
        }
        let given = duals.clone();
        let mut taken = 0;
        let mut take = |duals: &mut [f64], moves: &[BlockMove]| {
            // Pulls follow each other, and a shift is from the given duals.
            if moves.len() < taken || matches!(moves, [BlockMove::Shift(_)]) {
                duals.copy_from_slice(&given);
                taken = 0;
            }
            moves[taken..].iter().for_each(|by| self.move_duals(duals, by));
            taken = moves.len();
        };
        let moves = balance(|moves, by| {
            take(duals, moves);
            let [excess, sizes] = self.excess(duals);
            let sums = BlockSums { excess, sizes, gram: DMatrix::zeros(0, 0) };
            let is_balanced = sums.is_balanced();
            if is_balanced { sums } else { BlockSums { gram: self.mobility(duals, by), ..sums } }
        });
        take(duals, &moves);
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
            let coefs = out.chunks_exact_mut(p.max(1));
            for (of_class, out) in self.pulls(duals).iter().zip(coefs) {
                self.design.multiply_transposed_accurately(of_class, out);
            }
            self.places_at_zero().for_each(|place| out[place] = 0.0);
        }
    }

    fn imbalance(&mut self, _duals: &Vec<f64>) -> f64 {
        0.0
    }

    fn fenchel_young(&mut self, duals: &Vec<f64>) -> FenchelYoung {
        self.risk.fenchel_young(duals)
    }
}

impl Smoothing for JointSamples<'_> {
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

    /// No sample is merged: the solver goes to the minimum for all of them.
    fn widest_radius(&mut self, _about: &Point) -> Option<f64> {
        self.solver.is_some().then_some(MergedProblem::ALL)
    }

    fn solve_merged(
        &mut self,
        lambda: Lambda,
        problem: &MergedProblem<'_>,
    ) -> Option<(f64, Vec<f64>, Vec<f64>)> {
        let mut solver = self.solver.take()?;
        let found = solver.solve(self, lambda, problem);
        self.solver = Some(solver);
        found.map(|(coef, duals)| (0.0, coef, duals))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// The Gram matrix of a class is the block of Newton's matrix that belongs to it; some of the samples
    /// stand for all with the same trace.
    #[test]
    fn grams_of_classes_are_blocks_of_the_matrix() {
        let (n, p, k) = (90, 3, 4);
        let entry =
            |i: usize, j: usize| ((i * 37 + j * 101 + i * i * 13) % 199) as f64 / 99.5 - 1.0;
        let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let classes: Vec<u32> = (0..n).map(|i| (i * i / 3 % k) as u32).collect();
        let rivals = Rivals::new(Cow::Owned(classes), k);
        let weights = Weights::Each((0..n).map(|i| (i % 3) as f64).collect());
        let risk = Multinomial::new(&weights, &rivals);
        let mut samples = JointSamples::of_part(&design, (&rivals, &weights), true, risk);
        let coef: Vec<f64> = (0..k * p + k - 1).map(|j| (j as f64).sin()).collect();
        let scores = samples.products(&coef);
        samples.set(&scores, 0.0);
        samples.keep_curvatures();
        let order = k * p + k;
        let mut whole = DMatrix::zeros(order, order);
        samples.gram(&mut whole);
        let each = (p + 1) * (p + 2) / 2;
        let all = samples.sampled_grams(1.0);
        let trace = |grams: &[f64], class: usize| -> f64 {
            // Column j begins behind p + 1, p, ... entries of those before it.
            let first = |j: usize| class * each + j * (2 * p + 3 - j) / 2;
            (0..=p).map(|j| grams[first(j)]).sum()
        };
        for class in 0..k {
            let place = |j: usize| match j {
                0 => (class < k - 1).then_some(1 + k * p + class),
                j => Some(class * p + j),
            };
            let places = (0..=p).flat_map(|j| (j..=p).map(move |i| (i, j)));
            for (entry, (i, j)) in all[class * each..].iter().zip(places) {
                let (Some(a), Some(b)) = (place(i), place(j)) else { continue };
                let expected = whole[(a.max(b), a.min(b))];
                assert!((entry - expected).abs() <= 1e-12, "{class} {i} {j}");
            }
            let share = 0.2;
            let some = samples.sampled_grams(share);
            let (a, b) = (trace(&some, class), trace(&all, class));
            // The weights of the last draw are the step.
            assert!((a - b).abs() <= b / (share * n as f64) + 1e-12, "{class}: {a} and {b}");
        }
    }
}

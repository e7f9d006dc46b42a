//! Dual ascent for several classes in one problem, by the duals of one sample after another.
//!
//! A step maximises the dual over the k - 1 duals of a sample at once, in closed form
//! ([`JointRisk::ascend`](crate::space::joint::JointRisk::ascend)): Keerthi et al., *A sequential dual
//! method for large scale multi-class linear SVMs*, KDD 2008; Dogan, Glasmachers and Igel, *A unified view
//! on multi-class support vector classification*, JMLR 17 (2016). Where the loss has one kink, Newton steps
//! over all duals inside of their domain end the search ([`Face`]).
//!
//! As in [`DualAscent`](super::DualAscent) a term `mu sum_c (b_c - a_c)^2` holds the intercepts to a centre
//! a that follows them, the method of multipliers on `sum_i r_ic = 0`. It adds the constant `lambda/mu` to
//! all inner products.

mod expansion;
mod face;
mod on_features;

use nalgebra::DMatrix;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use self::face::Face;
use crate::Lambda;
use crate::space::joint::JointSamples;
use crate::space::{Duals, Scores};

pub(crate) use self::expansion::{Expansion, OnFeatures, OnMatrix};
pub(crate) use self::on_features::FeatureAscent;

/// The seed of the order in which samples are visited.
const SEED: u64 = 1;
/// The constant that the term for the intercepts adds to inner products, in units of the mean square, at
/// first and at most, and the factor by which it grows. Passes are slow with a large one, and the intercepts
/// with a small one.
const FIRST: f64 = 0.1;
const MOST: f64 = 1e3;
const GROWTH: f64 = 8.0;

/// Duals of the samples, and the functions of the classes that belong to them.
///
/// Invariant, up to rounding: `f_c = sum_i r_ic k(x_i, .)/(2 lambda)` with the pulls r of the duals.
pub(crate) struct BlockAscent<E> {
    expansion: E,
    lambda: Lambda,
    duals: Vec<f64>,
    /// The sums `sum_i r_ic`.
    totals: Vec<f64>,
    centre: Vec<f64>,
    /// The mean square of the samples, 0 without intercepts.
    square: f64,
    /// The constant `lambda/mu`.
    constant: f64,
    /// The samples of positive weight.
    order: Vec<usize>,
    random: ChaCha8Rng,
    /// The coefficients that have changed since the last steps in a face.
    changes: usize,
}

/// The state after some passes.
pub(crate) struct Progress {
    pub(crate) objective: f64,
    /// The gap of the problem whose intercepts are held.
    gap: f64,
    /// What the imbalance of the duals adds to it, about.
    unbalanced: f64,
}

impl Progress {
    fn gap(&self) -> f64 {
        self.gap + self.unbalanced
    }

    fn relative_gap(&self) -> f64 {
        self.gap() / self.objective.abs().max((self.objective - self.gap()).abs())
    }
}

impl<E: Expansion> BlockAscent<E> {
    /// Returns the ascent from the least duals.
    pub(crate) fn new(samples: &mut JointSamples<'_>, expansion: E, lambda: Lambda) -> Self {
        /// A margin beyond every kink.
        const FAR: f64 = 1e6;
        let (_, rivals, weights) = samples.parts();
        let k = rivals.count();
        let order: Vec<usize> = (0..rivals.samples()).filter(|&i| weights.get(i) > 0.0).collect();
        let mean = order.iter().map(|&i| expansion.square(i)).sum::<f64>() / order.len() as f64;
        let square = match samples.has_intercepts() {
            true if mean > 0.0 => mean,
            true => 1.0,
            false => 0.0,
        };
        let duals = samples.duals_at(FAR);
        let mut ascent = BlockAscent {
            expansion,
            lambda,
            duals: Vec::new(),
            totals: vec![0.0; k],
            centre: vec![0.0; k],
            square,
            constant: FIRST * square,
            order,
            random: ChaCha8Rng::seed_from_u64(SEED),
            changes: 0,
        };
        ascent.set(samples, duals);
        ascent
    }

    pub(crate) fn expansion(&self) -> &E {
        &self.expansion
    }

    pub(crate) fn duals(&self) -> &[f64] {
        &self.duals
    }

    /// Returns the intercepts.
    pub(crate) fn intercepts(&self) -> Vec<f64> {
        let rate = 0.5 * self.constant / self.lambda.get();
        self.centre.iter().zip(&self.totals).map(|(a, total)| a + rate * total).collect()
    }

    /// Takes duals, and computes the functions again; returns the pulls, a column a class.
    fn set(&mut self, samples: &JointSamples<'_>, duals: Vec<f64>) -> DMatrix<f64> {
        self.duals = duals;
        let (n, k) = (samples.parts().1.samples(), self.totals.len());
        let pulls = DMatrix::from_vec(n, k, samples.pulls(&self.duals).concat());
        self.expansion.renew(&(&pulls * (0.5 / self.lambda.get())));
        self.totals = pulls.column_iter().map(|column| column.sum()).collect();
        pulls
    }

    /// Makes the duals balanced, without the rounding of all steps; returns their pulls, a column a class.
    pub(crate) fn settle(&mut self, samples: &mut JointSamples<'_>) -> DMatrix<f64> {
        self.recentre(1.0);
        let mut duals = std::mem::take(&mut self.duals);
        samples.balance(&mut duals);
        self.set(samples, duals)
    }

    /// Goes on at another lambda.
    pub(crate) fn move_to(&mut self, lambda: Lambda) {
        self.recentre(0.0);
        self.expansion.scale(self.lambda.get() / lambda.get());
        self.lambda = lambda;
    }

    /// Moves the centre to the intercepts, and multiplies the constant within its limits.
    fn recentre(&mut self, factor: f64) {
        self.centre = self.intercepts();
        self.constant = (factor * self.constant).clamp(FIRST * self.square, MOST * self.square);
    }

    /// Takes passes and steps until the relative gap is within a tolerance; false if it falls too slowly,
    /// or if `stop` ends them. `count` gets the passes.
    pub(crate) fn approach(
        &mut self,
        samples: &mut JointSamples<'_>,
        tolerance: f64,
        stop: &dyn Fn() -> bool,
        count: impl Fn(usize),
    ) -> bool {
        /// The share of the gap of a margin below which steps are left out.
        const SHARE: f64 = 0.03;
        /// The relative gap from which on the intercepts are held by more, where faces lead to the end.
        const NEAR: f64 = 1e-3;
        /// The rounds in which the gap has to fall to a half.
        const PATIENCE: usize = 40;
        let mut progress = self.progress(samples);
        let (mut mark, mut since) = (progress.gap(), 0);
        let margins = (self.totals.len() - 1) as f64;
        let has_faces = samples.parts().0.kink().is_some();
        while progress.relative_gap() > tolerance {
            if stop() || since == PATIENCE || !progress.gap().is_finite() {
                return false;
            }
            count(self.round(samples, SHARE * progress.gap() / margins, stop));
            self.climb(samples);
            progress = self.progress(samples);
            if progress.unbalanced > progress.gap {
                let is_near = progress.gap <= NEAR * progress.objective.abs();
                self.recentre(if has_faces && is_near { GROWTH } else { 1.0 });
            }
            since += 1;
            if progress.gap() <= 0.5 * mark {
                (mark, since) = (progress.gap(), 0);
            }
        }
        true
    }

    /// Sets the margins of the samples, and returns how far the search is.
    pub(crate) fn progress(&mut self, samples: &mut JointSamples<'_>) -> Progress {
        let (n, k) = (samples.parts().1.samples(), self.totals.len());
        let intercepts = self.intercepts();
        let mut scores = vec![0.0; n * k];
        for (i, scores) in scores.chunks_exact_mut(k).enumerate() {
            self.expansion.write_scores(i, scores);
        }
        let pulls = samples.pulls(&self.duals);
        let mut penalty = 0.0;
        for (class, pulls) in pulls.iter().enumerate() {
            let of_class = scores.iter().skip(class).step_by(k);
            penalty += 0.5 * pulls.iter().zip(of_class).map(|(r, f)| r * f).sum::<f64>();
        }
        for scores in scores.chunks_exact_mut(k) {
            scores.iter_mut().zip(&intercepts).for_each(|(s, b)| *s += b);
        }
        samples.set_scores(&scores);
        // Balancing takes the functions this far from where they are, by what the constant stands for.
        let shift = 0.5 * self.square / self.lambda.get();
        let size = |b: f64| if self.square > 0.0 { b.abs().max(shift).max(1.0) } else { 0.0 };
        let unbalanced: f64 =
            self.totals.iter().zip(&intercepts).map(|(r, b)| r.abs() * size(*b)).sum();
        let objective = samples.sums().risk + penalty;
        Progress { objective, gap: samples.fenchel_young(&self.duals).sum, unbalanced }
    }

    /// Visits the samples whose duals would move at the margins that are set, in random order, and those
    /// that move again some times; returns the number of passes. Duals that would move by less than `least`,
    /// in units of duals or margins, stay.
    fn round(&mut self, samples: &JointSamples<'_>, least: f64, stop: &dyn Fn() -> bool) -> usize {
        const PASSES: usize = 8;
        let mut visitor = Visitor::new(samples, self.totals.len());
        let mut moving = self.order.clone();
        moving.retain(|&i| visitor.would_move(self, i, least));
        let mut visits = self.order.len();
        for _ in 0..PASSES {
            if stop() {
                break;
            }
            moving.shuffle(&mut self.random);
            visits += moving.len();
            moving.retain(|&i| visitor.visit(self, i, least));
        }
        visits.div_ceil(self.order.len())
    }

    /// Climbs the face that the duals are in, if that is worth its factor.
    fn climb(&mut self, samples: &JointSamples<'_>) {
        let Some(face) = Face::of(self, samples) else { return };
        for (i, duals) in face.climbed() {
            self.put(samples, i, &duals);
        }
        self.changes = 0;
    }

    /// Sets the duals of a sample.
    fn put(&mut self, samples: &JointSamples<'_>, i: usize, duals: &[f64]) {
        let k = self.totals.len();
        let (risk, ..) = samples.parts();
        let row = i * duals.len()..(i + 1) * duals.len();
        let (mut before, mut after) = (vec![0.0; k], vec![0.0; k]);
        risk.pulls_of(i, &self.duals[row.clone()], &mut before);
        risk.pulls_of(i, duals, &mut after);
        for (class, change) in after.iter().zip(&before).map(|(r, old)| r - old).enumerate() {
            if change != 0.0 {
                self.expansion.add(i, class, 0.5 * change / self.lambda.get());
                self.totals[class] += change;
                self.changes += 1;
            }
        }
        self.duals[row].copy_from_slice(duals);
    }

    /// Writes the margins of a sample.
    fn write_margins(
        &self,
        samples: &JointSamples<'_>,
        i: usize,
        scores: &mut [f64],
        out: &mut [f64],
    ) {
        let (_, rivals, _) = samples.parts();
        self.expansion.write_scores(i, scores);
        let rate = 0.5 * self.constant / self.lambda.get();
        for (s, (a, total)) in scores.iter_mut().zip(self.centre.iter().zip(&self.totals)) {
            *s += a + rate * total;
        }
        let class = rivals.class(i);
        out.iter_mut().zip(rivals.of(class)).for_each(|(u, c)| *u = scores[class] - scores[c]);
    }
}

/// Memory for the visit of a sample.
struct Visitor<'s, 'o> {
    samples: &'s JointSamples<'o>,
    scores: Vec<f64>,
    margins: Vec<f64>,
    next: Vec<f64>,
}

impl<'s, 'o> Visitor<'s, 'o> {
    fn new(samples: &'s JointSamples<'o>, k: usize) -> Self {
        let next = vec![0.0; samples.parts().0.width()];
        Visitor { samples, scores: vec![0.0; k], margins: vec![0.0; k - 1], next }
    }

    /// Moves the duals of a sample to the best ones; false if these are no farther than `least`.
    fn visit<E: Expansion>(&mut self, ascent: &mut BlockAscent<E>, i: usize, least: f64) -> bool {
        ascent.write_margins(self.samples, i, &mut self.scores, &mut self.margins);
        let moves = self.find_best(ascent, i) > least;
        if moves {
            ascent.put(self.samples, i, &self.next);
        }
        moves
    }

    /// Returns true if a visit would move the duals of a sample by more than `least` at the margins that are
    /// set.
    fn would_move<E: Expansion>(&mut self, ascent: &BlockAscent<E>, i: usize, least: f64) -> bool {
        let width = self.margins.len();
        let (risk, ..) = self.samples.parts();
        self.margins.copy_from_slice(&risk.margins()[i * width..(i + 1) * width]);
        self.find_best(ascent, i) > least
    }

    /// Finds the best duals of a sample at its margins; returns how far away they are, in units of duals or
    /// margins.
    fn find_best<E: Expansion>(&mut self, ascent: &BlockAscent<E>, i: usize) -> f64 {
        let Visitor { samples, margins, next, .. } = self;
        let (risk, _, weights) = samples.parts();
        let square = ascent.expansion.square(i) + ascent.constant;
        let curvature = 0.5 * weights.get(i) * square / ascent.lambda.get();
        let given = &ascent.duals[i * next.len()..(i + 1) * next.len()];
        next.copy_from_slice(given);
        risk.ascend(i, margins, curvature, next);
        let apart = next.iter().zip(given).map(|(s, old)| (s - old).abs());
        apart.fold(0.0, f64::max) * curvature.max(1.0)
    }
}

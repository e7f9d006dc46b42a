//! The separation oracle: a cut between a halfspace with too high an error and the best one.

use crate::cutting_planes::Cut;
use crate::{Problem, SphereSample};

/// The answer of an oracle about a halfspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Separation {
    /// The error on the sample.
    pub error: f64,
    /// The cut that separates it from w*; `None` if its error is low enough.
    pub cut: Option<Cut>,
}

/// Returns the answer of the separation oracle of proposition B.5 on an empirical distribution.
///
/// With `G` the mean of `g_{eta, gamma/2}(w, w, x, y)` over the sample, lemma 2.2 gives
/// `<G, w - w*> >= 2 (err(w) - eta)` in expectation over the labels, so that a halfspace that is
/// worse than eta is cut off from w*.
///
/// A `w` whose empirical error is at most `eta + epsilon/2` is not cut; the cut of any other is
/// `2 (err(w) - eta) - epsilon` deep, where epsilon allows for the sample (a depth below 0 counts
/// as 0).
pub fn separate(problem: &Problem, sample: &SphereSample<'_>, w: &[f64]) -> Separation {
    let scores = sample.points().scores(w);
    let error = sample.wrong(&scores) / sample.total();
    let factor = |score, y| problem.gradient_factor(score, y);
    Separation::of(problem, error, || sample.mean(&scores, factor))
}

/// Returns the reweighted risk `L_{eta, v}(w)` of (3) on a sample, the mean of
/// [`Problem::reweighted_loss`] by the weights of the samples.
///
/// With `v = w` it is `err(w) - eta` if no sample is closer than gamma/2 to the boundary of w, and
/// `L_{eta, w}(w*)` is at most 0 in expectation over the labels: w* does better than every w with an
/// error above eta.
///
/// # Panics
/// If a halfspace has another number of coefficients than the sample has features.
pub fn reweighted_risk(problem: &Problem, sample: &SphereSample<'_>, w: &[f64], v: &[f64]) -> f64 {
    let (scores, references) = (sample.points().scores(w), sample.points().scores(v));
    let loss = |row: usize| {
        let loss = problem.reweighted_loss(scores[row], references[row], sample.signs()[row]);
        sample.weights()[row] * loss
    };
    (0..sample.rows()).map(loss).sum::<f64>() / sample.total()
}

impl Separation {
    /// Returns the answer about a halfspace with this error on the sample, and this mean G.
    pub(super) fn of(problem: &Problem, error: f64, mean: impl FnOnce() -> Vec<f64>) -> Self {
        let excess = error - problem.noise.get();
        let epsilon = problem.target.epsilon();
        let depth = (2.0 * excess - epsilon).max(0.0);
        let cut = (excess > epsilon / 2.0).then(|| Cut { normal: mean(), depth });
        Separation { error, cut }
    }

    /// Returns the cut by a normal through a point that is no halfspace.
    pub(super) fn by(normal: Vec<f64>) -> Self {
        Separation { error: f64::INFINITY, cut: Some(Cut { normal, depth: 0.0 }) }
    }
}

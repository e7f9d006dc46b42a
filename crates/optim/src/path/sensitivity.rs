//! Bounds how far scores can move with the gap of a fit.

use crate::{Fit, Lambda};

/// How far scores of samples can move with the function that gives them:
/// `|f(x) - g(x)| <= ||f - g|| ||x||`, in the norm that the penalty is the square of.
///
/// The norm of a sample is that of its features for linear functions, scaled if those of the fit are,
/// and `sqrt(K(x, x))` for a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The norm of every sample held out.
    pub held_out: Vec<f64>,
    /// The largest norm of a sample of the fit.
    pub training: f64,
}

impl Sensitivity {
    /// Takes the squares of the norms of all samples, those of the fit, and those held out.
    pub fn of_squares(squares: &[f64], rows: &[usize], held_out: &[usize]) -> Self {
        let norm = |&i: &usize| squares[i].max(0.0).sqrt();
        Sensitivity {
            held_out: held_out.iter().map(norm).collect(),
            training: rows.iter().map(norm).fold(0.0, f64::max),
        }
    }

    /// Returns true for every sample held out whose class an exact minimiser might decide otherwise,
    /// given the scores of a fit.
    ///
    /// The class is certain if the size of the score is above the distance to that of the minimiser.
    pub(super) fn unproven(&self, fit: &Fit, has_intercept: bool, scores: &[f64]) -> Vec<bool> {
        let distances = self.distances(fit.report.duality_gap, fit.lambda, has_intercept);
        let is_open = |(score, distance): (&f64, f64)| distance > 0.0 && score.abs() <= distance;
        scores.iter().zip(distances).map(is_open).collect()
    }

    /// Returns true if a score is so small that it may well have another sign at the minimum: at
    /// most a tenth of the distance that the gap allows it to have from there, for real distances are
    /// far smaller than these bounds.
    pub fn may_turn(&self, gap: f64, lambda: Lambda, has_intercept: bool, scores: &[f64]) -> bool {
        const SHARE: f64 = 0.1;
        let distances = self.distances(gap, lambda, has_intercept);
        scores.iter().zip(distances).any(|(score, distance)| score.abs() < SHARE * distance)
    }

    /// Returns how far the score of every sample held out can be from that of the minimiser.
    ///
    /// With duality gap g the function of a fit lies within `sqrt(g/lambda)` of that of the minimiser,
    /// for `lambda ||f||^2` makes the objective strongly convex. Scores of the fit that move by at
    /// most r move the intercept that is best for them by at most r. So the distance is
    /// `sqrt(g/lambda)` times the sum of the norm of the sample and, if there is an intercept, the
    /// largest norm of a sample of the fit.
    fn distances(
        &self,
        gap: f64,
        lambda: Lambda,
        has_intercept: bool,
    ) -> impl Iterator<Item = f64> {
        let distance = (gap.max(0.0) / lambda.get()).sqrt();
        let of_intercept = if has_intercept { self.training } else { 0.0 };
        self.held_out.iter().map(move |norm| distance * (norm + of_intercept))
    }
}

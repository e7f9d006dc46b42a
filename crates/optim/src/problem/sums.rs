//! Sums over the samples at one point, and how far rounding can have moved them.

use crate::problem::summation::{SUM_ERROR, UNIT};

/// The units of roundoff to which a loss is taken to compute its value, relative to that value, and
/// to see its argument, relative to the larger of that argument and 1.
const LOSS_ERROR: f64 = 4.0;

/// Sums over the samples at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// The risk `(1/n) sum c_i L(u_i)`.
    pub risk: f64,
    /// The mean size `(1/n) sum c_i |L(u_i)|`.
    pub size: f64,
    /// The derivative of the risk in the intercept, which a settled intercept leaves to rounding; 0
    /// without one.
    pub residual: f64,
    /// The mean slope `(1/n) sum c_i |L'(u_i)|`, to which the rounding of sums of slopes is
    /// relative.
    pub slopes: f64,
    /// The sum `(1/n) sum c_i |L'(u_i)| (1 + |u_i|)`.
    pub arguments: f64,
    /// The curvature `(1/n) sum c_i L''(u_i)`.
    pub curvature: f64,
    /// The largest `|u_i|`.
    pub largest: f64,
}

impl Sums {
    /// Returns how far rounding can have moved an objective that consists of the risk and a
    /// penalty, if every score is right to `score_error`.
    ///
    /// With the unit roundoff `u` and sums that lose at most `k u` of the sizes of their terms, the
    /// bound is
    ///
    /// `u (k + 4) ((1/n) sum c_i |L(u_i)| + penalty) + (1/n) sum c_i |L'(u_i)| (4 u (1 + |u_i|) +
    /// score_error)`.
    pub fn rounding(&self, objective: f64, score_error: f64) -> f64 {
        let terms = self.size + (objective.abs() + self.size);
        let rounding = UNIT * ((SUM_ERROR + LOSS_ERROR) * terms + LOSS_ERROR * self.arguments);
        rounding + score_error * self.slopes
    }
}

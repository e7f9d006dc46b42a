//! The misclassification loss.

use crate::vectorized::batch;
use crate::{Interval, MarginLoss};

/// The misclassification loss, `L(u) = 1` for `u <= 0`, 0 for `u > 0`: for evaluation, not fitting.
///
/// Neither convex nor continuous; the derivative is 0 everywhere but at 0, where 0 is returned too,
/// and has nothing to say about the jump. Every minimiser of its conditional risk has the sign of
/// the Bayes rule, so it is classification-calibrated. Scores carry no probabilities.
///
/// Source: the risk that the other losses stand in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZeroOne;

impl MarginLoss for ZeroOne {
    fn name(&self) -> &str {
        "zero-one"
    }

    fn value(&self, u: f64) -> f64 {
        if u > 0.0 { 0.0 } else { 1.0 }
    }

    fn derivative(&self, _u: f64) -> f64 {
        0.0
    }

    fn second_derivative(&self, _u: f64) -> f64 {
        0.0
    }

    fn is_convex(&self) -> bool {
        false
    }

    fn is_differentiable(&self) -> bool {
        false
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        None
    }

    /// Returns the point itself, or the right side of 0 if the way is worth it. The infimum there
    /// is not attained; the smallest positive normal number stands for it.
    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point <= 0.0 && point * point < 2.0 * step { f64::MIN_POSITIVE } else { point }
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn is_classification_calibrated(&self) -> bool {
        true
    }

    /// Returns 1 or -1, which stand for every score of their sign; at `eta = 1/2`, where every
    /// score but 0 is a minimiser, 1.
    fn population_minimizer(&self, eta: f64) -> f64 {
        if eta >= 0.5 { 1.0 } else { -1.0 }
    }

    /// Returns a: a right sign costs `1 - eta`, a wrong one `eta`.
    fn psi_transform(&self, a: f64) -> Option<f64> {
        Some(a)
    }

    batch! {
        values: |u| if u > 0.0 { 0.0 } else { 1.0 };
        derivatives: |_u| 0.0;
        second_derivatives: |_u| 0.0;
    }
}

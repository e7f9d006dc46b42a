//! The hinge loss.

use crate::vectorized::batch;
use crate::{Interval, MarginLoss, SpecialCase};

/// The hinge loss of the support vector machine, `L(u) = max(0, 1 - u)`.
///
/// Convex, 1-Lipschitz, at least 0, with a kink at `u = 1`, where 0 is returned for the derivative:
/// a margin of 1 is not violated. Classification-calibrated, for it is differentiable at 0.
/// Conjugate `L*(-t) = -t` on [0, 1]. The population minimiser is the Bayes rule itself,
/// `sign(2 eta - 1)`, so scores carry no probabilities.
///
/// Source: Cortes and Vapnik, *Support-vector networks*, Machine Learning 20 (1995).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hinge;

impl MarginLoss for Hinge {
    fn name(&self) -> &str {
        "hinge"
    }

    fn value(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { 1.0 - u }
    }

    fn derivative(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { -1.0 }
    }

    fn second_derivative(&self, _u: f64) -> f64 {
        0.0
    }

    fn is_differentiable(&self) -> bool {
        false
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=1.0).contains(&t) { -t } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // Moved up by the slope, but not past the kink.
        point.max((point + step).min(1.0))
    }

    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        if curvature <= 0.0 {
            return -self.derivative(margin);
        }
        (dual + (1.0 - margin) / curvature).clamp(0.0, 1.0)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        Some(a)
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        if eta > 0.5 {
            1.0
        } else if eta < 0.5 {
            -1.0
        } else {
            0.0
        }
    }

    fn probability(&self, _score: f64) -> Option<f64> {
        None
    }

    fn special_case(&self) -> Option<SpecialCase> {
        Some(SpecialCase::Hinge)
    }

    batch! {
        values: |u| if u >= 1.0 { 0.0 } else { 1.0 - u };
        derivatives: |u| if u >= 1.0 { 0.0 } else { -1.0 };
        second_derivatives: |_u| 0.0;
    }
}

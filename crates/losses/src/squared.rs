//! The squared loss.

use crate::vectorized::batch;
use crate::{Interval, MarginLoss};

/// The squared loss, `L(u) = (1 - u)^2`: least squares on the labels, as `(1 - y f)^2 = (y - f)^2`.
///
/// Convex, smooth, at least 0, `L'' = 2`, classification-calibrated. It punishes margins beyond 1
/// too. Conjugate `L*(-t) = t^2/4 - t`; population minimiser `2 eta - 1`, so a score `f` stands for
/// the probability `(1 + f)/2`.
///
/// Source: least squares; its calibration in Bartlett, Jordan and McAuliffe, JASA 101 (2006).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Squared;

impl MarginLoss for Squared {
    fn name(&self) -> &str {
        "squared"
    }

    fn value(&self, u: f64) -> f64 {
        (1.0 - u) * (1.0 - u)
    }

    fn derivative(&self, u: f64) -> f64 {
        -2.0 * (1.0 - u)
    }

    fn second_derivative(&self, _u: f64) -> f64 {
        2.0
    }

    fn curvature(&self) -> Option<f64> {
        Some(2.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        t * (0.25 * t - 1.0)
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::REALS)
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        (point + 2.0 * step) / (1.0 + 2.0 * step)
    }

    fn flow(&self, u: f64, time: f64) -> f64 {
        u - (1.0 - u) * (-2.0 * time).exp_m1()
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        Some(a * a)
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        2.0 * eta - 1.0
    }

    fn probability(&self, score: f64) -> Option<f64> {
        Some((0.5 * (1.0 + score)).clamp(0.0, 1.0))
    }

    batch! {
        values: |u| (1.0 - u) * (1.0 - u);
        derivatives: |u| -2.0 * (1.0 - u);
        second_derivatives: |_u| 2.0;
    }
}

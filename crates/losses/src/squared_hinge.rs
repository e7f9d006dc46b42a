//! The squared hinge loss.

use crate::vectorized::batch;
use crate::{Interval, MarginLoss};

/// The squared hinge loss, `L(u) = max(0, 1 - u)^2`.
///
/// Convex, differentiable, at least 0, with `L''` at most 2 (it falls from 2 to 0 at `u = 1`, where
/// 2 is returned), classification-calibrated. Conjugate `L*(-t) = t^2/4 - t` for `t >= 0`;
/// population minimiser `2 eta - 1`, so a score `f` stands for the probability `(1 + f)/2`.
///
/// Source: Cortes and Vapnik, *Support-vector networks*, Machine Learning 20 (1995).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SquaredHinge;

impl MarginLoss for SquaredHinge {
    fn name(&self) -> &str {
        "squared-hinge"
    }

    fn value(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { (1.0 - u) * (1.0 - u) }
    }

    fn derivative(&self, u: f64) -> f64 {
        if u >= 1.0 { 0.0 } else { -2.0 * (1.0 - u) }
    }

    fn second_derivative(&self, u: f64) -> f64 {
        if u <= 1.0 { 2.0 } else { 0.0 }
    }

    fn curvature(&self) -> Option<f64> {
        Some(2.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t >= 0.0 { t * (0.25 * t - 1.0) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, f64::INFINITY))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point >= 1.0 { point } else { (point + 2.0 * step) / (1.0 + 2.0 * step) }
    }

    fn flow(&self, u: f64, time: f64) -> f64 {
        if u >= 1.0 { u } else { u - (1.0 - u) * (-2.0 * time).exp_m1() }
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
        values: |u| if u >= 1.0 { 0.0 } else { (1.0 - u) * (1.0 - u) };
        derivatives: |u| if u >= 1.0 { 0.0 } else { -2.0 * (1.0 - u) };
        second_derivatives: |u| if u <= 1.0 { 2.0 } else { 0.0 };
    }
}

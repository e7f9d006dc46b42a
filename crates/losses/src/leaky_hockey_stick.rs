//! The leaky hockey stick loss.

use crate::vectorized::{batch, ln};
use crate::{HomogeneousTail, Interval, MarginLoss, SpecialCase};

/// The leaky hockey stick loss, the first negatively divergent margin loss:
///
/// `L(u) = 1 - u` for `u <= 1`, `-log u` for `u > 1`.
///
/// Convex, differentiable, 1-Lipschitz, with `L''` at most 1 (it jumps from 0 to 1 at `u = 1`,
/// where 1 is returned), classification-calibrated, unbounded below: a sample far on its right side
/// earns a reward. Conjugate `L*(-t) = -1 - log t` on (0, 1]; population minimiser `eta/(1-eta)`
/// for `eta > 1/2` and its mirror image below; at `eta = 1/2` every point of [-1, 1].
///
/// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), equation 1, theorem 1, lemma 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeakyHockeyStick;

impl MarginLoss for LeakyHockeyStick {
    fn name(&self) -> &str {
        "lhs"
    }

    fn value(&self, u: f64) -> f64 {
        if u > 1.0 { -u.ln() } else { 1.0 - u }
    }

    fn derivative(&self, u: f64) -> f64 {
        -1.0 / u.max(1.0)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        if u >= 1.0 { 1.0 / (u * u) } else { 0.0 }
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t > 0.0 && t <= 1.0 { -1.0 - t.ln() } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // On the line the slope is -1; beyond 1, v - step/v = point.
        if point + step <= 1.0 {
            point + step
        } else {
            let root = (point * point + 4.0 * step).sqrt();
            // The form without cancellation for either sign of the point.
            if point >= 0.0 { 0.5 * (point + root) } else { 2.0 * step / (root - point) }
        }
    }

    fn lower_bound(&self) -> Option<f64> {
        None
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        // eta ln(eta / (1 - eta)) at eta = (1 + a)/2.
        Some((1.0 + a) * a.atanh())
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        if eta > 0.5 {
            eta / (1.0 - eta)
        } else if eta < 0.5 {
            -(1.0 - eta) / eta
        } else {
            0.0
        }
    }

    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        Some(HomogeneousTail { from: 1.0, degree: 1.0 })
    }

    fn special_case(&self) -> Option<SpecialCase> {
        Some(SpecialCase::LeakyHockeyStick)
    }

    batch! {
        values: |u| if u > 1.0 { -ln(u) } else { 1.0 - u };
        derivatives: |u| -1.0 / if u > 1.0 { u } else { 1.0 };
        second_derivatives: |u| if u >= 1.0 { 1.0 / (u * u) } else { 0.0 };
    }
}

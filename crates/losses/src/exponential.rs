//! The exponential loss.

use crate::logistic::{log_odds, sigmoid};
use crate::vectorized::{batch, exp};
use crate::{Interval, MarginLoss};

/// The exponential loss of boosting, `L(u) = exp(-u)`.
///
/// Convex, smooth, at least 0, with neither curvature nor slope bounded (beyond the margin -709 it
/// is `+inf` in doubles), classification-calibrated. Conjugate `L*(-t) = t log t - t` for `t >= 0`;
/// population minimiser `log(eta/(1-eta))/2`, so a score `f` stands for `1/(1 + exp(-2 f))`.
///
/// Source: Freund and Schapire, *A decision-theoretic generalization of on-line learning*, JCSS 55
/// (1997).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exponential;

impl MarginLoss for Exponential {
    fn name(&self) -> &str {
        "exponential"
    }

    fn value(&self, u: f64) -> f64 {
        (-u).exp()
    }

    fn derivative(&self, u: f64) -> f64 {
        -(-u).exp()
    }

    fn second_derivative(&self, u: f64) -> f64 {
        (-u).exp()
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t > 0.0 {
            t * (t.ln() - 1.0)
        } else if t == 0.0 {
            0.0
        } else {
            f64::INFINITY
        }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, f64::INFINITY))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // With v = point + exp x the condition reads exp x + x = log(step) - point: increasing and
        // convex, so Newton from the right converges monotonically.
        let c = step.ln() - point;
        let mut x = if c > 1.0 { c.ln() } else { c };
        loop {
            let next = x - (x.exp() + x - c) / (1.0 + x.exp());
            if next.is_nan() || next >= x {
                break;
            }
            x = next;
        }
        // v in the form that does not cancel.
        if x > 0.0 { step.ln() - x } else { point + x.exp() }
    }

    fn flow(&self, u: f64, time: f64) -> f64 {
        // The flow adds the time to exp u.
        let other = time.ln();
        u.max(other) + (-(u - other).abs()).exp().ln_1p()
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        // 1 - sqrt(1 - a^2), without its cancellation.
        let square = a * a;
        Some(square / (1.0 + ((1.0 - a) * (1.0 + a)).sqrt()))
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        0.5 * log_odds(eta)
    }

    fn probability(&self, score: f64) -> Option<f64> {
        Some(sigmoid(2.0 * score))
    }

    batch! {
        values: |u| exp(-u);
        derivatives: |u| -exp(-u);
        second_derivatives: |u| exp(-u);
    }
}

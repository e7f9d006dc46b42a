//! The logistic loss.

use crate::scalar_search::newton_root;
use crate::vectorized::{batch, exp, ln_1p};
use crate::{Interval, MarginLoss};

/// The logistic loss, `L(u) = log(1 + exp(-u))`.
///
/// Convex, smooth, 1-Lipschitz, at least 0, with `L'' <= 1/4` (attained at 0),
/// classification-calibrated. Conjugate `L*(-t) = t log t + (1-t) log(1-t)` on [0, 1]; population
/// minimiser `log(eta/(1-eta))`, so a score `f` stands for the probability `1/(1 + exp(-f))`.
///
/// Source: Cox, *The regression analysis of binary sequences*, JRSS B 20 (1958).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logistic;

/// Returns `1/(1 + exp(-x))`, without overflow.
pub(crate) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Returns `log(eta/(1-eta))`, accurate near 0, 1/2 and 1.
pub(crate) fn log_odds(eta: f64) -> f64 {
    let smaller = eta.min(1.0 - eta);
    ((1.0 - 2.0 * smaller) / smaller).ln_1p().copysign(eta - 0.5)
}

/// Returns `((1 + a) ln(1 + a) + (1 - a) ln(1 - a))/2` for `a` in [0, 1], by which the entropy of
/// the class probability `(1 + a)/2` is less than `ln 2`: to a few units in the last place for
/// every `a`.
pub(crate) fn entropy_deficit(a: f64) -> f64 {
    if a == 1.0 {
        std::f64::consts::LN_2
    } else if a > 0.5 {
        // Here 1 - a is exact, and its logarithm does not see the rounding of a square.
        0.5 * ((1.0 + a) * a.ln_1p() + (1.0 - a) * (-a).ln_1p())
    } else {
        // The first term is twice the size of the second.
        a * a.atanh() + 0.5 * (-a * a).ln_1p()
    }
}

impl MarginLoss for Logistic {
    fn name(&self) -> &str {
        "logistic"
    }

    fn value(&self, u: f64) -> f64 {
        (-u).max(0.0) + (-u.abs()).exp().ln_1p()
    }

    fn derivative(&self, u: f64) -> f64 {
        -sigmoid(-u)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        let e = (-u.abs()).exp();
        e / ((1.0 + e) * (1.0 + e))
    }

    fn curvature(&self) -> Option<f64> {
        Some(0.25)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t == 0.0 || t == 1.0 {
            0.0
        } else if t > 0.0 && t < 1.0 {
            t * t.ln() + (1.0 - t) * (-t).ln_1p()
        } else {
            f64::INFINITY
        }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        let condition = |v: f64| {
            ((v - point) + step * self.derivative(v), 1.0 + step * self.second_derivative(v))
        };
        newton_root(condition, point, point + step)
    }

    fn flow(&self, u: f64, time: f64) -> f64 {
        // The flow adds the time to v + exp v, a function of Lambert. The increase x of v is the
        // root of the convex function x + exp(u) (exp(x) - 1) - time: Newton from the right
        // converges monotonically, and a change this small leaves none of the error.
        const CHANGE: f64 = 1e-8;
        let e = u.exp();
        let mut x = time.min((time / e).ln_1p());
        while x > 0.0 && e < f64::INFINITY {
            let grown = x.exp_m1();
            let change = (x + e * grown - time) / (1.0 + e * (1.0 + grown));
            x -= change;
            if change.is_nan() || change <= CHANGE * x {
                break;
            }
        }
        u + x
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        Some(entropy_deficit(a))
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        log_odds(eta)
    }

    fn probability(&self, score: f64) -> Option<f64> {
        Some(sigmoid(score))
    }

    batch! {
        values: |u| (-u).max(0.0) + ln_1p(exp(-u.abs()));
        derivatives: |u| {
            let e = exp(-u.abs());
            -(if u > 0.0 { e } else { 1.0 }) / (1.0 + e)
        };
        second_derivatives: |u| {
            let e = exp(-u.abs());
            e / ((1.0 + e) * (1.0 + e))
        };
    }
}

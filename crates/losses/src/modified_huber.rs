//! The modified Huber loss.

use crate::vectorized::batch;
use crate::{Interval, MarginLoss};

/// The modified Huber loss, the squared hinge that turns into a line where a sample is badly wrong:
///
/// `L(u) = max(0, 1 - u)^2` for `u >= -1`, `-4 u` below.
///
/// Convex, differentiable, 4-Lipschitz, at least 0, with `L''` at most 2 (returned at both ends of
/// the quadratic piece), classification-calibrated. Conjugate `L*(-t) = t^2/4 - t` on [0, 4];
/// population minimiser `2 eta - 1`, so a score `f` stands for the probability `(1 + f)/2`. It is
/// four times [`SmoothedHinge`](crate::SmoothedHinge) of width 2.
///
/// Source: Zhang, *Statistical behavior and consistency of classification methods based on convex
/// risk minimization*, Annals of Statistics 32 (2004).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModifiedHuber;

/// Returns the value, quadratic up to 2 and linear beyond, in the violation `d = 1 - u`.
#[inline(always)]
fn value(u: f64) -> f64 {
    let d = if u >= 1.0 { 0.0 } else { 1.0 - u };
    let inner = d.min(2.0);
    inner * inner + 4.0 * (d - inner)
}

#[inline(always)]
fn derivative(u: f64) -> f64 {
    -(2.0 * (1.0 - u)).clamp(0.0, 4.0)
}

#[inline(always)]
fn second_derivative(u: f64) -> f64 {
    if (-1.0..=1.0).contains(&u) { 2.0 } else { 0.0 }
}

impl MarginLoss for ModifiedHuber {
    fn name(&self) -> &str {
        "modified-huber"
    }

    fn value(&self, u: f64) -> f64 {
        value(u)
    }

    fn derivative(&self, u: f64) -> f64 {
        derivative(u)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        second_derivative(u)
    }

    fn curvature(&self) -> Option<f64> {
        Some(2.0)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(4.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=4.0).contains(&t) { t * (0.25 * t - 1.0) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 4.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point >= 1.0 {
            point
        } else if point + 4.0 * step <= -1.0 {
            point + 4.0 * step
        } else {
            (point + 2.0 * step) / (1.0 + 2.0 * step)
        }
    }

    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        if curvature <= 0.0 {
            return -self.derivative(margin);
        }
        // A Newton step on the quadratic dual, exact up to the box.
        let slope = 1.0 - margin - 0.5 * dual;
        (dual + slope / (0.5 + curvature)).clamp(0.0, 4.0)
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
        values: |u| value(u);
        derivatives: |u| derivative(u);
        second_derivatives: |u| second_derivative(u);
    }
}

#[cfg(test)]
mod tests {
    use super::ModifiedHuber;
    use crate::{MarginLoss, SmoothedHinge};

    #[test]
    fn it_is_four_times_a_smoothed_hinge() -> Result<(), crate::Error> {
        let smoothed = SmoothedHinge::new(2.0)?;
        for k in -300..=300 {
            let u = 0.01 * f64::from(k);
            assert_eq!(ModifiedHuber.value(u), 4.0 * smoothed.value(u), "{u}");
            assert_eq!(ModifiedHuber.derivative(u), 4.0 * smoothed.derivative(u), "{u}");
            let t = 4.0 * f64::from(k) / 300.0;
            assert_eq!(ModifiedHuber.conjugate(t), 4.0 * smoothed.conjugate(0.25 * t), "{t}");
        }
        Ok(())
    }
}

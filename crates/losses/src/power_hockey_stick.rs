//! The family of losses between a line and the leaky hockey stick.

use crate::scalar_search::newton_root;
use crate::vectorized::{batch, exp, exp_m1, ln};
use crate::{Error, HomogeneousTail, Interval, MarginLoss};

/// The family `L_r`, `r > 1`, that interpolates between a line and the leaky hockey stick:
///
/// `L(u) = 1 - u` for `u <= 1`, `-r (u^(1/r) - 1)` for `u > 1`.
///
/// Convex, differentiable, 1-Lipschitz, with `L''` at most `(r-1)/r` (it jumps from 0 to that at
/// `u = 1`, where it is returned), classification-calibrated, unbounded below. As `r` grows it
/// tends to [`LeakyHockeyStick`](crate::LeakyHockeyStick), as `r` falls to 1 to the line `1 - u`.
/// Conjugate `L*(-t) = (r-1) t^(-1/(r-1)) - r` on (0, 1]; population minimiser
/// `(eta/(1-eta))^(r/(r-1))` for `eta > 1/2` and its mirror image below; at `eta = 1/2` every point
/// of [-1, 1].
///
/// Powers are evaluated as `expm1` of logarithms, so that no digits are lost for `u` next to 1 or
/// for large `r`.
///
/// Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), equation 15.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerHockeyStick {
    r: f64,
    /// The degree `(r-1)/r` with which the slope decays.
    degree: f64,
}

impl PowerHockeyStick {
    /// Returns the loss `L_r`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `r` is finite and greater than 1.
    pub fn new(r: f64) -> Result<Self, Error> {
        let r = Error::check("l-r", "r", r, "a finite number greater than 1", |r| r > 1.0)?;
        Ok(PowerHockeyStick { r, degree: (r - 1.0) / r })
    }

    /// Returns the exponent's inverse.
    pub fn r(&self) -> f64 {
        self.r
    }
}

impl MarginLoss for PowerHockeyStick {
    fn name(&self) -> &str {
        "l-r"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("r", self.r)]
    }

    fn value(&self, u: f64) -> f64 {
        if u > 1.0 { -self.r * (u.ln() / self.r).exp_m1() } else { 1.0 - u }
    }

    fn derivative(&self, u: f64) -> f64 {
        -u.max(1.0).powf(-self.degree)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        if u >= 1.0 { self.degree * u.powf(-self.degree) / u } else { 0.0 }
    }

    fn curvature(&self) -> Option<f64> {
        Some(self.degree)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t > 0.0 && t <= 1.0 {
            let power = self.r - 1.0;
            power * (-t.ln() / power).exp_m1() - 1.0
        } else {
            f64::INFINITY
        }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point + step <= 1.0 {
            return point + step;
        }
        // v - step v^(-degree) = point with v > 1: concave, so Newton from the left never
        // overshoots.
        let condition = |v: f64| {
            let pull = step * v.powf(-self.degree);
            (v - pull - point, 1.0 + self.degree * pull / v)
        };
        newton_root(condition, point.max(1.0), point + step)
    }

    fn lower_bound(&self) -> Option<f64> {
        None
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        // (r - 1) eta ((eta / (1 - eta))^(1/(r - 1)) - 1) at eta = (1 + a)/2.
        let r_1 = self.r - 1.0;
        let log_odds = 2.0 * a.atanh();
        let exponent = log_odds / r_1;
        // Below rounding exp_m1 is the identity, and the exponent may underflow.
        let power = if exponent < f64::EPSILON { log_odds } else { r_1 * exponent.exp_m1() };
        Some(0.5 * (1.0 + a) * power)
    }

    fn undecided_scores(&self) -> Option<Interval> {
        Some(Interval::new(-1.0, 1.0))
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        let inverse = self.degree.recip();
        if eta > 0.5 {
            (eta / (1.0 - eta)).powf(inverse)
        } else if eta < 0.5 {
            -((1.0 - eta) / eta).powf(inverse)
        } else {
            0.0
        }
    }

    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        Some(HomogeneousTail { from: 1.0, degree: self.degree })
    }

    batch! { loss =>
        values: |u| {
            let tail = -loss.r * exp_m1(ln(if u > 1.0 { u } else { 1.0 }) / loss.r);
            if u > 1.0 { tail } else { 1.0 - u }
        };
        derivatives: |u| -exp(-loss.degree * ln(if u > 1.0 { u } else { 1.0 }));
        second_derivatives: |u| {
            let tail = loss.degree * exp(-loss.degree * ln(if u > 1.0 { u } else { 1.0 })) / u;
            if u >= 1.0 { tail } else { 0.0 }
        };
    }
}

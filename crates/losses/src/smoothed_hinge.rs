//! The smoothed hinge loss.

use crate::vectorized::batch;
use crate::{Error, Interval, MarginLoss};

/// The hinge loss with its kink rounded off over `width > 0`:
///
/// `L(u) = 0` for `u >= 1`, `(1-u)^2/(2 width)` for `1 - width < u < 1`, `1 - u - width/2` below.
///
/// Convex, differentiable, 1-Lipschitz, at least 0, with `L''` at most `1/width` (returned at both
/// ends of the rounding), classification-calibrated. Conjugate `L*(-t) = width t^2/2 - t` on [0,
/// 1]. For `eta >= 1/2` the population minimiser is `1 - width (1-eta)/eta` where that is at least
/// `width - 1` (and 0 at `eta = 1/2`), else `2 eta - 1`; below, its mirror image.
///
/// Source: Shalev-Shwartz and Zhang, *Stochastic dual coordinate ascent*, JMLR 14 (2013).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothedHinge {
    width: f64,
}

impl SmoothedHinge {
    /// Returns the hinge loss smoothed over `width`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `width` is within 1e-100 to 1e100, the range in which `1/width`
    /// is a number.
    pub fn new(width: f64) -> Result<Self, Error> {
        let requirement = "a number from 1e-100 to 1e100";
        let width = Error::check("smoothed-hinge", "width", width, requirement, |w| {
            (1e-100..=1e100).contains(&w)
        })?;
        Ok(SmoothedHinge { width })
    }

    /// Returns the length of the quadratic piece.
    pub fn width(&self) -> f64 {
        self.width
    }
}

/// Returns the value, quadratic up to `width` and linear beyond, in the violation `d = 1 - u`.
#[inline(always)]
fn value(width: f64, u: f64) -> f64 {
    let d = if u >= 1.0 { 0.0 } else { 1.0 - u };
    let inner = d.min(width);
    0.5 * inner * (inner / width) + (d - inner)
}

#[inline(always)]
fn derivative(width: f64, u: f64) -> f64 {
    -((1.0 - u) / width).clamp(0.0, 1.0)
}

#[inline(always)]
fn second_derivative(width: f64, u: f64) -> f64 {
    let d = 1.0 - u;
    if d >= 0.0 && d <= width { width.recip() } else { 0.0 }
}

impl MarginLoss for SmoothedHinge {
    fn name(&self) -> &str {
        "smoothed-hinge"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("width", self.width)]
    }

    fn value(&self, u: f64) -> f64 {
        value(self.width, u)
    }

    fn derivative(&self, u: f64) -> f64 {
        derivative(self.width, u)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        second_derivative(self.width, u)
    }

    fn curvature(&self) -> Option<f64> {
        Some(self.width.recip())
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=1.0).contains(&t) { t * (0.5 * self.width * t - 1.0) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point >= 1.0 {
            point
        } else if point + step <= 1.0 - self.width {
            point + step
        } else {
            (point * self.width + step) / (self.width + step)
        }
    }

    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        if curvature <= 0.0 {
            return -self.derivative(margin);
        }
        // A Newton step on the quadratic dual, exact up to the box.
        let slope = 1.0 - margin - self.width * dual;
        (dual + slope / (self.width + curvature)).clamp(0.0, 1.0)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        let (likely, unlikely) = if eta >= 0.5 { (eta, 1.0 - eta) } else { (1.0 - eta, eta) };
        if likely == unlikely {
            0.0
        } else if self.width <= 2.0 * likely {
            (1.0 - self.width * (unlikely / likely)).copysign(eta - 0.5)
        } else {
            2.0 * eta - 1.0
        }
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        // Both margins on the quadratic piece, as far as a + 1 <= width; from there on the likely
        // one alone, or the unlikely one on the line: no difference of like numbers.
        let bend = self.width - 1.0;
        if a <= bend {
            return Some(a * (a / self.width) * 0.5);
        }
        let quadratic = if bend > 0.0 { 0.5 * bend * (bend / self.width) } else { 0.0 };
        Some(quadratic + a * ((1.0 - self.width) + a) / (1.0 + a))
    }

    batch! { loss =>
        values: |u| value(loss.width, u);
        derivatives: |u| derivative(loss.width, u);
        second_derivatives: |u| second_derivative(loss.width, u);
    }
}

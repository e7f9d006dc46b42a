//! The projection profile of Garg and Roth.

mod calibration;

use crate::scalar_search::monotone_root;
use crate::vectorized::{batch, exp};
use crate::{Error, MarginLoss, SpecialCase};

/// The projection profile of Garg and Roth, `alpha, beta > 0`:
///
/// `L(u) = exp(-alpha u^2)` for `u > 0`, `exp(-beta u)` for `u <= 0`.
///
/// Not convex; continuous, decreasing, with a kink at 0 (slope `-beta` on the left, which is
/// returned, 0 on the right); at least 0; neither curvature nor slope bounded on the left.
///
/// The kink makes 0 a local minimum of the conditional risk, where it is 1. At a margin `u > 0` the
/// risk is below 1 for every `eta > 1/2` exactly if `exp(-alpha u^2) + exp(beta u) <= 2`, and there
/// is such a `u` exactly if `beta <= 0.49113... sqrt(alpha)`, the constant being the maximum of
/// `log(2 - exp(-x^2))/x`. So the loss is classification-calibrated for such parameters; for others
/// the minimiser is 0 as long as `eta` is near 1/2.
///
/// Source: Garg and Roth, *Margin distribution and learning algorithms*, ICML 2003.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GargRoth {
    alpha: f64,
    beta: f64,
}

impl GargRoth {
    /// Returns the loss with decay `alpha` on the right and growth `beta` on the left.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless both are within 1e-100 to 1e100.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, Error> {
        let check = |parameter, value| {
            let requirement = "a number from 1e-100 to 1e100";
            Error::check("garg-roth", parameter, value, requirement, |v| {
                (1e-100..=1e100).contains(&v)
            })
        };
        Ok(GargRoth { alpha: check("alpha", alpha)?, beta: check("beta", beta)? })
    }

    /// Returns the decay on the right.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the growth on the left.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Returns the exponent of the loss.
    #[inline(always)]
    fn exponent(&self, u: f64) -> f64 {
        -u * if u > 0.0 { self.alpha * u } else { self.beta }
    }

    /// Returns `L'` and `L''` from the value; 0 where that has underflowed, also at infinity.
    #[inline(always)]
    fn slope(&self, u: f64, value: f64) -> f64 {
        let right = if value > 0.0 { -2.0 * self.alpha * u * value } else { 0.0 };
        if u > 0.0 { right } else { -self.beta * value }
    }

    #[inline(always)]
    fn bend(&self, u: f64, value: f64) -> f64 {
        let square = 2.0 * self.alpha * u * u;
        let right = if value > 0.0 { 2.0 * self.alpha * (square - 1.0) * value } else { 0.0 };
        if u > 0.0 { right } else { self.beta * self.beta * value }
    }

    /// Returns the minimum over `u > 0` of the conditional risk for `likely >= 1/2`, if it is below
    /// that at 0.
    fn positive_minimizer(&self, likely: f64) -> Option<f64> {
        let unlikely = 1.0 - likely;
        if unlikely <= 0.0 {
            return Some(f64::INFINITY);
        }
        // The slope has the sign of level - h(u), h(u) = log u - alpha u^2 - beta u, which is
        // concave with its maximum at the peak: the local minimum lies beyond it.
        let level = (unlikely * self.beta / (2.0 * likely * self.alpha)).ln();
        let peak = 2.0 / (self.beta + self.beta.hypot((8.0 * self.alpha).sqrt()));
        let slope = |u: f64| level - (u.ln() - self.alpha * u * u - self.beta * u);
        if slope(peak) >= 0.0 {
            return None;
        }
        // In units of the peak, so that the search starts at its own scale.
        let u = peak * monotone_root(|x| slope(peak * x), 1.0, 1e100);
        let risk = likely * self.value(u) + unlikely * self.value(-u);
        (risk < 1.0).then_some(u)
    }
}

impl MarginLoss for GargRoth {
    fn name(&self) -> &str {
        "garg-roth"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha), ("beta", self.beta)]
    }

    fn value(&self, u: f64) -> f64 {
        self.exponent(u).exp()
    }

    fn derivative(&self, u: f64) -> f64 {
        self.slope(u, self.value(u))
    }

    fn second_derivative(&self, u: f64) -> f64 {
        self.bend(u, self.value(u))
    }

    fn is_convex(&self) -> bool {
        false
    }

    fn is_differentiable(&self) -> bool {
        false
    }

    fn is_classification_calibrated(&self) -> bool {
        self.slack() >= 0.0
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    /// Returns the best of the stationary points of the three pieces on which the slope of the
    /// objective is monotone: `u <= 0`, the concave head of the Gaussian, and what follows it.
    fn proximal(&self, point: f64, step: f64) -> f64 {
        let objective = |v: f64| self.value(v) + 0.5 * (v - point) * ((v - point) / step);
        let slope = |v: f64| (v - point) + step * self.derivative(v);
        let far = 1e100;
        let left = if slope(0.0) > 0.0 { monotone_root(slope, 0.0, far) } else { 0.0 };
        // On u > 0 the slope first falls, where the Gaussian bends more than the parabola, and then
        // rises; the turn is where the bend is -1/step, before the inflection of the Gaussian.
        let inflection = (2.0 * self.alpha).sqrt().recip();
        let turn = inflection
            * monotone_root(
                |x| {
                    let x = x.clamp(f64::MIN_POSITIVE, 1.0);
                    1.0 + step * self.second_derivative(inflection * x)
                },
                1.0,
                2.0,
            )
            .clamp(f64::MIN_POSITIVE, 1.0);
        let right = if slope(turn) >= 0.0 { 0.0 } else { monotone_root(slope, turn, far) };
        if objective(right) < objective(left) { right } else { left }
    }

    /// At `eta = 1/2` there may be two minimisers, of which the positive one is returned.
    fn population_minimizer(&self, eta: f64) -> f64 {
        match self.positive_minimizer(eta.max(1.0 - eta)) {
            Some(u) if eta >= 0.5 => u,
            Some(u) => -u,
            None => 0.0,
        }
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        self.is_classification_calibrated().then(|| self.calibrated_psi(a))
    }

    fn special_case(&self) -> Option<SpecialCase> {
        Some(SpecialCase::GargRoth { alpha: self.alpha, beta: self.beta })
    }

    batch! { loss =>
        values: |u| exp(loss.exponent(u));
        derivatives: |u| loss.slope(u, exp(loss.exponent(u)));
        second_derivatives: |u| loss.bend(u, exp(loss.exponent(u)));
    }
}

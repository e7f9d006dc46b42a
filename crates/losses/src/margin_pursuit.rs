//! Margin pursuit.

mod conditional_minimum;

use crate::catoni::{SATURATION, psi, psi_prime, rho, rho_conjugate};
use crate::scalar_search::newton_root;
use crate::vectorized::batch;
use crate::{Error, Interval, MarginLoss, SpecialCase};

pub use conditional_minimum::ConditionalMinimum;

/// Margin pursuit: a robust location loss that pulls every margin towards `gamma`.
///
/// `L(u) = scale^2 rho((gamma - u)/scale)` with [`rho`] of Catoni and Giulini.
///
/// Convex, twice continuously differentiable, with `L'' <= 1` (attained at `gamma`) and
/// `|L'| <= scale 2 sqrt(2)/3`; at least 0; classification-calibrated. It grows on both sides of
/// `gamma`: the margin is pursued, not maximised. Conjugate
/// `L*(-t) = -t gamma + scale^2 rho*(t/scale)` for `|t| <= scale 2 sqrt(2)/3`. The population
/// minimiser is the root of a [cubic](ConditionalMinimum) in (-gamma, gamma); if
/// `gamma > scale sqrt 2` no minimiser but 0 is closer to 0 than `gamma - scale sqrt 2`.
///
/// Source: Holland, *Classification using margin pursuit*, AISTATS 2019, equations 4 and 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginPursuit {
    gamma: f64,
    scale: f64,
}

impl MarginPursuit {
    /// Returns the loss that pursues the margin `gamma > 0` with the robustness scale `scale > 0`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `gamma` is not a finite positive number or `scale` is not within
    /// 1e-100 to 1e100, the range in which its square is a number.
    pub fn new(gamma: f64, scale: f64) -> Result<Self, Error> {
        let (gamma, scale) = location_and_scale("margin-pursuit", gamma, scale)?;
        Ok(MarginPursuit { gamma, scale })
    }

    /// Returns the margin that is pursued.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Returns the distance from `gamma`, in units of `1/sqrt 2`, where the loss turns linear.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

/// Returns the checked parameters of [`MarginPursuit`] and its log-cosh variant.
pub(crate) fn location_and_scale(
    loss: &'static str,
    gamma: f64,
    scale: f64,
) -> Result<(f64, f64), Error> {
    Ok((
        Error::check(loss, "gamma", gamma, "a finite number greater than 0", |g| g > 0.0)?,
        Error::check(loss, "scale", scale, "a number from 1e-100 to 1e100", |s| {
            (1e-100..=1e100).contains(&s)
        })?,
    ))
}

impl MarginLoss for MarginPursuit {
    fn name(&self) -> &str {
        "margin-pursuit"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("gamma", self.gamma), ("scale", self.scale)]
    }

    fn value(&self, u: f64) -> f64 {
        self.scale * self.scale * rho((self.gamma - u) / self.scale)
    }

    fn derivative(&self, u: f64) -> f64 {
        -self.scale * psi((self.gamma - u) / self.scale)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        psi_prime((self.gamma - u) / self.scale)
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.scale * SATURATION)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t.abs() > self.scale * SATURATION {
            return f64::INFINITY;
        }
        // Rounding of the quotient must not leave the domain that the product has admitted.
        let a = (t / self.scale).clamp(-SATURATION, SATURATION);
        self.scale * self.scale * rho_conjugate(a) - t * self.gamma
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(-self.scale * SATURATION, self.scale * SATURATION))
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        let (gamma, scale, a) = (self.gamma, self.scale, (2.0 * eta - 1.0).abs());
        let delta = ConditionalMinimum::delta(gamma, scale);
        let minimum = ConditionalMinimum::new(gamma / scale, delta, a);
        minimum.minimizer(gamma, scale, delta, a).copysign(eta - 0.5)
    }

    fn undecided_scores(&self) -> Option<Interval> {
        let end = (self.gamma - std::f64::consts::SQRT_2 * self.scale).max(0.0);
        Some(Interval::new(-end, end))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // In w = (gamma - v)/scale the condition is w + step psi(w) = q, odd in q.
        let signed = (self.gamma - point) / self.scale;
        let q = signed.abs();
        let saturated = q - step * SATURATION;
        let w = if saturated >= std::f64::consts::SQRT_2 {
            saturated
        } else {
            // The monotone cubic: concave in w >= 0, so Newton from the left never overshoots.
            newton_root(
                |w| (w + step * psi(w) - q, 1.0 + step * psi_prime(w)),
                q / (1.0 + step),
                q.min(std::f64::consts::SQRT_2),
            )
        };
        self.gamma - self.scale * w.copysign(signed)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn special_case(&self) -> Option<SpecialCase> {
        Some(SpecialCase::MarginPursuit { gamma: self.gamma, scale: self.scale })
    }

    batch! { loss =>
        values: |u| loss.scale * loss.scale * rho((loss.gamma - u) / loss.scale);
        derivatives: |u| -loss.scale * psi((loss.gamma - u) / loss.scale);
        second_derivatives: |u| psi_prime((loss.gamma - u) / loss.scale);
    }
}

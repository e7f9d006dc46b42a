//! Margin pursuit with log cosh.

use crate::logistic::entropy_deficit;
use crate::margin_pursuit::location_and_scale;
use crate::scalar_search::newton_root;
use crate::vectorized::{batch, exp, exp_m1, ln_1p};
use crate::{Error, Interval, MarginLoss};

/// Margin pursuit with the analytic `log cosh` instead of the piecewise `rho`:
///
/// `L(u) = scale^2 log cosh((gamma - u)/scale)`.
///
/// Convex, smooth, with `L'' <= 1` (attained at `gamma`) and `|L'| < scale`; at least 0;
/// classification-calibrated. Conjugate, with `a = t/scale` in [-1, 1]: `L*(-t) = -t gamma +
/// scale^2 ((1+a) log(1+a) + (1-a) log(1-a))/2`. The population minimiser `u` solves
/// `sinh(2u/scale) = (2 eta - 1) sinh(2 gamma/scale)`. With `g = gamma/scale` and `x = u/scale`
/// there, at `a = 2 eta - 1`, the Psi-transform is `scale^2 (a artanh(tanh g tanh x) - log(1 +
/// (sinh x/cosh g)^2)/2)`.
///
/// Source: Holland, *Classification using margin pursuit*, AISTATS 2019, with `log cosh` for `rho`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogCoshMarginPursuit {
    gamma: f64,
    scale: f64,
}

impl LogCoshMarginPursuit {
    /// Returns the loss that pursues the margin `gamma > 0` with the robustness scale `scale > 0`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `gamma` is not a finite positive number or `scale` is not within
    /// 1e-100 to 1e100, the range in which its square is a number.
    pub fn new(gamma: f64, scale: f64) -> Result<Self, Error> {
        let (gamma, scale) = location_and_scale("log-cosh", gamma, scale)?;
        Ok(LogCoshMarginPursuit { gamma, scale })
    }

    /// Returns the margin that is pursued.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Returns the distance from `gamma` over which the loss turns linear.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

/// The bound from which on `log cosh x = x - log 2` and `tanh x = 1` to the working precision.
const LINEAR: f64 = 20.0;

/// Returns `log cosh x = log(1 + sinh^2 x)/2`, the form with no cancellation near 0.
#[inline(always)]
fn log_cosh(x: f64) -> f64 {
    let inner = x.abs().min(LINEAR);
    let m = exp_m1(inner);
    let sinh = 0.5 * (m + m / (1.0 + m));
    0.5 * ln_1p(sinh * sinh) + (x.abs() - inner)
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let m = exp_m1(2.0 * x.clamp(-LINEAR, LINEAR).abs());
    (m / (m + 2.0)).copysign(x)
}

/// Returns `1/cosh^2 x = 4 e/(1 + e)^2` with `e = exp(-2|x|)`, the derivative of `tanh`.
#[inline(always)]
fn sech_squared(x: f64) -> f64 {
    let e = exp(-2.0 * x.abs());
    4.0 * e / ((1.0 + e) * (1.0 + e))
}

/// Returns the solution `x` of `sinh 2x = a sinh 2g` for `a` in [0, 1]: the population minimiser at
/// scale 1.
fn minimizer(g: f64, a: f64) -> f64 {
    /// The bound beyond which `sinh` would overflow.
    const LARGE: f64 = 700.0;
    if a == 0.0 {
        return 0.0;
    }
    if 2.0 * g < LARGE {
        return 0.5 * (a * (2.0 * g).sinh()).asinh();
    }
    // sinh 2g is exp(2g)/2: x = g + ln(a)/2, but where sinh 2x is small.
    let x = g + 0.5 * a.ln();
    if x > LINEAR { x } else { 0.5 * (0.5 * (2.0 * x).exp()).asinh() }
}

/// Returns `ln(cosh(g + x)/cosh(g - x))/2` at the [`minimizer`] `x` that belongs to `a`.
fn half_log_ratio(g: f64, x: f64, a: f64) -> f64 {
    if g < 1.0 {
        return (tanh(g) * tanh(x)).atanh();
    }
    // x + ln((1 + exp(-2(g + x)))/(1 + exp(-2(g - x))))/2, the fraction as 1 minus what lacks to 1,
    // in which sinh 2x is put by the condition of the minimiser.
    let lack = a * -(-4.0 * g).exp_m1() / (1.0 + (2.0 * (x - g)).exp());
    x + 0.5 * (-lack).ln_1p()
}

impl MarginLoss for LogCoshMarginPursuit {
    fn name(&self) -> &str {
        "log-cosh"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("gamma", self.gamma), ("scale", self.scale)]
    }

    fn value(&self, u: f64) -> f64 {
        self.scale * self.scale * log_cosh((self.gamma - u) / self.scale)
    }

    fn derivative(&self, u: f64) -> f64 {
        -self.scale * tanh((self.gamma - u) / self.scale)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        sech_squared((self.gamma - u) / self.scale)
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.scale)
    }

    fn conjugate(&self, t: f64) -> f64 {
        let a = (t / self.scale).abs();
        let entropy = if a > 1.0 { f64::INFINITY } else { entropy_deficit(a) };
        self.scale * self.scale * entropy - t * self.gamma
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(-self.scale, self.scale))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // In w = (gamma - v)/scale the condition is w + step tanh(w) = q, odd in q and concave in
        // w >= 0, so Newton from the left never overshoots.
        let signed = (self.gamma - point) / self.scale;
        let q = signed.abs();
        let w = newton_root(
            |w| (w + step * tanh(w) - q, 1.0 + step * sech_squared(w)),
            (q - step).max(q / (1.0 + step)),
            q,
        );
        self.gamma - self.scale * w.copysign(signed)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        let bias = 2.0 * eta - 1.0;
        self.scale * minimizer(self.gamma / self.scale, bias.abs()).copysign(bias)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        /// The level below which the loss is half the squared loss of margins up to gamma, to
        /// rounding.
        const QUADRATIC: f64 = 1e-9;
        let g = self.gamma / self.scale;
        if g < QUADRATIC {
            let shift = a * self.gamma;
            return Some(0.5 * shift * shift);
        }
        let x = minimizer(g, a);
        // C = L(0) - s^2 (a odd - even): the even part of the risk by
        // cosh(g - x) cosh(g + x) = cosh^2 g + sinh^2 x, and no difference of like numbers is left.
        let ratio = (x - g).exp() * -(-2.0 * x).exp_m1() / (1.0 + (-2.0 * g).exp());
        let even = 0.5 * (ratio * ratio).ln_1p();
        Some(self.scale * self.scale * (a * half_log_ratio(g, x, a) - even))
    }

    batch! { loss =>
        values: |u| loss.scale * loss.scale * log_cosh((loss.gamma - u) / loss.scale);
        derivatives: |u| -loss.scale * tanh((loss.gamma - u) / loss.scale);
        second_derivatives: |u| sech_squared((loss.gamma - u) / loss.scale);
    }
}

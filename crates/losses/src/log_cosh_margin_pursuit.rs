use crate::margin_pursuit::location_and_scale;
use crate::scalar_search::newton_root;
use crate::vectorized::{exp, exp_m1, ln_1p, map};
use crate::{Error, Interval, MarginLoss};

/// Margin pursuit with the analytic `log cosh` in the place of the piecewise `rho`:
///
/// `L(u) = scale^2 log cosh((gamma - u)/scale)`.
///
/// Convex, smooth, with `L'' <= 1` (attained at `gamma`) and `|L'| < scale`; at least 0;
/// classification-calibrated. Conjugate, with `a = t/scale` in [-1, 1]:
/// `L*(-t) = -t gamma + scale^2 ((1+a) log(1+a) + (1-a) log(1-a))/2`. The population minimiser `u`
/// solves `sinh(2u/scale) = (2 eta - 1) sinh(2 gamma/scale)`.
///
/// Source: Holland, *Classification using margin pursuit*, AISTATS 2019, with `log cosh` for `rho`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogCoshMarginPursuit {
    gamma: f64,
    scale: f64,
}

impl LogCoshMarginPursuit {
    /// The loss that pursues the margin `gamma > 0` with the robustness scale `scale > 0`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `gamma` is not a finite positive number or `scale` is not within
    /// 1e-100 to 1e100, the range in which its square is a number.
    pub fn new(gamma: f64, scale: f64) -> Result<Self, Error> {
        let (gamma, scale) = location_and_scale("log-cosh", gamma, scale)?;
        Ok(LogCoshMarginPursuit { gamma, scale })
    }

    /// The margin that is pursued.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The distance from `gamma` over which the loss turns linear.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

/// From here on `log cosh x = x - log 2` and `tanh x = 1` to the working precision.
const LINEAR: f64 = 20.0;

/// `log cosh x = log(1 + sinh^2 x)/2`, the form with no cancellation near 0.
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

/// `1/cosh^2 x = 4 e/(1 + e)^2` with `e = exp(-2|x|)`, the derivative of `tanh`.
#[inline(always)]
fn sech_squared(x: f64) -> f64 {
    let e = exp(-2.0 * x.abs());
    4.0 * e / ((1.0 + e) * (1.0 + e))
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
        let entropy = if a > 1.0 {
            f64::INFINITY
        } else if a == 1.0 {
            std::f64::consts::LN_2
        } else if a > 0.5 {
            0.5 * ((1.0 + a) * a.ln_1p() + (1.0 - a) * (-a).ln_1p())
        } else {
            a * a.atanh() + 0.5 * (-a * a).ln_1p()
        };
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
        let reach = 2.0 * self.gamma / self.scale;
        if bias == 0.0 {
            0.0
        } else if reach < 700.0 {
            0.5 * self.scale * (bias * reach.sinh()).asinh()
        } else {
            // Where sinh overflows, sinh x = exp(x)/2 on both sides.
            (self.gamma + 0.5 * self.scale * bias.abs().ln()).copysign(bias)
        }
    }

    fn values(&self, margins: &[f64], out: &mut [f64]) {
        let LogCoshMarginPursuit { gamma, scale } = *self;
        map(
            margins,
            out,
            #[inline(always)]
            move |u| scale * scale * log_cosh((gamma - u) / scale),
        );
    }

    fn derivatives(&self, margins: &[f64], out: &mut [f64]) {
        let LogCoshMarginPursuit { gamma, scale } = *self;
        map(
            margins,
            out,
            #[inline(always)]
            move |u| -scale * tanh((gamma - u) / scale),
        );
    }

    fn second_derivatives(&self, margins: &[f64], out: &mut [f64]) {
        let LogCoshMarginPursuit { gamma, scale } = *self;
        map(
            margins,
            out,
            #[inline(always)]
            move |u| sech_squared((gamma - u) / scale),
        );
    }
}

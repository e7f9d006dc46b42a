//! The Psi-transform of the margin-pursuit loss in closed form, and its inverse.
//!
//! Everything is first done for the scale 1 and the level `g = gamma/s`, then `u* = s u'` and
//! `Psi = s^2 Psi'`. By symmetry take `eta >= 1/2`, `a = 2 eta - 1` in [0, 1]. The minimiser `u` of the
//! conditional risk lies in [0, g] and solves `psi(g - u)/psi(g + u) = (1 - a)/(1 + a)`.
//!
//! * Both arguments on the cubic part of psi (`g < sqrt 2` and `u <= delta = sqrt 2 - g`), the
//!   double-cube condition: `u^3 - 3 a g u^2 - (6 - 3 g^2) u + a (6 g - g^3) = 0`.
//! * `g + u` saturated: with `w = sqrt 2 - (g - u)` the single-cube condition
//!   `psi(sqrt 2 - w) = B (1 - a)/(1 + a)`, `B = 2 sqrt 2/3`, which is
//!   `w^2 (sqrt(2)/2 - w/6) = 2 a B/(1 + a)`.
//!
//! The second applies if `g >= sqrt 2`, or if `psi(g - delta) > B (1 - a)/(1 + a)`, which says that
//! the solution lies beyond delta. For `g <= sqrt(2)/2` it never does, as `u <= g <= delta`.
//!
//! Psi as a difference of two risks would lose all digits for small `a`. With the even and odd parts of
//! the risk collected it is, on the double-cube part,
//! `Psi = a g u (1 - g^2/6 - u^2/6) - u^2 (1/2 - g^2/4 - u^2/24)`, and on the single-cube part, with
//! `T(w) = sqrt(2) w^3/6 - w^4/24` the distance of rho from its tangent at sqrt 2,
//! `Psi = a B u - eta T(w) + T(delta)` (the last term only if `g < sqrt 2`).
//!
//! Source: Holland 2019, lemma 8 and appendix 6.2, whose conditions (16) and (17) have their constant
//! terms swapped; see `docs/calibration.md`.

use margins_losses::MarginPursuit;
use margins_losses::catoni::{SATURATION, rho};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use crate::Error;

/// The Psi-transform of `s^2 rho((gamma - u)/s)`.
///
/// ```
/// use margins_calibration::MarginPursuitPsi;
///
/// let psi = MarginPursuitPsi::new(1.0, 1.0)?;
/// let risk = psi.value(0.2);
/// assert!((psi.inverse(risk) - 0.2).abs() < 1e-12);
/// // The most that an excess surrogate risk can say.
/// assert_eq!(psi.inverse(1.0), 1.0);
/// # Ok::<(), margins_calibration::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginPursuitPsi {
    scale: f64,
    /// `gamma / scale`.
    level: f64,
}

/// `Psi` at scale 1 with what belongs to it.
struct Point {
    minimizer: f64,
    value: f64,
    slope: f64,
}

impl MarginPursuitPsi {
    /// For the level `gamma > 0` and the scale `s > 0`.
    ///
    /// # Errors
    /// A parameter that is not finite and positive, or so large or small that squares overflow.
    pub fn new(gamma: f64, scale: f64) -> Result<Self, Error> {
        const RANGE: &str = "a number from 1e-100 to 1e100";
        let in_range = |x: f64| (1e-100..=1e100).contains(&x);
        let gamma = Error::check("gamma", gamma, RANGE, in_range)?;
        let scale = Error::check("scale", scale, RANGE, in_range)?;
        Ok(MarginPursuitPsi { scale, level: gamma / scale })
    }

    /// The least minimiser in size of the conditional risk at the class probability `eta`, in
    /// [-gamma, gamma].
    ///
    /// # Errors
    /// An `eta` outside [0, 1].
    pub fn minimizer(&self, eta: f64) -> Result<f64, Error> {
        let eta = check_share("eta", eta)?;
        let a = (2.0 * eta - 1.0).abs();
        Ok((self.scale * self.at(a).minimizer).copysign(eta - 0.5))
    }

    /// `H(eta)`, the least conditional risk.
    ///
    /// # Errors
    /// An `eta` outside [0, 1].
    pub fn least_conditional_risk(&self, eta: f64) -> Result<f64, Error> {
        let eta = check_share("eta", eta)?;
        Ok(self.maximum() - self.value((2.0 * eta - 1.0).abs()))
    }

    /// `Psi(a)` for an excess misclassification risk `a`, taken into [0, 1]; NaN for NaN.
    pub fn value(&self, a: f64) -> f64 {
        self.scale * self.scale * self.at(a.clamp(0.0, 1.0)).value
    }

    /// `Psi'(a)`, half the difference of the losses at minus and plus the minimiser.
    pub fn derivative(&self, a: f64) -> f64 {
        self.scale * self.scale * self.at(a.clamp(0.0, 1.0)).slope
    }

    /// `out[i] = Psi(a[i])`; the slices are of equal length.
    pub fn values(&self, a: &[f64], out: &mut [f64]) {
        for (o, &a) in out.iter_mut().zip(a) {
            *o = self.value(a);
        }
    }

    /// `Psi(1) = s^2 rho(gamma/s)`, the largest value.
    pub fn maximum(&self) -> f64 {
        self.scale * self.scale * rho(self.level)
    }

    /// `Psi^{-1}(risk)`: the excess misclassification risk that an excess surrogate risk allows, 0 for
    /// a risk of at most 0, 1 for one of at least `Psi(1)`; NaN for NaN.
    ///
    /// Newton on the closed form inside a bracket; Psi is convex, so that Newton from above descends
    /// to the solution without leaving it.
    pub fn inverse(&self, risk: f64) -> f64 {
        const MOST_STEPS: usize = 100;
        if risk.is_nan() {
            return f64::NAN;
        }
        let target = risk / (self.scale * self.scale);
        let largest = rho(self.level);
        if target <= 0.0 {
            return 0.0;
        }
        if target >= largest {
            return 1.0;
        }
        // A convex function through (0, 0) and (1, largest) lies below the chord and, by its first
        // terms, above min(linear, quadratic) pieces of it: the solution is in this bracket.
        let (mut low, mut high) = (target / largest, 1.0f64);
        let mut a = low.sqrt();
        for _ in 0..MOST_STEPS {
            let point = self.at(a);
            if point.value > target {
                high = a;
            } else {
                low = a;
            }
            let newton = a - (point.value - target) / point.slope;
            let next = if low < newton && newton < high { newton } else { 0.5 * (low + high) };
            if (next - a).abs() <= 2.0 * f64::EPSILON * a {
                return next;
            }
            a = next;
        }
        a
    }

    /// The approximate inverse of the source (figure 2): on a uniform grid `0 = a_1 < ... < a_K = 1` the
    /// last point with `Psi(a_k) <= risk`; `K = 2500` there. It is up to `1/(K - 1)` too small.
    ///
    /// # Errors
    /// Fewer than two grid points; a negative risk, which no grid point is below.
    pub fn grid_inverse(&self, risk: f64, points: usize) -> Result<f64, Error> {
        Error::check("grid points", points as f64, "at least 2", |points| points >= 2.0)?;
        let risk = Error::check("risk", risk, "at least 0", |risk| risk >= 0.0)?;
        let at = |k: usize| k as f64 / (points - 1) as f64;
        // Psi increases: bisect for the last grid point that qualifies.
        let (mut low, mut high) = (0, points);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.value(at(middle)) <= risk {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(at(low))
    }

    /// Minimiser, value and slope of Psi at scale 1.
    fn at(&self, a: f64) -> Point {
        let g = self.level;
        let delta = SQRT_2 - g;
        if a == 0.0 {
            // Beyond sqrt 2 the risk is flat for |u| <= g - sqrt 2; its middle is taken, its end is
            // what the slope belongs to.
            return Point { minimizer: 0.0, value: 0.0, slope: SATURATION * (-delta).max(0.0) };
        }
        let saturated = delta <= 0.0
            || (delta < g && {
                let v = g - delta;
                (v - v * v * v / 6.0) * (1.0 + a) > SATURATION * (1.0 - a)
            });
        if saturated { single_cube(g, a, delta.max(0.0)) } else { double_cube(g, a) }
    }
}

impl From<MarginPursuit> for MarginPursuitPsi {
    fn from(loss: MarginPursuit) -> Self {
        MarginPursuitPsi { scale: loss.scale(), level: loss.gamma() / loss.scale() }
    }
}

fn check_share(name: &'static str, value: f64) -> Result<f64, Error> {
    Error::check(name, value, "in [0, 1]", |x| (0.0..=1.0).contains(&x))
}

/// Both arguments on the cubic part.
fn double_cube(g: f64, a: f64) -> Point {
    // x^3 + p x + q = 0 for u = x + a g; of its three roots the middle one is the minimiser.
    let shift = a * g;
    let linear = 6.0 - 3.0 * g * g;
    let constant = a * g * (6.0 - g * g);
    let p = -linear - 3.0 * shift * shift;
    let q = -2.0 * shift * shift * shift - linear * shift + constant;
    let k = (-p / 3.0).sqrt();
    let cosine = (-q / (2.0 * k * k * k)).clamp(-1.0, 1.0);
    let angle = (std::f64::consts::TAU - cosine.acos()) / 3.0;
    let mut u = (shift + 2.0 * k * angle.cos()).clamp(0.0, g);
    // What the shift cancelled comes back by Newton.
    for _ in 0..2 {
        let value = ((u - 3.0 * shift) * u - linear) * u + constant;
        let slope = (3.0 * u - 6.0 * shift) * u - linear;
        let next = u - value / slope;
        if (0.0..=g).contains(&next) {
            u = next;
        }
    }
    let odd = g * u * (1.0 - (g * g + u * u) / 6.0);
    let even = u * u * (0.5 - 0.25 * g * g - u * u / 24.0);
    Point { minimizer: u, value: a * odd - even, slope: odd }
}

/// `g + u` saturated.
fn single_cube(g: f64, a: f64, delta: f64) -> Point {
    let right = 2.0 * a * SATURATION / (1.0 + a);
    // v = g - u by Viete's form: psi(2 sqrt 2 sin x) = B sin 3x.
    let v = 2.0 * SQRT_2 * (((1.0 - a) / (1.0 + a)).asin() / 3.0).sin();
    let mut w = SQRT_2 - v;
    for _ in 0..2 {
        let value = w * w * (FRAC_1_SQRT_2 - w / 6.0) - right;
        let slope = w * (SQRT_2 - 0.5 * w);
        let next = w - value / slope;
        if next > 0.0 && next <= SQRT_2 {
            w = next;
        }
    }
    let tangent = |w: f64| w * w * w * (SQRT_2 / 6.0 - w / 24.0);
    // u = g - v, from whichever of w and v is the more accurate.
    let u = if g >= SQRT_2 { (g - SQRT_2) + w } else { w - delta };
    let eta = 0.5 * (1.0 + a);
    Point {
        minimizer: u,
        value: a * SATURATION * u - eta * tangent(w) + tangent(delta),
        slope: SATURATION * u - 0.5 * tangent(w),
    }
}

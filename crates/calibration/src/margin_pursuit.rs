//! The Psi-transform of the margin-pursuit loss in closed form, and its inverse.
//!
//! Everything is first done for the scale 1 and the level `g = gamma/s`, then `u* = s u'` and
//! `Psi = s^2 Psi'`. By symmetry take `eta >= 1/2`, `a = 2 eta - 1` in [0, 1]. The minimiser `u` of
//! the conditional risk lies in [0, g]; [`ConditionalMinimum`] has the two conditions for it.
//!
//! Psi as a difference of two risks would lose all digits for small `a`. With the even and odd
//! parts of the risk collected it is, on the double-cube part, where `u = m a g`,
//! `Psi = (a g)^2 (m (1 - g^2/6 - u^2/6) - m^2 (1/2 - g^2/4 - u^2/24))`, and on the single-cube
//! part, with `T(w) = sqrt(2) w^3/6 - w^4/24` the distance of rho from its tangent at sqrt 2,
//! `Psi = a B u - eta T(w) + T(delta)` (the last term only if `g < sqrt 2`). The unknowns `m` and
//! `w` and the difference `delta` are accurate relative to their values, so that Psi is too, for
//! every `a`.
//!
//! Source: Holland 2019, lemma 8 and appendix 6.2, whose conditions (16) and (17) have their
//! constant terms swapped; see `docs/calibration.md`.

use margins_losses::catoni::{SATURATION, rho};
use std::f64::consts::SQRT_2;

use crate::{Error, search};
use margins_losses::{ConditionalMinimum, MarginPursuit, OutOfRange};

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
    gamma: f64,
    scale: f64,
    /// The quotient `gamma / scale`.
    level: f64,
    /// The difference `sqrt 2 - gamma / scale`, which decides near `sqrt 2`, before the quotient is
    /// rounded.
    delta: f64,
}

/// A value of `Psi` with its minimiser and slope.
struct Point {
    minimizer: f64,
    value: f64,
    slope: f64,
}

impl MarginPursuitPsi {
    /// Returns the transform for the level `gamma > 0` and the scale `s > 0`.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a parameter is not finite and positive, or so large or small that
    /// squares overflow.
    pub fn new(gamma: f64, scale: f64) -> Result<Self, Error> {
        const RANGE: &str = "a number from 1e-100 to 1e100";
        let in_range = |x: f64| (1e-100..=1e100).contains(&x);
        let gamma = OutOfRange::check("gamma", gamma, RANGE, in_range)?;
        let scale = OutOfRange::check("scale", scale, RANGE, in_range)?;
        Ok(Self::unchecked(gamma, scale))
    }

    fn unchecked(gamma: f64, scale: f64) -> Self {
        let delta = ConditionalMinimum::delta(gamma, scale);
        MarginPursuitPsi { gamma, scale, level: gamma / scale, delta }
    }

    /// Returns the smallest minimiser in size of the conditional risk at the class probability `eta`,
    /// in [-gamma, gamma].
    ///
    /// # Errors
    /// [`Error::Parameter`]: `eta` is outside [0, 1].
    pub fn minimizer(&self, eta: f64) -> Result<f64, Error> {
        let eta = check_share("eta", eta)?;
        let a = (2.0 * eta - 1.0).abs();
        Ok(self.at(a).minimizer.copysign(eta - 0.5))
    }

    /// Returns `H(eta)`, the lowest conditional risk.
    ///
    /// # Errors
    /// [`Error::Parameter`]: `eta` is outside [0, 1].
    pub fn least_conditional_risk(&self, eta: f64) -> Result<f64, Error> {
        let eta = check_share("eta", eta)?;
        Ok(self.maximum() - self.value((2.0 * eta - 1.0).abs()))
    }

    /// Returns `Psi(a)` for an excess misclassification risk `a`, taken into [0, 1]; NaN for NaN.
    pub fn value(&self, a: f64) -> f64 {
        self.at(a.clamp(0.0, 1.0)).value
    }

    /// Returns `Psi'(a)`, half the difference of the losses at minus and plus the minimiser.
    pub fn derivative(&self, a: f64) -> f64 {
        self.at(a.clamp(0.0, 1.0)).slope
    }

    /// Fills `out[i] = Psi(a[i])`; the slices are of equal length.
    pub fn values(&self, a: &[f64], out: &mut [f64]) {
        for (o, &a) in out.iter_mut().zip(a) {
            *o = self.value(a);
        }
    }

    /// Returns `Psi(1) = s^2 rho(gamma/s)`, the largest value.
    pub fn maximum(&self) -> f64 {
        let g = self.level;
        if g < SQRT_2 {
            self.gamma * self.gamma * (0.5 - g * g / 24.0)
        } else {
            self.scale * self.scale * rho(g)
        }
    }

    /// Returns `Psi^{-1}(risk)`: the excess misclassification risk that an excess surrogate risk
    /// allows, 0 for a risk of at most 0, 1 for one of at least `Psi(1)`; NaN for NaN.
    ///
    /// This is the smallest double at which [`value`](Self::value) reaches the risk, accurate to a few
    /// units of rounding of itself; a risk below the normal numbers counts as the smallest of those.
    pub fn inverse(&self, risk: f64) -> f64 {
        search::inverse(|a| self.value(a), risk)
    }

    /// Returns the approximate inverse of the source (figure 2): on a uniform grid
    /// `0 = a_1 < ... < a_K = 1` the last point with `Psi(a_k) <= risk`; `K = 2500` there. It is up
    /// to `1/(K - 1)` too small.
    ///
    /// # Errors
    /// [`Error::Parameter`]: there are fewer than two grid points, or the risk is negative, so that
    /// no grid point is below.
    pub fn grid_inverse(&self, risk: f64, points: usize) -> Result<f64, Error> {
        OutOfRange::check("grid points", points as f64, "at least 2", |points| points >= 2.0)?;
        let risk = OutOfRange::check("risk", risk, "at least 0", |risk| risk >= 0.0)?;
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

    /// Returns the minimiser, the value and the slope of Psi.
    fn at(&self, a: f64) -> Point {
        let found = ConditionalMinimum::new(self.level, self.delta, a);
        let minimizer = found.minimizer(self.gamma, self.scale, self.delta, a);
        match found {
            ConditionalMinimum::Even => {
                // Beyond sqrt 2 the risk is flat for |u| <= g - sqrt 2; its middle is taken, its end is
                // what the slope belongs to.
                let slope = self.scale * self.scale * SATURATION * (-self.delta).max(0.0);
                Point { minimizer, value: 0.0, slope }
            }
            ConditionalMinimum::DoubleCube { multiple } => self.double_cube(a, multiple, minimizer),
            ConditionalMinimum::SingleCube { distance } => self.single_cube(a, distance, minimizer),
        }
    }

    /// Returns the point where both arguments are on the cubic part.
    fn double_cube(&self, a: f64, m: f64, minimizer: f64) -> Point {
        let g = self.level;
        // This is 1 - g^2/2, without cancellation near sqrt 2.
        let bend = 0.5 * self.delta * (SQRT_2 + g);
        let u = (m * (a * g)).min(g);
        let odd = m * (1.0 - (g * g + u * u) / 6.0);
        let even = m * m * (0.5 * bend - u * u / 24.0);
        let scaled = a * self.gamma;
        Point { minimizer, value: scaled * scaled * (odd - even), slope: self.gamma * scaled * odd }
    }

    /// Returns the point where `g + u` is saturated.
    fn single_cube(&self, a: f64, w: f64, minimizer: f64) -> Point {
        let tangent = |w: f64| w * w * w * (SQRT_2 / 6.0 - w / 24.0);
        let (u, square) = (w - self.delta, self.scale * self.scale);
        let eta = 0.5 * (1.0 + a);
        let value = a * SATURATION * u - eta * tangent(w) + tangent(self.delta.max(0.0));
        Point {
            minimizer,
            value: square * value,
            slope: square * (SATURATION * u - 0.5 * tangent(w)),
        }
    }
}

impl From<MarginPursuit> for MarginPursuitPsi {
    fn from(loss: MarginPursuit) -> Self {
        MarginPursuitPsi::unchecked(loss.gamma(), loss.scale())
    }
}

fn check_share(name: &'static str, value: f64) -> Result<f64, Error> {
    Ok(OutOfRange::check(name, value, "in [0, 1]", |x| (0.0..=1.0).contains(&x))?)
}

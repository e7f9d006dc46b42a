//! The noise rate, the margin and the target of a problem, each checked once.

use crate::Error;
use crate::sphere::is_wrong;
use margins_losses::OutOfRange;

/// The bound eta on the noise rate, `0 <= eta < 1/2`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct NoiseRate(f64);

impl NoiseRate {
    /// Returns the bound of this value.
    ///
    /// # Errors
    /// [`Error::Parameter`]: eta is not in `0 <= eta < 1/2`.
    pub fn new(eta: f64) -> Result<Self, Error> {
        let valid = |eta| (0.0..0.5).contains(&eta);
        Ok(NoiseRate(OutOfRange::check("eta", eta, "at least 0 and below 1/2", valid)?))
    }

    /// Returns eta.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The bound gamma on the margin, `0 < gamma < 1`: no unit sample is nearer to the boundary.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MarginBound(f64);

impl MarginBound {
    /// Returns the bound of this value.
    ///
    /// # Errors
    /// [`Error::Parameter`]: gamma is not in `0 < gamma < 1`.
    pub fn new(gamma: f64) -> Result<Self, Error> {
        let valid = |gamma| gamma > 0.0 && gamma < 1.0;
        Ok(MarginBound(OutOfRange::check("gamma", gamma, "strictly between 0 and 1", valid)?))
    }

    /// Returns gamma.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns `gamma/2`.
    pub(super) fn half(self) -> Self {
        MarginBound(self.0 / 2.0)
    }
}

/// The target of a learner: an error of at most `eta + epsilon` with probability at least
/// `1 - delta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    epsilon: f64,
    delta: f64,
}

impl Target {
    /// Returns the target of these values.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a value is not strictly between 0 and 1.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        let open = |value: f64| value > 0.0 && value < 1.0;
        Ok(Target {
            epsilon: OutOfRange::check("epsilon", epsilon, "strictly between 0 and 1", open)?,
            delta: OutOfRange::check("delta", delta, "strictly between 0 and 1", open)?,
        })
    }

    /// Returns epsilon.
    pub fn epsilon(self) -> f64 {
        self.epsilon
    }

    /// Returns delta.
    pub fn delta(self) -> f64 {
        self.delta
    }
}

impl Default for Target {
    /// Returns the target epsilon = delta = 0.05.
    fn default() -> Self {
        Target { epsilon: 0.05, delta: 0.05 }
    }
}

/// A halfspace to learn: `y = sign(<w*, x>)` but for noise at a rate of at most eta, on unit
/// samples with `|<w*, x>| >= gamma`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// The bound eta on the noise rate.
    pub noise: NoiseRate,
    /// The bound gamma on the margin.
    pub margin: MarginBound,
    /// The target, epsilon and delta.
    pub target: Target,
}

impl Problem {
    /// Returns a problem with the default target.
    ///
    /// # Errors
    /// [`Error::Parameter`]: eta or gamma is outside its range.
    pub fn new(eta: f64, gamma: f64) -> Result<Self, Error> {
        let (noise, margin) = (NoiseRate::new(eta)?, MarginBound::new(gamma)?);
        Ok(Problem { noise, margin, target: Target::default() })
    }

    /// Returns the problem with another target.
    #[must_use]
    pub fn with_target(self, target: Target) -> Self {
        Problem { target, ..self }
    }

    /// Returns the factor of the unit sample in `g_{eta, gamma/2}(w, w, x, y)`,
    /// `((1 - 2 eta) sign(s) - y) / max(|s|, gamma/2)` with `s = <w, x>` and sign(0) = +1. The
    /// product is twice the gradient of the LeakyReLU loss reweighted by `1/max(|s|, gamma/2)`.
    #[inline(always)]
    pub fn gradient_factor(&self, score: f64, y: f64) -> f64 {
        let sign = if score >= 0.0 { 1.0 } else { -1.0 };
        ((1.0 - 2.0 * self.noise.0) * sign - y) / score.abs().max(self.margin.0 / 2.0)
    }

    /// Returns the reweighted loss (3) of a unit sample, `(1[sign(s) != y] - eta) |s|/max(|r|, gamma/2)`,
    /// from the score `s = <w, x>` of a halfspace w and the score `r = <v, x>` of the halfspace v that
    /// gives the weights; sign(0) = +1.
    ///
    /// It is convex in w. At `w = v` it is `1[sign(s) != y] - eta` wherever `|s| >= gamma/2`, and its
    /// derivative in s is half of [`gradient_factor`](Self::gradient_factor).
    ///
    /// ```
    /// use margins_massart::Problem;
    ///
    /// let problem = Problem::new(0.3, 0.1)?;
    /// assert!((problem.reweighted_loss(-0.2, -0.2, 1.0) - (1.0 - 0.3)).abs() < 1e-15);
    /// assert!((problem.reweighted_loss(0.1, -0.2, 1.0) - (-0.3 * 0.1 / 0.2)).abs() < 1e-15);
    /// # Ok::<(), margins_massart::Error>(())
    /// ```
    pub fn reweighted_loss(&self, score: f64, reference: f64, y: f64) -> f64 {
        let wrong = if is_wrong(score, y) { 1.0 } else { 0.0 };
        (wrong - self.noise.0) * score.abs() / reference.abs().max(self.margin.0 / 2.0)
    }
}

//! The leaky rectifier of the negated margin.

use crate::vectorized::batch;
use crate::{Error, HomogeneousTail, Interval, MarginLoss};

/// The leaky rectifier of the negated margin, `0 <= lambda <= 1/2`:
///
/// `L(u) = -(1-lambda) u` for `u <= 0`, `-lambda u` for `u > 0`.
///
/// Convex and positively homogeneous, `(1-lambda)`-Lipschitz, with a kink at 0 (none, and then a
/// line, for `lambda = 1/2`); unbounded below unless `lambda = 0`, the perceptron's loss. Its
/// conjugate is 0 on `[lambda, 1-lambda]`.
///
/// Where the class is certain enough, `eta > 1 - lambda` or `eta < lambda`, the conditional risk
/// falls without end on the side of the Bayes rule; in between its minimiser is 0 and says nothing.
/// So the loss is classification-calibrated only for `lambda = 1/2`. For smaller `lambda` its sign
/// is right exactly where the label noise is below `lambda`, which is its use: a bound on the noise
/// (Massart's condition) is known and taken for `lambda`.
///
/// Source: Diakonikolas and Zarifis, *A near-optimal algorithm for learning margin halfspaces with
/// Massart noise*, NeurIPS 2024, equation 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakyRelu {
    lambda: f64,
}

impl LeakyRelu {
    /// Returns the loss with slope `-lambda` on the right side.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `lambda` is within 0 and 1/2.
    pub fn new(lambda: f64) -> Result<Self, Error> {
        let lambda = Error::check("leaky-relu", "lambda", lambda, "a number from 0 to 1/2", |l| {
            (0.0..=0.5).contains(&l)
        })?;
        // Not the negative zero.
        Ok(LeakyRelu { lambda: lambda.abs() })
    }

    /// Returns the slope on the right side, negated.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl MarginLoss for LeakyRelu {
    fn name(&self) -> &str {
        "leaky-relu"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("lambda", self.lambda)]
    }

    fn value(&self, u: f64) -> f64 {
        if u <= 0.0 {
            -(1.0 - self.lambda) * u
        } else if self.lambda > 0.0 {
            -self.lambda * u
        } else {
            // Also at infinity. A NaN margin stays NaN.
            0.0 * u.min(1.0)
        }
    }

    fn derivative(&self, u: f64) -> f64 {
        if u <= 0.0 { -(1.0 - self.lambda) } else { -self.lambda }
    }

    fn second_derivative(&self, _u: f64) -> f64 {
        0.0
    }

    fn is_differentiable(&self) -> bool {
        self.lambda == 0.5
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0 - self.lambda)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if t >= self.lambda && t <= 1.0 - self.lambda { 0.0 } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(self.lambda, 1.0 - self.lambda))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        // From the steep line, from the flat line, or held by the kink.
        let (steep, flat) = (point + step * (1.0 - self.lambda), point + step * self.lambda);
        if steep < 0.0 { steep } else { flat.max(0.0) }
    }

    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        if curvature <= 0.0 {
            return -self.derivative(margin);
        }
        (dual - margin / curvature).clamp(self.lambda, 1.0 - self.lambda)
    }

    fn lower_bound(&self) -> Option<f64> {
        (self.lambda == 0.0).then_some(0.0)
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        if eta > 1.0 - self.lambda {
            f64::INFINITY
        } else if eta < self.lambda {
            f64::NEG_INFINITY
        } else {
            0.0
        }
    }

    fn probability(&self, _score: f64) -> Option<f64> {
        None
    }

    /// Without its kink, at lambda = 1/2, the loss is a line: the minimal risk is `-inf` except at even
    /// odds.
    fn psi_transform(&self, a: f64) -> Option<f64> {
        (self.lambda == 0.5).then_some(if a > 0.0 { f64::INFINITY } else { 0.0 })
    }

    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        Some(HomogeneousTail { from: f64::NEG_INFINITY, degree: 0.0 })
    }

    batch! { loss =>
        derivatives: |u| if u <= 0.0 { loss.lambda - 1.0 } else { -loss.lambda };
    }

    batch! {
        second_derivatives: |_u| 0.0;
    }
}

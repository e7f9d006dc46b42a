//! The excess risk bound of margin pursuit by gradient descent, term by term.
//!
//! Source: Holland, *Classification using margin pursuit* (2019), theorem 11 and its proof.

use std::f64::consts::LN_2;

use margins_losses::{OutOfRange, catoni::SATURATION};

use crate::Error;

/// The quantities that the bound is a function of.
///
/// Gradient descent with a fixed step runs on `(s^2/n) sum_i rho((gamma - y_i <w, x_i>)/s)` over n
/// samples x in R^d, and stays in a set W that holds its start w0 and a minimiser w* of the
/// expectation.
///
/// ```
/// use margins_calibration::PsiTransform;
/// use margins_calibration::risk_bound::MarginPursuitBound;
/// use margins_losses::MarginPursuit;
///
/// // 10^8 samples with 5 features, a scale of 0.01, and a ball of diameter 2.
/// let quantities = MarginPursuitBound::new(100_000_000, 5, 0.8, 1.0, 0.01, 2.0)?;
/// let bound = quantities.evaluate()?;
/// let psi = PsiTransform::of(MarginPursuit::new(1.0, 0.01)?)?;
/// // A linear function has the lowest expected loss of all.
/// let excess = bound.sound_misclassification_bound(0.0, |risk| psi.inverse(risk))?;
/// assert!(excess < 0.1);
/// // Other settings replace those that it chose.
/// let longer = MarginPursuitBound { iterations: 2 * quantities.iterations, ..quantities };
/// assert!(longer.evaluate()?.optimization_error < bound.optimization_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginPursuitBound {
    /// The constant kappa: the expected loss is kappa-strongly convex on W.
    pub strong_convexity: f64,
    /// The moment v_X = E ||x||^2, at least kappa.
    pub input_second_moment: f64,
    /// The step alpha, below 2/(kappa + v_X).
    pub step: f64,
    /// The number of steps T.
    pub iterations: usize,
    /// The distance ||w0 - w*||.
    pub initial_distance: f64,
    /// The diameter of W, a ball, which is at least `initial_distance`; only the sound terms depend
    /// on it.
    pub diameter: f64,
    /// The number of samples n.
    pub samples: usize,
    /// The number of features d.
    pub dimension: usize,
    /// The scale s.
    pub scale: f64,
    /// The number delta: the bound holds with probability at least 1 - 2 delta.
    pub delta: f64,
    /// The constant c: every projection of psi((gamma - y <w, x>)/s) y x, centred, on a unit vector
    /// has a moment generating function of at most exp(c a^2 times its variance). At least 1/2, as
    /// for a normal distribution.
    pub gradient_constant: f64,
    /// The moment E ||x x'|| as published, which is v_X; the proof holds as well with the largest
    /// eigenvalue of E x x', which is at most that.
    pub operator_norm_moment: f64,
}

/// The bound with every term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExcessRiskBound {
    /// The constant beta = 2 kappa v_X/(kappa + v_X).
    pub beta: f64,
    /// The factor 1 - alpha beta by which a step without noise shrinks the squared distance.
    pub contraction: f64,
    /// The term (1 - alpha beta)^T v_X ||w0 - w*||^2.
    pub optimization_error: f64,
    /// The error epsilon* = sqrt(c psi(sqrt 2)^2 E||x x'|| (d log(3 sqrt(n)/(2 delta)) +
    /// log(1/delta))).
    pub epsilon_star: f64,
    /// The term 4 v_X/(beta^2 n) ((1 + delta) v_X + 2 s epsilon*)^2.
    pub statistical_error: f64,
    /// The sum of both errors, as published: a bound on the excess of the expected loss over the least
    /// one of a linear function in W.
    pub excess_over_linear: f64,
    /// The error epsilon* with the terms that the proof leaves out.
    pub sound_epsilon_star: f64,
    /// The bound on the same excess that the corrected proof gives.
    pub sound_excess_over_linear: f64,
    /// The probability 1 - 2 delta.
    pub confidence: f64,
}

/// The larger of the two errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DominantTerm {
    /// The error of gradient descent is larger: more iterations help.
    Optimization,
    /// The error of the sample is larger: more samples, or a smaller scale, help.
    Statistical,
}

impl MarginPursuitBound {
    /// Returns the quantities with customary values of the other ones: gradient descent starts
    /// anywhere in W, with the step 1/(kappa + v_X), until `(1 - alpha beta)^T` is at most 1/n;
    /// delta is 0.025, so that the bound holds with probability 0.95; c is 1/2, as for a normal
    /// distribution; E ||x x'|| is v_X.
    ///
    /// # Errors
    /// [`evaluate`](Self::evaluate) says which.
    pub fn new(
        samples: usize,
        dimension: usize,
        strong_convexity: f64,
        input_second_moment: f64,
        scale: f64,
        diameter: f64,
    ) -> Result<Self, Error> {
        let (kappa, v) = (strong_convexity, input_second_moment);
        let step = (kappa + v).recip();
        let mut quantities = MarginPursuitBound {
            strong_convexity,
            input_second_moment,
            step,
            iterations: 0,
            initial_distance: diameter,
            diameter,
            samples,
            dimension,
            scale,
            delta: 0.025,
            gradient_constant: 0.5,
            operator_norm_moment: input_second_moment,
        };
        quantities.check()?;
        let log_contraction = (-step * quantities.beta()).ln_1p();
        quantities.iterations = ((samples as f64).ln() / -log_contraction).ceil() as usize;
        Ok(quantities)
    }

    /// Returns the constant beta = 2 kappa v_X/(kappa + v_X).
    fn beta(&self) -> f64 {
        self.strong_convexity / (0.5 * (self.strong_convexity / self.input_second_moment + 1.0))
    }

    /// Returns every term of theorem 11, as published, and beside it the bound that its proof
    /// supports.
    ///
    /// The proof was checked in these places:
    ///
    /// * The name epsilon* stands for two quantities: in the theorem it is multiplied by 2 s, in
    ///   the proof (equation 27) it contains 2 s. They agree; this follows the theorem.
    /// * The distance after T steps is at most a + b, `a = (1 - alpha beta)^(T/2) ||w0 - w*||`,
    ///   `b = 2 e/beta`, e the error of the gradient. The theorem has `v_X (a^2 + b^2)` without
    ///   cross term, which is right: smoothness gives `v_X/2 (a + b)^2 <= v_X (a^2 + b^2)`, the
    ///   half being left out in the proof. The sound bound is the left side.
    /// * The covering number has the diameter of W in it, and the term in the logarithm should be
    ///   `3 diameter sqrt(n)/(2 delta)`; as published the diameter is 1.
    /// * The tail bound for a mean of vectors (lemma 15) applies a bound for a fixed direction to
    ///   the direction of the deviation itself, which is random; for a standard normal vector it
    ///   would bound the norm without regard to the dimension. A net of 5^d directions with radius
    ///   1/2 repairs it: d log 5 is added below the root, and the root is doubled.
    ///
    /// Hence `sound_epsilon_star` is twice `epsilon_star` with `15 diameter` in place of 3 in its
    /// logarithm, the diameter being raised to `2 delta/sqrt(n)` if below.
    ///
    /// The Psi-transform compares with the infimum of the expected loss over all measurable functions,
    /// where the theorem has the infimum over W. The difference is the approximation error, which
    /// [`ExcessRiskBound::misclassification_bound`] adds.
    ///
    /// # Errors
    /// [`Error::Parameter`] names the first condition that fails: a quantity is not positive and
    /// finite (distances and iterations may be 0), kappa > v_X, step >= 2/(kappa + v_X), delta is
    /// outside (0, 1/2), a gradient constant is below 1/2, E||x x'|| > v_X, initial distance >
    /// diameter, there are no samples or no dimensions.
    pub fn evaluate(&self) -> Result<ExcessRiskBound, Error> {
        self.check()?;
        let (n, d) = (self.samples as f64, self.dimension as f64);
        let v = self.input_second_moment;
        let beta = self.beta();
        let contraction = (1.0 - self.step * beta).max(0.0);
        let halfway = contraction.powf(0.5 * self.iterations as f64) * self.initial_distance;
        let optimization_error = v * halfway * halfway;

        let noise = |log_cover: f64| {
            let log_terms = self.gradient_constant * (d * log_cover - self.delta.ln());
            SATURATION * self.operator_norm_moment.sqrt() * log_terms.sqrt()
        };
        let distance = |epsilon_star: f64| {
            let gradient_error = (1.0 + self.delta) * v + 2.0 * self.scale * epsilon_star;
            2.0 * gradient_error / (beta * n.sqrt())
        };
        // In logarithms, as a quotient of the quantities may overflow.
        let log_radius = self.delta.ln() - 0.5 * n.ln();
        let epsilon_star = noise(1.5f64.ln() - log_radius);
        let published = distance(epsilon_star);
        let statistical_error = v * published * published;

        let log_share = (self.diameter.ln() - log_radius).max(LN_2);
        let sound_epsilon_star = 2.0 * noise(7.5f64.ln() + log_share);
        let sound = halfway + distance(sound_epsilon_star);
        Ok(ExcessRiskBound {
            beta,
            contraction,
            optimization_error,
            epsilon_star,
            statistical_error,
            excess_over_linear: optimization_error + statistical_error,
            sound_epsilon_star,
            sound_excess_over_linear: 0.5 * v * sound * sound,
            confidence: 1.0 - 2.0 * self.delta,
        })
    }

    fn check(&self) -> Result<(), Error> {
        let positive =
            |name, value| OutOfRange::check(name, value, "positive and finite", |x| x > 0.0);
        let (kappa, v) = (self.strong_convexity, self.input_second_moment);
        positive("strong convexity", kappa)?;
        positive("second moment of the inputs", v)?;
        OutOfRange::check(
            "strong convexity",
            kappa,
            "at most the second moment of the inputs",
            |x| x <= v,
        )?;
        positive("step", self.step)?;
        OutOfRange::check("step", self.step, "below 2/(kappa + v_X)", |x| {
            x < (0.5 * kappa + 0.5 * v).recip()
        })?;
        let distance = self.initial_distance;
        OutOfRange::check("initial distance", distance, "at least 0 and finite", |x| x >= 0.0)?;
        OutOfRange::check("diameter", self.diameter, "at least the initial distance", |x| {
            x >= distance
        })?;
        if self.samples == 0 {
            return Err(Error::Empty("samples"));
        }
        if self.dimension == 0 {
            return Err(Error::Empty("dimensions"));
        }
        positive("scale", self.scale)?;
        OutOfRange::check("delta", self.delta, "between 0 and 1/2, both excluded", |x| {
            x > 0.0 && x < 0.5
        })?;
        OutOfRange::check("gradient constant", self.gradient_constant, "at least 1/2", |x| {
            x >= 0.5
        })?;
        let norm = positive("moment of the operator norm", self.operator_norm_moment)?;
        let requirement = "at most the second moment of the inputs";
        OutOfRange::check("moment of the operator norm", norm, requirement, |x| x <= v)?;
        Ok(())
    }
}

impl ExcessRiskBound {
    /// Returns the larger of the errors of the published bound; the statistical one at a tie.
    pub fn dominant(&self) -> DominantTerm {
        if self.optimization_error > self.statistical_error {
            DominantTerm::Optimization
        } else {
            DominantTerm::Statistical
        }
    }

    /// Returns the published bound on the excess misclassification risk over the Bayes error: the
    /// given inverse of the Psi-transform at [`excess_over_linear`](Self::excess_over_linear) plus
    /// `approximation_error`, at most 1.
    ///
    /// The approximation error is the infimum of the expected loss over W, less its infimum over all
    /// measurable functions; an upper bound does as well. The theorem leaves it out, which is right
    /// only if it is 0: otherwise the classifier with the lowest expected loss in W may misclassify
    /// far more than others in W. As the loss is at least 0, the expected loss of any linear function
    /// in W is an upper bound.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the approximation error is negative or not finite.
    pub fn misclassification_bound(
        &self,
        approximation_error: f64,
        inverse: impl Fn(f64) -> f64,
    ) -> Result<f64, Error> {
        beyond(self.excess_over_linear, approximation_error, inverse)
    }

    /// Returns the bound on the same excess by
    /// [`sound_excess_over_linear`](Self::sound_excess_over_linear).
    ///
    /// # Errors
    /// The errors of [`misclassification_bound`](Self::misclassification_bound).
    pub fn sound_misclassification_bound(
        &self,
        approximation_error: f64,
        inverse: impl Fn(f64) -> f64,
    ) -> Result<f64, Error> {
        beyond(self.sound_excess_over_linear, approximation_error, inverse)
    }
}

fn beyond(
    excess_over_linear: f64,
    approximation_error: f64,
    inverse: impl Fn(f64) -> f64,
) -> Result<f64, Error> {
    let requirement = "at least 0 and finite";
    let missing =
        OutOfRange::check("approximation error", approximation_error, requirement, |x| x >= 0.0)?;
    Ok(inverse(excess_over_linear + missing).min(1.0))
}

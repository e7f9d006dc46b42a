//! The excess risk bound of margin pursuit (Holland 2019, theorem 11) with its quantities estimated
//! from data.
//!
//! The theorem is about the distribution, and about classifiers without intercept and penalty. Rows
//! estimate its quantities, so that the numbers here are estimates and prove nothing: they show which
//! term is large, and how far the bound is from saying something.

use margins_calibration::MarginPursuitPsi;
use margins_calibration::risk_bound::{ExcessRiskBound, MarginPursuitBound};
use margins_data::{Dataset, Design};
use margins_losses::catoni::{psi, psi_prime};
use margins_losses::{MarginLoss, MarginPursuit};
use margins_optim::problem::summation::dot;
use margins_optim::products::weighted_gram;
use margins_optim::{Objective, Options, Status};
use nalgebra::DMatrix;

use crate::Error;

/// The settings of the bound.
///
/// ```
/// use margins_data::generate::{Example, GaussianMixture};
/// use margins_estimators::risk_bound::RiskBoundSettings;
///
/// let data = GaussianMixture::example(Example::One, 1)?.sample(500, 2)?;
/// let found = RiskBoundSettings::new(1.0, 20.0).estimate(&data)?;
/// assert!(found.is_stationary && found.strong_convexity > 0.0);
/// // As nearly always, the bound allows any error.
/// assert!(found.is_vacuous());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskBoundSettings {
    /// The level gamma of the loss.
    pub gamma: f64,
    /// The scale s of the loss.
    pub scale: f64,
    /// The radius of the ball of parameters around 0; by default twice the norm of the minimiser.
    pub radius: Option<f64>,
    /// The bound holds with probability 1 - 2 delta.
    pub delta: f64,
}

/// The quantities of theorem 11 as data estimate them, with the bound that they give.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatedRiskBound {
    /// The scale s.
    pub scale: f64,
    /// The number of samples n.
    pub samples: usize,
    /// The number of features d.
    pub dimension: usize,
    /// The moment v_X, the mean of `||x||^2`. It is also E||x x'|| as published.
    pub input_second_moment: f64,
    /// The smallest eigenvalue of the mean of `x x'`, to which kappa tends for large scales; 0 if the
    /// features are linearly dependent.
    pub smallest_eigenvalue: f64,
    /// The largest eigenvalue of the mean of `x x'`, with which the proof holds as well.
    pub operator_norm: f64,
    /// The radius r of the ball W (assumption A0).
    pub radius: f64,
    /// The norm of the minimiser of the risk on the samples.
    pub minimizer_norm: f64,
    /// True if the minimiser was found and is in the ball (assumption A1).
    pub is_stationary: bool,
    /// The constant kappa of A2 on the whole ball, by remark 10: the smallest eigenvalue of the mean of
    /// `a_i x_i x_i'`, `a_i = max(0, 1 - (gamma + r ||x_i||)^2/(2 s^2))`, a lower bound on the curvature
    /// of the risk on the samples anywhere in the ball; 0 if it shows none.
    pub strong_convexity: f64,
    /// The smallest eigenvalue of the Hessian at the minimiser, which kappa does not exceed if the
    /// minimiser is in the ball.
    pub curvature_at_minimizer: f64,
    /// A lower estimate of the constant c of A3, at least 1/2: the largest
    /// `log mean exp(a z)/(a^2 mean z^2)` over projections z of the centred gradients.
    pub gradient_constant: f64,
    /// The risk of the minimiser on the samples: an upper bound on the approximation error, if the
    /// minimiser is in the ball.
    pub approximation_error: f64,
    /// The bound; `None` if kappa is 0, so that A2 is not shown, or the minimiser is outside of the ball,
    /// so that A1 fails.
    pub bound: Option<RiskBoundTerms>,
}

/// The terms of the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskBoundTerms {
    /// The step and the number of steps that the bound is for, with all quantities.
    pub quantities: MarginPursuitBound,
    /// The terms, of which those without `sound` are as published.
    pub published: ExcessRiskBound,
    /// The terms with the largest eigenvalue of the mean of `x x'` in the noise.
    pub sound: ExcessRiskBound,
    /// The published bound on the misclassification risk above the Bayes error, at most 1.
    pub misclassification: f64,
    /// The bound on the same excess by the corrected proof, at most 1.
    pub sound_misclassification: f64,
}

impl RiskBoundSettings {
    /// Returns the settings for a loss, with delta 0.025.
    pub fn new(gamma: f64, scale: f64) -> Self {
        RiskBoundSettings { gamma, scale, radius: None, delta: 0.025 }
    }

    /// Returns the bound for gradient descent from w = 0 on these samples, with the step
    /// `1/(kappa + v_X)`, until its error is at most 1/n of that at the start.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: the samples have weights. [`Error::Setting`]: the radius or all features
    /// are 0, delta is outside (0, 1/2), or there are more than 2000 features. [`Error::Losses`] or
    /// [`Error::Calibration`]: gamma or the scale is out of range.
    pub fn estimate(&self, data: &Dataset) -> Result<EstimatedRiskBound, Error> {
        Ok(self.along(data, &[self.scale])?.remove(0))
    }

    /// Returns the bound at each of some scales, instead of the scale of the settings. All of them are
    /// checked before the first is estimated.
    ///
    /// # Errors
    /// The errors of [`estimate`](Self::estimate).
    pub fn along(&self, data: &Dataset, scales: &[f64]) -> Result<Vec<EstimatedRiskBound>, Error> {
        self.check(data)?;
        let of_scale = |&scale: &f64| -> Result<_, Error> {
            let loss = MarginPursuit::new(self.gamma, scale)?;
            Ok((loss, MarginPursuitPsi::new(self.gamma, scale)?))
        };
        let losses: Vec<_> = scales.iter().map(of_scale).collect::<Result<_, _>>()?;
        let inputs = InputMoments::new(data.design())?;
        losses.iter().map(|(loss, transform)| self.at(loss, transform, data, &inputs)).collect()
    }

    fn at(
        &self,
        loss: &MarginPursuit,
        transform: &MarginPursuitPsi,
        data: &Dataset,
        inputs: &InputMoments,
    ) -> Result<EstimatedRiskBound, Error> {
        let (design, signs, scale) = (data.design(), data.labels().signs(), loss.scale());
        let minimizer = minimizer(loss, data)?;
        let minimizer_norm = dot(&minimizer.coef, &minimizer.coef).sqrt();
        let radius = self.radius.unwrap_or(2.0 * minimizer_norm);
        if !is_positive(radius) {
            let setting = "the default radius, twice the norm of the minimiser,";
            return Err(Error::setting(setting, &radius, "positive and finite: give a radius"));
        }
        let mut margins = vec![0.0; design.rows()];
        design.multiply(&minimizer.coef, &mut margins);
        margins.iter_mut().zip(signs).for_each(|(u, y)| *u *= y);
        let lowest = |r: &f64| {
            let distance = (self.gamma + radius * r) / scale;
            (1.0 - 0.5 * distance * distance).max(0.0)
        };
        let on_ball: Vec<f64> = inputs.norms.iter().map(lowest).collect();
        let bend = |u: &f64| psi_prime((self.gamma - u) / scale);
        let at_minimizer: Vec<f64> = margins.iter().map(bend).collect();
        let smallest =
            |weights: &[f64]| rounded(extreme_eigenvalues(design, weights).0, inputs.operator_norm);
        let mut found = EstimatedRiskBound {
            scale,
            samples: design.rows(),
            dimension: design.columns(),
            input_second_moment: inputs.second_moment,
            smallest_eigenvalue: inputs.smallest_eigenvalue,
            operator_norm: inputs.operator_norm.min(inputs.second_moment),
            radius,
            minimizer_norm,
            is_stationary: minimizer.report.status == Status::RuleMet && minimizer_norm <= radius,
            strong_convexity: smallest(&on_ball),
            curvature_at_minimizer: smallest(&at_minimizer),
            gradient_constant: gradient_constant(loss, design, signs, &margins),
            approximation_error: mean(margins.iter().map(|&u| loss.value(u))),
            bound: None,
        };
        if found.strong_convexity > 0.0 && !found.is_outside() {
            found.bound = Some(self.terms(&found, transform)?);
        }
        Ok(found)
    }

    fn check(&self, data: &Dataset) -> Result<(), Error> {
        /// The most features whose matrix of moments is decomposed.
        const MOST: usize = 2000;
        let columns = data.columns();
        if columns > MOST {
            return Err(Error::setting("the number of features", &columns, "at most 2000"));
        }
        if data.own_weights().is_some() {
            let (one, other) = ("the risk bound".to_owned(), "sample weights".to_owned());
            let reason = "theorem 11 is for samples of equal weight";
            return Err(Error::contradiction(one, other, reason));
        }
        if let Some(radius) = self.radius.filter(|&radius| !is_positive(radius)) {
            return Err(Error::setting("the radius", &radius, "positive and finite"));
        }
        if !(self.delta > 0.0 && self.delta < 0.5) {
            let requirement = "between 0 and 1/2, both excluded";
            return Err(Error::setting("delta", &self.delta, requirement));
        }
        Ok(())
    }

    /// Returns the terms of the bound for estimated quantities.
    fn terms(
        &self,
        found: &EstimatedRiskBound,
        transform: &MarginPursuitPsi,
    ) -> Result<RiskBoundTerms, Error> {
        let (kappa, v) =
            (found.strong_convexity.min(found.operator_norm), found.input_second_moment);
        let diameter = 2.0 * found.radius;
        let (n, d) = (found.samples, found.dimension);
        let quantities = MarginPursuitBound {
            initial_distance: found.minimizer_norm,
            delta: self.delta,
            gradient_constant: found.gradient_constant,
            ..MarginPursuitBound::new(n, d, kappa, v, found.scale, diameter)?
        };
        let published = quantities.evaluate()?;
        let of_proof =
            MarginPursuitBound { operator_norm_moment: found.operator_norm, ..quantities };
        let sound = of_proof.evaluate()?;
        let inverse = |risk: f64| transform.inverse(risk);
        let missing = found.approximation_error;
        Ok(RiskBoundTerms {
            quantities,
            published,
            sound,
            misclassification: published.misclassification_bound(missing, inverse)?,
            sound_misclassification: sound.sound_misclassification_bound(missing, inverse)?,
        })
    }
}

impl EstimatedRiskBound {
    /// Returns true if the minimiser is outside of the ball, so that A1 fails.
    pub fn is_outside(&self) -> bool {
        self.minimizer_norm > self.radius
    }

    /// Returns true if the bound allows any misclassification risk, or there is none.
    pub fn is_vacuous(&self) -> bool {
        self.bound.is_none_or(|bound| bound.sound_misclassification >= 1.0)
    }
}

/// The second moments of the rows, which are the same at every scale.
struct InputMoments {
    /// The norm of every row.
    norms: Vec<f64>,
    /// The mean of the squared norms.
    second_moment: f64,
    /// The extreme eigenvalues of the mean of `x x'`.
    smallest_eigenvalue: f64,
    operator_norm: f64,
}

impl InputMoments {
    fn new(design: &Design) -> Result<Self, Error> {
        let norms: Vec<f64> = design.samples().map(|x| x.norm()).collect();
        let second_moment = mean(norms.iter().map(|r| r * r));
        if !is_positive(second_moment) {
            let setting = "the mean squared norm of the rows";
            return Err(Error::setting(setting, &second_moment, "positive"));
        }
        let (smallest, operator_norm) = extreme_eigenvalues(design, &vec![1.0; design.rows()]);
        let smallest_eigenvalue = rounded(smallest, operator_norm);
        Ok(InputMoments { norms, second_moment, smallest_eigenvalue, operator_norm })
    }
}

/// Returns an eigenvalue, or 0 if it is 0 to rounding of the largest.
fn rounded(eigenvalue: f64, largest: f64) -> f64 {
    if eigenvalue > 1e-12 * largest { eigenvalue } else { 0.0 }
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

/// Returns the linear function of the lowest mean loss, without intercept and penalty.
fn minimizer(loss: &MarginPursuit, data: &Dataset) -> Result<margins_optim::Fit, Error> {
    let objective = Objective::new(loss, data.design(), data.labels())?.without_intercept();
    Ok(margins_robust::unpenalised(&objective, &Options::default())?)
}

/// Returns the lower estimate of c, at the minimiser and at w = 0, in the directions of at most 50
/// features and of the 50 largest eigenvectors of the second moment of the gradients, which are centred
/// afterwards.
fn gradient_constant(loss: &MarginPursuit, design: &Design, signs: &[f64], margins: &[f64]) -> f64 {
    const DIRECTIONS: usize = 50;
    let (n, d) = (design.rows(), design.columns());
    let mut largest = 0.5f64;
    for at_minimizer in [false, true] {
        let factor = |i: usize| {
            let u = if at_minimizer { margins[i] } else { 0.0 };
            -psi((loss.gamma() - u) / loss.scale()) * signs[i]
        };
        let squares: Vec<f64> = (0..n).map(|i| factor(i) * factor(i)).collect();
        let eigen = moments(design, &squares).symmetric_eigen();
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
        let vector =
            |&k: &usize| -> Vec<f64> { eigen.eigenvectors.column(k).iter().copied().collect() };
        let axis = |k: usize| -> Vec<f64> { (0..d).map(|j| f64::from(u8::from(j == k))).collect() };
        let axes = (0..d.min(DIRECTIONS)).map(axis);
        let directions = order.iter().take(DIRECTIONS).map(vector).chain(axes);
        for direction in directions {
            let mut projections = vec![0.0; n];
            design.multiply(&direction, &mut projections);
            projections.iter_mut().enumerate().for_each(|(i, z)| *z *= factor(i));
            largest = largest.max(sub_gaussian_constant(&projections));
        }
    }
    largest
}

/// Returns the largest `log mean exp(t z)/t^2` over a grid of t, for projections centred and divided by
/// their standard deviation; 1/2 if they have none.
fn sub_gaussian_constant(projections: &[f64]) -> f64 {
    const GRID: [f64; 10] = [-4.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 4.0];
    let centre = mean(projections.iter().copied());
    let deviation = mean(projections.iter().map(|z| (z - centre) * (z - centre))).sqrt();
    if !(deviation > 0.0 && deviation.is_finite()) {
        return 0.5;
    }
    let constant = |t: f64| {
        let exponents = || projections.iter().map(move |z| t * ((z - centre) / deviation));
        let most = exponents().fold(f64::NEG_INFINITY, f64::max);
        (most + mean(exponents().map(|e| (e - most).exp())).ln()) / (t * t)
    };
    GRID.iter().map(|&t| constant(t)).fold(0.5, f64::max)
}

/// Returns the smallest and the largest eigenvalue of the weighted moments.
fn extreme_eigenvalues(design: &Design, weights: &[f64]) -> (f64, f64) {
    let eigenvalues = moments(design, weights).symmetric_eigenvalues();
    (eigenvalues.min().max(0.0), eigenvalues.max())
}

/// Returns the mean of `a_i x_i x_i'` for weights `a_i` of at least 0.
fn moments(design: &Design, weights: &[f64]) -> DMatrix<f64> {
    let (n, d) = (design.rows() as f64, design.columns());
    let mut gram = DMatrix::zeros(d + 1, d + 1);
    weighted_gram(design, weights, &mut gram);
    // The first row and column belong to the constant.
    DMatrix::from_fn(d, d, |i, j| gram[(i.max(j) + 1, i.min(j) + 1)] / n)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

//! Majorisation-minimisation with one eigendecomposition for all lambdas.
//!
//! Where `L'' <= kappa`, F lies below the quadratic with Hessian `(kappa/n) P_lambda`,
//! `P_lambda = P_0 + mu diag(0, 1, ..., 1)`, `P_0 = Z' diag(c) Z`, `Z = [1 X]`,
//! `mu = 2 n lambda / kappa`, that touches it at the present point; a step goes to the minimum of
//! that quadratic. With `P_0 = U S U'` decomposed once, `Q = P_0 + mu I = U (S + mu) U'` costs
//! nothing for another lambda, and Sherman-Morrison takes the penalty off the intercept:
//! `P_lambda^(-1) = Q^(-1) + g v v'`, `v = Q^(-1) e_1`, `g = mu / (1 - mu v_1)`, where
//! `1 - mu v_1 = sum_k U_1k^2 s_k / (s_k + mu)`.
//!
//! Source: Kwon and Zou 2023, appendix C, with the sign of `z_i` corrected, and `kappa` for the
//! curvature 1 of their loss.

use faer::{MatRef, Side};
use margins_losses::MarginLoss;
use nalgebra::{DMatrix, DVector};

use crate::certificate::Evaluator;
use crate::method::{Ending, Monitor, Rule};
use crate::problem::summation::dot;
use crate::problem::{Point, curvature};
use crate::products::weighted_gram;
use crate::space::{InMemory, Scores};
use crate::{Certificate, Error, Lambda, Objective, Options};

pub(crate) const DEFAULT_ITERATIONS: usize = 10_000;

/// The number of iterations between two certificates, each of which costs about as much as an
/// iteration.
pub(crate) const CHECK_EVERY: usize = 10;

/// The relative difference of the objective that rounding alone makes.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The largest order of the matrix to decompose.
pub(crate) const LARGEST_ORDER: usize = 4000;

/// The eigendecomposition of `P_0`.
pub(crate) struct Majorizer {
    vectors: DMatrix<f64>,
    values: DVector<f64>,
    curvature: f64,
    samples: f64,
    with_intercept: bool,
}

impl Majorizer {
    pub(crate) fn of<L: MarginLoss + ?Sized>(objective: &Objective<'_, L>) -> Result<Self, Error> {
        let Objective { risk, design, .. } = objective;
        let (weights, with_intercept) = (risk.weights(), risk.intercept);
        let curvature = curvature(risk.loss)?;
        let order = design.columns() + 1;
        if order > LARGEST_ORDER {
            return Err(Error::TooLargeForMm { order, limit: LARGEST_ORDER });
        }
        let samples = weights.len() as f64;
        let weights: Vec<f64> = weights.iter().map(|c| c * samples).collect();
        let mut gram = DMatrix::zeros(order, order);
        weighted_gram(design, &weights, &mut gram);
        if gram.iter().any(|x| !x.is_finite()) {
            return Err(Error::Overflow);
        }
        if !with_intercept {
            // The coordinate of the intercept is cut off from the others and never moves.
            gram.column_mut(0).fill(0.0);
        }
        let (vectors, values) = decompose(&gram)?;
        Ok(Majorizer { vectors, values, curvature, samples, with_intercept })
    }

    pub(crate) fn curvature(&self) -> f64 {
        self.curvature
    }

    pub(crate) fn vectors(&self) -> &DMatrix<f64> {
        &self.vectors
    }

    pub(crate) fn at(&self, lambda: Lambda) -> MajorizerAt<'_> {
        let penalty = 2.0 * self.samples * lambda.get() / self.curvature;
        let scale = self.values.map(|s| 1.0 / (s + penalty));
        let first_row = self.vectors.row(0).transpose();
        let first_column = &self.vectors * first_row.component_mul(&scale);
        // The squares of the first row of U sum to 1: this is 1 - mu v_1 without cancellation.
        let rest: f64 =
            (0..scale.len()).map(|k| first_row[k].powi(2) * self.values[k] * scale[k]).sum();
        let correction = penalty / rest;
        MajorizerAt { majorizer: self, scale, first_column, correction }
    }
}

/// Returns `U` and `S` of a matrix of which the lower half is read.
fn decompose(gram: &DMatrix<f64>) -> Result<(DMatrix<f64>, DVector<f64>), Error> {
    let order = gram.nrows();
    let eigen = MatRef::from_column_major_slice(gram.as_slice(), order, order)
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::Eigendecomposition(order))?;
    let (s, u) = (eigen.S().column_vector(), eigen.U());
    // Rounding must not make the majoriser smaller than F.
    let floor = order as f64 * f64::EPSILON * s[order - 1].abs();
    let values = DVector::from_fn(order, |i, _| s[i].max(0.0) + floor);
    Ok((DMatrix::from_fn(order, order, |i, j| u[(i, j)]), values))
}

/// The inverse of `P_lambda` at one lambda.
pub(crate) struct MajorizerAt<'a> {
    majorizer: &'a Majorizer,
    /// The factors `1 / (s + mu)`.
    scale: DVector<f64>,
    /// The vector `v`.
    first_column: DVector<f64>,
    /// The factor `g`.
    correction: f64,
}

impl MajorizerAt<'_> {
    /// Returns the minimiser of the majoriser at `point`, whose gradient is `(slope, gradient)`.
    fn step<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        point: &Point,
        slope: f64,
        gradient: &[f64],
    ) -> Point {
        let order = gradient.len() + 1;
        let gamma = DVector::from_fn(order, |j, _| if j == 0 { slope } else { gradient[j - 1] });
        let rotated = self.majorizer.vectors.tr_mul(&gamma).component_mul(&self.scale);
        let step = &self.majorizer.vectors * rotated;
        let majorizer = self.majorizer;
        let length = -majorizer.samples / majorizer.curvature;
        let off_penalty = if majorizer.with_intercept {
            self.correction * dot(self.first_column.as_slice(), gamma.as_slice())
        } else {
            0.0
        };
        let moved = |j: usize| length * (step[j] + off_penalty * self.first_column[j]);
        let intercept = if majorizer.with_intercept { point.intercept + moved(0) } else { 0.0 };
        let coef = point.coef.iter().enumerate().map(|(j, w)| w + moved(j + 1)).collect();
        Point::at(&objective.design, intercept, coef)
    }

    /// Returns the step to the minimiser of the majoriser, in the coordinates of the eigenvectors, from
    /// the gradient there; `first_row` is the first row of U.
    pub(crate) fn rotated_step(
        &self,
        first_row: &DVector<f64>,
        gradient: &DVector<f64>,
    ) -> DVector<f64> {
        let Majorizer { samples, curvature, with_intercept, .. } = self.majorizer;
        // The vector v, rotated.
        let first_column = first_row.component_mul(&self.scale);
        let mut step = gradient.component_mul(&self.scale);
        if *with_intercept {
            step.axpy(self.correction * first_column.dot(gradient), &first_column, 1.0);
        }
        step * (-samples / curvature)
    }
}

/// Returns the point after one MM step from `point`.
fn advance<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    majorizer: &MajorizerAt<'_>,
    lambda: Lambda,
    point: &Point,
) -> Point {
    let slope = evaluator.intercept_slope(point);
    evaluator.set_gradient(lambda, point);
    evaluator.passes += 1;
    majorizer.step(evaluator.samples.objective, point, slope, &evaluator.gradient)
}

/// The method with the parts that serve a whole path.
pub(crate) struct MajorizeMinimize {
    pub(crate) majorizer: Majorizer,
    /// True for Nesterov's extrapolation.
    pub(crate) accelerated: bool,
}

impl MajorizeMinimize {
    /// Minimises F from `point`, in place. The point returned has a settled intercept.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let majorizer = self.majorizer.at(lambda);
        let mut momentum = Momentum::new(point);
        loop {
            let last = monitor.exhausted().is_some();
            if last || monitor.iterations().is_multiple_of(CHECK_EVERY) || options.history {
                let (settled, certificate) = certify(evaluator, lambda, point);
                let mut shown = certificate;
                if options.history {
                    // MM never increases the objective of the iterate itself, but may increase that
                    // of the settled point.
                    shown = certificate.raised_to(evaluator.value_at(lambda, point));
                    evaluator.intercept_slope(point);
                }
                let margins = || evaluator.samples.summary();
                let passes = evaluator.passes;
                let rule = Rule::Gap;
                if let Some(status) = monitor.judge_by(rule, passes, &certificate, &shown, margins)
                {
                    *point = settled;
                    return monitor.end(status, certificate);
                }
            }
            monitor.count(1);
            *point = if self.accelerated {
                momentum.advance(evaluator, &majorizer, lambda, point)
            } else {
                advance(evaluator, &majorizer, lambda, point)
            };
        }
    }
}

/// Returns the certificate of a point after its intercept is settled, and that point.
fn certify<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
    lambda: Lambda,
    point: &Point,
) -> (Point, Certificate) {
    let mut settled = point.clone();
    evaluator.settle_intercept(&mut settled);
    let certificate = evaluator.certificate(lambda, &settled);
    (settled, certificate)
}

/// Nesterov's extrapolation in the metric of the majoriser, restarted whenever it would increase F.
struct Momentum {
    previous: Point,
    weight: f64,
    value: Option<f64>,
}

impl Momentum {
    fn new(point: &Point) -> Self {
        Momentum { previous: point.clone(), weight: 1.0, value: None }
    }

    fn advance<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        majorizer: &MajorizerAt<'_>,
        lambda: Lambda,
        point: &Point,
    ) -> Point {
        let value = self.value.unwrap_or_else(|| evaluator.value_at(lambda, point));
        let weight = 0.5 * (1.0 + (1.0 + 4.0 * self.weight * self.weight).sqrt());
        let share = (self.weight - 1.0) / weight;
        let direction = point.step(-1.0, &self.previous);
        let mut next = advance(evaluator, majorizer, lambda, &point.step(share, &direction));
        let mut next_value = evaluator.value_at(lambda, &next);
        self.weight = weight;
        // Differences within rounding are no increase: where F is flat to the last bits the gap can
        // still shrink.
        if next_value > value + ROUNDING * value.abs() {
            // The plain step is a descent by majorisation.
            self.weight = 1.0;
            next = advance(evaluator, majorizer, lambda, point);
            next_value = evaluator.value_at(lambda, &next);
        }
        self.previous = point.clone();
        self.value = Some(next_value);
        next
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::LeakyHockeyStick;

    use super::*;

    /// The vector v is the first column of `Q^(-1)`: the printed form with the first eigenvector
    /// instead of the first row of U has another one.
    #[test]
    fn the_correction_of_the_penalty_has_the_first_row_of_u() {
        let rows = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, 1.0]];
        let design = Design::from_rows(&rows).unwrap();
        let labels = Labels::from_signs(vec![1.0, 1.0, -1.0, -1.0]).unwrap();
        let objective =
            Objective::new(&LeakyHockeyStick as &dyn MarginLoss, &design, &labels).unwrap();
        let majorizer = Majorizer::of(&objective).unwrap();
        let at = majorizer.at(Lambda::new(0.1).unwrap());
        // P_0 + 2 n lambda I.
        let q = DMatrix::from_row_slice(3, 3, &[4.8, 1.0, 4.0, 1.0, 3.8, 0.0, 4.0, 0.0, 6.8]);
        let first = &q * &at.first_column - DVector::from_row_slice(&[1.0, 0.0, 0.0]);
        assert!(first.norm() < 1e-14, "{first}");
        assert!((at.first_column[0] - 0.457_896).abs() < 1e-6);
        let printed = &majorizer.vectors * majorizer.vectors.column(0).component_mul(&at.scale);
        assert!((printed - &at.first_column).norm() > 0.1);
    }
}

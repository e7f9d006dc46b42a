//! Paths by majorisation-minimisation with the stopping rule of the R package of its authors.
//!
//! The rule belongs to a whole path: plain warm starts, a change of the coefficients instead of a gap,
//! and one limit for the iterations of all lambdas. Points are kept as they are reached, with their
//! intercept; certificates say how far from the minimum that is.
//!
//! The method works in the coordinates `t = U'(b, w)` of the eigenvectors of the majoriser, in which a
//! step takes one product with `V = [1 X] U` and one with its transpose.
//!
//! Source: Kwon and Zou 2023, section 4.2 and appendix C; R package lhsc 1.0.0.

use std::rc::Rc;

use margins_data::{Design, Memory};
use margins_losses::MarginLoss;
use nalgebra::{DMatrix, DVector};

use crate::certificate::Evaluator;
use crate::method::mm::{CHECK_EVERY, MajorizerAt};
use crate::method::{Fit, Majorizer, Monitor, Observed, Observer, Options, Rule, Status};
use crate::path::engine::assemble;
use crate::problem::{Margins, Point};
use crate::space::{Extent, InMemory};
use crate::{Certificate, Error, Lambda, Objective};

/// The coefficients whose change ends a lambda, beside the intercept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficients {
    /// The coefficients `w` of the features.
    Features,
    /// The coefficients `a` of the samples with `w = X'a`, which a kernel classifier has.
    Samples,
}

/// The settings of [`Solver::MmPublished`](crate::Solver::MmPublished).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRule {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// The sum of their squared changes below which a lambda ends.
    pub change: f64,
    /// The number of iterations at all lambdas together after which the path ends.
    pub path_iterations: usize,
}

/// Returns the fits of [`Solver::MmPublished`](crate::Solver::MmPublished) at lambdas, largest first,
/// without those after the end of the path.
///
/// # Errors
/// [`Error::Unsuitable`] or [`Error::TooLargeForMm`]: the method cannot take the loss or the shape of
/// the problem. [`Error::Data`]: the rotated samples do not fit in memory. [`Error::Overflow`]: products
/// of the features overflow. [`Error::NoLambdas`]: there are no lambdas.
pub fn published<L: MarginLoss + ?Sized>(
    rule: PublishedRule,
    objective: &Objective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    let lambdas = Lambda::descending(lambdas)?;
    let majorizer = Majorizer::of(objective)?;
    let mut iterate = Iterate::origin(objective, &majorizer, rule.coefficients)?;
    let (mut fits, mut spent) = (Vec::new(), 0);
    for lambda in lambdas {
        let left = rule.path_iterations - spent;
        let most = options.max_iterations.map_or(left, |most| most.min(left));
        let own = Options { max_iterations: Some(most), ..*options };
        let mut monitor = Monitor::new(&own, lambda, most);
        let (at, before) = (majorizer.at(lambda), iterate.passes());
        let mut met = false;
        let ending = loop {
            let is_shown = monitor.is_watched() && monitor.iterations().is_multiple_of(CHECK_EVERY);
            if met || monitor.exhausted().is_some() || is_shown || options.history {
                let certificate = iterate.certificate(lambda);
                let passes = iterate.passes() - before;
                let summary = || iterate.margins.summary();
                let rule = Rule::Own { met };
                let judged = monitor.judge_by(rule, passes, &certificate, &certificate, summary);
                if let Some(status) = judged {
                    break monitor.end(status, certificate);
                }
            }
            monitor.count(1);
            met = iterate.advance(&at, lambda) < rule.change;
        };
        spent += ending.iterations;
        let is_end = ending.status == Status::IterationLimit && spent >= rule.path_iterations;
        if is_end && !fits.is_empty() {
            break;
        }
        let (point, passes) = (iterate.point(), iterate.passes() - before);
        let tolerance = options.tolerance;
        let fit = assemble(&objective.risk, lambda, &point, ending, passes, tolerance);
        observer(&Observed::new(lambda, &fit.report));
        fits.push(fit);
        if is_end {
            break;
        }
    }
    Ok(fits)
}

/// The point that the method has reached.
struct Iterate<'o, 'a, L: MarginLoss + ?Sized> {
    objective: &'o Objective<'a, L>,
    majorizer: &'o Majorizer,
    evaluator: Evaluator<InMemory<'o, 'a, L>>,
    margins: Margins<'o, L>,
    /// The samples `V`, rotated.
    rotated: Design,
    /// The first row of U, so that the intercept is its product with the coordinates.
    of_intercept: DVector<f64>,
    /// The coordinates `t`.
    coordinates: DVector<f64>,
    /// The scores `V t`, with the intercept.
    scores: DVector<f64>,
    /// The derivatives of the risk in the scores.
    pulls: DVector<f64>,
    /// The coefficients of the samples, where the rule asks for them.
    of_samples: Option<Vec<f64>>,
    passes: usize,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Iterate<'o, 'a, L> {
    fn origin(
        objective: &'o Objective<'a, L>,
        majorizer: &'o Majorizer,
        coefficients: Coefficients,
    ) -> Result<Self, Error> {
        let (n, p) = (objective.design.rows(), objective.design.columns());
        let extent = Rc::new(Extent::of(&objective.design));
        Ok(Iterate {
            objective,
            majorizer,
            evaluator: Evaluator::with_extent(objective, extent),
            margins: objective.risk.margins(),
            rotated: rotated(&objective.design, majorizer.vectors(), objective.risk.intercept)?,
            of_intercept: majorizer.vectors().row(0).transpose(),
            coordinates: DVector::zeros(p + 1),
            scores: DVector::zeros(n),
            pulls: DVector::zeros(n),
            of_samples: (coefficients == Coefficients::Samples).then(|| vec![0.0; n]),
            passes: 0,
        })
    }

    fn passes(&self) -> usize {
        self.passes + self.evaluator.passes
    }

    /// Takes a step; returns the sum of the squared changes of intercept and coefficients.
    fn advance(&mut self, at: &MajorizerAt<'_>, lambda: Lambda) -> f64 {
        let ridge = 2.0 * lambda.get();
        self.margins.set(self.scores.as_slice(), 0.0);
        self.margins.gradient(self.pulls.as_mut_slice());
        // The penalty does not act on the intercept.
        let intercept = self.of_intercept.dot(&self.coordinates);
        let mut gradient = DVector::zeros(self.coordinates.len());
        self.rotated.multiply_transposed(self.pulls.as_slice(), gradient.as_mut_slice());
        gradient.axpy(ridge, &self.coordinates, 1.0);
        gradient.axpy(-ridge * intercept, &self.of_intercept, 1.0);
        let step = at.rotated_step(&self.of_intercept, &gradient);
        self.coordinates += &step;
        let mut change = self.scores.clone();
        self.rotated.multiply(self.coordinates.as_slice(), self.scores.as_mut_slice());
        change.axpy(1.0, &self.scores, -1.0);
        self.passes += 2;
        let Some(of_samples) = &mut self.of_samples else { return step.norm_squared() };
        // Where the gradient of the majoriser vanishes, 2 lambda w is a sum over the samples.
        let curvature = self.majorizer.curvature();
        let moved = self.pulls.iter().zip(&change).zip(self.objective.risk.weights());
        let squares = of_samples.iter_mut().zip(moved).map(|(a, ((pull, change), weight))| {
            let next = -(pull + curvature * weight * change) / ridge;
            let square = (next - *a).powi(2);
            *a = next;
            square
        });
        self.of_intercept.dot(&step).powi(2) + squares.sum::<f64>()
    }

    fn point(&self) -> Point {
        let coef = self.majorizer.vectors() * &self.coordinates;
        let intercept = if self.objective.risk.intercept { coef[0] } else { 0.0 };
        Point::at(&self.objective.design, intercept, coef.as_slice()[1..].to_vec())
    }

    /// Returns the certificate of the point as it is: by the duals of the best intercept, which are
    /// feasible.
    fn certificate(&mut self, lambda: Lambda) -> Certificate {
        let mut point = self.point();
        self.margins.set(self.scores.as_slice(), 0.0);
        let value = self.evaluator.value_at(lambda, &point);
        self.evaluator.settle_intercept(&mut point);
        self.evaluator.certificate(lambda, &point).raised_to(value)
    }
}

/// Returns `[1 X] U`, or `[0 X] U` without an intercept.
fn rotated(design: &Design, vectors: &DMatrix<f64>, with_intercept: bool) -> Result<Design, Error> {
    let (rows, columns) = (design.rows(), design.columns());
    let order = columns + 1;
    // The samples, and a copy while they are made.
    let bytes = rows.saturating_mul(order).saturating_mul(2 * size_of::<f64>());
    let refused = |shortage| margins_data::Error::Copies { rows, columns, shortage };
    Memory::from_bytes(bytes).check_free().map_err(refused)?;
    let mut rotated = DMatrix::zeros(rows, order);
    for (k, mut column) in rotated.column_iter_mut().enumerate() {
        let vector = vectors.column(k);
        design.multiply(&vector.as_slice()[1..], column.as_mut_slice());
        if with_intercept {
            column.add_scalar_mut(vector[0]);
        }
    }
    Ok(Design::dense(&rotated)?)
}

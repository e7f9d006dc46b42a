//! Fits without a penalty. No dual point bounds their distance to the minimum, so the gradient is
//! the evidence.

use margins_losses::MarginLoss;
use margins_optim::method::Monitor;
use margins_optim::problem::summation::dot;
use margins_optim::problem::{MarginSummary, Need};
use margins_optim::{Fit, Lambda, Objective, Options, Solver, Status, StepRule};

use crate::estimated_risk::{EmpiricalMean, EstimatedObjective};
use crate::quasi_newton::descend;
use crate::separation::{quasi_separates, separates};
use crate::steepest::descend_steepest;
use crate::{Error, uncertified};

/// Returns the classifier that minimises the mean loss alone, `(1/n) sum_i c_i L(y_i (b + <w, x_i>))`,
/// from the origin by limited-memory BFGS, or by gradient descent if the options name it.
///
/// Its status is [`Status::RuleMet`] if the norm of the gradient is at most the tolerance times the
/// norm at the origin, or times the mean norm of the gradients of the samples there, if they cancel. It is
/// [`Status::NoMinimum`] if the loss falls for ever, as the logistic loss does, and so does its mean: if
/// the classes are separated, every multiple of the classifier is better, and if all samples but those on
/// a boundary are, every step away from it. The largest number of iterations is 10,000 by default.
///
/// ```
/// use margins_data::{Design, Labels};
/// use margins_losses::Logistic;
/// use margins_optim::{Objective, Options, Status};
///
/// let design = Design::from_rows(&[[0.0], [1.0], [2.0], [3.0]])?;
/// let overlapping = Labels::from_signs(vec![-1.0, 1.0, -1.0, 1.0])?;
/// let objective = Objective::new(&Logistic, &design, &overlapping)?;
/// let fit = margins_robust::unpenalised(&objective, &Options::default())?;
/// assert_eq!(fit.report.status, Status::RuleMet);
///
/// let separated = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
/// let objective = Objective::new(&Logistic, &design, &separated)?;
/// let fit = margins_robust::unpenalised(&objective, &Options::default())?;
/// assert_eq!(fit.report.status, Status::NoMinimum);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The tolerance is not positive; a loss that is not convex or not differentiable, or has no finite
/// curvature for the smooth step.
pub fn unpenalised<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    options: &Options,
) -> Result<Fit, Error> {
    unpenalised_from(objective, &vec![0.0; objective.design().columns() + 1], options)
}

/// Returns the classifier that [`unpenalised`] returns, by a descent from the start `(b, w)`: the
/// intercept, which an objective without one ignores, and a coefficient per feature.
///
/// Gradient descent (Holland 2019, algorithm 1) takes steps in w and the intercept together. Its smooth
/// step is 1/v, `v = L''_max (1/n) sum c_i (1 + ||x_i||^2)`, without the 1 if there is no intercept:
/// the step 2/v, to which `2/(kappa + v)` of theorem 11 tends for small kappa, may mirror w at the
/// minimum for ever.
///
/// ```
/// use margins_data::{Design, Labels};
/// use margins_losses::MarginPursuit;
/// use margins_optim::{Objective, Options, Solver, Status, StepRule};
///
/// let design = Design::from_rows(&[[1.0, 0.5], [2.0, -1.0], [-1.5, 0.3], [0.4, 1.0]])?;
/// let labels = Labels::from_signs(vec![1.0, 1.0, -1.0, -1.0])?;
/// let loss = MarginPursuit::new(1.0, 2.0)?;
/// let objective = Objective::new(&loss, &design, &labels)?.without_intercept();
/// let solver = Solver::GradientDescent { step: StepRule::Smooth };
/// let options = Options { solver, ..Options::default() };
/// let fit = margins_robust::unpenalised_from(&objective, &[0.0, 1.0, -2.0], &options)?;
/// assert_eq!(fit.report.status, Status::RuleMet);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`unpenalised`]; a start of another length or with a value that is not finite.
pub fn unpenalised_from<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    start: &[f64],
    options: &Options,
) -> Result<Fit, Error> {
    const ITERATIONS: usize = 10_000;
    /// The share of the gradients of the samples that rounding leaves if they cancel.
    const ROUNDING: f64 = 1e-12;
    check_start(start, objective.design().columns())?;
    options.check()?;
    let loss = objective.risk().loss();
    Solver::Newton.requirements().loss.iter().try_for_each(|need| need.check(loss))?;
    let mut problem = EstimatedObjective::new(objective, Lambda::NONE, EmpiricalMean);
    let mut start = start.to_vec();
    if !objective.risk().has_intercept() {
        start[0] = 0.0;
    }
    // The rule compares with the gradient at the origin, wherever the descent starts.
    let mut at_origin = vec![0.0; problem.dimension()];
    problem.value_and_gradient(&vec![0.0; problem.dimension()], &mut at_origin);
    let at_origin = dot(&at_origin, &at_origin).sqrt();
    let of_samples = loss.derivative(0.0).abs() * mean_of_norms(objective, f64::sqrt);
    let first = if at_origin <= ROUNDING * of_samples { of_samples } else { at_origin };
    let falls_for_ever = loss.population_minimizer(1.0) == f64::INFINITY;
    let ended = |point: &[f64], gradient_norm: f64| {
        if falls_for_ever && separates(objective, point) {
            Some(Status::NoMinimum)
        } else {
            (gradient_norm <= options.tolerance * first).then_some(Status::RuleMet)
        }
    };
    let monitor = Monitor::new(options, Lambda::NONE, ITERATIONS);
    let function = |point: &[f64], out: &mut [f64]| problem.value_and_gradient(point, out);
    let mut descended = match options.solver {
        Solver::GradientDescent { step } => {
            let smoothness = if step == StepRule::Smooth { smoothness(objective)? } else { 0.0 };
            let margins = |point: &[f64]| margins_at(objective, point);
            descend_steepest(function, start, (step, smoothness), ended, margins, monitor)
        }
        _ => descend(function, start, 0.0, ended, monitor),
    };
    let ending = &mut descended.ending;
    let is_settled = matches!(ending.status, Status::NoMinimum | Status::NumericalTrouble);
    if falls_for_ever && !is_settled && quasi_separates(objective, &descended.point) {
        ending.status = Status::NoMinimum;
    }
    Ok(uncertified(Lambda::NONE, &descended.point, descended.ending, problem.passes))
}

fn check_start(start: &[f64], columns: usize) -> Result<(), Error> {
    if start.len() != columns + 1 {
        return Err(Error::Start { found: start.len().saturating_sub(1), expected: columns });
    }
    match start.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::StartNotFinite { index, value: start[index] }),
        None => Ok(()),
    }
}

/// Returns the Lipschitz constant of the gradient of the mean loss.
fn smoothness<L: MarginLoss + ?Sized>(objective: &Objective<'_, L>) -> Result<f64, Error> {
    let risk = objective.risk();
    Need::Curvature.check(risk.loss())?;
    let curvature = risk.loss().curvature().unwrap_or(f64::INFINITY);
    Ok(curvature * mean_of_norms(objective, |square| square))
}

/// Returns the mean of a function of the squared norms of the samples with their constant 1, if there is
/// an intercept.
fn mean_of_norms<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    of_square: impl Fn(f64) -> f64,
) -> f64 {
    let risk = objective.risk();
    let constant = if risk.has_intercept() { 1.0 } else { 0.0 };
    let samples = objective.design().samples().zip(risk.weights());
    samples.map(|(x, c)| c * of_square(constant + x.squared_norm())).sum()
}

/// Returns the summary of the margins at a point, for histories.
fn margins_at<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    point: &[f64],
) -> MarginSummary {
    let mut scores = vec![0.0; objective.design().rows()];
    objective.design().multiply(&point[1..], &mut scores);
    objective.risk().margin_summary(&scores, point[0])
}

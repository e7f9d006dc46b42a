//! Fits without a penalty. No dual point bounds their distance to the minimum, so the gradient is
//! the evidence.

use margins_losses::MarginLoss;
use margins_optim::method::Monitor;
use margins_optim::{Fit, Lambda, Objective, Options, Solver, Status};

use crate::estimated_risk::{EmpiricalMean, EstimatedObjective};
use crate::quasi_newton::descend;
use crate::separation::{quasi_separates, separates};
use crate::{Error, uncertified};

/// Returns the classifier that minimises the mean loss alone, `(1/n) sum_i c_i L(y_i (b + <w, x_i>))`,
/// by limited-memory BFGS.
///
/// Its status is [`Status::RuleMet`] if the norm of the gradient is at most the tolerance times the
/// norm at the origin, and [`Status::NoMinimum`] if the loss falls for ever, as the logistic loss does,
/// and so does its mean: if the classes are separated, every multiple of the classifier is better, and if
/// all samples but those on a boundary are, every step away from it. The largest number of iterations is
/// 10,000 by default.
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
/// The tolerance is not positive; a loss that is not convex or not differentiable.
pub fn unpenalised<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    options: &Options,
) -> Result<Fit, Error> {
    const ITERATIONS: usize = 10_000;
    options.check()?;
    let loss = objective.risk().loss();
    Solver::Newton.requirements().loss.iter().try_for_each(|need| need.check(loss))?;
    let mut problem = EstimatedObjective::new(objective, Lambda::NONE, EmpiricalMean);
    let origin = vec![0.0; problem.dimension()];
    let mut first = None;
    let falls_for_ever = loss.population_minimizer(1.0) == f64::INFINITY;
    let ended = |point: &[f64], gradient_norm: f64| {
        let first = *first.get_or_insert(gradient_norm);
        if falls_for_ever && separates(objective, point) {
            Some(Status::NoMinimum)
        } else {
            (gradient_norm <= options.tolerance * first).then_some(Status::RuleMet)
        }
    };
    let monitor = Monitor::new(options, Lambda::NONE, ITERATIONS);
    let function = |point: &[f64], out: &mut [f64]| problem.value_and_gradient(point, out);
    let mut descended = descend(function, origin, 0.0, ended, monitor);
    let ending = &mut descended.ending;
    let is_settled = matches!(ending.status, Status::NoMinimum | Status::NumericalTrouble);
    if falls_for_ever && !is_settled && quasi_separates(objective, &descended.point) {
        ending.status = Status::NoMinimum;
    }
    Ok(uncertified(Lambda::NONE, &descended.point, descended.ending, problem.passes))
}

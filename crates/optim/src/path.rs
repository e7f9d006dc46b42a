//! Paths: one problem at many lambdas, each solved from the ones before it, and the choice among
//! them.
//!
//! * [`fit`], [`path()`]: one lambda, or many with warm starts and the closed-form ray.
//! * [`path_over`]: a path over any implementation of [`Samples`](crate::space::Samples), such as
//!   distributed samples.
//! * [`joint_path`]: several classes in one problem; [`joint_path_on_matrix`]: with a kernel matrix.
//! * [`Minimizer`], [`follow()`]: paths of solvers of your own.
//! * [`separable_limit`]: the limit of a path of separable classes as lambda falls to 0.
//! * [`Training`]: paths from a data set, with standardisation and class weights.
//! * [`cross_validate`]: a path for every fold, the best lambda and the one-standard-error lambda.

mod cross_validation;
mod engine;
mod error_curve;
mod fold;
mod folds;
mod follow;
mod held_out;
mod joint;
mod joint_on_kernel;
mod judge;
mod lift;
mod over;
mod published;
mod rounds;
mod sensitivity;
mod separable;
mod splits;
mod time_shares;
pub(crate) mod training;

use std::ops::ControlFlow;
use std::rc::Rc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::method::{
    Choice, Coordinates, Ending, Fit, LARGEST_DENSE_ORDER, Lbfgs, Method, Observed, Observer,
    Options, Plan, Solver, SpaceKind, Status, StepRule, choose,
};
use crate::problem::summation::dot;
use crate::problem::{Objective, Orthogonal, Point};
use crate::space::{Extent, RowSpace};
use crate::{Error, Lambda};
use engine::{Engine, PathSolver, Unfinished, assemble};
use lift::Lift;

pub use cross_validation::{
    CrossValidatedPath, FoldRows, ScoredFold, cross_validate, cross_validate_by, error_curve,
    held_out_curve,
};
pub(crate) use engine::fit_to_part;
pub use error_curve::{ErrorCurve, FoldError, FoldErrors};
pub use folds::{Advanced, Batch, HeldOut, Pace, curve_of_folds};
pub use follow::{Minimizer, follow};
pub use held_out::{FinishedFolds, FoldOutcome, Measured};
pub use joint::{JointFit, joint_path};
pub use joint_on_kernel::{joint_path_by_products, joint_path_on_matrix};
use over::path_beside_free;
pub use over::path_over;
pub(crate) use over::{Start, path_from};
pub use published::{Coefficients, PublishedRule, published};
pub use rounds::{Round, Rounds};
pub use sensitivity::{LeaveOneOutBounds, Sensitivity, leave_one_out_bounds};
pub use separable::{SeparableLimit, separable_limit};
pub use splits::untrained_classes;
pub use time_shares::TimeShares;
pub use training::{ClassWeights, Training};

/// Returns the minimiser of `F` at one lambda.
///
/// # Errors
/// [`Error::Unsuitable`] or [`Error::TooLargeForMm`]: the solver cannot take the loss or the shape
/// of the problem. [`Error::Tolerance`]: the tolerance is not positive. [`Error::Overflow`]:
/// products of the features overflow. [`Error::StepTooLong`]: gradient descent with steps of a fixed
/// length diverges.
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    options: &Options,
) -> Result<Fit, Error> {
    path(objective, &[lambda], options, &|_| {}).map(|mut fits| fits.swap_remove(0))
}

/// Returns the minimisers of `F` at every lambda, each once and largest first, whatever the order
/// given. Every fit starts from the ones before it; `observer` sees every fit as it is made.
///
/// Beyond separation the path of a loss with a homogeneous tail is a ray: once every margin is on
/// the tail, `(b, w)` at a smaller lambda' is `(lambda/lambda')^(1/(1+degree))` times `(b, w)` at
/// lambda. Proof: scaling the point by k scales the gradient of the mean loss by `k^(-degree)` and
/// that of the penalty by `k lambda'/lambda`; they still cancel for this k, and as `k >= 1` no
/// margin leaves the tail. Every point of the ray is certified like any other.
///
/// [`Solver::MmPublished`] may end the path: the lambdas after its end have no fit.
///
/// # Errors
/// The errors of [`fit`]. [`Error::NoLambdas`]: there are no lambdas.
pub fn path<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    path_by(None, objective, lambdas, options, observer)
}

/// Returns a path by a plan, or by the one that [`choose`] makes if none is given.
fn path_by<L: MarginLoss + ?Sized>(
    plan: Option<Plan>,
    objective: &Objective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    options.check()?;
    let lambdas = Lambda::descending(lambdas)?;
    if lambdas.contains(&Lambda::NONE) {
        return Err(Error::Lambda(0.0));
    }
    if objective.free.is_empty() {
        options.solver.check_loss(objective.risk.loss)?;
    } else {
        options.solver.check_space(SpaceKind::FreeFeatures)?;
    }
    if objective.risk.is_unbounded() {
        return Ok(lambdas
            .iter()
            .map(|&lambda| unbounded(objective, lambda, options, observer))
            .collect());
    }
    if let Solver::MmPublished { change, path_iterations } = options.solver {
        let rule = PublishedRule { coefficients: Coefficients::Features, change, path_iterations };
        return published(rule, objective, &lambdas, options, observer);
    }
    let extent = Extent::of(&objective.design);
    let solve = |objective: &Objective<'_, L>, extent: Extent| {
        if objective.free.is_empty() {
            return solve(plan, objective, extent, &lambdas, options, observer);
        }
        // Without a free column that is left the method is chosen as usual.
        let options = &Options { solver: Solver::Auto, ..*options };
        let over = |objective: &Objective<'_, L>, extent: Extent| {
            if objective.free.is_empty() {
                return solve(plan, objective, extent, &lambdas, options, observer);
            }
            path_beside_free(objective, extent, &lambdas, options, observer)
        };
        if objective.design.is_sparse() {
            return over(&objective.with_independent_free(), extent);
        }
        let orthogonal = Orthogonal::of(objective)?;
        let extent = Extent::of(&orthogonal.objective.design);
        let mut fits = over(&orthogonal.objective, extent)?;
        for fit in &mut fits {
            let coef = std::mem::take(&mut fit.coef);
            (fit.intercept, fit.coef) = orthogonal.restored(fit.intercept, coef);
        }
        Ok(fits)
    };
    match extent.offsets().filter(|_| objective.risk.intercept) {
        None => solve(objective, extent),
        Some(offsets) => {
            let mut design = Design::clone(&objective.design);
            design.shift_columns(&offsets);
            let extent = Extent::of_shifted(&design, &offsets);
            let shifted = objective.over(design);
            let mut fits = solve(&shifted, extent)?;
            fits.iter_mut().for_each(|fit| fit.intercept -= dot(&offsets, &fit.coef));
            Ok(fits)
        }
    }
}

/// Returns the fit of an objective that has no minimum, from the origin.
fn unbounded<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    options: &Options,
    observer: &Observer<'_>,
) -> Fit {
    let (n, p) = (objective.design.rows(), objective.design.columns());
    let Point { intercept, coef, products } = Point::zero(n, p);
    let value = objective.risk.margins().risk_at(&products, intercept);
    let report = Ending::unbounded(value).report(0, options.tolerance);
    observer(&Observed::new(lambda, &report));
    Fit { lambda, intercept, coef, report }
}

/// Returns the fits at all lambdas by a plan, or by the one that [`choose`] makes if none is given.
fn solve<L: MarginLoss + ?Sized>(
    plan: Option<Plan>,
    objective: &Objective<'_, L>,
    extent: Extent,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    let Plan { trial, choice } =
        plan.unwrap_or_else(|| choose(objective, &extent, lambdas, options));
    let Method { solver, coordinates, is_dense } = choice.method;
    let extent = Rc::new(extent);
    let by = |choice: Choice| {
        move |lambda: Lambda, mut fit: Fit| {
            fit.report.choice = Some(choice);
            observer(&Observed::new(lambda, &fit.report));
            fit
        }
    };
    let (mut fits, start) = match trial {
        None => (Vec::new(), None),
        Some((steps, choice)) => {
            attempt(objective, extent.clone(), lambdas, options, steps, by(choice))
        }
    };
    let lambdas = &lambdas[fits.len()..];
    let Some(&least) = lambdas.last() else { return Ok(fits) };
    let options = &Options { solver, ..*options };
    let chosen = by(choice);
    fits.extend(match coordinates {
        Coordinates::RowSpace => {
            let row_space = RowSpace::of(&objective.design, &extent, least)?;
            let reduced = objective.over(row_space.coordinates.clone());
            let start = start.and_then(|start| {
                let coef = row_space.coordinates_of(&start.point.products)?;
                let point = Point::at(&reduced.design, start.point.intercept, coef);
                Some(Unfinished { point, ..start })
            });
            let mut lift = Lift { evaluator: Evaluator::with_extent(objective, extent), row_space };
            // Half of the tolerance leaves room for the rounding of the way back.
            let tighter = &Options { tolerance: 0.5 * options.tolerance, ..*options };
            let extent = Rc::new(Extent::of(&reduced.design));
            let finish = |lambda, point: &Point, duals, ending, passes| {
                chosen(lambda, lift.fit(lambda, point, duals, ending, passes, options))
            };
            run(&reduced, extent, lambdas, tighter, is_dense, start, finish)
        }
        Coordinates::Features => {
            let finish = |lambda, point: &Point, _, ending, passes| {
                chosen(
                    lambda,
                    assemble(&objective.risk, lambda, point, ending, passes, options.tolerance),
                )
            };
            run(objective, extent, lambdas, options, is_dense, start, finish)
        }
    }?);
    Ok(fits)
}

/// Solves at one lambda after another by L-BFGS within so many steps in all; returns the fits, and what
/// has been reached at the lambda at which the method gave up.
fn attempt<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: Rc<Extent>,
    lambdas: &[Lambda],
    options: &Options,
    steps: usize,
    chosen: impl Fn(Lambda, Fit) -> Fit,
) -> (Vec<Fit>, Option<Unfinished>) {
    let evaluator = Evaluator::with_extent(objective, extent);
    let mut solver =
        PathSolver::new(Engine::Lbfgs(Lbfgs::within(steps, lambdas.len())), evaluator, None);
    let mut fits = Vec::new();
    let mut unfinished = None;
    follow(&mut solver, lambdas, options, |_, lambda, point, ending, passes| {
        let is_limit = options.max_iterations.is_some_and(|limit| ending.iterations >= limit);
        match ending.status {
            Status::IterationLimit | Status::Stalled | Status::RoundingLimit if !is_limit => {
                unfinished = Some(Unfinished { point: point.clone(), ending, passes });
                return ControlFlow::Break(());
            }
            Status::NumericalTrouble => return ControlFlow::Break(()),
            _ => {}
        }
        let mut fit = assemble(&objective.risk, lambda, point, ending, passes, options.tolerance);
        fit.report.duals = options
            .keep_duals
            .then(|| objective.risk.margins().settled_duals(&point.products, point.intercept));
        fits.push(chosen(lambda, fit));
        ControlFlow::Continue(())
    });
    (fits, unfinished)
}

/// Returns the minimiser of F by proximal Newton with its duals, from wherever the method begins.
pub(crate) fn minimum_with_duals<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    options: &Options,
) -> Option<(Point, Vec<f64>)> {
    let extent = Rc::new(Extent::of(&objective.design));
    let options = Options { solver: Solver::ProximalNewton, ..*options };
    let mut minimum = None;
    let finish = |lambda: Lambda, point: &Point, duals: Option<Vec<f64>>, ending, passes| {
        minimum = duals.map(|duals| (point.clone(), duals));
        assemble(&objective.risk, lambda, point, ending, passes, options.tolerance)
    };
    let is_dense = objective.design.columns() <= LARGEST_DENSE_ORDER;
    run(objective, extent, &[lambda], &options, is_dense, None, finish).ok()?;
    minimum
}

/// Solves at every lambda in turn, the systems of Newton's method being dense or not, from where another
/// method has stopped if that is given; `finish` makes a fit of the point reached, the duals that certify it if they are not the slopes there, the end of
/// the solver and its passes. The report keeps the duals if the options ask for them.
fn run<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: Rc<Extent>,
    lambdas: &[Lambda],
    options: &Options,
    is_dense: bool,
    start: Option<Unfinished>,
    mut finish: impl FnMut(Lambda, &Point, Option<Vec<f64>>, Ending, usize) -> Fit,
) -> Result<Vec<Fit>, Error> {
    let mut finish = |lambda: Lambda, point: &Point, duals: Option<Vec<f64>>, ending, passes| {
        let slopes = || objective.risk.margins().settled_duals(&point.products, point.intercept);
        let kept = options.keep_duals.then(|| duals.clone().unwrap_or_else(slopes));
        let mut fit = finish(lambda, point, duals, ending, passes);
        fit.report.duals = kept;
        fit
    };
    let engine = Engine::prepare(objective, options, is_dense)?;
    let evaluator = Evaluator::with_extent(objective, extent);
    let mut solver = PathSolver::new(engine, evaluator, start);
    let mut fits = Vec::with_capacity(lambdas.len());
    follow(&mut solver, lambdas, options, |solver, lambda, point, mut ending, passes| {
        let duals = solver.duals.take();
        let clear = duals.as_ref().and_then(|duals| {
            ending.clear_of_kinks(&mut solver.evaluator, lambda, point, duals, options.tolerance)
        });
        fits.push(finish(lambda, clear.as_ref().unwrap_or(point), duals, ending, passes));
        ControlFlow::Continue(())
    });
    match options.solver {
        Solver::GradientDescent { step: StepRule::Fixed(step) } if fits.iter().any(diverged) => {
            Err(Error::StepTooLong(step))
        }
        _ => Ok(fits),
    }
}

/// Returns true if steps led beyond the range of floating point, which the first point was within.
fn diverged(fit: &Fit) -> bool {
    fit.report.status == Status::NumericalTrouble && fit.report.iterations > 0
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    use margins_data::{Design, Labels};
    use margins_losses::{LeakyHockeyStick, Logistic, MarginLoss};

    use super::path_by;
    use crate::method::Plan;
    use crate::method::{Choice, Coordinates, Iteration, Method, Watch};
    use crate::{Lambda, Objective, Options, Solver, lambda_grid};

    /// A whole path by conjugate gradients on the data as they are, beside the one by dense
    /// systems, directly and through the row space, and those that L-BFGS leaves to either at the
    /// first lambda and at a later one.
    #[test]
    fn paths_do_not_depend_on_the_plan() {
        for (n, p) in [(40usize, 12usize), (15, 40)] {
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..p).map(|j| ((i * j + 3 * i + j) as f64 * 0.37).sin()).collect())
                .collect();
            let signs = (0..n).map(|i| if (i * i) % 7 < 3 { 1.0 } else { -1.0 }).collect();
            let design = Design::from_rows(&rows).expect("finite");
            let labels = Labels::from_signs(signs).expect("two classes");
            let losses: [&dyn MarginLoss; 2] = [&LeakyHockeyStick, &Logistic];
            for loss in losses {
                let objective = Objective::new(loss, &design, &labels).expect("fits");
                let lambdas = lambda_grid(1.0, 1e-5, 12).expect("a grid");
                let choice = |solver, coordinates, is_dense| {
                    let method = Method { solver, coordinates, is_dense };
                    Choice { method, after_trial: false, seconds: 0.0, next: None }
                };
                let seen = Mutex::new(Vec::new());
                let see = |iteration: &Iteration| {
                    let mut seen = seen.lock().expect("one thread");
                    seen.push((iteration.lambda, iteration.iteration));
                    ControlFlow::Continue(())
                };
                let watch = Some(Watch::new(&see));
                let options = Options { history: true, watch, ..Options::default() };
                let solve = |plan| {
                    path_by(Some(plan), &objective, &lambdas, &options, &|_| {}).expect("convex")
                };
                let coordinates = if p > n { Coordinates::RowSpace } else { Coordinates::Features };
                let dense = choice(Solver::Newton, coordinates, true);
                let iterative = choice(Solver::Newton, Coordinates::Features, false);
                let first = choice(Solver::Lbfgs, Coordinates::Features, false);
                let expected = solve(Plan::of(dense));
                for (steps, choice) in [(0, iterative), (12, iterative), (12, dense), (40, dense)] {
                    let trial = (steps > 0).then_some((steps, first));
                    seen.lock().expect("one thread").clear();
                    let fits = solve(Plan { trial, choice });
                    assert_eq!(fits.len(), lambdas.len());
                    // A method that continues from a trial continues its count.
                    let seen = seen.lock().expect("one thread");
                    let ascends = |one: &(Lambda, usize), next: &(Lambda, usize)| {
                        one.0 != next.0 || one.1 <= next.1
                    };
                    assert!(seen.is_sorted_by(ascends), "{seen:?}");
                    let counts = |fit: &crate::Fit| {
                        fit.report.history.is_sorted_by_key(|entry| entry.iteration)
                    };
                    assert!(fits.iter().all(counts));
                    let by = |fit: &crate::Fit| fit.report.choice.expect("a choice").method.solver;
                    let tried = fits.iter().filter(|fit| by(fit) == Solver::Lbfgs).count();
                    assert_eq!((tried > 0, tried < fits.len()), (steps == 40, true), "{tried}");
                    for (fit, expected) in fits.iter().zip(&expected) {
                        assert!(fit.report.converged() && expected.report.converged());
                        let (one, other) = (fit.report.objective, expected.report.objective);
                        assert!((one - other).abs() <= 2e-6 * one.abs().max(other.abs()));
                    }
                }
            }
        }
    }
}

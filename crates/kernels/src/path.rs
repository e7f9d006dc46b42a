//! Paths over lambda with a kernel: chooses the solver, and certifies every fit.

pub(crate) mod memory;

use std::ops::ControlFlow;
use std::time::Instant;

use margins_data::Design;
use margins_losses::MarginLoss;
use margins_optim::method::{Descent, Ending};
use margins_optim::path::{Coefficients, Minimizer, PublishedRule, follow, published};
use margins_optim::problem::Point;
use margins_optim::{
    Certificate, Fit, Lambda, Objective, Observed, Observer, Options, Solver, Status,
};
use nalgebra::DMatrix;

use crate::newton::SampleNewton;
use crate::path::memory::bytes_of_eigenspace;
use crate::room::is_free;
use crate::{Error, KernelFit, KernelObjective, Route};

pub use memory::PlannedPaths;

/// Minimises `F` at one lambda.
///
/// # Errors
/// The errors of [`path`].
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambda: Lambda,
    options: &Options,
) -> Result<KernelFit, Error> {
    path(objective, &[lambda], options, &|_| {}).map(|mut fits| fits.swap_remove(0))
}

/// Minimises `F` at every lambda, each once and largest first for any order of `lambdas`, every fit
/// starting from the ones before it; `observer` sees every fit as it is made, before the
/// verification of the scores. Beyond separation the path of a loss with a homogeneous tail is
/// followed in closed form, as that of [`path`](fn@margins_optim::path).
///
/// [`Solver::Newton`] is Newton in sample space, which needs no decomposition of K;
/// [`Solver::Auto`] is the same, but Newton in the coordinates of a pivoted Cholesky factor where
/// the rank of K, to ten digits of its trace, is below a third of its order; [`Solver::Mm`] runs on
/// the numerically nonzero eigenspace of K (Kwon and Zou 2023, section 4.2, with the corrected
/// update), decomposed once for all lambdas, and so does [`Solver::MmPublished`], which may end the
/// path early. All of them are certified against K itself.
///
/// # Errors
/// A loss or a number of samples that the solver cannot take; a tolerance that is not positive; no
/// lambdas.
pub fn path<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<KernelFit>, Error> {
    path_until(objective, lambdas, options, observer, &|solved| vec![false; solved.len()])
}

/// Returns the result of [`path`], except that fits that are open continue to smaller gaps if they were
/// found in sample space.
pub(crate) fn path_until<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
    are_open: &dyn Fn(&[Solved]) -> Vec<bool>,
) -> Result<Vec<KernelFit>, Error> {
    options.check()?;
    objective.risk.check_loss()?;
    let lambdas = Lambda::descending(lambdas)?;
    let route = Route::of(objective.risk.loss(), options.solver)?;
    objective.gram.check_paths(&PlannedPaths::one(route, lambdas.len()))?;
    if objective.risk.is_unbounded() {
        return Ok(lambdas
            .iter()
            .map(|&lambda| unbounded(objective, lambda, options, observer))
            .collect());
    }
    let mut solver = SampleNewton::new(&objective.risk, objective.gram.entries());
    if let Solver::MmPublished { change, path_iterations } = options.solver {
        let rule = PublishedRule { coefficients: Coefficients::Samples, change, path_iterations };
        return published_path(rule, objective, &mut solver, &lambdas, options, observer);
    }
    let deadline = options.deadline.map(|deadline| before(deadline, &mut solver, lambdas[0]));
    let options = &Options { deadline, ..*options };
    let factor = route
        .largest_rank(options.solver, objective.gram.len())
        .and_then(|rank| objective.gram.low_rank_factor(rank));
    let mut path = match (route, factor) {
        (Route::Eigenspace, _) => mm_path(objective, &lambdas, options, observer)?,
        (_, Some(factor)) => {
            let (z, lift) = (factor.coordinates(), factor.lift());
            path_in_coordinates(z, lift, objective, &lambdas, options, observer)?
        }
        (_, None) => newton_path(&mut solver, &lambdas, options, observer),
    };
    verify(objective, &mut solver, &mut path, options);
    if factor.is_some() {
        go_on(&mut solver, &mut path, options);
    }
    refine(objective, route, &mut solver, &mut path, options)?;
    if factor.is_none() {
        go_further(&mut solver, &mut path, options, are_open);
    }
    objective.gram.check()?;
    Ok(path
        .into_iter()
        .map(|Solved { lambda, point: Point { intercept, coef, products }, ending, passes }| {
            let ending = ending.examined(&objective.risk, &products, intercept);
            KernelFit {
                lambda,
                intercept,
                coef,
                report: ending.report(passes + 1, options.tolerance),
            }
        })
        .collect())
}

/// Returns the time at which a solver has to end so that its fits are certified by the deadline: a
/// product with K is measured, for what it takes depends on where its entries are and on what else the
/// processor does.
fn before<L: MarginLoss + ?Sized>(
    deadline: Instant,
    solver: &mut SampleNewton<'_, '_, L>,
    lambda: Lambda,
) -> Instant {
    /// The products of the step that is cut off, of its certificate, and of the scores and gradients that
    /// are verified.
    const PRODUCTS: u32 = 4;
    let begin = Instant::now();
    let mut origin = solver.origin();
    Descent::certify(solver, lambda, &mut origin);
    deadline.checked_sub(PRODUCTS * begin.elapsed()).unwrap_or(begin)
}

/// Returns the fit of an objective that has no minimum: the origin, without any iteration.
fn unbounded<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambda: Lambda,
    options: &Options,
    observer: &Observer<'_>,
) -> KernelFit {
    let n = objective.gram.len();
    let Point { intercept, coef, products } = Point::zero(n, n);
    let value = objective.risk.margins().risk_at(&products, intercept);
    let report = Ending::unbounded(value).report(0, options.tolerance);
    observer(&Observed::new(lambda, &report));
    KernelFit { lambda, intercept, coef, report }
}

/// A point with how the solver that reached it ended.
pub(crate) struct Solved {
    pub(crate) lambda: Lambda,
    pub(crate) point: Point,
    pub(crate) ending: Ending,
    passes: usize,
}

impl Solved {
    fn take_if_better(&mut self, point: Point, certificate: Certificate, tolerance: f64) {
        if certificate.relative_gap() < self.ending.certificate.relative_gap() {
            self.point = point;
            self.ending.certificate = certificate;
            if certificate.relative_gap() <= tolerance {
                self.ending.status = Status::Converged;
            }
        }
    }
}

fn newton_path<L: MarginLoss + ?Sized>(
    solver: &mut SampleNewton<'_, '_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Vec<Solved> {
    let mut path = Vec::with_capacity(lambdas.len());
    follow(solver, lambdas, options, |solver, lambda, point, ending, passes| {
        let examined = ending.clone().examined(solver.risk, &point.products, point.intercept);
        observer(&Observed::new(lambda, &examined.report(passes, options.tolerance)));
        path.push(Solved { lambda, point: point.clone(), ending, passes });
        ControlFlow::Continue(())
    });
    path
}

fn mm_path<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solved>, Error> {
    let eigenspace = objective.gram.eigenspace()?;
    let lift = |w: &[f64]| eigenspace.lift(w);
    path_in_coordinates(&eigenspace.coordinates, lift, objective, lambdas, options, observer)
}

/// Returns the path of linear classifiers over coordinates Z with `Z Z' = K`, and `lift` from those
/// to coefficients of kernel sections.
fn path_in_coordinates<L: MarginLoss + ?Sized>(
    coordinates: &Design,
    lift: impl Fn(&[f64]) -> Vec<f64>,
    objective: &KernelObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solved>, Error> {
    let reduced = Objective::from_risk(objective.risk.clone(), coordinates)?;
    let fits = margins_optim::path(&reduced, lambdas, options, observer)?;
    Ok(lifted(fits, coordinates, lift))
}

/// Returns the points of fits over coordinates Z with `Z Z' = K`.
fn lifted(fits: Vec<Fit>, coordinates: &Design, lift: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Solved> {
    let solved = |fit: Fit| {
        let mut products = vec![0.0; coordinates.rows()];
        coordinates.multiply(&fit.coef, &mut products);
        Solved {
            lambda: fit.lambda,
            point: Point { intercept: fit.intercept, coef: lift(&fit.coef), products },
            passes: fit.report.passes,
            ending: fit.report.into(),
        }
    };
    fits.into_iter().map(solved).collect()
}

/// Returns the path of [`Solver::MmPublished`]: its points as they are, certified against K.
fn published_path<L: MarginLoss + ?Sized>(
    rule: PublishedRule,
    objective: &KernelObjective<'_, L>,
    solver: &mut SampleNewton<'_, '_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<KernelFit>, Error> {
    let eigenspace = objective.gram.eigenspace()?;
    let reduced = Objective::from_risk(objective.risk.clone(), &eigenspace.coordinates)?;
    let fits = published(rule, &reduced, lambdas, options, observer)?;
    let fit = |Solved { lambda, mut point, ending, passes }: Solved| {
        let (intercept, value) = (point.intercept, ending.certificate.objective);
        let certificate = solver.certify_anew(lambda, &mut point).raised_to(value);
        let ending = ending.certified_by(certificate, options.tolerance);
        let Point { coef, products, .. } = point;
        let ending = ending.examined(&objective.risk, &products, intercept);
        let report = ending.report(passes + 2, options.tolerance);
        KernelFit { lambda, intercept, coef, report }
    };
    let path = lifted(fits, &eigenspace.coordinates, |w| eigenspace.lift(w));
    Ok(path.into_iter().map(fit).collect())
}

/// Continues by Newton's method in sample space where the truncation of a factor has left a gap.
fn go_on<L: MarginLoss + ?Sized>(
    solver: &mut SampleNewton<'_, '_, L>,
    path: &mut [Solved],
    options: &Options,
) {
    for solved in path.iter_mut().filter(|solved| solved.ending.status == Status::Stalled) {
        let Some(left) = options.after(solved.ending.iterations) else { continue };
        let before = Minimizer::passes(solver);
        let ending = solver.minimize(solved.lambda, &mut solved.point, &left);
        let history = solved.ending.history.clone();
        let certificate = solver.certify_anew(solved.lambda, &mut solved.point);
        let ending = Ending { history, ..ending.after(solved.ending.clone()) };
        solved.ending = ending.certified_by(certificate, options.tolerance);
        solved.passes += Minimizer::passes(solver) - before;
    }
}

/// Continues from points that are open to a hundredth of the tolerance, and again to a hundredth of that
/// as long as they stay open.
fn go_further<L: MarginLoss + ?Sized>(
    solver: &mut SampleNewton<'_, '_, L>,
    path: &mut [Solved],
    options: &Options,
    are_open: &dyn Fn(&[Solved]) -> Vec<bool>,
) {
    const SHARE: f64 = 0.01;
    const MOST: i32 = 3;
    for k in 1..=MOST {
        let further = Options { tolerance: SHARE.powi(k) * options.tolerance, ..*options };
        let open = are_open(path);
        let is_open = |(solved, open): &(&mut Solved, bool)| {
            *open && solved.ending.status == Status::Converged && !options.is_late()
        };
        let mut left = 0;
        for (solved, _) in path.iter_mut().zip(open).filter(is_open) {
            let Some(further) = further.after(solved.ending.iterations) else { continue };
            left += 1;
            let before = Minimizer::passes(solver);
            let mut point = solved.point.clone();
            let ending = solver.minimize(solved.lambda, &mut point, &further);
            let certificate = solver.certify_anew(solved.lambda, &mut point);
            solved.ending.iterations += ending.iterations;
            solved.take_if_better(point, certificate, options.tolerance);
            solved.passes += Minimizer::passes(solver) - before;
        }
        if left == 0 {
            return;
        }
    }
}

/// Looks again at what is open, with K in twice the working precision, and for what Newton has left
/// open also at the solution in the coordinates of the eigenspace.
///
/// Where K is of low rank and has large entries, rounding hides the null space: coefficients `-g/(2
/// lambda)` are large on it, so that `Ka` cancels, and so does `Kr`. Solutions in the coordinates
/// `Z = U S^(1/2)` have the coefficients of least norm, and `r'Kr` in twice the precision tells
/// what they are worth for K itself.
fn refine<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    route: Route,
    solver: &mut SampleNewton<'_, '_, L>,
    path: &mut [Solved],
    options: &Options,
) -> Result<(), Error> {
    const LARGEST_ORDER: usize = 4000;
    let is_open = |solved: &Solved| solved.ending.status != Status::Converged;
    if objective.gram.matrix().is_none() {
        return Ok(());
    }
    for solved in path.iter_mut().filter(|solved| is_open(solved)) {
        if options.is_late() {
            return Ok(());
        }
        let mut point = solved.point.clone();
        let certificate = solver.certify_accurately(solved.lambda, &mut point);
        solved.take_if_better(point, certificate, options.tolerance);
    }
    let spent = |k: &usize| path[*k].ending.iterations;
    let may_go_on = |k: &usize| is_open(&path[*k]) && options.after(spent(k)).is_some();
    let open: Vec<usize> = (0..path.len()).filter(may_go_on).collect();
    let most = open.iter().map(spent).max().unwrap_or(0);
    let by_newton = route == Route::SampleSpace;
    if open.is_empty() || options.is_late() || !by_newton || objective.gram.len() > LARGEST_ORDER {
        return Ok(());
    }
    let Some(left) = options.after(most) else { return Ok(()) };
    if !is_free(bytes_of_eigenspace(objective.gram.len())) {
        return Ok(());
    }
    let Ok(eigenspace) = objective.gram.eigenspace() else { return Ok(()) };
    let reduced = Objective::from_risk(objective.risk.clone(), &eigenspace.coordinates)?;
    let lambdas: Vec<Lambda> = open.iter().map(|&k| path[k].lambda).collect();
    let fits = margins_optim::path(&reduced, &lambdas, &left, &|_| {})?;
    for (k, fit) in open.into_iter().zip(fits) {
        let mut point = objective.point(fit.intercept, eigenspace.lift(&fit.coef));
        let certificate = solver.certify_accurately(fit.lambda, &mut point);
        path[k].ending.iterations += fit.report.iterations;
        path[k].passes += fit.report.passes;
        path[k].take_if_better(point, certificate, options.tolerance);
    }
    Ok(())
}

/// Certifies every point by its coefficients and K: neither the rounding that recurrences have
/// gathered in the scores nor a factorisation of K is trusted.
fn verify<L: MarginLoss + ?Sized>(
    objective: &KernelObjective<'_, L>,
    solver: &mut SampleNewton<'_, '_, L>,
    path: &mut [Solved],
    options: &Options,
) {
    let (n, count) = (objective.gram.len(), path.len());
    let coefs = DMatrix::from_fn(n, count, |i, k| path[k].point.coef[i]);
    let scores = objective.gram.multiply(&coefs);
    for (solved, scores) in path.iter_mut().zip(scores.column_iter()) {
        solved.point.products.copy_from_slice(scores.as_slice());
    }
    let mut points: Vec<_> = path.iter_mut().map(|s| (s.lambda, &mut s.point)).collect();
    let certificates = solver.certify_all(objective.gram, &mut points);
    for (solved, certificate) in path.iter_mut().zip(certificates) {
        solved.ending = solved.ending.clone().certified_by(certificate, options.tolerance);
        if solved.ending.status != Status::Converged {
            // No function at all is a classifier too, and where rounding rules it may be the better
            // one.
            let mut origin = Point::zero(n, n);
            let at_most = |known: &Certificate| known.objective + known.rounding;
            let given = at_most(&solved.ending.certificate);
            if solver.settle(solved.lambda, &mut origin) >= given {
                continue;
            }
            let certificate = solver.certify(solved.lambda, &mut origin);
            if at_most(&certificate) < given || given.is_nan() {
                solved.point = origin;
                solved.ending.certificate = certificate;
            }
        }
    }
}

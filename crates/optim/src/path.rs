use std::rc::Rc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::batched::{self, Reached};
use crate::bundle::Bundle;
use crate::certificate::Evaluator;
use crate::dual;
use crate::extent::Extent;
use crate::follow::{Minimizer, follow};
use crate::gradient_descent::GradientDescent;
use crate::mm::{self, Majorizer};
use crate::newton::{Newton, System};
use crate::objective::PART;
use crate::point::{Point, dot};
use crate::report::{Ending, Observed, Observer, Status};
use crate::risk::EmpiricalRisk;
use crate::row_space::RowSpace;
use crate::sdca::DualAscent;
use crate::{Certificate, Error, Fit, Lambda, Objective, Options, Solver};

/// Up to this order a dense system is formed and factorised.
const LARGEST_DENSE_ORDER: usize = 3000;

/// Minimises `F` at one lambda.
///
/// # Errors
/// A loss or a shape that the solver cannot take; a tolerance that is not positive.
pub fn fit<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    options: &Options,
) -> Result<Fit, Error> {
    path(objective, &[lambda], options, &|_| {}).map(|mut fits| fits.swap_remove(0))
}

/// Minimises `F` at every lambda, each once and largest first whatever the order given, every fit
/// starting from the ones before it; `observer` sees every fit as it is made.
///
/// Beyond separation the path of a loss with a homogeneous tail is a ray: once every margin is on
/// the tail, `(b, w)` at a smaller lambda' is `(lambda/lambda')^(1/(1+degree))` times `(b, w)` at
/// lambda. Proof: scaling the point by k scales the gradient of the mean loss by `k^(-degree)` and
/// that of the penalty by `k lambda'/lambda`; they still cancel for this k, and as `k >= 1` no
/// margin leaves the tail. Every point of the ray is certified like any other.
///
/// # Errors
/// As [`fit`]; no lambdas.
pub fn path<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    path_within(objective, lambdas, options, observer, LARGEST_DENSE_ORDER)
}

/// [`path`] with dense systems up to a given order.
fn path_within<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
    dense_order: usize,
) -> Result<Vec<Fit>, Error> {
    options.check()?;
    let lambdas = Lambda::descending(lambdas)?;

    let (n, p) = (objective.design.rows(), objective.design.columns());
    let dense = n.min(p) <= dense_order;
    let solver = options.solver.resolve(&objective.risk, dense, lambdas.len())?;
    let options = &Options { solver, ..*options };
    if objective.risk.is_unbounded() {
        return Ok(lambdas.iter().map(|&lambda| unbounded(objective, lambda, observer)).collect());
    }
    let extent = Extent::of(&objective.design);
    match extent.offsets().filter(|_| objective.risk.intercept) {
        None => solve(objective, extent, &lambdas, options, observer, dense_order),
        Some(offsets) => {
            let mut design = Design::clone(&objective.design);
            design.shift_columns(&offsets);
            let extent = Extent::of_shifted(&design, &offsets);
            let shifted = objective.over(design);
            let mut fits = solve(&shifted, extent, &lambdas, options, observer, dense_order)?;
            fits.iter_mut().for_each(|fit| fit.intercept -= dot(&offsets, &fit.coef));
            Ok(fits)
        }
    }
}

/// The fit of an objective that has no minimum: none has been looked for.
fn unbounded<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    observer: &Observer<'_>,
) -> Fit {
    let (n, p) = (objective.design.rows(), objective.design.columns());
    let Point { intercept, coef, products } = Point::zero(n, p);
    let value = objective.risk.margins().risk_at(&products, intercept);
    let certificate = Certificate::without_bound(value, f64::NAN);
    let (status, history) = (Status::Unbounded, Vec::new());
    let report = Ending { iterations: 0, status, certificate, history }.report(0);
    observer(&Observed::new(lambda, &report));
    Fit { lambda, intercept, coef, report }
}

/// Solves at all lambdas in the coordinates that suit the shape of the data.
fn solve<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: Extent,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
    dense_order: usize,
) -> Result<Vec<Fit>, Error> {
    let (n, p) = (objective.design.rows(), objective.design.columns());
    let extent = Rc::new(extent);
    // These take the same steps in the row space, whose basis costs more than they do, unless features of very
    // different sizes call for it.
    let as_well = matches!(options.solver, Solver::Sdca | Solver::Bundle | Solver::GradientDescent);
    if p > n && n <= dense_order && (!as_well || RowSpace::is_called_for(&extent)) {
        let row_space = RowSpace::of(&objective.design, &extent)?;
        let reduced = objective.over(row_space.coordinates.clone());
        let mut lift = Lift { evaluator: Evaluator::with_extent(objective, extent), row_space };
        // Room for what rounding takes on the way back.
        let tighter = Options { tolerance: 0.5 * options.tolerance, ..*options };
        let extent = Rc::new(Extent::of(&reduced.design));
        run(&reduced, extent, lambdas, &tighter, dense_order, |lambda, point, duals, ending, passes| {
            let fit = lift.fit(lambda, point, duals, ending, passes, options);
            observer(&Observed::new(lambda, &fit.report));
            fit
        })
    } else {
        run(objective, extent, lambdas, options, dense_order, |lambda, point, _, ending, passes| {
            let fit = assemble(&objective.risk, lambda, point.clone(), ending, passes);
            observer(&Observed::new(lambda, &fit.report));
            fit
        })
    }
}

/// A solver with what it prepares once for a whole path.
enum Engine {
    Newton(System),
    Mm { majorizer: Majorizer, accelerated: bool },
    Sdca(Box<DualAscent>),
    Bundle(Bundle),
    GradientDescent(GradientDescent),
}

impl Engine {
    fn prepare<L: MarginLoss + ?Sized>(
        objective: &Objective<'_, L>,
        options: &Options,
        dense_order: usize,
    ) -> Result<Self, Error> {
        let p = objective.design.columns();
        let system = || {
            if p <= dense_order { System::dense(p) } else { System::ConjugateGradients }
        };
        Ok(match options.solver {
            Solver::Auto | Solver::Newton => Engine::Newton(system()),
            Solver::Mm | Solver::MmAccelerated | Solver::MmBatched => Engine::Mm {
                majorizer: Majorizer::of(objective)?,
                accelerated: options.solver != Solver::Mm,
            },
            Solver::Sdca => {
                Engine::Sdca(Box::new(DualAscent::new(&objective.design, system(), options.seed)))
            }
            Solver::Bundle => Engine::Bundle(Bundle::default()),
            Solver::GradientDescent => {
                Engine::GradientDescent(GradientDescent::of(objective, options.step)?)
            }
        })
    }
}

/// An engine at work on an objective.
struct Machine<'o, 'a, L: MarginLoss + ?Sized> {
    engine: Engine,
    evaluator: Evaluator<'o, 'a, L>,
    /// The duals that certify the point reached last, if the engine tells them.
    duals: Option<Vec<f64>>,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Minimizer for Machine<'o, 'a, L> {
    type Loss = L;

    fn risk(&self) -> &EmpiricalRisk<'_, L> {
        &self.evaluator.objective.risk
    }

    fn origin(&self) -> Point {
        let design = &self.evaluator.objective.design;
        Point::zero(design.rows(), design.columns())
    }

    /// Newton starts from the minimiser for a part of the samples, if these are many: a few steps on
    /// the part take the place of as many on all.
    fn begin(&mut self, lambda: Lambda, options: &Options) -> Point {
        /// Of the part, whose minimiser is only that near to the one for all samples.
        const TOLERANCE: f64 = 1e-3;
        let objective = self.evaluator.objective;
        let part = match self.engine {
            Engine::Newton(_) => objective.part(options.seed),
            _ => None,
        };
        let options = Options { tolerance: options.tolerance.max(TOLERANCE), ..*options };
        let origin = self.origin();
        let Some(Ok(Fit { intercept, coef, report, .. })) =
            part.map(|part| fit(&part, lambda, &options))
        else {
            return origin;
        };
        self.evaluator.passes += 1 + report.passes.div_ceil(PART);
        let start = Point::at(&objective.design, intercept, coef);
        // A sample that the part lacks may weigh more than all others there, without bound even.
        let value = self.evaluator.value_at(lambda, &start);
        let is_nearer = value.is_finite() && value <= self.evaluator.value_at(lambda, &origin);
        if is_nearer { start } else { origin }
    }

    fn value(&mut self, lambda: Lambda, point: &Point) -> f64 {
        self.evaluator.value_at(lambda, point)
    }

    fn minimize(&mut self, lambda: Lambda, point: &mut Point, options: &Options) -> Ending {
        let evaluator = &mut self.evaluator;
        match &mut self.engine {
            Engine::Newton(system) => {
                let mut newton = Newton::new(evaluator, system);
                let ending = newton.minimize(lambda, point, options);
                self.duals = Some(newton.into_duals());
                ending
            }
            Engine::Mm { majorizer, accelerated } => {
                mm::minimize(evaluator, majorizer, lambda, point, options, *accelerated)
            }
            Engine::Sdca(ascent) => {
                let ending = ascent.minimize(evaluator, lambda, point, options);
                self.duals = ascent.duals().map(<[f64]>::to_vec);
                ending
            }
            Engine::Bundle(bundle) => bundle.minimize(evaluator, lambda, point, options),
            Engine::GradientDescent(descent) => descent.minimize(evaluator, lambda, point, options),
        }
    }

    fn large_lambda(&self) -> f64 {
        self.evaluator.objective.mean_square()
    }

    fn is_local(&self) -> bool {
        matches!(self.engine, Engine::Newton(_))
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }
}

/// Solves at every lambda in turn; `finish` makes a fit of the point reached, the duals that certify it, if they are
/// known, how the solver ended and the passes it took.
fn run<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: Rc<Extent>,
    lambdas: &[Lambda],
    options: &Options,
    dense_order: usize,
    mut finish: impl FnMut(Lambda, &Point, Option<Vec<f64>>, Ending, usize) -> Fit,
) -> Result<Vec<Fit>, Error> {
    if options.solver == Solver::MmBatched {
        let paths = batched::paths(
            &objective.design,
            std::slice::from_ref(&objective.risk),
            lambdas,
            options,
        )?;
        let reached = paths.into_iter().flatten();
        return Ok(reached
            .map(|Reached { lambda, point, ending, passes }| {
                finish(lambda, &point, None, ending, passes)
            })
            .collect());
    }
    let engine = Engine::prepare(objective, options, dense_order)?;
    let evaluator = Evaluator::with_extent(objective, extent);
    let mut machine = Machine { engine, evaluator, duals: None };
    let mut fits = Vec::with_capacity(lambdas.len());
    follow(&mut machine, lambdas, options, |machine, lambda, point, ending, passes| {
        fits.push(finish(lambda, point, machine.duals.take(), ending, passes));
    });
    Ok(fits)
}

fn assemble<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    lambda: Lambda,
    point: Point,
    ending: Ending,
    passes: usize,
) -> Fit {
    let Point { intercept, coef, products } = point;
    let ending = ending.examined(risk, &products, intercept);
    Fit { lambda, intercept, coef, report: ending.report(passes) }
}

/// Takes fits in row-space coordinates back to the original features and certifies them there,
/// against the true data and not their factorisation.
struct Lift<'o, 'a, L: MarginLoss + ?Sized> {
    evaluator: Evaluator<'o, 'a, L>,
    row_space: RowSpace,
}

impl<L: MarginLoss + ?Sized> Lift<'_, '_, L> {
    fn fit(
        &mut self,
        lambda: Lambda,
        reduced: &Point,
        duals: Option<Vec<f64>>,
        ending: Ending,
        passes: usize,
        options: &Options,
    ) -> Fit {
        let objective = self.evaluator.objective;
        let coef = self.row_space.coefficients(&objective.design, &reduced.coef);
        let mut point = Point::at(&objective.design, reduced.intercept, coef);
        let before = self.evaluator.passes;
        self.evaluator.settle_intercept(&mut point);
        let mut certificate = self.evaluator.appraise_settled(lambda, &point);
        if let Some(duals) = duals.filter(|_| certificate.relative_gap() > options.tolerance) {
            let gradient_norm = certificate.gradient_norm;
            let by_duals = dual::certify(&mut self.evaluator, lambda, &point, &duals);
            certificate = Certificate { gradient_norm, ..certificate.or(by_duals) };
        }
        let mut ending = Ending { certificate, ..ending };
        let certified = certificate.relative_gap() <= options.tolerance;
        let by_newton = options.solver == Solver::Newton && self.row_space.is_lossy();
        if certified {
            ending.status = Status::Converged;
        } else if ending.status == Status::Converged && !by_newton {
            ending.status = Status::Stalled;
        } else if by_newton && ending.status != Status::IterationLimit {
            // What the factorisation lost a few steps on the true data win back.
            let system = &mut System::ConjugateGradients;
            let mut newton = Newton::new(&mut self.evaluator, system);
            let polish = newton.minimize(lambda, &mut point, options);
            ending = Ending {
                iterations: ending.iterations + polish.iterations,
                history: ending.history,
                ..polish
            };
        }
        let passes = passes + 2 + self.evaluator.passes - before;
        assemble(&objective.risk, lambda, point, ending, passes)
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::{LeakyHockeyStick, Logistic, MarginLoss};

    use super::{LARGEST_DENSE_ORDER, path_within};
    use crate::{Objective, Options, lambda_grid};

    /// A whole path by conjugate gradients on the data as they are, beside the one by dense systems,
    /// directly and through the row space.
    #[test]
    fn paths_do_not_depend_on_the_system() {
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
                let solve = |order| {
                    path_within(&objective, &lambdas, &Options::default(), &|_| {}, order)
                        .expect("convex")
                };
                for (iterative, dense) in solve(0).iter().zip(solve(LARGEST_DENSE_ORDER)) {
                    assert!(iterative.report.converged() && dense.report.converged());
                    let (one, other) = (iterative.report.objective, dense.report.objective);
                    assert!((one - other).abs() <= 2e-6 * one.abs().max(other.abs()));
                }
            }
        }
    }
}

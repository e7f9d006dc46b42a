//! The solvers of a path in memory, with what each prepares once.

use margins_losses::{HomogeneousTail, MarginLoss};

use crate::certificate::Evaluator;
use crate::method::{
    Bundle, DualAscent, Ending, Fit, GradientDescent, Iteration, Lbfgs, MajorizeMinimize,
    Majorizer, Newton, Options, ProximalNewton, Solver, System, Watch, radius_near,
};
use crate::path::follow::lower;
use crate::path::{Minimizer, fit};
use crate::problem::summation::variance;
use crate::problem::{EmpiricalRisk, Objective, Point};
use crate::space::{InMemory, Scores, Space};
use crate::{Error, Lambda};

/// A solver with the parts that it prepares once for a whole path.
pub(super) enum Engine {
    Newton(System),
    Mm(MajorizeMinimize),
    ProximalNewton(ProximalNewton),
    Sdca(Box<DualAscent>),
    Bundle(Bundle),
    Lbfgs(Lbfgs),
    GradientDescent(GradientDescent),
}

impl Engine {
    pub(super) fn prepare<L: MarginLoss + ?Sized>(
        objective: &Objective<'_, L>,
        options: &Options,
        is_dense: bool,
    ) -> Result<Self, Error> {
        let p = objective.design.columns();
        let system = || if is_dense { System::dense(p) } else { System::conjugate_gradients() };
        Ok(match options.solver {
            Solver::Auto | Solver::Newton => Engine::Newton(system()),
            Solver::Mm { accelerated } => {
                let majorizer = Majorizer::of(objective)?;
                Engine::Mm(MajorizeMinimize { majorizer, accelerated })
            }
            // It has a path of its own.
            Solver::MmPublished { .. } => {
                let majorizer = Majorizer::of(objective)?;
                Engine::Mm(MajorizeMinimize { majorizer, accelerated: true })
            }
            Solver::ProximalNewton => Engine::ProximalNewton(ProximalNewton::new(system())),
            Solver::Sdca { seed } => {
                Engine::Sdca(Box::new(DualAscent::new(&objective.design, system(), seed)))
            }
            Solver::Bundle => Engine::Bundle(Bundle::default()),
            Solver::Lbfgs => Engine::Lbfgs(Lbfgs::new()),
            Solver::GradientDescent { step } => {
                Engine::GradientDescent(GradientDescent::of(objective, step)?)
            }
        })
    }
}

/// A solver of paths: an engine with the objective that it works on.
pub(super) struct PathSolver<'o, 'a, L: MarginLoss + ?Sized> {
    pub(super) engine: Engine,
    pub(super) evaluator: Evaluator<InMemory<'o, 'a, L>>,
    /// The duals that certify the point reached last, if they are not the slopes there.
    pub(super) duals: Option<Vec<f64>>,
    /// The result of an engine before this one at the first lambda.
    start: Option<Unfinished>,
    /// The end of that engine, until this one continues from there.
    before: Option<Ending>,
}

/// The place where one engine has stopped and another one continues.
pub(super) struct Unfinished {
    pub(super) point: Point,
    pub(super) ending: Ending,
    pub(super) passes: usize,
}

impl<'o, 'a, L: MarginLoss + ?Sized> PathSolver<'o, 'a, L> {
    pub(super) fn new(
        engine: Engine,
        evaluator: Evaluator<InMemory<'o, 'a, L>>,
        start: Option<Unfinished>,
    ) -> Self {
        PathSolver { engine, evaluator, duals: None, start, before: None }
    }
}

impl<'o, 'a, L: MarginLoss + ?Sized> Minimizer for PathSolver<'o, 'a, L> {
    type Products = Vec<f64>;

    fn tail(&self) -> Option<HomogeneousTail> {
        self.evaluator.samples.tail()
    }

    fn all_beyond(&mut self, point: &Point, from: f64) -> bool {
        self.evaluator.samples.all_beyond(point, from)
    }

    fn origin(&mut self) -> Point {
        let design = &self.evaluator.samples.objective.design;
        Point::zero(design.rows(), design.columns())
    }

    /// Returns the point to start from: the one where an engine before has stopped, or for Newton the
    /// minimiser for a part of the samples, if these are many, because a few steps on the part take
    /// the place of as many on all.
    fn begin(&mut self, lambda: Lambda, options: &Options) -> Point {
        if let Some(Unfinished { point, ending, passes }) = self.start.take() {
            self.evaluator.passes += passes;
            self.before = Some(ending);
            return point;
        }
        let objective = self.evaluator.samples.objective;
        let part = match self.engine {
            Engine::Newton(_) | Engine::ProximalNewton(_) => objective.part(),
            _ => None,
        };
        let Some(part) = part else { return self.origin() };
        let Ok(Fit { intercept, coef, report, .. }) = fit_to_part(&part, lambda, options) else {
            return self.origin();
        };
        let (of_part, of_all) = (part.design.stored(), objective.design.stored());
        let count = part.design.rows();
        drop(part);
        self.evaluator.passes += 1 + (report.passes * of_part).div_ceil(of_all);
        let start = Point::at(&objective.design, intercept, coef);
        let origin = self.origin();
        let start = lower(&mut self.evaluator, lambda, start, origin);
        if let Engine::ProximalNewton(method) = &mut self.engine {
            let radius = radius_near(variance(&start.products), start.coef.len() + 1, count);
            radius.into_iter().for_each(|radius| method.begin_near(Some(radius)));
        }
        start
    }

    fn value(&mut self, lambda: Lambda, point: &Point) -> f64 {
        self.evaluator.value_at(lambda, point)
    }

    fn minimize(&mut self, lambda: Lambda, point: &mut Point, options: &Options) -> Ending {
        if let Some(before) = self.before.take() {
            let Some(options) = options.after(before.iterations) else { return before };
            // The callback counts on from where the engine before has stopped.
            let see = options.watch.map(|watch| {
                let (iterations, elapsed) = (before.iterations, before.elapsed.0);
                move |seen: &Iteration| {
                    let iteration = iterations + seen.iteration;
                    watch.see(&Iteration { iteration, elapsed: elapsed + seen.elapsed, ..*seen })
                }
            });
            let watch = see.as_ref().map(|see| Watch::new(see));
            return self.minimize(lambda, point, &Options { watch, ..options }).after(before);
        }
        let evaluator = &mut self.evaluator;
        match &mut self.engine {
            Engine::Newton(system) => {
                let mut newton = Newton::new(evaluator, system);
                let ending = newton.minimize(lambda, point, options);
                self.duals = newton.into_witness();
                ending
            }
            Engine::Mm(method) => method.minimize(evaluator, lambda, point, options),
            Engine::ProximalNewton(method) => {
                let ending = method.minimize(evaluator, lambda, point, options);
                self.duals = method.duals().map(<[f64]>::to_vec);
                ending
            }
            Engine::Sdca(ascent) => {
                let ending = ascent.minimize(evaluator, lambda, point, options);
                self.duals = ascent.duals().map(<[f64]>::to_vec);
                ending
            }
            Engine::Bundle(bundle) => bundle.minimize(evaluator, lambda, point, options),
            Engine::Lbfgs(lbfgs) => lbfgs.minimize(evaluator, lambda, point, options),
            Engine::GradientDescent(descent) => descent.minimize(evaluator, lambda, point, options),
        }
    }

    fn large_lambda(&self) -> f64 {
        self.evaluator.samples.objective.mean_square()
    }

    fn is_local(&self) -> bool {
        match self.engine {
            Engine::Newton(_) | Engine::ProximalNewton(_) => true,
            Engine::Mm(_)
            | Engine::Sdca(_)
            | Engine::Bundle(_)
            | Engine::Lbfgs(_)
            | Engine::GradientDescent(_) => false,
        }
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }
}

/// Returns the fit to a part of the samples, as exact as a start for all of them needs to be.
pub(crate) fn fit_to_part<L: MarginLoss + ?Sized>(
    part: &Objective<'_, L>,
    lambda: Lambda,
    options: &Options<'_>,
) -> Result<Fit, Error> {
    /// The tolerance on the part, whose minimiser is only this near to the one for all samples.
    const TOLERANCE: f64 = 1e-3;
    let tolerance = options.tolerance.max(TOLERANCE);
    fit(part, lambda, &Options { tolerance, watch: None, history: false, ..*options })
}

/// Returns the fit of a point that a solver has reached, for this tolerance.
pub(super) fn assemble<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    lambda: Lambda,
    point: &Point,
    ending: Ending,
    passes: usize,
    tolerance: f64,
) -> Fit {
    let Point { intercept, coef, products } = point;
    let ending = ending.examined(risk, products, *intercept);
    let (intercept, coef) = (*intercept, coef.clone());
    Fit { lambda, intercept, coef, report: ending.report(passes, tolerance) }
}

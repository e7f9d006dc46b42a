//! Paths by Newton's method over any implementation of samples.

use std::ops::ControlFlow;
use std::rc::Rc;

use margins_losses::{HomogeneousTail, MarginLoss};

use crate::certificate::{Evaluator, dual};
use crate::method::{
    Coordinates, Ending, Fit, Nearness, Newton, Observed, Observer, Options, OverParts,
    SmoothedNewton, Status, System, coordinates_beside_free, over_parts,
};
use crate::path::follow::{Minimizer, follow, lower};
use crate::path::lift::Lift;
use crate::problem::{FreeColumns, Lambda, Point, Products};
use crate::space::{Decline, Extent, InMemory, RowSpace, Samples};
use crate::{Certificate, Error, Objective};

/// Returns the minimisers of `F` by Newton's method at every lambda, each once and largest first
/// for any order of `lambdas`, over samples in memory or distributed; `observer` sees every fit as it
/// is made.
///
/// [`path`](fn@crate::path) does this for samples in memory, and chooses coordinates that suit
/// their shape: shift features whose offset drowns their spread before they come here, and have
/// more samples than features.
///
/// # Errors
/// [`Error::SolverSpace`]: a solver other than [`Auto`](crate::Solver::Auto) and
/// [`Newton`](crate::Solver::Newton). [`Error::Unsuitable`]: the loss is not convex, or has a kink that
/// the samples cannot smooth. [`Error::Tolerance`]: the tolerance is not positive.
/// [`Error::NoLambdas`]: there are no lambdas. [`Error::Shards`]: the workers that hold the samples no
/// longer answer.
pub fn path_over<S: Samples>(
    samples: S,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    path_from(samples, Start::default(), lambdas, options, observer)
}

/// The information on the first minimiser.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    /// Intercept and coefficients near it.
    pub(crate) point: Option<(f64, Vec<f64>)>,
    /// How near these are, if that is known.
    pub(crate) nearness: Option<Nearness>,
}

/// Returns what [`path_over`] does, with what is known of the first minimiser.
pub(crate) fn path_from<S: Samples>(
    samples: S,
    start: Start,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    run(samples, start, lambdas, options, |solver, lambda, point, ending, passes| {
        let fit = solver.fit(lambda, point, ending, passes, options.tolerance);
        observer(&Observed::new(lambda, &fit.report));
        fit
    })
}

pub(super) fn path_beside_free<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    extent: Extent,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    let extent = Rc::new(extent);
    let Some(&least) = lambdas.last() else { return Err(Error::NoLambdas) };
    if coordinates_beside_free(objective) == Coordinates::Features {
        return path_over(InMemory::with_extent(objective, extent), lambdas, options, observer);
    }
    let row_space = RowSpace::beside(&objective.free, &objective.design, least)?;
    let design = row_space.coordinates.clone();
    let (all, free) = (design.columns(), objective.free.get().len());
    let reduced = objective.over(design).with_free(FreeColumns::of((all - free..all).collect()))?;
    let samples = InMemory::with_extent(&reduced, Rc::new(Extent::of(&reduced.design)));
    let mut lift = Lift { evaluator: Evaluator::with_extent(objective, extent), row_space };
    // Half of the tolerance leaves room for the rounding of the way back.
    let tighter = &Options { tolerance: 0.5 * options.tolerance, ..*options };
    run(samples, Start::default(), lambdas, tighter, |solver, lambda, point, ending, passes| {
        let duals = solver.duals.take();
        let fit = if solver.no_minimum.is_some() {
            let fit = solver.fit(lambda, point, ending, passes, options.tolerance);
            Fit { coef: lift.row_space.coefficients(&objective.design, &fit.coef), ..fit }
        } else {
            lift.fit(lambda, point, duals, ending, passes, options)
        };
        observer(&Observed::new(lambda, &fit.report));
        fit
    })
}

/// Returns the fits of [`path_over`]. For each fit that has a bound, `keep` is called with the samples
/// and the duals that certify it, and its result is returned beside the fit.
pub(super) fn path_with_duals<S: Samples, T>(
    samples: S,
    start: Start,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
    keep: impl Fn(&S, &S::Duals) -> T,
) -> Result<Vec<(Fit, Option<T>)>, Error> {
    let tolerance = options.tolerance;
    run(samples, start, lambdas, options, |solver, lambda, point, ending, passes| {
        let duals = solver.duals.take();
        let mut fit = solver.fit(lambda, point, ending, passes, tolerance);
        let kept = fit.report.duality_gap.is_finite().then(|| {
            let evaluator = &mut solver.evaluator;
            let duals = duals.unwrap_or_else(|| {
                evaluator.intercept_slope(point);
                let mut slopes = evaluator.samples.duals();
                evaluator.samples.balance(&mut slopes);
                slopes
            });
            let (certificate, _) = dual::certify(evaluator, lambda, point, &duals);
            fit.report.certify_by(&certificate, tolerance, Status::Stalled);
            keep(&evaluator.samples, &duals)
        });
        observer(&Observed::new(lambda, &fit.report));
        (fit, kept)
    })
}

/// Solves at one lambda after another; `make` makes the fit of a point.
fn run<S: Samples, T>(
    samples: S,
    start: Start,
    lambdas: &[Lambda],
    options: &Options,
    mut make: impl FnMut(&mut NewtonPath<S>, Lambda, &Point<S::Products>, Ending, usize) -> T,
) -> Result<Vec<T>, Error> {
    options.check()?;
    let method = over_parts(&samples, options.solver)?;
    let lambdas = Lambda::descending(lambdas)?;
    let system = System::for_samples(&samples);
    let smoothing = (method == OverParts::SmoothedNewton)
        .then(|| SmoothedNewton::new(start.point.is_some(), start.nearness));
    let evaluator = Evaluator::new(samples);
    let mut solver = NewtonPath {
        evaluator,
        system,
        start: start.point,
        smoothing,
        duals: None,
        rounds: 0,
        no_minimum: None,
    };
    let mut fits = Vec::with_capacity(lambdas.len());
    let mut failure = None;
    let mut finish =
        |solver: &mut NewtonPath<S>, lambda, point: &Point<S::Products>, ending, passes| {
            failure = failure.take().or_else(|| solver.evaluator.samples.failure());
            if failure.is_some() {
                return ControlFlow::Break(());
            }
            fits.push(make(solver, lambda, point, ending, passes));
            ControlFlow::Continue(())
        };
    if solver.evaluator.samples.is_unbounded() {
        let origin = solver.origin();
        for &lambda in &lambdas {
            let value = solver.value(lambda, &origin);
            if finish(&mut solver, lambda, &origin, Ending::unbounded(value), 0).is_break() {
                break;
            }
        }
    } else {
        follow(&mut solver, &lambdas, options, finish);
    }
    failure.map_or(Ok(fits), Err)
}

/// A path by Newton's method in progress.
struct NewtonPath<S: Samples> {
    evaluator: Evaluator<S>,
    system: System,
    start: Option<(f64, Vec<f64>)>,
    /// The method for a loss with a kink.
    smoothing: Option<SmoothedNewton>,
    /// The duals that certify the point reached last, if they are not the slopes there.
    duals: Option<S::Duals>,
    /// The rounds of messages of all fits so far.
    rounds: usize,
    /// The direction in the free columns along which F has no minimum, whatever lambda, with the status
    /// that this is.
    no_minimum: Option<(Point<S::Products>, Status)>,
}

impl<S: Samples> NewtonPath<S> {
    fn solve(
        &mut self,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> (Ending, Option<S::Duals>) {
        let NewtonPath { evaluator, system, smoothing, .. } = self;
        match smoothing {
            Some(smoothing) => smoothing.minimize(evaluator, system, lambda, point, options),
            None => {
                let mut newton = Newton::new(evaluator, system);
                (newton.minimize(lambda, point, options), newton.into_witness())
            }
        }
    }

    /// Returns a direction in the free columns along which F has no minimum, with the status that this
    /// is, if the steps so far, or those that follow, have gone far along one.
    fn recede(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        options: &Options,
    ) -> Option<(Point<S::Products>, Status)> {
        const STEPS: usize = 10;
        /// The change of a margin that is far for these steps, and for all before them.
        const FAR: [f64; 2] = [0.5, 1e3];
        let mut next = point.clone();
        let (max_iterations, watch) = (Some(STEPS), None);
        self.solve(
            lambda,
            &mut next,
            &Options { max_iterations, watch, history: false, ..*options },
        );
        // Parts that do not recede fade in the change, and are small beside a point that is far out.
        let change = next.step(-1.0, point);
        [(change, FAR[0]), (next, FAR[1])].iter().find_map(|(to, far)| self.receding(to, *far))
    }

    /// Returns the direction to a point in the free columns, with margins of at most 1 there, if the
    /// point is far and F has no minimum along it.
    ///
    /// Along a direction d that separates the classes, `y_i <d, z_i> >= 0` for all samples, no loss ever
    /// rises. One without a lower bound may also fall along a direction that does not.
    fn receding(
        &mut self,
        to: &Point<S::Products>,
        far: f64,
    ) -> Option<(Point<S::Products>, Status)> {
        /// The share of its terms that a margin of the wrong sign may have as rounding.
        const NONE: f64 = 1e-6;
        /// Two points along a direction, far out.
        const OUT: [f64; 2] = [1e4, 1e8];
        let Evaluator { samples, free, .. } = &mut self.evaluator;
        let mut coef = vec![0.0; to.coef.len()];
        free.get().iter().for_each(|&j| coef[j] = to.coef[j]);
        let to = Point { intercept: to.intercept, products: samples.products(&coef), coef };
        samples.set(&to.products, to.intercept);
        let largest = samples.sums().largest;
        if !(largest >= far && largest.is_finite()) {
            return None;
        }
        let direction = to.scaled(1.0 / largest);
        let decline = samples.decline();
        if samples.violation(direction.intercept, &direction.coef) <= NONE {
            return match decline {
                Decline::Ends => None,
                Decline::Bounded => Some((direction, Status::NoMinimum)),
                Decline::Unbounded => Some((direction, Status::Unbounded)),
            };
        }
        let [near, far] = OUT
            .map(|out| samples.risk_at(&direction.products.times(out), out * direction.intercept));
        let falls = decline == Decline::Unbounded && far < near - 1.0;
        falls.then_some((direction, Status::Unbounded))
    }

    /// Returns the end at a point a little farther out, where a loss that ends at its minimum is there
    /// for every sample, if that is the minimum: rounding leaves margins just short of it.
    fn end_beyond(
        &mut self,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        ending: &Ending,
        tolerance: f64,
    ) -> Option<Ending> {
        /// The factor, more than rounding has left.
        const OUT: f64 = 1.0 + 1e-9;
        if self.evaluator.samples.decline() != Decline::Ends {
            return None;
        }
        let beyond = point.scaled(OUT);
        self.evaluator.intercept_slope(&beyond);
        let certificate = dual::certificate_of(&mut self.evaluator, lambda, &beyond);
        (certificate.relative_gap() <= tolerance).then(|| {
            *point = beyond;
            ending.clone().certified_by(certificate, tolerance)
        })
    }

    fn fit(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        ending: Ending,
        passes: usize,
        tolerance: f64,
    ) -> Fit {
        let contradicted = || self.evaluator.samples.is_contradicted(point);
        let mut report = ending.examined_by(contradicted).report(passes, tolerance);
        let rounds = self.evaluator.samples.rounds();
        report.rounds = rounds - std::mem::replace(&mut self.rounds, rounds);
        Fit { lambda, intercept: point.intercept, coef: point.coef.clone(), report }
    }
}

impl<S: Samples> Minimizer for NewtonPath<S> {
    type Products = S::Products;

    fn tail(&self) -> Option<HomogeneousTail> {
        self.evaluator.samples.tail()
    }

    fn all_beyond(&mut self, point: &Point<S::Products>, from: f64) -> bool {
        self.evaluator.samples.all_beyond(point, from)
    }

    fn origin(&mut self) -> Point<S::Products> {
        let coef = vec![0.0; self.evaluator.samples.shape().1];
        Point { intercept: 0.0, products: self.evaluator.samples.products(&coef), coef }
    }

    fn begin(&mut self, lambda: Lambda, _options: &Options) -> Point<S::Products> {
        let origin = self.origin();
        let Some((intercept, coef)) = self.start.take() else { return origin };
        let products = self.evaluator.samples.products(&coef);
        let start = Point { intercept, coef, products };
        lower(&mut self.evaluator, lambda, start, origin)
    }

    fn known(&mut self, lambda: Lambda) -> Option<Point<S::Products>> {
        let (intercept, coef) = self.evaluator.samples.known(lambda)?;
        let products = self.evaluator.samples.products(&coef);
        Some(Point { intercept, coef, products })
    }

    fn value(&mut self, lambda: Lambda, point: &Point<S::Products>) -> f64 {
        self.evaluator.value_at(lambda, point)
    }

    fn minimize(
        &mut self,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> Ending {
        let (ending, to) = match &self.no_minimum {
            Some(_) => (Ending::unbounded(f64::NAN), self.no_minimum.clone()),
            None => {
                let (ending, duals) = self.solve(lambda, point, options);
                self.duals = duals;
                if !ending.status.is_open() || self.evaluator.free.is_empty() {
                    return ending;
                }
                if let Some(end) = self.end_beyond(lambda, point, &ending, options.tolerance) {
                    self.duals = None;
                    return end;
                }
                (ending, self.recede(lambda, point, options))
            }
        };
        let Some((direction, status)) = to else { return ending };
        let value = self.evaluator.value_at(lambda, &direction);
        self.no_minimum = Some((direction.clone(), status));
        *point = direction;
        Ending { status, certificate: Certificate::without_bound(value, f64::NAN), ..ending }
    }

    fn large_lambda(&self) -> f64 {
        self.evaluator.samples.mean_square()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }
}

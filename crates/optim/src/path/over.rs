//! Paths by Newton's method over any implementation of samples.

use std::ops::ControlFlow;

use margins_losses::HomogeneousTail;

use crate::Error;
use crate::certificate::Evaluator;
use crate::path::follow::{Minimizer, follow, lower};
use crate::problem::{Lambda, Point, Samples};
use crate::solve::{
    Ending, Fit, Nearness, Newton, Observed, Observer, Options, SmoothedNewton, System,
};

/// Returns the minimisers of `F` by Newton's method at every lambda, each once and largest first
/// for any order of `lambdas`, over samples in memory or distributed; `observer` sees every fit as it
/// is made.
///
/// [`path`](fn@crate::path) does this for samples in memory, and chooses coordinates that suit
/// their shape: shift features whose offset drowns their spread before they come here, and have
/// more samples than features.
///
/// # Errors
/// [`Error::Unsuitable`]: the loss is not convex, or has a kink that the samples cannot smooth. [`Error::Tolerance`]: the tolerance
/// is not positive. [`Error::NoLambdas`]: there are no lambdas. [`Error::Shards`]: the
/// workers that hold the samples no longer answer.
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
    options.check()?;
    samples.check_loss()?;
    let lambdas = Lambda::descending(lambdas)?;
    let system = System::for_features(samples.shape().1);
    let smoothing = SmoothedNewton::new(start.point.is_some(), start.nearness);
    let evaluator = Evaluator::new(samples);
    let mut solver = NewtonPath { evaluator, system, start: start.point, smoothing, rounds: 0 };
    let mut fits = Vec::with_capacity(lambdas.len());
    let mut failure = None;
    let mut finish =
        |solver: &mut NewtonPath<S>, lambda, point: &Point<S::Products>, ending, passes| {
            failure = failure.take().or_else(|| solver.evaluator.samples.failure());
            if failure.is_some() {
                return ControlFlow::Break(());
            }
            let fit = solver.fit(lambda, point, ending, passes, options.tolerance);
            observer(&Observed::new(lambda, &fit.report));
            fits.push(fit);
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
struct NewtonPath<S> {
    evaluator: Evaluator<S>,
    system: System,
    start: Option<(f64, Vec<f64>)>,
    smoothing: SmoothedNewton,
    /// The rounds of messages of all fits so far.
    rounds: usize,
}

impl<S: Samples> NewtonPath<S> {
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
        let NewtonPath { evaluator, system, smoothing, .. } = self;
        if evaluator.samples.is_smoothed() {
            smoothing.minimize(evaluator, system, lambda, point, options)
        } else {
            Newton::new(evaluator, system).minimize(lambda, point, options)
        }
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

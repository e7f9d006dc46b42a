//! Limited-memory BFGS in the coefficients, the intercept settled exactly after every step: a
//! quasi-Newton method on `G(w) = min_b F(b, w)`, whose gradient is that of F in w at the best
//! intercept. A search along the line costs no product with the data.
//!
//! Source: Liu and Nocedal, *On the limited memory BFGS method for large scale optimization*,
//! Mathematical Programming 45, 1989.

use crate::certificate::Evaluator;
use crate::problem::summation::dot;
use crate::problem::{MarginSummary, Point, Samples};
use crate::solve::{Descent, Ending, LimitedMemory, descend};
use crate::{Certificate, Lambda, Options};

const DEFAULT_ITERATIONS: usize = 10_000;

/// The number of steps that are remembered.
const MEMORY: usize = 5;

/// The parts of the method that serve a whole path.
#[derive(Debug)]
pub(crate) struct Lbfgs {
    memory: LimitedMemory,
    /// The lambda of the steps that are remembered.
    lambda: Option<Lambda>,
    budget: Option<Budget>,
}

/// The steps that are left for the lambdas that are left.
#[derive(Debug)]
struct Budget {
    steps: usize,
    lambdas: usize,
}

impl Lbfgs {
    pub(crate) fn new() -> Self {
        Lbfgs { memory: LimitedMemory::new(MEMORY), lambda: None, budget: None }
    }

    /// Returns the method for so many steps at so many lambdas. It ends with
    /// [`Status::IterationLimit`](crate::Status::IterationLimit) as soon as a lambda seems to take
    /// more than its share of the steps.
    pub(crate) fn within(steps: usize, lambdas: usize) -> Self {
        Lbfgs { budget: Some(Budget { steps, lambdas }), ..Lbfgs::new() }
    }

    /// Minimises F from a point, in place. The point returned has a settled intercept.
    pub(crate) fn minimize<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> Ending {
        if let Some(before) = self.lambda.replace(lambda) {
            self.memory.add_curvature(2.0 * (lambda.get() - before.get()));
        }
        // Features of very different sizes are brought to one size.
        let metric = evaluator.samples.extent().metric(lambda);
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        let forecast = self.budget.as_ref().map(|budget| Forecast {
            share: budget.steps / budget.lambdas.max(1),
            steps: 0,
            gap: f64::INFINITY,
            before: f64::INFINITY,
        });
        let memory = &mut self.memory;
        let coef = Vec::new();
        let mut search = Search { evaluator, memory, metric, forecast, coef, last: None };
        let ending = descend(&mut search, lambda, point, options, limit);
        if let Some(budget) = &mut self.budget {
            budget.steps = budget.steps.saturating_sub(ending.iterations);
            budget.lambdas = budget.lambdas.saturating_sub(1);
        }
        ending
    }
}

/// The number of steps that a lambda will take, from the rate at which the gap shrinks.
struct Forecast {
    /// The steps that it may take.
    share: usize,
    steps: usize,
    /// The smallest duality gap so far, which rises in some steps, and its value at the last look.
    gap: f64,
    before: f64,
}

impl Forecast {
    /// Returns true if a step at the point of a certificate is one too many: at the end of the share,
    /// and earlier if the gap shrinks too slowly to reach the tolerance by then.
    fn is_beyond(&mut self, certificate: &Certificate, tolerance: f64) -> bool {
        /// The steps between two checks of the gap.
        const STRIDE: usize = 10;
        let taken = self.steps;
        self.steps += 1;
        self.gap = self.gap.min(certificate.duality_gap);
        if taken >= self.share || !taken.is_multiple_of(STRIDE) {
            return taken >= self.share;
        }
        let (gap, before) = (self.gap, std::mem::replace(&mut self.before, self.gap));
        let rate = (before / gap).ln() / STRIDE as f64;
        let rest = (gap / (tolerance * certificate.objective.abs())).ln() / rate;
        taken > 0 && !(rate > 0.0 && rest <= (self.share - taken) as f64)
    }
}

/// The method at work at one lambda.
struct Search<'e, S> {
    evaluator: &'e mut Evaluator<S>,
    memory: &'e mut LimitedMemory,
    metric: Option<Vec<f64>>,
    forecast: Option<Forecast>,
    /// The coefficients of the point that was certified last.
    coef: Vec<f64>,
    /// The coefficients and the gradient that the last direction began from.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

impl<S: Samples> Descent for Search<'_, S> {
    type Products = S::Products;

    fn certify(&mut self, lambda: Lambda, point: &mut Point<S::Products>) -> Certificate {
        if self.evaluator.has_drifted(point) {
            self.evaluator.refresh(point);
        }
        self.evaluator.settle_intercept(point);
        self.coef.clone_from(&point.coef);
        self.evaluator.certificate(lambda, point)
    }

    fn certify_step(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> (Point<()>, Certificate) {
        let next = self.evaluator.settle_step(point, direction, t);
        self.coef.clone_from(&next.coef);
        let certificate = self.evaluator.certificate(lambda, &next);
        (next, certificate)
    }

    fn gives_up(&mut self, certificate: &Certificate, tolerance: f64) -> bool {
        let forecast = self.forecast.as_mut();
        forecast.is_some_and(|forecast| forecast.is_beyond(certificate, tolerance))
    }

    fn restart(&mut self) -> bool {
        let is_another = !self.memory.is_empty();
        self.memory.clear();
        self.last = None;
        is_another
    }

    /// The few steps remembered say nothing about other directions: the gap alone bounds the decrease.
    fn expected_decrease(&self, _slope: f64, from: &Certificate) -> f64 {
        from.duality_gap
    }

    fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> f64 {
        self.evaluator.slope_along(lambda, point, direction, t)
    }

    fn direction(
        &mut self,
        _lambda: Lambda,
        _certificate: &Certificate,
        _tolerance: f64,
    ) -> (Point<S::Products>, f64) {
        let Evaluator { samples, gradient, passes, .. } = &mut *self.evaluator;
        if let Some((mut step, mut change)) = self.last.take() {
            step.iter_mut().zip(&self.coef).for_each(|(before, now)| *before = now - *before);
            change.iter_mut().zip(&*gradient).for_each(|(before, now)| *before = now - *before);
            self.memory.learn(step, change);
        }
        self.last = Some((self.coef.clone(), gradient.clone()));
        let coef = self.memory.direction(gradient, self.metric.as_deref());
        let slope = dot(gradient, &coef);
        let products = samples.products(&coef);
        *passes += 1;
        (Point { intercept: 0.0, coef, products }, slope)
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.evaluator.samples.summary()
    }
}

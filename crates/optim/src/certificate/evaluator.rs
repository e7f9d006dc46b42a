//! Evaluates and certifies an objective at one point after another, reusing memory.

use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::Certificate;
use crate::problem::summation::{UNIT, dot, norm};
use crate::problem::{FreeColumns, Objective, Point, Products, Sums};
use crate::space::{Extent, InMemory, Samples};

/// Evaluates an objective at one point after another, in memory of its own.
///
/// Invariant: after [`settle_intercept`](Self::settle_intercept), the margins of the samples belong
/// to the point that it was given; after [`certificate`](Self::certificate), so does `gradient`.
pub struct Evaluator<S> {
    pub(crate) samples: S,
    /// The gradient of F in the coefficients.
    pub(crate) gradient: Vec<f64>,
    /// The number of products with the samples or their transpose so far.
    pub(crate) passes: usize,
    /// The rounding that has accumulated in the products since they were last computed from
    /// scratch: the root of the sum of the squared rounding of the scores of each point certified
    /// since.
    drift: f64,
    /// The features that no penalty acts on.
    pub(crate) free: FreeColumns,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Evaluator<InMemory<'o, 'a, L>> {
    pub(crate) fn in_memory(objective: &'o Objective<'a, L>) -> Self {
        Evaluator::new(InMemory::new(objective))
    }

    pub(crate) fn with_extent(objective: &'o Objective<'a, L>, extent: Rc<Extent>) -> Self {
        Evaluator::new(InMemory::with_extent(objective, extent))
    }
}

impl<S: Samples> Evaluator<S> {
    /// Returns an evaluator over samples.
    pub fn new(samples: S) -> Self {
        let (gradient, free) = (vec![0.0; samples.shape().1], samples.free());
        Evaluator { samples, gradient, passes: 0, drift: 0.0, free }
    }

    /// Returns the samples.
    pub fn samples(&mut self) -> &mut S {
        &mut self.samples
    }

    /// Returns the gradient of F in the coefficients at the point that was certified last.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// Returns the number of products with the samples or their transpose so far.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Returns true if the steps to a point have left far more rounding in its products than
    /// recomputing them would.
    pub(crate) fn has_drifted(&self, point: &Point<S::Products>) -> bool {
        const FAR: f64 = 32.0;
        let extent = self.samples.extent();
        self.drift > FAR * extent.score_error(&point.coef, point.intercept.abs())
    }

    pub(crate) fn refresh(&mut self, point: &mut Point<S::Products>) {
        point.products = self.samples.products(&point.coef);
        self.passes += 1;
        self.drift = 0.0;
    }

    /// Continues with the products of another evaluator of the same samples, and so with the rounding
    /// in them.
    pub(crate) fn go_on_from<T: Samples>(&mut self, other: &Evaluator<T>) {
        self.drift = other.drift;
    }

    /// Sets the margins and returns the derivative of F in the intercept.
    pub(crate) fn intercept_slope(&mut self, point: &Point<S::Products>) -> f64 {
        self.samples.set(&point.products, point.intercept)
    }

    /// Moves the intercept to the minimum of F over it.
    pub fn settle_intercept(&mut self, point: &mut Point<S::Products>) {
        point.intercept = self.samples.settle(&point.products, point.intercept);
    }

    /// Returns `point + t direction` at the minimum of F over its intercept.
    pub(crate) fn settle_step(
        &mut self,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> Point<()> {
        let intercept = self.samples.settle_step(point, direction, t);
        Point { intercept, coef: point.coef.plus(t, &direction.coef), products: () }
    }

    /// Returns `F` at any point.
    pub fn value_at(&mut self, lambda: Lambda, point: &Point<S::Products>) -> f64 {
        let risk = self.samples.risk_at(&point.products, point.intercept);
        risk + lambda.get() * self.square(&point.coef)
    }

    fn square(&self, coef: &[f64]) -> f64 {
        let penalised = self.free.penalised(coef);
        dot(&penalised, &penalised)
    }

    /// Returns `F` of a point whose margins are set, how far rounding can have moved it, and the
    /// sums. Where rounding shows, the margins are computed again in twice the working precision.
    pub(crate) fn valued<P>(&mut self, lambda: Lambda, point: &Point<P>) -> Valued {
        /// The share of F from which on rounding shows.
        const VISIBLE: f64 = 1e-9;
        let sums = self.samples.sums();
        let objective = sums.risk + lambda.get() * self.square(&point.coef);
        let extent = self.samples.extent();
        let rounding = sums.rounding(objective, extent.score_error(&point.coef, sums.largest));
        let shows = rounding.is_finite() && 2.0 * rounding > VISIBLE * objective.abs();
        if !(shows && self.samples.set_accurately(point.intercept, &point.coef)) {
            return Valued { objective, rounding, sums, is_accurate: false };
        }
        self.passes += 1;
        let sums = self.samples.sums();
        let objective = sums.risk + lambda.get() * self.square(&point.coef);
        let error = self.samples.extent().accurate_score_error(&point.coef);
        // Each margin is rounded once.
        let rounding = sums.rounding(objective, error) + UNIT * sums.arguments;
        Valued { objective, rounding, sums, is_accurate: true }
    }

    pub(crate) fn set_gradient<P>(&mut self, lambda: Lambda, point: &Point<P>) {
        self.samples.gradient(&mut self.gradient);
        self.passes += 1;
        for (g, w) in self.gradient.iter_mut().zip(self.free.penalised(&point.coef).iter()) {
            *g += 2.0 * lambda.get() * w;
        }
    }

    /// Returns the certificate of a point whose intercept is settled, with or without its products; without
    /// a bound if there are free columns, for which `dual::certificate_of`
    /// has one.
    pub fn certificate<P>(&mut self, lambda: Lambda, point: &Point<P>) -> Certificate {
        self.set_gradient(lambda, point);
        self.certificate_of_gradient(lambda, point)
    }

    /// Returns [`certificate`](Self::certificate) of the point that was certified last, and keeps the
    /// gradient that was set, so that a search goes on as if it had not been called.
    pub(crate) fn certificate_alone<P>(&mut self, lambda: Lambda, point: &Point<P>) -> Certificate {
        let (gradient, drift) = (self.gradient.clone(), self.drift);
        let certificate = self.certificate(lambda, point);
        (self.gradient, self.drift) = (gradient, drift);
        certificate
    }

    /// Returns the certificate of a point for which the gradient stands: an estimate if that is one.
    pub(crate) fn certificate_of_gradient<P>(
        &mut self,
        lambda: Lambda,
        point: &Point<P>,
    ) -> Certificate {
        self.samples.reached(lambda, point.intercept, &point.coef);
        let Valued { objective, rounding, sums, is_accurate } = self.valued(lambda, point);
        if is_accurate {
            self.set_gradient(lambda, point);
        }
        let extent = self.samples.extent();
        let score_error = extent.score_error(&point.coef, sums.largest);
        self.drift = self.drift.hypot(score_error);
        let norm = norm(&self.gradient) + extent.pull_error(sums.slopes);
        if !self.free.is_empty() {
            // The slopes are no feasible duals where the gradient in the free part is not zero.
            return Certificate::without_bound(objective, norm.hypot(sums.residual));
        }
        sums.certificate(lambda, objective, rounding, norm, extent.radius)
    }

    /// Returns the derivative of `t -> F(point + t direction)`, setting the margins to that point.
    pub fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point<S::Products>,
        direction: &Point<S::Products>,
        t: f64,
    ) -> f64 {
        let risk = self.samples.along(point, direction, t);
        let along = self.free.penalised(&direction.coef);
        let (cross, square) = (dot(&point.coef, &along), dot(&along, &along));
        risk + 2.0 * lambda.get() * (cross + t * square)
    }
}

/// The value of `F` at a point.
pub(crate) struct Valued {
    pub(crate) objective: f64,
    /// A bound on how far rounding can have moved it.
    pub(crate) rounding: f64,
    pub(crate) sums: Sums,
    /// True if the margins are set to scores computed in twice the working precision.
    pub(crate) is_accurate: bool,
}

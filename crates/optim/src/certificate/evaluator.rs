use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::Certificate;
use crate::problem::summation::{dot, norm};
use crate::problem::{Extent, Margins, Objective, Point};

/// Evaluates an objective at one point after another, in memory of its own.
///
/// Invariant: after [`settle_intercept`](Self::settle_intercept), `margins` belong to the point that it
/// was given; after [`certificate`](Self::certificate), so does `gradient`.
pub(crate) struct Evaluator<'o, 'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: &'o Objective<'a, L>,
    pub(crate) margins: Margins<'o, L>,
    /// Gradient of F in the coefficients.
    pub(crate) gradient: Vec<f64>,
    /// Gradient of the risk in the scores.
    pulls: Vec<f64>,
    /// How large the samples are.
    pub(crate) extent: Rc<Extent>,
    /// Products with the design or its transpose so far.
    pub(crate) passes: usize,
    /// Largest size of a margin certified since the products of the point at hand were computed.
    peak: f64,
    /// Largest size of a margin certified last.
    size: f64,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Evaluator<'o, 'a, L> {
    pub(crate) fn new(objective: &'o Objective<'a, L>) -> Self {
        Self::with_extent(objective, Rc::new(Extent::of(&objective.design)))
    }

    /// Returns an evaluator of an objective over a design whose extent is known.
    pub(crate) fn with_extent(objective: &'o Objective<'a, L>, extent: Rc<Extent>) -> Self {
        let design = &objective.design;
        Evaluator {
            objective,
            margins: objective.risk.margins(),
            gradient: vec![0.0; design.columns()],
            pulls: vec![0.0; design.rows()],
            extent,
            passes: 0,
            peak: 0.0,
            size: 0.0,
        }
    }

    /// Returns true if the point certified last has come from scores so much larger that the steps between have left
    /// their rounding in its products.
    pub(crate) fn has_drifted(&self) -> bool {
        const FAR: f64 = 32.0;
        self.peak > FAR * self.size
    }

    /// Computes the products of a point anew.
    pub(crate) fn refresh(&mut self, point: &mut Point) {
        self.objective.design.multiply(&point.coef, &mut point.products);
        self.passes += 1;
        self.peak = 0.0;
    }

    /// Sets the margins and returns the derivative of F in the intercept.
    pub(crate) fn intercept_slope(&mut self, point: &Point) -> f64 {
        self.margins.set(&point.products, point.intercept)
    }

    /// Moves the intercept to the minimum of F over it.
    pub(crate) fn settle_intercept(&mut self, point: &mut Point) {
        point.intercept = self.margins.settle(&point.products, point.intercept);
    }

    /// `F` at any point.
    pub(crate) fn value_at(&mut self, lambda: Lambda, point: &Point) -> f64 {
        let risk = self.margins.risk_at(&point.products, point.intercept);
        risk + lambda.get() * dot(&point.coef, &point.coef)
    }

    /// Sets the gradient in the coefficients from the margins that are set.
    pub(crate) fn set_gradient(&mut self, lambda: Lambda, point: &Point) {
        self.margins.gradient(&mut self.pulls);
        self.objective.design.multiply_transposed(&self.pulls, &mut self.gradient);
        self.passes += 1;
        for (g, w) in self.gradient.iter_mut().zip(&point.coef) {
            *g += 2.0 * lambda.get() * w;
        }
    }

    /// The certificate of a point whose intercept is settled.
    pub(crate) fn certificate(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        self.set_gradient(lambda, point);
        self.size = self.margins.get().iter().fold(0.0f64, |size, u| size.max(u.abs()));
        self.peak = self.peak.max(self.size);
        certify(&mut self.margins, &self.extent, lambda, point, &self.gradient)
    }

    /// Derivative of `t -> F(point + t direction)`, setting the margins to that point.
    pub(crate) fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point,
        direction: &Point,
        t: f64,
    ) -> f64 {
        let risk = self.margins.slope_along(point, direction, t);
        let cross = dot(&point.coef, &direction.coef);
        let square = dot(&direction.coef, &direction.coef);
        risk + 2.0 * lambda.get() * (cross + t * square)
    }
}

/// Returns the certificate of a point with a settled intercept, to which margins and the gradient of F in the coefficients
/// belong.
pub(crate) fn certify<L: MarginLoss + ?Sized>(
    margins: &mut Margins<'_, L>,
    extent: &Extent,
    lambda: Lambda,
    point: &Point,
    gradient: &[f64],
) -> Certificate {
    let (objective, rounding) = valued(margins, extent, lambda, point);
    let norm = norm(gradient) + extent.pull_error(margins.total_slope());
    margins.certificate_within(lambda, objective, rounding, norm, extent.radius)
}

/// Returns `F` of a point whose margins are set, and how far rounding can have moved it.
pub(crate) fn valued<L: MarginLoss + ?Sized>(
    margins: &mut Margins<'_, L>,
    extent: &Extent,
    lambda: Lambda,
    point: &Point,
) -> (f64, f64) {
    let objective = margins.risk() + lambda.get() * dot(&point.coef, &point.coef);
    let score_error = extent.score_error(point, margins.get());
    (objective, margins.rounding(objective, score_error))
}

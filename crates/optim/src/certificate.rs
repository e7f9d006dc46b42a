use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::dual;
use crate::extent::Extent;
use crate::point::{Point, dot};
use crate::risk::Margins;
use crate::{Lambda, Objective};

/// A bound on the distance to the minimum.
///
/// With `s_i = -L'(u_i)` the dual objective is
/// `D(s) = -(1/n) sum c_i L*(-s_i) - ||v||^2/(4 lambda)`, `v = (1/n) sum c_i s_i y_i x_i`, and
/// feasible if `sum c_i s_i y_i = 0`, which holds at the exactly optimal intercept. By the equality
/// in the Fenchel-Young inequality, `L(u_i) + L*(-s_i) = -s_i u_i`, the gap is
///
/// `F - D = lambda ||w - v/(2 lambda)||^2 = ||grad_w F||^2 / (4 lambda)`,
///
/// a square that needs no conjugate and suffers no cancellation.
///
/// # Rounding
///
/// No value of F is better than the rounding of its terms. A certificate holds a bound on it, `rounding`, and its gap
/// has that bound added, so that `objective - duality_gap` lies below the minimum also where the minimum is near zero.
/// A gap of up to twice the rounding counts as none: see [`relative_gap`](Self::relative_gap).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// `F`, as computed.
    pub objective: f64,
    /// An upper bound on `F` minus its minimum, the rounding of `F` included.
    pub duality_gap: f64,
    /// A bound on the distance between `F` and its computed value.
    pub rounding: f64,
    /// Euclidean norm of the gradient of `F`, intercept included, at the optimal intercept.
    pub gradient_norm: f64,
    /// True if the loss and its conjugate contradict the Fenchel-Young inequality at the point.
    pub(crate) contradicted: bool,
}

impl Certificate {
    /// Returns the certificate of a point with this objective, computed to `rounding`, whose distance to the minimum is
    /// at most `gap` but for that rounding. A gap that is not a number says that numbers overflowed.
    pub fn new(objective: f64, gap: f64, rounding: f64, gradient_norm: f64) -> Self {
        let (duality_gap, rounding) =
            if rounding.is_finite() { (gap + rounding, rounding) } else { (f64::INFINITY, 0.0) };
        Certificate { objective, duality_gap, rounding, gradient_norm, contradicted: false }
    }

    /// Returns the certificate of a point about whose distance to the minimum nothing is known.
    pub fn without_bound(objective: f64, gradient_norm: f64) -> Self {
        Certificate::new(objective, f64::INFINITY, 0.0, gradient_norm)
    }

    /// Returns the value of the feasible dual point, less the rounding: a lower bound on the minimum of `F`.
    pub fn dual_objective(&self) -> f64 {
        self.objective - self.duality_gap
    }

    /// Returns the gap, but for twice the rounding of `F`, relative to the larger size of the primal and the dual
    /// objective.
    ///
    /// It is 0 at a point that is optimal to rounding: there neither `F` nor the bound can be told from the minimum.
    pub fn relative_gap(&self) -> f64 {
        let size = self.objective.abs().max(self.dual_objective().abs());
        let excess = self.duality_gap - 2.0 * self.rounding;
        if excess <= 0.0 {
            0.0
        } else if excess < f64::INFINITY {
            excess / size
        } else {
            f64::INFINITY
        }
    }

    /// Returns true if numbers overflowed on the way to the objective or to its bound.
    pub(crate) fn is_broken(&self) -> bool {
        !self.objective.is_finite() || self.duality_gap.is_nan()
    }

    /// Returns the certificate of a point with objective `given`, worse than the one certified.
    #[must_use]
    pub fn raised_to(self, given: f64) -> Self {
        let gap = self.duality_gap + (given - self.objective).max(0.0);
        let duality_gap = if given.is_finite() { gap } else { f64::INFINITY };
        Certificate { objective: given, duality_gap, ..self }
    }

    /// Returns the certificate with the smaller gap of two that certify points of the same objective.
    #[must_use]
    pub(crate) fn or(self, other: Certificate) -> Self {
        if other.duality_gap < self.duality_gap { other } else { self }
    }
}

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
        }
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
        certify(&mut self.margins, &self.extent, lambda, point, &self.gradient)
    }

    /// How far a point as it is can be from the minimum: the bound of the point with the best intercept,
    /// and what F is above that. Infinitely far where the loss is not convex, or contradicts itself.
    pub(crate) fn appraise(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        let objective = self.objective;
        let value = self.value_at(lambda, point);
        let risk = &objective.risk;
        if !risk.loss.is_convex() || risk.is_contradicted(&point.products, point.intercept) {
            // Sets the slopes, too, which the gradient is made of.
            let slope = self.intercept_slope(point);
            let slope = if objective.risk.intercept { slope } else { 0.0 };
            let gradient_norm = self.certificate(lambda, point).gradient_norm.hypot(slope);
            return Certificate::without_bound(value, gradient_norm);
        }
        let mut settled = point.clone();
        self.settle_intercept(&mut settled);
        let certificate = self.appraise_settled(lambda, &settled);
        certificate.raised_to(value)
    }

    /// Returns the certificate of a point with a settled intercept by the slopes there, balanced where the loss has kinks,
    /// on which the intercept may rest.
    pub(crate) fn appraise_settled(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        let risk = &self.objective.risk;
        if risk.loss.is_differentiable() {
            return self.certificate(lambda, point);
        }
        let mut duals = self.margins.duals();
        risk.balance(&mut duals);
        dual::certify(self, lambda, point, &duals)
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

/// Returns the Euclidean norm of a vector, none of whose squares underflows that matters.
pub(crate) fn norm(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
    if vector.iter().all(|&g| g == 0.0) {
        return 0.0;
    }
    let square: f64 = vector.iter().map(|g| (g / largest).powi(2)).sum();
    largest * square.sqrt()
}

use margins_losses::MarginLoss;

use crate::dual;
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// `F`.
    pub objective: f64,
    /// An upper bound on `F` minus its minimum.
    pub duality_gap: f64,
    /// Euclidean norm of the gradient of `F`, intercept included, at the optimal intercept.
    pub gradient_norm: f64,
}

impl Certificate {
    /// The value of the feasible dual point, a lower bound on the minimum of `F`.
    pub fn dual_objective(&self) -> f64 {
        self.objective - self.duality_gap
    }

    /// The gap relative to the larger size of the primal and the dual objective.
    pub fn relative_gap(&self) -> f64 {
        let size = self.objective.abs().max(self.dual_objective().abs());
        if self.duality_gap == 0.0 {
            0.0
        } else if self.duality_gap < f64::INFINITY {
            self.duality_gap / size
        } else {
            f64::INFINITY
        }
    }

    /// Whether both numbers are.
    pub(crate) fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.duality_gap.is_finite()
    }

    /// The certificate of a point with objective `given`, worse than the one certified.
    #[must_use]
    pub fn raised_to(self, given: f64) -> Self {
        let gap = self.duality_gap + (given - self.objective).max(0.0);
        let duality_gap = if given.is_finite() { gap } else { f64::INFINITY };
        Certificate { objective: given, duality_gap, ..self }
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
    /// Largest norm of a sample.
    radius: f64,
    /// Products with the design or its transpose so far.
    pub(crate) passes: usize,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Evaluator<'o, 'a, L> {
    pub(crate) fn new(objective: &'o Objective<'a, L>) -> Self {
        let design = &objective.design;
        Evaluator {
            objective,
            margins: objective.risk.margins(),
            gradient: vec![0.0; design.columns()],
            pulls: vec![0.0; design.rows()],
            radius: design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt(),
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
        let objective = self.margins.risk() + lambda.get() * dot(&point.coef, &point.coef);
        self.set_gradient(lambda, point);
        let largest = self.gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        let square: f64 = self.gradient.iter().map(|g| (g / largest).powi(2)).sum();
        let zero = self.gradient.iter().all(|&g| g == 0.0);
        let norm = if zero { 0.0 } else { largest * square.sqrt() };
        self.margins.certificate(lambda, objective, norm, self.radius)
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
            return Certificate { objective: value, duality_gap: f64::INFINITY, gradient_norm };
        }
        let mut settled = point.clone();
        self.settle_intercept(&mut settled);
        let certificate = if objective.risk.loss.is_differentiable() {
            self.certificate(lambda, &settled)
        } else {
            let mut duals: Vec<f64> = self.margins.slopes().iter().map(|slope| -slope).collect();
            objective.risk.balance(&mut duals);
            let change =
                Point::at(&objective.design, 0.0, dual::coefficients(objective, lambda, &duals))
                    .step(-1.0, &settled);
            dual::certify(self, lambda, &settled, &duals, dot(&change.coef, &change.coef))
        };
        certificate.raised_to(value)
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

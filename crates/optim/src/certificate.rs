use margins_losses::MarginLoss;

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

    pub(crate) fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.duality_gap.is_finite()
    }

    /// The certificate of a point with objective `given`, worse than the one certified.
    pub(crate) fn raised_to(self, given: f64) -> Self {
        let gap = self.duality_gap + (given - self.objective).max(0.0);
        let duality_gap = if given.is_finite() { gap } else { f64::INFINITY };
        Certificate { objective: given, duality_gap, ..self }
    }
}

/// An intercept and coefficients with the products `X w` that belong to them.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) intercept: f64,
    pub(crate) coef: Vec<f64>,
    pub(crate) products: Vec<f64>,
}

impl Point {
    pub(crate) fn zero<L: MarginLoss + ?Sized>(objective: &Objective<'_, L>) -> Self {
        Point {
            intercept: 0.0,
            coef: vec![0.0; objective.design.columns()],
            products: vec![0.0; objective.design.rows()],
        }
    }

    pub(crate) fn at<L: MarginLoss + ?Sized>(
        objective: &Objective<'_, L>,
        intercept: f64,
        coef: Vec<f64>,
    ) -> Self {
        let mut products = vec![0.0; objective.design.rows()];
        objective.design.multiply(&coef, &mut products);
        Point { intercept, coef, products }
    }

    /// `self + t direction`.
    pub(crate) fn step(&self, t: f64, direction: &Point) -> Point {
        let move_by =
            |from: &[f64], by: &[f64]| from.iter().zip(by).map(|(a, d)| a + t * d).collect();
        Point {
            intercept: self.intercept + t * direction.intercept,
            coef: move_by(&self.coef, &direction.coef),
            products: move_by(&self.products, &direction.products),
        }
    }

    pub(crate) fn scaled(&self, factor: f64) -> Point {
        let scale = |x: &[f64]| x.iter().map(|x| factor * x).collect();
        Point {
            intercept: factor * self.intercept,
            coef: scale(&self.coef),
            products: scale(&self.products),
        }
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Evaluates an objective at one point after another, in memory of its own.
///
/// Invariant: after [`settle_intercept`](Self::settle_intercept), `margins` and `slopes` belong to
/// the point that it was given; after [`certificate`](Self::certificate), so does `gradient`.
pub(crate) struct Evaluator<'o, 'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: &'o Objective<'a, L>,
    /// `u_i`.
    pub(crate) margins: Vec<f64>,
    /// `L'(u_i)`.
    slopes: Vec<f64>,
    /// Derivative of F in the intercept: what keeps the dual point from being feasible.
    residual: f64,
    /// Gradient of F in the coefficients.
    pub(crate) gradient: Vec<f64>,
    /// Largest norm of a sample.
    radius: f64,
    scratch: Vec<f64>,
    /// Products with the design or its transpose so far.
    pub(crate) passes: usize,
}

impl<'o, 'a, L: MarginLoss + ?Sized> Evaluator<'o, 'a, L> {
    pub(crate) fn new(objective: &'o Objective<'a, L>) -> Self {
        let (n, p) = (objective.design.rows(), objective.design.columns());
        Evaluator {
            objective,
            margins: vec![0.0; n],
            slopes: vec![0.0; n],
            residual: 0.0,
            gradient: vec![0.0; p],
            radius: objective.design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt(),
            scratch: vec![0.0; n],
            passes: 0,
        }
    }

    fn set_margins(&mut self, point: &Point) {
        let pairs = point.products.iter().zip(self.objective.signs.iter());
        for (u, (product, sign)) in self.margins.iter_mut().zip(pairs) {
            *u = sign * (product + point.intercept);
        }
    }

    /// Sets margins and slopes and returns the derivative of F in the intercept.
    pub(crate) fn intercept_slope(&mut self, point: &Point) -> f64 {
        self.set_margins(point);
        self.objective.loss.derivatives(&self.margins, &mut self.slopes);
        let signs = self.objective.signs.iter();
        signs
            .zip(&self.objective.weights)
            .zip(&self.slopes)
            .map(|((y, c), slope)| y * c * slope)
            .sum()
    }

    /// Sum of the weighted sizes of the slopes: what rounding of their sum is relative to.
    fn total_slope(&self) -> f64 {
        self.objective.weights.iter().zip(&self.slopes).map(|(c, slope)| c * slope.abs()).sum()
    }

    /// `c_i L''(u_i) / n` at the present margins.
    pub(crate) fn curvatures(&mut self) -> &[f64] {
        self.objective.loss.second_derivatives(&self.margins, &mut self.scratch);
        for (d, c) in self.scratch.iter_mut().zip(&self.objective.weights) {
            *d *= c;
        }
        &self.scratch
    }

    /// Moves the intercept to the minimum of F over it, to the last bits, by Newton steps kept inside
    /// a bracket; F is convex and its derivative monotone. Without an intercept only the margins and
    /// slopes are set.
    pub(crate) fn settle_intercept(&mut self, point: &mut Point) {
        if !self.objective.intercept {
            point.intercept = 0.0;
            self.intercept_slope(point);
            self.residual = 0.0;
            return;
        }
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut reach = 1.0f64;
        let mut previous = f64::INFINITY;
        loop {
            let slope = self.intercept_slope(point);
            self.residual = slope;
            let settled = slope.abs() <= 2.0 * f64::EPSILON * self.total_slope();
            if slope.is_nan() || (settled && slope.is_finite()) {
                return;
            }
            let b = point.intercept;
            if slope > 0.0 {
                high = b;
            } else {
                low = b;
            }
            let curvature: f64 = self.curvatures().iter().sum();
            let newton = b - slope / curvature;
            // A Newton step that did not halve the slope gives way to bisection.
            let progressed = slope.abs() <= 0.5 * previous;
            let next = if progressed && low < newton && newton < high {
                newton
            } else if low.is_finite() && high.is_finite() {
                low + 0.5 * (high - low)
            } else {
                reach *= 2.0;
                b - reach.copysign(slope)
            };
            let resolution = 2.0 * f64::EPSILON * b.abs();
            if !next.is_finite() || (next - b).abs() <= resolution {
                return;
            }
            previous = slope.abs();
            point.intercept = next;
        }
    }

    /// `F` at the margins that are set, which belong to `point`.
    pub(crate) fn value(&mut self, lambda: Lambda, point: &Point) -> f64 {
        self.objective.loss.values(&self.margins, &mut self.scratch);
        dot(&self.scratch, &self.objective.weights) + lambda.get() * dot(&point.coef, &point.coef)
    }

    /// `F` at any point.
    pub(crate) fn value_at(&mut self, lambda: Lambda, point: &Point) -> f64 {
        self.set_margins(point);
        self.value(lambda, point)
    }

    /// Sets the gradient in the coefficients from the slopes that are set.
    pub(crate) fn set_gradient(&mut self, lambda: Lambda, point: &Point) {
        let objective = self.objective;
        let factors = objective.signs.iter().zip(&objective.weights).zip(&self.slopes);
        for (z, ((y, c), slope)) in self.scratch.iter_mut().zip(factors) {
            *z = y * c * slope;
        }
        objective.design.multiply_transposed(&self.scratch, &mut self.gradient);
        self.passes += 1;
        for (g, w) in self.gradient.iter_mut().zip(&point.coef) {
            *g += 2.0 * lambda.get() * w;
        }
    }

    /// The certificate of a point whose intercept is settled.
    pub(crate) fn certificate(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        let objective = self.value(lambda, point);
        self.set_gradient(lambda, point);
        let square = dot(&self.gradient, &self.gradient);
        Certificate {
            objective,
            duality_gap: self.gap(lambda, point, square.sqrt()),
            gradient_norm: (square + self.residual * self.residual).sqrt(),
        }
    }

    /// The gap for a gradient of this norm in the coefficients, with what rounding left of the slope
    /// `r` in the intercept allowed for.
    ///
    /// Shifting every `s_i` by a share of `r` in proportion to `L''(u_i)` makes the dual point
    /// feasible. To first order that changes D by at most `|r| R ||g|| / (2 lambda)`, `R` the largest
    /// norm of a sample, to second order by `r^2 R^2 / (4 lambda) + r^2 / (2 k)`, `k` the curvature of
    /// F in the intercept.
    fn gap(&mut self, lambda: Lambda, point: &Point, norm: f64) -> f64 {
        let r = self.residual.abs();
        if !norm.is_finite() || !r.is_finite() {
            return f64::INFINITY;
        }
        let settled = (norm + r * self.radius).powi(2) / (4.0 * lambda.get());
        if r == 0.0 {
            return settled;
        }
        let curvature: f64 = self.curvatures().iter().sum();
        // Without curvature nothing can be shifted; the bound then moves by r times the distance to
        // a minimiser, for which the size of the intercept stands in: r is rounding, and so is this.
        let shift = 0.5 * r * r / curvature;
        settled + if shift.is_finite() { shift } else { r * point.intercept.abs().max(1.0) }
    }

    /// Derivative of `t -> F(point + t direction)`, setting margins and slopes to that point.
    pub(crate) fn slope_along(
        &mut self,
        lambda: Lambda,
        point: &Point,
        direction: &Point,
        t: f64,
    ) -> f64 {
        let signs = &self.objective.signs;
        for i in 0..self.margins.len() {
            let score = point.products[i] + point.intercept;
            let change = direction.products[i] + direction.intercept;
            self.margins[i] = signs[i] * (score + t * change);
        }
        self.objective.loss.derivatives(&self.margins, &mut self.slopes);
        let mut loss_part = 0.0;
        for i in 0..self.slopes.len() {
            let change = direction.products[i] + direction.intercept;
            loss_part += self.objective.weights[i] * signs[i] * self.slopes[i] * change;
        }
        let cross = dot(&point.coef, &direction.coef);
        let square = dot(&direction.coef, &direction.coef);
        loss_part + 2.0 * lambda.get() * (cross + t * square)
    }
}

//! Semismooth Newton in sample space.
//!
//! With `f = b 1 + K a`, `g_i = c_i y_i L'(u_i)/n`, `r = g + 2 lambda a` and `D_i = c_i
//! L''(u_i)/n`, the gradient of F in the function space is `sum_i r_i k(x_i, .)`, of squared norm
//! `r'Kr`, and a Newton step `(da, db)` solves `r + D (K da + db 1) + 2 lambda da = 0`, `1'(a +
//! da) = 0`. Put `W = D/(2 lambda)` and `da = -r/(2 lambda) + W^(1/2) v`; then
//!
//! `(I + W^(1/2) K W^(1/2)) v + db W^(1/2) 1 = W^(1/2) K r/(2 lambda)`,   `1'W^(1/2) v = 0`,
//!
//! which is positive definite however deficient the rank of K, and leaves samples without curvature
//! (`W_i = 0`, at a bound of the dual) at `da_i = -r_i/(2 lambda)`. It is solved by conjugate
//! gradients on the constraint, preconditioned by a factor kept from step to step.

pub(crate) mod equation;
pub(crate) mod low_rank;
pub(crate) mod preconditioner;
pub(crate) mod single_scale;
pub(crate) mod sparse_inverse;

use std::time::Instant;

use margins_losses::{HomogeneousTail, MarginLoss};
use margins_optim::method::{Descent, Ending, descend, is_over};
use margins_optim::path::Minimizer;
use margins_optim::problem::summation::dot;
use margins_optim::problem::{EmpiricalRisk, Margins, Point};
use margins_optim::{Certificate, Lambda, MarginSummary, Objective, Options};
use nalgebra::DMatrix;

use crate::Gram;
use crate::gram::Entries;
use crate::newton::equation::{Equation, Moves, Precision};
use crate::newton::preconditioner::Preconditioner;
use crate::rkhs_norm::SampleNorms;

const DEFAULT_ITERATIONS: usize = 200;

/// The most times that one direction is computed for curvatures ever better fitted to it, and the
/// share of wrongly predicted slopes that ends it sooner.
const MOST_ROUNDS: usize = 8;
const MOST_WRONG: f64 = 0.1;

/// Returns `lambda a'Ka`.
fn penalty(lambda: Lambda, point: &Point) -> f64 {
    lambda.get() * dot(&point.coef, &point.products)
}

/// The solver with the memory it keeps from one lambda to the next.
pub(crate) struct SampleNewton<'o, 'm, L: MarginLoss + ?Sized> {
    pub(crate) risk: &'o EmpiricalRisk<'o, L>,
    entries: &'m Entries,
    margins: Margins<'o, L>,
    /// The gradient `r`, at the point certified last.
    gradient: Vec<f64>,
    /// The image `K r`.
    image: Vec<f64>,
    preconditioner: Preconditioner<'m>,
    norms: SampleNorms,
    passes: usize,
    /// The time at which directions are left as they are.
    deadline: Option<Instant>,
}

impl<'o, 'm, L: MarginLoss + ?Sized> SampleNewton<'o, 'm, L> {
    pub(crate) fn new(risk: &'o EmpiricalRisk<'o, L>, entries: &'m Entries) -> Self {
        Self::resume(risk, entries, Preconditioner::new(entries))
    }

    /// Returns a solver with what another one on the same matrix has prepared.
    pub(crate) fn resume(
        risk: &'o EmpiricalRisk<'o, L>,
        entries: &'m Entries,
        preconditioner: Preconditioner<'m>,
    ) -> Self {
        let n = entries.order();
        SampleNewton {
            risk,
            entries,
            margins: risk.margins(),
            gradient: vec![0.0; n],
            image: vec![0.0; n],
            preconditioner,
            norms: SampleNorms::new(entries.diagonal()),
            passes: 0,
            deadline: None,
        }
    }

    pub(crate) fn preconditioner(&self) -> &Preconditioner<'m> {
        &self.preconditioner
    }

    pub(crate) fn into_preconditioner(self) -> Preconditioner<'m> {
        self.preconditioner
    }

    /// Makes the preconditioner fit the curvatures at a point.
    pub(crate) fn factorize(&mut self, lambda: Lambda, point: &Point) {
        self.margins.set(&point.products, point.intercept);
        let curvatures = self.margins.curvatures();
        let ridge = 2.0 * lambda.get();
        let roots: Vec<f64> = curvatures.iter().map(|d| (d / ridge).sqrt()).collect();
        self.preconditioner.renew(&roots);
    }

    /// Returns the certificate of a point whose scores are computed from its coefficients.
    pub(crate) fn certify_anew(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        self.multiply(&point.coef, &mut point.products);
        self.certify(lambda, point)
    }

    /// Returns the certificate of a point whose scores are computed from its coefficients, with
    /// `r'Kr` in twice the working precision, in which it needs no allowance for its rounding.
    pub(crate) fn certify_accurately(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        let Certificate { objective, .. } = self.certify_anew(lambda, point);
        let square = self.entries.quadratic_form(&self.gradient);
        self.passes += 1;
        // K is positive semidefinite but for the rounding of its entries, to either side.
        let known = self.norms.largest_square(&self.gradient);
        let norm = known.map_or(f64::INFINITY, |_| square.abs().sqrt());
        self.certificate_with(lambda, point, objective, norm)
    }

    /// Moves the intercept of a point to the minimum of F over it, sets the gradient there and
    /// returns F.
    pub(crate) fn settle(&mut self, lambda: Lambda, point: &mut Point) -> f64 {
        point.intercept = self.margins.settle(&point.products, point.intercept);
        self.margins.gradient(&mut self.gradient);
        for (r, a) in self.gradient.iter_mut().zip(&point.coef) {
            *r += 2.0 * lambda.get() * a;
        }
        self.margins.risk() + penalty(lambda, point)
    }

    /// Returns the certificate of the point that is settled, whose F is given, from the image of
    /// its gradient.
    fn certificate_of(&mut self, lambda: Lambda, point: &Point, objective: f64) -> Certificate {
        let norm = self.norms.norm_of(&self.gradient, &self.image);
        self.certificate_with(lambda, point, objective, norm)
    }

    /// Returns the certificate of the point that is settled, whose F and norm of the gradient are
    /// given.
    fn certificate_with(
        &mut self,
        lambda: Lambda,
        point: &Point,
        objective: f64,
        norm: f64,
    ) -> Certificate {
        let rounding = self.norms.product_rounding(&mut self.margins, lambda, &point.coef);
        self.margins.certificate(lambda, objective, rounding, norm, self.norms.largest())
    }

    /// Returns the certificates of points, with one product of K with all their gradients.
    pub(crate) fn certify_all(
        &mut self,
        gram: &Gram,
        points: &mut [(Lambda, &mut Point)],
    ) -> Vec<Certificate> {
        let mut gradients = DMatrix::zeros(self.gradient.len(), points.len());
        for (mut column, (lambda, point)) in gradients.column_iter_mut().zip(&mut *points) {
            self.settle(*lambda, point);
            column.copy_from_slice(&self.gradient);
        }
        let images = gram.multiply(&gradients);
        let columns = images.column_iter().zip(points);
        columns
            .map(|(image, (lambda, point))| {
                let objective = self.settle(*lambda, point);
                self.image.copy_from_slice(image.as_slice());
                self.certificate_of(*lambda, point, objective)
            })
            .collect()
    }

    /// Computes `out = K x`.
    pub(crate) fn multiply(&mut self, x: &[f64], out: &mut [f64]) {
        self.entries.multiply(x, out);
        self.passes += 1;
    }

    /// Returns a start for a large problem without one: the solution for the low-rank approximation
    /// of K, made a point of K by the coefficients `-g/(2 lambda)` that a solution would have.
    fn start(&mut self, lambda: Lambda, options: &Options<'_>) -> Option<Point> {
        const ROUGHLY: f64 = 1e-3;
        let design = self.preconditioner.low_rank()?.design()?;
        let reduced = Objective::from_risk(self.risk.clone(), &design).ok()?;
        let options =
            Options { tolerance: ROUGHLY, deadline: options.deadline, ..Options::default() };
        let fit = margins_optim::fit(&reduced, lambda, &options).ok()?;
        let mut products = vec![0.0; design.rows()];
        design.multiply(&fit.coef, &mut products);
        let intercept = self.margins.settle(&products, fit.intercept);
        let mut coef = vec![0.0; products.len()];
        self.margins.gradient(&mut coef);
        coef.iter_mut().for_each(|a| *a /= -2.0 * lambda.get());
        self.multiply(&coef, &mut products);
        Some(Point { intercept, coef, products })
    }

    /// Returns the Newton direction for given curvatures, solved ever more exactly, lowering
    /// `share`, until the quadratic model has its minimum along it near the full step, as it has
    /// for the solution.
    ///
    /// The rest of an inexact solution is a part of `-r/(2 lambda)`, which overshoots by far where
    /// W is large.
    fn direction_for(
        &mut self,
        curvatures: &[f64],
        ridge: f64,
        share: &mut f64,
        moves: &mut Moves,
    ) -> Point {
        const OFF: f64 = 0.1;
        const LEAST_SHARE: f64 = 1e-10;
        let roots: Vec<f64> = curvatures.iter().map(|d| (d / ridge).sqrt()).collect();
        let right = roots.iter().zip(&self.image).map(|(w, h)| w * h / ridge).collect();
        let (constrained, deadline) = (self.risk.has_intercept(), self.deadline);
        let equation = Equation { roots, right, constrained, deadline };
        loop {
            let intercept = self.solve(&equation, *share, moves);
            let minus = |all: &[f64], whole: &[f64]| -> Vec<f64> {
                all.iter().zip(whole).map(|(z, r)| z - r / ridge).collect()
            };
            let products = minus(&moves.products, &self.image);
            let coef = minus(&moves.coef, &self.gradient);
            let risk: f64 =
                (curvatures.iter().zip(&products)).map(|(d, p)| d * (p + intercept).powi(2)).sum();
            let model = ridge * dot(&coef, &products) + risk;
            let minimum = -dot(&self.image, &coef) / model;
            let is_enough = (minimum - 1.0).abs() <= OFF || *share < LEAST_SHARE;
            if is_enough || minimum.is_nan() || is_over(self.deadline) {
                return Point { intercept, coef, products };
            }
            *share *= 0.1;
        }
    }

    /// Moves on until the preconditioned residual has shrunk to `share` of that of no move at all,
    /// and returns `db`.
    fn solve(&mut self, equation: &Equation, share: f64, moves: &mut Moves) -> f64 {
        let (entries, roots) = (self.entries, &equation.roots);
        self.preconditioner.prepare(roots);
        let mut last = f64::INFINITY;
        let precision = equation.precision(entries, share);
        if precision == Precision::Double && moves.precision == Precision::Single {
            moves.refine(entries);
            self.passes += 1;
        }
        loop {
            let outcome = equation.iterate(entries, &self.preconditioner, share, precision, moves);
            self.passes += outcome.steps;
            let refreshed = self.preconditioner.record_steps(entries, roots, outcome.steps);
            self.passes += usize::from(refreshed);
            // Where rounding keeps the residual up no factor helps, however fresh.
            let helps = outcome.residual < 0.5 * last;
            let is_solved = outcome.residual <= share;
            if is_solved || !refreshed || !helps || is_over(self.deadline) {
                return outcome.intercept;
            }
            last = outcome.residual;
        }
    }
}

impl<L: MarginLoss + ?Sized> Descent for SampleNewton<'_, '_, L> {
    type Products = Vec<f64>;

    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        let objective = self.settle(lambda, point);
        self.entries.multiply(&self.gradient, &mut self.image);
        self.passes += 1;
        self.certificate_of(lambda, point, objective)
    }

    fn slope_along(&mut self, lambda: Lambda, point: &Point, direction: &Point, t: f64) -> f64 {
        let risk = self.margins.slope_along(point, direction, t);
        let cross = dot(&direction.coef, &point.products);
        let square = dot(&direction.coef, &direction.products);
        risk + 2.0 * lambda.get() * (cross + t * square)
    }

    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point, f64) {
        // A step that leaves this share of the residual leaves about its square of the gap.
        let wanted = 0.1 * tolerance * certificate.objective.abs();
        let mut share = (wanted / certificate.duality_gap)
            .sqrt()
            .clamp(1e-4, self.preconditioner.coarsest_share());
        let ridge = 2.0 * lambda.get();
        let mut curvatures = self.margins.curvatures();
        let mut moves = Moves::none(curvatures.len());
        let mut rounds = 0;
        let mut direction = loop {
            let direction = self.direction_for(&curvatures, ridge, &mut share, &mut moves);
            rounds += 1;
            let change = |i: usize| direction.products[i] + direction.intercept;
            let wrong = self.margins.fit_curvatures(change, &mut curvatures);
            if rounds == MOST_ROUNDS || wrong <= MOST_WRONG || is_over(self.deadline) {
                break direction;
            }
        };
        if moves.precision == Precision::Single && !is_over(self.deadline) {
            self.entries.multiply(&direction.coef, &mut direction.products);
            self.passes += 1;
        }
        let slope = dot(&self.image, &direction.coef);
        (direction, slope)
    }

    fn passes(&self) -> usize {
        self.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.margins.summary()
    }
}

impl<L: MarginLoss + ?Sized> Minimizer for SampleNewton<'_, '_, L> {
    type Products = Vec<f64>;

    fn tail(&self) -> Option<HomogeneousTail> {
        self.risk.loss().homogeneous_tail()
    }

    fn all_beyond(&mut self, point: &Point, from: f64) -> bool {
        self.risk.all_beyond(&point.products, point.intercept, from)
    }

    fn origin(&mut self) -> Point {
        Point::zero(self.gradient.len(), self.gradient.len())
    }

    /// Returns the origin, or the solution for a low rank, if it is not far from the minimum, and
    /// else the rough solution at a larger lambda, found from there in the same way: the equations
    /// far from the minimum are the hardest of all.
    fn begin(&mut self, lambda: Lambda, options: &Options) -> Point {
        const NEAR: f64 = 0.9;
        const ROUGHLY: f64 = 1e-2;
        const RATIO: f64 = 10.0;
        if options.is_late() {
            return self.origin();
        }
        let mut start = self.start(lambda, options).unwrap_or_else(|| self.origin());
        if options.is_late() {
            return start;
        }
        let is_near = Descent::certify(self, lambda, &mut start).relative_gap() <= NEAR;
        let larger = Lambda::new(RATIO * lambda.get()).ok();
        match larger.filter(|larger| !is_near && larger.get() < self.large_lambda()) {
            Some(larger) => {
                let mut point = self.begin(larger, options);
                let options = Options { tolerance: ROUGHLY.max(options.tolerance), ..*options };
                self.minimize(larger, &mut point, &options);
                point
            }
            None => start,
        }
    }

    fn value(&mut self, lambda: Lambda, point: &Point) -> f64 {
        self.margins.risk_at(&point.products, point.intercept) + penalty(lambda, point)
    }

    fn minimize(&mut self, lambda: Lambda, point: &mut Point, options: &Options) -> Ending {
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        self.deadline = options.deadline;
        descend(self, lambda, point, options, limit)
    }

    fn large_lambda(&self) -> f64 {
        let diagonal = self.entries.diagonal();
        diagonal.iter().zip(self.risk.weights()).map(|(k, c)| k * c).sum()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn passes(&self) -> usize {
        self.passes
    }
}

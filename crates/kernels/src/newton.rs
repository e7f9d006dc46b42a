//! Semismooth Newton in sample space.
//!
//! With `f = b 1 + K a`, `g_i = c_i y_i L'(u_i)/n`, `r = g + 2 lambda a` and `D_i = c_i L''(u_i)/n`, the
//! gradient of F in the function space is `sum_i r_i k(x_i, .)`, of squared norm `r'Kr`, and a Newton
//! step `(da, db)` solves `r + D (K da + db 1) + 2 lambda da = 0`, `1'(a + da) = 0`. Put
//! `W = D/(2 lambda)` and `da = -r/(2 lambda) + W^(1/2) v`; then
//!
//! `(I + W^(1/2) K W^(1/2)) v + db W^(1/2) 1 = W^(1/2) K r/(2 lambda)`,   `1'W^(1/2) v = 0`,
//!
//! which is well conditioned on the whole of a rank-deficient K and leaves samples without curvature
//! (`W_i = 0`, at a bound of the dual) at `da_i = -r_i/(2 lambda)`. It is solved by conjugate gradients
//! on the constraint, preconditioned by the Cholesky factor of the same matrix at a recent `W`: along a
//! path the matrix `K + W^(-1)` hardly changes, and not at all on the ray beyond separation.

use margins_losses::MarginLoss;
use margins_optim::solver_kit::{Descent, Ending, EmpiricalRisk, Margins, Minimizer, Point, minimize};
use margins_optim::{Certificate, Lambda, Options};
use nalgebra::DMatrix;

use crate::growing_cholesky::GrowingCholesky;
use crate::symmetric;

const DEFAULT_ITERATIONS: usize = 200;
const ROUNDS: usize = 8;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The solver with the memory it keeps from one lambda to the next.
pub(crate) struct SampleNewton<'o, L: MarginLoss + ?Sized> {
    risk: &'o EmpiricalRisk<'o, L>,
    matrix: &'o DMatrix<f64>,
    margins: Margins<'o, L>,
    /// `r`, at the point certified last.
    gradient: Vec<f64>,
    /// `K r`.
    image: Vec<f64>,
    preconditioner: Preconditioner,
    /// Root of the largest diagonal entry of K: the largest norm of a sample.
    radius: f64,
    passes: usize,
    pub(crate) indefinite: bool,
}

impl<'o, L: MarginLoss + ?Sized> SampleNewton<'o, L> {
    pub(crate) fn new(risk: &'o EmpiricalRisk<'o, L>, matrix: &'o DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        SampleNewton {
            risk,
            matrix,
            margins: risk.margins(),
            gradient: vec![0.0; n],
            image: vec![0.0; n],
            preconditioner: Preconditioner::new(n),
            radius: matrix.diagonal().max().max(0.0).sqrt(),
            passes: 0,
            indefinite: false,
        }
    }

    /// Moves on until the preconditioned residual has shrunk to `share` of that of no move at all, and
    /// returns `db`.
    fn solve(&mut self, equation: &Equation, share: f64, moves: &mut Moves) -> f64 {
        self.preconditioner.extend(self.matrix, &equation.roots);
        let mut outcome = equation.iterate(self.matrix, &self.preconditioner, share, moves);
        self.passes += outcome.steps;
        if self.preconditioner.is_due(equation, self.matrix, outcome.steps) {
            self.preconditioner.refresh(self.matrix, &equation.roots);
            self.passes += 1;
            if outcome.residual > share {
                outcome = equation.iterate(self.matrix, &self.preconditioner, share, moves);
                self.passes += outcome.steps;
            }
        }
        outcome.intercept
    }
}

impl<L: MarginLoss + ?Sized> Descent for SampleNewton<'_, L> {
    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        point.intercept = self.margins.settle(&point.products, point.intercept);
        let penalty = lambda.get() * dot(&point.coef, &point.products);
        let objective = self.margins.risk() + penalty;
        self.margins.gradient(&mut self.gradient);
        for (r, a) in self.gradient.iter_mut().zip(&point.coef) {
            *r += 2.0 * lambda.get() * a;
        }
        symmetric::multiply(self.matrix, &self.gradient, &mut self.image);
        self.passes += 1;
        let square = dot(&self.gradient, &self.image);
        // Rounding may make the square of a vanishing norm negative, but no more than this.
        let rounding = 1e-10 * self.radius.powi(2) * self.gradient.iter().map(|r| r.abs()).sum::<f64>().powi(2);
        self.indefinite |= square < -rounding;
        self.margins.certificate(lambda, objective, square.max(0.0).sqrt(), self.radius)
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
        _point: &Point,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point, f64) {
        // An inexact step with this share of the residual left has about its square of the gap left.
        let wanted = 0.1 * tolerance * certificate.objective.abs();
        let share = (wanted / certificate.duality_gap).sqrt().clamp(1e-4, 0.01);
        let ridge = 2.0 * lambda.get();
        let mut curvatures = self.margins.curvatures().to_vec();
        let mut rounds = 0;
        let mut moves = Moves::none(self.gradient.len());
        let (coef, products, intercept) = loop {
            let roots: Vec<f64> = curvatures.iter().map(|d| (d / ridge).sqrt()).collect();
            let right: Vec<f64> =
                roots.iter().zip(&self.image).map(|(w, h)| w * h / ridge).collect();
            let equation = Equation { roots, right, constrained: self.risk.has_intercept() };
            let intercept = self.solve(&equation, share, &mut moves);
            let products: Vec<f64> =
                self.image.iter().zip(&moves.products).map(|(h, p)| p - h / ridge).collect();
            rounds += 1;
            let change = |i: usize| products[i] + intercept;
            let before = curvatures.clone(); let wrong = self.margins.fit_curvatures(change, &mut curvatures); if std::env::var_os("DBG").is_some() { let nf = before.iter().zip(&curvatures).filter(|(a,b)| a!=b).count(); eprintln!("   DBG round {rounds} wrong {wrong:e} flagged {nf} gap {:e}", certificate.duality_gap); }
            if rounds < ROUNDS && wrong > 0.1 {
                continue;
            }
            let coef: Vec<f64> =
                self.gradient.iter().zip(&moves.coef).map(|(r, z)| z - r / ridge).collect();
            break (coef, products, intercept);
        };
        let slope = dot(&self.image, &coef);
        (Point { intercept, coef, products }, slope)
    }

    fn passes(&self) -> usize {
        self.passes
    }
}

impl<L: MarginLoss + ?Sized> Minimizer for SampleNewton<'_, L> {
    type Loss = L;

    fn risk(&self) -> &EmpiricalRisk<'_, L> {
        self.risk
    }

    fn origin(&self) -> Point {
        Point::zero(self.gradient.len(), self.gradient.len())
    }

    fn value(&mut self, lambda: Lambda, point: &Point) -> f64 {
        let penalty = lambda.get() * dot(&point.coef, &point.products);
        self.margins.risk_at(&point.products, point.intercept) + penalty
    }

    fn minimize(&mut self, lambda: Lambda, point: &mut Point, options: &Options) -> Ending {
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        minimize(self, lambda, point, options, limit)
    }

    fn is_local(&self) -> bool {
        true
    }

    fn passes(&self) -> usize {
        self.passes
    }
}

/// `(I + W^(1/2) K W^(1/2)) v + db W^(1/2) 1 = right`, `1'W^(1/2) v = 0`.
struct Equation {
    /// The diagonal of `W^(1/2)`.
    roots: Vec<f64>,
    right: Vec<f64>,
    /// Whether there is an intercept, and with it the constraint.
    constrained: bool,
}

/// `z = W^(1/2) v` with `K z`: they do not depend on W, so that the solution for one W is a start for
/// another.
struct Moves {
    coef: Vec<f64>,
    products: Vec<f64>,
}

impl Moves {
    fn none(n: usize) -> Self {
        Moves { coef: vec![0.0; n], products: vec![0.0; n] }
    }
}

struct Outcome {
    /// `db`.
    intercept: f64,
    steps: usize,
    /// What is left of the preconditioned residual, as a share.
    residual: f64,
}

impl Equation {
    fn iterate(
        &self,
        matrix: &DMatrix<f64>,
        preconditioner: &Preconditioner,
        share: f64,
        moves: &mut Moves,
    ) -> Outcome {
        let n = self.roots.len();
        let most = preconditioner.patience(self, matrix);
        let projection = Projection::new(self, preconditioner);
        let started = moves.coef.iter().any(|&z| z != 0.0);
        let mut residual = self.right.clone();
        let mut conditioned = projection.apply(&residual);
        let first = dot(&residual, &conditioned);
        if started && (0..n).any(|i| self.roots[i] == 0.0 && moves.coef[i] != 0.0) {
            // A sample that lost its curvature must not move, which changes all products.
            *moves = Moves::none(n);
        } else if started {
            for i in 0..n {
                if self.roots[i] > 0.0 {
                    residual[i] -= moves.coef[i] / self.roots[i] + self.roots[i] * moves.products[i];
                }
            }
            conditioned = projection.apply(&residual);
        }
        let mut direction = conditioned.clone();
        let mut energy = dot(&residual, &conditioned);
        let mut weighted = vec![0.0; n];
        let mut image = vec![0.0; n];
        let mut steps = 0;
        while energy > share * share * first && steps < most {
            for ((p, w), d) in weighted.iter_mut().zip(&self.roots).zip(&direction) {
                *p = w * d;
            }
            symmetric::multiply_sparse(matrix, &weighted, &mut image);
            steps += 1;
            let curvature = dot(&direction, &direction) + dot(&weighted, &image);
            let step = energy / curvature;
            if !(step.is_finite() && step > 0.0) {
                break;
            }
            for i in 0..n {
                moves.coef[i] += step * weighted[i];
                moves.products[i] += step * image[i];
                residual[i] -= step * (direction[i] + self.roots[i] * image[i]);
            }
            conditioned = projection.apply(&residual);
            let next = dot(&residual, &conditioned);
            let ratio = next / energy;
            energy = next;
            for (d, c) in direction.iter_mut().zip(&conditioned) {
                *d = c + ratio * *d;
            }
        }
        let left = if first > 0.0 { (energy.max(0.0) / first).sqrt() } else { 0.0 };
        Outcome { intercept: projection.multiplier(&residual), steps, residual: left }
    }
}

/// The preconditioner on the constraint `w'v = 0`: `P r = M r - q (w'M r)/(w'q)`, `q = M w`.
struct Projection<'a> {
    preconditioner: &'a Preconditioner,
    roots: &'a [f64],
    /// `q`; empty without a constraint.
    normal: Vec<f64>,
    /// `w'q`.
    square: f64,
}

impl<'a> Projection<'a> {
    fn new(equation: &'a Equation, preconditioner: &'a Preconditioner) -> Self {
        let roots = &equation.roots;
        let normal = if equation.constrained {
            preconditioner.apply(roots, roots)
        } else {
            Vec::new()
        };
        let square = normal.iter().zip(roots).map(|(q, w)| q * w).sum();
        Projection { preconditioner, roots, normal, square }
    }

    fn apply(&self, residual: &[f64]) -> Vec<f64> {
        let mut out = self.preconditioner.apply(self.roots, residual);
        if self.square > 0.0 {
            let share = dot(self.roots, &out) / self.square;
            for (o, q) in out.iter_mut().zip(&self.normal) {
                *o -= share * q;
            }
        }
        out
    }

    /// `db`, the multiplier that takes the most out of the residual.
    fn multiplier(&self, residual: &[f64]) -> f64 {
        if self.square > 0.0 { dot(&self.normal, residual) / self.square } else { 0.0 }
    }
}

/// The Cholesky factor of `K + W^(-1)` over some samples, at the W of the time when each was added.
struct Preconditioner {
    samples: Vec<usize>,
    /// The place of each sample among these; `usize::MAX` for none.
    places: Vec<usize>,
    /// `W^(1/2)` at the time, over `samples`.
    roots: Vec<f64>,
    factor: GrowingCholesky<f64>,
    /// What steps beyond the first few have cost since the factor was made, in products with K.
    debt: f64,
}

impl Preconditioner {
    fn new(n: usize) -> Self {
        Preconditioner {
            samples: Vec::new(),
            places: vec![usize::MAX; n],
            roots: Vec::new(),
            factor: GrowingCholesky::new(n),
            debt: 0.0,
        }
    }

    /// Approximately `(I + W^(1/2) K W^(1/2))^(-1) residual` over the samples with curvature.
    ///
    /// As `I + W^(1/2) K W^(1/2) = W^(1/2) (K + W^(-1)) W^(1/2)`, the factor serves between diagonal
    /// scalings.
    fn apply(&self, roots: &[f64], residual: &[f64]) -> Vec<f64> {
        let mut out = residual.to_vec();
        if self.samples.is_empty() {
            return out;
        }
        let inverse = |i: usize| if roots[i] > 0.0 { 1.0 / roots[i] } else { 0.0 };
        let mut part: Vec<f64> =
            self.samples.iter().map(|&i| inverse(i) * residual[i]).collect();
        let t0 = std::time::Instant::now();
        self.factor.solve(&mut part);
        T[1].fetch_add(t0.elapsed().as_micros() as u64, std::sync::atomic::Ordering::Relaxed);
        for (&i, x) in self.samples.iter().zip(&part) {
            out[i] = inverse(i) * x;
        }
        out
    }

    /// The cost of a fresh factor in products with K, as measured: flops of a factorisation run at
    /// about twenty times the rate at which a product reads its matrix.
    fn price(&self, equation: &Equation, matrix: &DMatrix<f64>) -> f64 {
        let n = matrix.nrows() as f64;
        let m = equation.roots.iter().filter(|&&w| w > 0.0).count() as f64;
        let product = n * m.min(0.5 * n) + m * m;
        (m * m * m / 60.0 + m * m) / product.max(1.0)
    }

    /// Steps after which a fresh factor is cheaper than going on.
    fn patience(&self, equation: &Equation, matrix: &DMatrix<f64>) -> usize {
        (2.0 * self.price(equation, matrix)) as usize + 10
    }

    /// Pays for the steps taken; true once they have cost as much as a fresh factor would.
    fn is_due(&mut self, equation: &Equation, matrix: &DMatrix<f64>, steps: usize) -> bool {
        self.debt += (steps as f64 - 3.0).max(0.0);
        self.debt > self.price(equation, matrix)
    }

    /// Takes in the samples that have gained curvature.
    fn extend(&mut self, matrix: &DMatrix<f64>, roots: &[f64]) {
        let new: Vec<usize> =
            (0..roots.len()).filter(|&i| roots[i] > 0.0 && self.places[i] == usize::MAX).collect();
        if new.is_empty() {
            return;
        }
        let t0 = std::time::Instant::now();
        let old = self.samples.len();
        self.samples.extend(&new);
        let samples = &self.samples;
        let entry = |i: usize, j: usize| {
            let k = matrix[(samples[j], samples[i])];
            if i == j { k + 1.0 / (roots[samples[i]] * roots[samples[i]]) } else { k }
        };
        if self.factor.extend(new.len(), entry) {
            for (place, &i) in new.iter().enumerate() {
                self.places[i] = old + place;
                self.roots.push(roots[i]);
            }
        } else {
            self.samples.truncate(old);
        }
        T[2].fetch_add(t0.elapsed().as_micros() as u64, std::sync::atomic::Ordering::Relaxed);
        T[3].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn refresh(&mut self, matrix: &DMatrix<f64>, roots: &[f64]) {
        T[4].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.debt = 0.0;
        self.samples.clear();
        self.roots.clear();
        self.places.fill(usize::MAX);
        self.factor.clear();
        self.extend(matrix, roots);
    }
}
pub static T: [std::sync::atomic::AtomicU64; 5] = [const { std::sync::atomic::AtomicU64::new(0) }; 5];

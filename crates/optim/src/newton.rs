//! Semismooth Newton with line search, on a dense system or by conjugate gradients.
//!
//! Where `L'` has a kink, as the leaky hockey stick's at the margin 1, any element of its
//! generalised derivative serves (Qi and Sun 1993); the line search makes the method globally
//! convergent and the exact intercept after every step keeps the dual point feasible.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef, Par};
use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::certificate::Evaluator;
use crate::descent::{self, Descent};
use crate::dual;
use crate::point::{Point, dot};
use crate::report::{Ending, MarginSummary};
use crate::{Certificate, Lambda, Options};

const DEFAULT_ITERATIONS: usize = 200;

/// How the Newton system `H d = -g` is solved, `H = Z' D Z + 2 lambda diag(0, 1, ..., 1)` with
/// `Z = [1 X]` and `D_i = c_i L''(u_i) / n`.
pub(crate) enum System {
    /// Cholesky of H, of order p + 1; where that is dear, conjugate gradients preconditioned by the factor of
    /// an earlier H.
    Dense(Factor),
    /// Conjugate gradients with products with X and X' only, preconditioned by the diagonal of H.
    ConjugateGradients,
}

/// Part of the gradient that a solution by conjugate gradients leaves.
const SHARE: f64 = 0.1;

impl System {
    pub(crate) fn dense(p: usize) -> Self {
        System::Dense(Factor::new(p + 1))
    }

    /// Solves the equation for another right side than the last one: with the factor at hand, if there is one.
    fn solve_again(&mut self, equation: &Equation<'_>, passes: &mut usize) -> (f64, Vec<f64>) {
        match self {
            System::Dense(factor) if factor.is_made => factor.direction(equation),
            _ => self.solve(equation, passes),
        }
    }

    /// The Newton direction: its part in the intercept and that in the coefficients.
    fn solve(&mut self, equation: &Equation<'_>, passes: &mut usize) -> (f64, Vec<f64>) {
        const MOST_STEPS: usize = 500;
        let by_diagonal = |passes: &mut usize| {
            let diagonal = equation.diagonal();
            *passes += 1;
            let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
            // A tenth of the gradient, less near the minimum.
            let norm = equation.gradient_norm();
            let target = norm * norm.sqrt().min(SHARE);
            equation.iterate(precondition, target, MOST_STEPS, passes).solution
        };
        let System::Dense(factor) = self else { return by_diagonal(passes) };
        if let Some(patience) = factor.patience(equation) {
            let precondition = |r: &[f64]| factor.solve(r.to_vec());
            let target = SHARE * equation.gradient_norm();
            let Iterated { solution, steps, reached } =
                equation.iterate(precondition, target, patience, passes);
            factor.pay(steps);
            if reached {
                return solution;
            }
        }
        *passes += 1;
        if factor.factorize(equation) {
            let (intercept, coef) = factor.direction(equation);
            if intercept.is_finite() && coef.iter().all(|d| d.is_finite()) {
                return (intercept, coef);
            }
        }
        // A matrix too close to singular for Cholesky is not for conjugate gradients.
        by_diagonal(passes)
    }
}

/// The Cholesky factor of H at some point, of `H` scaled to a unit diagonal so that the units of the features
/// do not matter.
pub(crate) struct Factor {
    /// The factor in the lower triangle.
    matrix: DMatrix<f64>,
    units: Vec<f64>,
    /// Whether there is one.
    is_made: bool,
    /// Steps of conjugate gradients taken with it.
    steps: usize,
}

impl Factor {
    fn new(order: usize) -> Self {
        let matrix = DMatrix::zeros(order, order);
        Factor { matrix, units: Vec::new(), is_made: false, steps: 0 }
    }

    /// Steps of conjugate gradients, one product with X and X' each, that cost as much as a factor: an entry
    /// of X takes part in q multiplications there and in four here, at about a twentieth of the rate.
    fn price(&self, equation: &Equation<'_>) -> usize {
        let (n, q) = (equation.design.rows(), self.matrix.nrows());
        if equation.design.is_sparse() { 0 } else { (q + q * q / (3 * n)) / 40 }
    }

    /// How many steps it pays to try with the factor at hand; `None` if a new one is the better choice.
    fn patience(&self, equation: &Equation<'_>) -> Option<usize> {
        const LEAST: usize = 4;
        let price = self.price(equation);
        (self.is_made && price >= LEAST && self.steps < price).then_some(price)
    }

    fn pay(&mut self, steps: usize) {
        const FREE: usize = 3;
        self.steps += steps.saturating_sub(FREE);
    }

    /// Makes the factor of an equation's H; says whether that is numerically definite.
    fn factorize(&mut self, equation: &Equation<'_>) -> bool {
        let matrix = &mut self.matrix;
        equation.design.weighted_gram(equation.curvatures, matrix);
        let q = matrix.nrows();
        for j in 1..q {
            matrix[(j, j)] += equation.ridge;
        }
        if equation.with_intercept {
            // No curvature at all in the intercept (every margin on a straight part of the loss)
            // leaves it where it is: its slope is zero already.
            let floor = f64::EPSILON * (1.0 + matrix[(0, 0)]);
            matrix[(0, 0)] += floor;
        } else {
            matrix.column_mut(0).fill(0.0);
            matrix[(0, 0)] = 1.0;
        }
        self.units = (0..q).map(|j| matrix[(j, j)].sqrt().recip()).collect();
        for (j, mut column) in matrix.column_iter_mut().enumerate() {
            for (entry, unit) in column.iter_mut().zip(&self.units).skip(j) {
                *entry *= unit * self.units[j];
            }
            column[j] = 1.0 + q as f64 * f64::EPSILON;
        }
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>;
        let mut memory = MemBuffer::new(scratch(q, Par::Seq, Default::default()));
        let factored = llt::factor::cholesky_in_place(
            MatMut::from_column_major_slice_mut(matrix.as_mut_slice(), q, q),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        self.steps = 0;
        self.is_made = factored.is_ok();
        self.is_made
    }

    /// Returns the solution of an equation with the H that the factor is of.
    fn direction(&self, equation: &Equation<'_>) -> (f64, Vec<f64>) {
        let right = std::iter::once(0.0).chain(equation.gradient.iter().map(|g| -g)).collect();
        let mut direction = self.solve(right);
        let coef = direction.split_off(1);
        (direction[0], coef)
    }

    /// `H^(-1) right`, of the H that the factor is of.
    fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        let q = right.len();
        right.iter_mut().zip(&self.units).for_each(|(r, unit)| *r *= unit);
        let factor = MatRef::from_column_major_slice(self.matrix.as_slice(), q, q);
        let mut column = MatMut::from_column_major_slice_mut(&mut right, q, 1);
        solve_lower_triangular_in_place(factor, column.rb_mut(), Par::Seq);
        solve_upper_triangular_in_place(factor.transpose(), column, Par::Seq);
        right.iter_mut().zip(&self.units).for_each(|(r, unit)| *r *= unit);
        right
    }
}

/// `H d = -g` at one point.
struct Equation<'a> {
    design: &'a Design,
    /// `D`.
    curvatures: &'a [f64],
    /// `2 lambda`.
    ridge: f64,
    /// Gradient in the coefficients; that in the intercept is zero.
    gradient: &'a [f64],
    /// Whether the intercept takes part.
    with_intercept: bool,
    /// The norm of a residual that will do.
    enough: f64,
}

/// What conjugate gradients have come to.
struct Iterated {
    solution: (f64, Vec<f64>),
    steps: usize,
    /// Whether the residual is as small as it was to be.
    reached: bool,
}

impl Equation<'_> {
    fn gradient_norm(&self) -> f64 {
        dot(self.gradient, self.gradient).sqrt()
    }

    /// The diagonal of H, the intercept's entry first; infinite where the intercept does not move.
    fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![self.ridge; self.design.columns() + 1];
        diagonal[0] = self.curvatures.iter().sum();
        for (sample, &d) in self.design.samples().zip(self.curvatures) {
            if d > 0.0 {
                sample.for_each(|column, x| diagonal[column + 1] += d * x * x);
            }
        }
        if !self.with_intercept || diagonal[0] <= 0.0 {
            diagonal[0] = f64::INFINITY;
        }
        diagonal
    }

    /// `out = H direction`.
    fn multiply(&self, direction: &[f64], out: &mut [f64]) {
        let (first, rest) = out.split_at_mut(1);
        let (shift, direction) = (direction[0], &direction[1..]);
        first[0] = self.design.multiply_normal(self.curvatures, shift, direction, rest);
        for (o, d) in rest.iter_mut().zip(direction) {
            *o += self.ridge * d;
        }
    }

    /// Preconditioned conjugate gradients until the norm of the residual is at most `target`, or enough.
    fn iterate(
        &self,
        precondition: impl Fn(&[f64]) -> Vec<f64>,
        target: f64,
        most_steps: usize,
        passes: &mut usize,
    ) -> Iterated {
        let q = self.gradient.len() + 1;
        let target = target.max(self.enough);
        let moves_intercept = self.with_intercept && self.curvatures.iter().any(|&d| d > 0.0);
        let mut solution = vec![0.0; q];
        let mut residual: Vec<f64> =
            std::iter::once(0.0).chain(self.gradient.iter().map(|g| -g)).collect();
        let mut conditioned = precondition(&residual);
        let mut direction = conditioned.clone();
        let mut energy = dot(&residual, &conditioned);
        let mut image = vec![0.0; q];
        let (mut steps, mut reached) = (0, false);
        while steps < most_steps && !reached {
            self.multiply(&direction, &mut image);
            steps += 1;
            *passes += 2;
            if !moves_intercept {
                image[0] = 0.0;
            }
            let step = energy / dot(&direction, &image);
            if !step.is_finite() {
                break;
            }
            for j in 0..q {
                solution[j] += step * direction[j];
                residual[j] -= step * image[j];
            }
            reached = dot(&residual, &residual).sqrt() <= target;
            conditioned = precondition(&residual);
            let next = dot(&residual, &conditioned);
            let ratio = next / energy;
            energy = next;
            for (d, c) in direction.iter_mut().zip(&conditioned) {
                *d = c + ratio * *d;
            }
        }
        let coef = solution.split_off(1);
        Iterated { solution: (solution[0], coef), steps, reached }
    }
}

/// Newton's method on an objective in coefficients.
pub(crate) struct Newton<'e, 'o, 'a, L: MarginLoss + ?Sized> {
    evaluator: &'e mut Evaluator<'o, 'a, L>,
    system: &'e mut System,
    /// The duals that the model behind the last direction predicts at its end.
    predicted: Vec<f64>,
    /// The curvatures of that model, `D`.
    curvatures: Vec<f64>,
    /// The duals that certify the last point, if they are not the slopes there.
    witness: Option<Vec<f64>>,
}

impl<'e, 'o, 'a, L: MarginLoss + ?Sized> Newton<'e, 'o, 'a, L> {
    pub(crate) fn new(evaluator: &'e mut Evaluator<'o, 'a, L>, system: &'e mut System) -> Self {
        Newton { evaluator, system, predicted: Vec::new(), curvatures: Vec::new(), witness: None }
    }

    /// Returns the duals that certify the point reached, if they are not the slopes there.
    pub(crate) fn into_witness(self) -> Option<Vec<f64>> {
        self.witness
    }

    /// Returns the duals that certify the point reached: feasible ones.
    pub(crate) fn into_duals(self) -> Vec<f64> {
        let Newton { evaluator, witness, .. } = self;
        let mut duals = witness.unwrap_or_else(|| evaluator.margins.duals());
        evaluator.objective.risk.balance(&mut duals);
        duals
    }

    /// Returns the duals that the curvatures predict where these are now and the scores change.
    fn predict(&self, mut duals: Vec<f64>, direction: &Point) -> Vec<f64> {
        let risk = &self.evaluator.objective.risk;
        let domain = risk.domain();
        for (i, s) in duals.iter_mut().enumerate() {
            let change = risk.signs[i] * (direction.products[i] + direction.intercept);
            let curvature = self.curvatures[i];
            let bend = if curvature > 0.0 { curvature / risk.weights[i] } else { 0.0 };
            *s = (*s - bend * change).clamp(domain.lower, domain.upper);
        }
        duals
    }

    /// Returns the duals that the equations of the step ask for, given how far w is from the `v/(2 lambda)` of others:
    /// what rounding left of a solution is solved for once more.
    fn correct(&mut self, lambda: Lambda, duals: Vec<f64>, apart: &[f64]) -> Vec<f64> {
        let ridge = 2.0 * lambda.get();
        let gradient: Vec<f64> = apart.iter().map(|a| ridge * a).collect();
        let objective = self.evaluator.objective;
        let equation = Equation {
            design: &objective.design,
            curvatures: &self.curvatures,
            ridge,
            gradient: &gradient,
            with_intercept: objective.risk.intercept,
            enough: 0.0,
        };
        let (intercept, coef) = self.system.solve_again(&equation, &mut self.evaluator.passes);
        let direction = Point::at(&objective.design, intercept, coef);
        self.evaluator.passes += 1;
        let mut corrected = self.predict(duals, &direction);
        objective.risk.balance(&mut corrected);
        corrected
    }

    pub(crate) fn minimize(
        &mut self,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        let mut ending = descent::minimize(self, lambda, point, options, limit);
        if self.evaluator.has_drifted() {
            self.evaluator.refresh(point);
            let left = limit.saturating_sub(ending.iterations);
            let options = Options { max_iterations: Some(left), ..*options };
            let again = descent::minimize(self, lambda, point, &options, left);
            ending.history.extend(again.history);
            let iterations = ending.iterations + again.iterations;
            ending = Ending { iterations, history: ending.history, ..again };
        }
        ending
    }
}

impl<L: MarginLoss + ?Sized> Descent for Newton<'_, '_, '_, L> {
    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        self.witness = None;
        self.evaluator.settle_intercept(point);
        self.evaluator.certificate(lambda, point)
    }

    fn certify_by_model(
        &mut self,
        lambda: Lambda,
        point: &Point,
        tolerance: f64,
    ) -> Option<Certificate> {
        /// Corrections of the duals, each at the cost of three products with the data.
        const MOST_CORRECTIONS: usize = 3;
        let mut duals = self.predicted.clone();
        self.evaluator.objective.risk.balance(&mut duals);
        let (mut certificate, mut apart) = dual::certify(self.evaluator, lambda, point, &duals);
        for _ in 0..MOST_CORRECTIONS {
            if certificate.relative_gap() <= tolerance {
                break;
            }
            let corrected = self.correct(lambda, duals.clone(), &apart);
            let (next, next_apart) = dual::certify(self.evaluator, lambda, point, &corrected);
            if next.duality_gap >= certificate.duality_gap || next.duality_gap.is_nan() {
                break;
            }
            (duals, certificate, apart) = (corrected, next, next_apart);
        }
        self.witness = Some(duals);
        Some(certificate)
    }

    fn slope_along(&mut self, lambda: Lambda, point: &Point, direction: &Point, t: f64) -> f64 {
        self.evaluator.slope_along(lambda, point, direction, t)
    }

    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point, f64) {
        let evaluator = &mut *self.evaluator;
        let objective = evaluator.objective;
        self.curvatures.clear();
        self.curvatures.extend_from_slice(evaluator.margins.curvatures());
        let equation = Equation {
            design: &objective.design,
            curvatures: &self.curvatures,
            ridge: 2.0 * lambda.get(),
            gradient: &evaluator.gradient,
            with_intercept: objective.risk.intercept,
            // Half of the gradient norm at which the gap reaches the tolerance.
            enough: (tolerance * certificate.objective.abs() * lambda.get()).sqrt(),
        };
        let mut passes = 1;
        let (intercept, coef) = self.system.solve(&equation, &mut passes);
        evaluator.passes += passes;
        let direction = Point::at(&objective.design, intercept, coef);
        let slope = dot(&evaluator.gradient, &direction.coef);
        self.predicted = self.predict(self.evaluator.margins.duals(), &direction);
        (direction, slope)
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&self) -> MarginSummary {
        self.evaluator.margins.summary()
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::{LeakyHockeyStick, MarginLoss};

    use super::{Newton, System};
    use crate::certificate::Evaluator;
    use crate::point::Point;
    use crate::{Lambda, Objective, Options, Status};

    /// The dense system and conjugate gradients reach the same minimum, with and without intercept.
    #[test]
    fn conjugate_gradients_agree_with_the_dense_system() {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| (0..12).map(|j| ((i * j + 3 * i + j) as f64 * 0.37).sin()).collect())
            .collect();
        let signs = (0..40).map(|i| if (i * i) % 7 < 3 { 1.0 } else { -1.0 }).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let labels = Labels::from_signs(signs).expect("two classes");
        let with = Objective::new(&LeakyHockeyStick, &design, &labels).expect("fits");
        let without = with.clone().without_intercept();
        for objective in [with, without] {
            for lambda in [1.0, 1e-2, 1e-5] {
                let lambda = Lambda::new(lambda).expect("positive");
                let solve = |mut system: System| {
                    let mut point = Point::zero(40, 12);
                    let mut evaluator = Evaluator::new(&objective);
                    let options = Options { tolerance: 1e-9, ..Options::default() };
                    Newton::new(&mut evaluator, &mut system).minimize(lambda, &mut point, &options)
                };
                let dense = solve(System::dense(12));
                let iterative = solve(System::ConjugateGradients);
                for ending in [&dense, &iterative] {
                    assert_eq!(ending.status, Status::Converged, "{lambda} {ending:?}");
                }
                let difference = dense.certificate.objective - iterative.certificate.objective;
                assert!(difference.abs() <= 2e-9 * dense.certificate.objective.abs());
            }
        }
    }

    /// A loss with two methods and nothing else: all the rest is numerical.
    #[derive(Debug)]
    struct Bare;

    impl MarginLoss for Bare {
        fn value(&self, u: f64) -> f64 {
            LeakyHockeyStick.value(u)
        }
        fn derivative(&self, u: f64) -> f64 {
            LeakyHockeyStick.derivative(u)
        }
    }

    #[test]
    fn a_loss_with_two_methods_is_fitted() {
        let design =
            Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 1.0]]).expect("ok");
        let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0]).expect("two classes");
        let lambda = Lambda::new(0.1).expect("positive");
        let solve = |loss: &dyn MarginLoss| {
            let objective = Objective::new(loss, &design, &labels).expect("fits");
            crate::fit(&objective, lambda, &Options::default()).expect("convex").report
        };
        let (bare, full) = (solve(&Bare), solve(&LeakyHockeyStick));
        assert!(bare.converged() && full.converged());
        assert!((bare.objective - full.objective).abs() < 1e-6 * full.objective.abs());
    }
}

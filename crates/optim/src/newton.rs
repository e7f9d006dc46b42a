//! Semismooth Newton with line search, on a dense system or by conjugate gradients.
//!
//! Where `L'` has a kink, as the leaky hockey stick's at the margin 1, any element of its
//! generalised derivative serves (Qi and Sun 1993); the line search makes the method globally
//! convergent and the exact intercept after every step keeps the dual point feasible.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::certificate::{Certificate, Evaluator};
use crate::descent::{self, Descent};
use crate::point::{Point, dot};
use crate::report::{Ending, MarginSummary};
use crate::{Lambda, Options};

const DEFAULT_ITERATIONS: usize = 200;

/// How the Newton system `H d = -g` is solved, `H = Z' D Z + 2 lambda diag(0, 1, ..., 1)` with
/// `Z = [1 X]` and `D_i = c_i L''(u_i) / n`.
pub(crate) enum System {
    /// Cholesky of H, of order p + 1.
    Dense(DMatrix<f64>),
    /// Conjugate gradients with products with X and X' only, preconditioned by the diagonal of H.
    ConjugateGradients,
}

impl System {
    pub(crate) fn dense(p: usize) -> Self {
        System::Dense(DMatrix::zeros(p + 1, p + 1))
    }

    /// The Newton direction: its part in the intercept and that in the coefficients.
    fn solve(&mut self, equation: &Equation<'_>, passes: &mut usize) -> (f64, Vec<f64>) {
        match self {
            System::Dense(hessian) => {
                *passes += 1;
                // A matrix too close to singular for Cholesky is not for conjugate gradients.
                equation.factorize_and_solve(hessian).unwrap_or_else(|| equation.iterate(passes))
            }
            System::ConjugateGradients => equation.iterate(passes),
        }
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

impl Equation<'_> {
    /// By Cholesky, after scaling H to a unit diagonal so that the units of the features do not
    /// matter; `None` if H is numerically indefinite all the same.
    fn factorize_and_solve(&self, hessian: &mut DMatrix<f64>) -> Option<(f64, Vec<f64>)> {
        self.design.weighted_gram(self.curvatures, hessian);
        let q = hessian.nrows();
        for j in 1..q {
            hessian[(j, j)] += self.ridge;
        }
        if self.with_intercept {
            // No curvature at all in the intercept (every margin on a straight part of the loss)
            // leaves it where it is: its slope is zero already.
            let floor = f64::EPSILON * (1.0 + hessian[(0, 0)]);
            hessian[(0, 0)] += floor;
        } else {
            hessian.column_mut(0).fill(0.0);
            hessian[(0, 0)] = 1.0;
        }
        let units: Vec<f64> = (0..q).map(|j| hessian[(j, j)].sqrt().recip()).collect();
        for (j, mut column) in hessian.column_iter_mut().enumerate() {
            for (entry, unit) in column.iter_mut().zip(&units).skip(j) {
                *entry *= unit * units[j];
            }
            column[j] = 1.0 + q as f64 * f64::EPSILON;
        }
        let view = MatRef::from_column_major_slice(hessian.as_slice(), q, q);
        let factor = view.llt(Side::Lower).ok()?;
        let right = |j: usize| if j == 0 { 0.0 } else { -self.gradient[j - 1] * units[j] };
        let mut solution = Mat::from_fn(q, 1, |j, _| right(j));
        factor.solve_in_place(&mut solution);
        let direction: Vec<f64> =
            solution.col_as_slice(0).iter().zip(&units).map(|(d, unit)| d * unit).collect();
        direction.iter().all(|d| d.is_finite()).then(|| (direction[0], direction[1..].to_vec()))
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

    /// `out = H direction`; `products` is memory of length n.
    fn multiply(&self, direction: &[f64], products: &mut [f64], out: &mut [f64]) {
        self.design.multiply(&direction[1..], products);
        for (product, &d) in products.iter_mut().zip(self.curvatures) {
            *product = d * (*product + direction[0]);
        }
        out[0] = products.iter().sum();
        self.design.multiply_transposed(products, &mut out[1..]);
        for (o, d) in out[1..].iter_mut().zip(&direction[1..]) {
            *o += self.ridge * d;
        }
    }

    /// Conjugate gradients preconditioned by the diagonal, until the residual is a tenth of the
    /// gradient, less near the minimum, but never less than is enough.
    fn iterate(&self, passes: &mut usize) -> (f64, Vec<f64>) {
        const MOST_STEPS: usize = 500;
        let diagonal = self.diagonal();
        *passes += 1;
        let q = diagonal.len();
        let precondition =
            |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };

        let mut solution = vec![0.0; q];
        let mut residual: Vec<f64> =
            std::iter::once(0.0).chain(self.gradient.iter().map(|g| -g)).collect();
        let norm = dot(&residual, &residual).sqrt();
        let target = (norm * norm.sqrt().min(0.1)).max(self.enough);
        let mut conditioned = precondition(&residual);
        let mut direction = conditioned.clone();
        let mut energy = dot(&residual, &conditioned);
        let mut image = vec![0.0; q];
        let mut products = vec![0.0; self.curvatures.len()];
        for _ in 0..MOST_STEPS {
            self.multiply(&direction, &mut products, &mut image);
            *passes += 2;
            if diagonal[0].is_infinite() {
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
            if dot(&residual, &residual).sqrt() <= target {
                break;
            }
            conditioned = precondition(&residual);
            let next = dot(&residual, &conditioned);
            let ratio = next / energy;
            energy = next;
            for (d, c) in direction.iter_mut().zip(&conditioned) {
                *d = c + ratio * *d;
            }
        }
        (solution[0], solution.split_off(1))
    }
}

/// Newton's method on an objective in coefficients.
pub(crate) struct Newton<'e, 'o, 'a, L: MarginLoss + ?Sized> {
    pub(crate) evaluator: &'e mut Evaluator<'o, 'a, L>,
    pub(crate) system: &'e mut System,
}

impl<L: MarginLoss + ?Sized> Newton<'_, '_, '_, L> {
    pub(crate) fn minimize(
        &mut self,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        let limit = options.max_iterations.unwrap_or(DEFAULT_ITERATIONS);
        descent::minimize(self, lambda, point, options, limit)
    }
}

impl<L: MarginLoss + ?Sized> Descent for Newton<'_, '_, '_, L> {
    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        self.evaluator.settle_intercept(point);
        self.evaluator.certificate(lambda, point)
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
        let curvatures = evaluator.margins.curvatures().to_vec();
        let equation = Equation {
            design: &objective.design,
            curvatures: &curvatures,
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
                    Newton { evaluator: &mut evaluator, system: &mut system }
                        .minimize(lambda, &mut point, &options)
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

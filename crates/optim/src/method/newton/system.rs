//! The methods that solve the Newton equation, and the choice between them.

use nalgebra::DMatrix;

use super::by_class::ClassInverse;
use super::curved::CurvedFactor;
use super::equation::{Equation, Iterated};
use super::sampled::SampledInverse;
use crate::method::Exactness;
use crate::method::costs::{self, Shape};
use crate::method::factor::{cholesky, solve_factored};
use crate::space::Samples;

/// The largest order of a dense system that is formed and factorised.
pub(crate) const LARGEST_DENSE_ORDER: usize = 3000;

/// The method that solves the Newton system `H d = -g`, `H = Z' D Z + 2 lambda diag(0, 1, ..., 1)`
/// with `Z = [1 X]` and `D_i = c_i L''(u_i) / n`.
pub(crate) enum System {
    /// Cholesky of H, of order p + 1, solves the system; where that is expensive, conjugate gradients
    /// preconditioned by the factor of an earlier H.
    Dense(Factor),
    /// Conjugate gradients with products with X and X' solve the system, preconditioned by the
    /// diagonal of H or by some of the samples: those with curvature if they are few, or the subsample
    /// in memory if the samples are distributed.
    ConjugateGradients(Box<CurvedFactor>, StepCounts),
    /// Conjugate gradients solve the system of several classes in one problem, preconditioned by the blocks
    /// of H that belong to one class each.
    ByClass,
}

/// The steps that the latest equations took with each preconditioner.
#[derive(Default)]
pub(crate) struct StepCounts {
    by_diagonal: Option<usize>,
    by_sample: Option<usize>,
}

impl StepCounts {
    /// Returns true if the next equation should use the subsample. If it is small beside the number of
    /// features, only a trial shows whether it represents all samples.
    fn prefer_sample(&self) -> bool {
        match (self.by_diagonal, self.by_sample) {
            (None, _) => false,
            (_, None) => true,
            (Some(diagonal), Some(sample)) => sample <= diagonal,
        }
    }
}

/// The part of the gradient that a solution by conjugate gradients leaves.
const SHARE: f64 = 0.1;

impl System {
    pub(crate) fn dense(p: usize) -> Self {
        System::Dense(Factor::new(p + 1))
    }

    pub(crate) fn conjugate_gradients() -> Self {
        System::ConjugateGradients(Box::default(), StepCounts::default())
    }

    /// Returns true if there is a factor of H.
    pub(crate) fn is_factorised(&self) -> bool {
        matches!(self, System::Dense(factor) if factor.is_made)
    }

    /// Returns the system that suits a number of features: a dense one up to an order of 3000.
    pub(crate) fn for_features(p: usize) -> Self {
        if p <= LARGEST_DENSE_ORDER { System::dense(p) } else { System::conjugate_gradients() }
    }

    /// Returns the system that suits samples.
    pub(crate) fn for_samples<S: Samples>(samples: &S) -> Self {
        /// The largest order of a dense system of several classes, where every pair of them has a Gram
        /// matrix.
        const DENSE_ORDER: usize = 200;
        let order = samples.shape().1;
        match samples.classes() {
            Some(_) if order > DENSE_ORDER => System::ByClass,
            _ => System::for_features(order),
        }
    }

    /// Solves the equation for another right side than the last one, with the present factor if there
    /// is one.
    pub(super) fn solve_again<S: Samples>(
        &mut self,
        equation: &mut Equation<'_, S>,
        passes: &mut usize,
    ) -> (f64, Vec<f64>) {
        match self {
            System::Dense(factor) if factor.is_made => factor.direction(equation),
            _ => self.solve(equation, passes),
        }
    }

    /// Returns the Newton direction: its part in the intercept and that in the coefficients.
    pub(super) fn solve<S: Samples>(
        &mut self,
        equation: &mut Equation<'_, S>,
        passes: &mut usize,
    ) -> (f64, Vec<f64>) {
        let factor = match self {
            System::Dense(factor) => factor,
            System::ConjugateGradients(factor, counts) => {
                return iterate(factor, counts, equation, passes);
            }
            System::ByClass => return by_class(equation, passes),
        };
        if let Some(patience) = factor.patience(equation) {
            let precondition = |r: &[f64]| factor.solve(r.to_vec());
            let target = SHARE * equation.gradient_norm();
            let Iterated { solution, steps, reached } =
                equation.iterate(precondition, Exactness::Exact, target, patience, passes);
            factor.record_steps(steps);
            if reached {
                return solution;
            }
        }
        // Nothing interrupts a factorisation.
        let seconds = factor.seconds(equation);
        if equation.has_no_time_for(seconds) {
            return by_diagonal(equation, MOST_STEPS, passes).solution;
        }
        *passes += 1;
        if factor.factorize(equation) {
            let (intercept, coef) = factor.direction(equation);
            if intercept.is_finite() && coef.iter().all(|d| d.is_finite()) {
                return (intercept, coef);
            }
        }
        // A matrix too close to singular for Cholesky is not for conjugate gradients.
        by_diagonal(equation, MOST_STEPS, passes).solution
    }
}

/// The largest number of steps of conjugate gradients with the diagonal.
const MOST_STEPS: usize = 500;

/// Returns the norm of a residual that is small enough for conjugate gradients: a tenth of the
/// gradient, less near the minimum.
fn target<S: Samples>(equation: &Equation<'_, S>) -> f64 {
    let norm = equation.gradient_norm();
    norm * norm.sqrt().min(SHARE)
}

fn by_diagonal<S: Samples>(
    equation: &mut Equation<'_, S>,
    most_steps: usize,
    passes: &mut usize,
) -> Iterated {
    let diagonal = equation.diagonal();
    *passes += 1;
    let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
    let target = target(equation);
    equation.iterate(precondition, Exactness::Exact, target, most_steps, passes)
}

/// Returns the solution by conjugate gradients, preconditioned by the blocks of the classes, or by the diagonal
/// if these are not definite.
fn by_class<S: Samples>(equation: &mut Equation<'_, S>, passes: &mut usize) -> (f64, Vec<f64>) {
    let inverse = equation.samples.classes().and_then(|(k, p)| {
        let grams = equation.samples.class_grams()?;
        let has_intercepts = equation.gradient.len() > k * p;
        ClassInverse::new(&grams, (k, p), has_intercepts, equation.ridge)
    });
    let Some(inverse) = inverse else {
        return by_diagonal(equation, MOST_STEPS, passes).solution;
    };
    *passes += 1;
    let (target, precondition) = (target(equation), |r: &[f64]| inverse.solve(r));
    equation.iterate(precondition, Exactness::Exact, target, MOST_STEPS, passes).solution
}

/// Returns the solution by conjugate gradients, preconditioned by the subsample, or by the diagonal
/// if there is no subsample or the diagonal takes fewer steps.
fn by_sampled<S: Samples>(
    counts: &mut StepCounts,
    equation: &mut Equation<'_, S>,
    passes: &mut usize,
) -> (f64, Vec<f64>) {
    let sample = counts.prefer_sample().then(|| equation.samples.sampled()).flatten();
    let Some(sample) = sample else {
        let Iterated { solution, steps, .. } = by_diagonal(equation, MOST_STEPS, passes);
        counts.by_diagonal = Some(steps);
        return solution;
    };
    let moves_intercept = equation.samples.has_intercept();
    let inverse = SampledInverse::new(sample, equation.ridges, moves_intercept);
    let target = target(equation);
    let precondition = |r: &[f64]| inverse.solve(r);
    let Iterated { solution, steps, .. } =
        equation.iterate(precondition, Exactness::Rough, target, MOST_STEPS, passes);
    counts.by_sample = Some(steps);
    solution
}

/// Returns the solution by conjugate gradients: with the diagonal until it has cost as much as a
/// factor of the samples with curvature, and with the factor from then on. Distributed samples use
/// their subsample in memory.
fn iterate<S: Samples>(
    factor: &mut CurvedFactor,
    counts: &mut StepCounts,
    equation: &mut Equation<'_, S>,
    passes: &mut usize,
) -> (f64, Vec<f64>) {
    /// The steps that a factor of other curvatures may take before it is rebuilt.
    const PATIENCE: usize = 20;
    // The inverse by way of the samples with curvature divides by every ridge.
    let price = if equation.has_free { None } else { factor.price(equation.samples) };
    let Some(price) = price else {
        return by_sampled(counts, equation, passes);
    };
    if !factor.is_factored() {
        let Iterated { solution, reached, .. } =
            by_diagonal(equation, price.min(MOST_STEPS), passes);
        if reached || price >= MOST_STEPS {
            return solution;
        }
    }
    let target = target(equation);
    let moves_intercept = equation.samples.has_intercept();
    for rebuild in [false, true] {
        if rebuild {
            factor.clear();
        }
        let Some(inverse) = factor.prepare(equation.samples, equation.ridge, moves_intercept)
        else {
            break;
        };
        *passes += 1;
        let Iterated { solution, reached, .. } =
            equation.iterate(|r| inverse.solve(r), Exactness::Exact, target, PATIENCE, passes);
        if reached || inverse.is_fresh() {
            return solution;
        }
    }
    by_diagonal(equation, MOST_STEPS, passes).solution
}

/// The Cholesky factor of H at some point, of `H` scaled to a unit diagonal so that the units of
/// the features do not matter.
pub(crate) struct Factor {
    order: usize,
    /// The factor in the lower triangle; empty before the first one.
    matrix: DMatrix<f64>,
    units: Vec<f64>,
    /// True if a factor has been made.
    is_made: bool,
    /// The number of steps of conjugate gradients taken with the factor.
    steps: usize,
}

impl Factor {
    fn new(order: usize) -> Self {
        let matrix = DMatrix::default();
        Factor { order, matrix, units: Vec::new(), is_made: false, steps: 0 }
    }

    /// Returns the number of steps of conjugate gradients, one product with X and X' each, that
    /// cost as much as a factor: an entry of X takes part in q multiplications there and in four
    /// here, at about a twentieth of the rate.
    fn price<S: Samples>(&self, equation: &mut Equation<'_, S>) -> usize {
        let (n, q) = (equation.samples.shape().0, self.order);
        if equation.samples.is_sparse() { 0 } else { (q + q * q / (3 * n)) / 40 }
    }

    /// Returns the predicted seconds of a factor; the pairs of stored values of sparse samples, whose
    /// number is not known here, do not count.
    fn seconds<S: Samples>(&self, equation: &Equation<'_, S>) -> f64 {
        let ((n, p), is_sparse) = (equation.samples.shape(), equation.samples.is_sparse());
        let (n, p) = (n as f64, p as f64);
        Shape { n, p, stored: 0.0, is_sparse }.feature_gram() + costs::cholesky(p)
    }

    /// Returns the number of steps that are worth trying with the present factor; `None` if a new
    /// factor is the better choice.
    fn patience<S: Samples>(&self, equation: &mut Equation<'_, S>) -> Option<usize> {
        const LEAST: usize = 4;
        let price = self.price(equation);
        (self.is_made && price >= LEAST && self.steps < price).then_some(price)
    }

    /// Counts steps taken with the factor; the first few of each equation are free.
    fn record_steps(&mut self, steps: usize) {
        const FREE: usize = 3;
        self.steps += steps.saturating_sub(FREE);
    }

    /// Makes the factor of the H of an equation; returns true if that is numerically definite.
    fn factorize<S: Samples>(&mut self, equation: &mut Equation<'_, S>) -> bool {
        // Most fits by dual ascent never factorise, and so do not compute the matrix.
        if self.matrix.is_empty() {
            self.matrix = DMatrix::zeros(self.order, self.order);
        }
        equation.samples.gram(&mut self.matrix);
        self.regularise(equation);
        self.scale();
        self.steps = 0;
        self.is_made = cholesky(&mut self.matrix);
        self.is_made
    }

    fn regularise<S: Samples>(&mut self, equation: &Equation<'_, S>) {
        let matrix = &mut self.matrix;
        for (j, ridge) in equation.ridges.iter().enumerate() {
            matrix[(j + 1, j + 1)] += ridge;
        }
        if equation.samples.has_intercept() {
            // No curvature at all in the intercept (every margin on a straight part of the loss)
            // leaves it where it is: its slope is zero already.
            let floor = f64::EPSILON * (1.0 + matrix[(0, 0)]);
            matrix[(0, 0)] += floor;
        } else {
            matrix.column_mut(0).fill(0.0);
            matrix[(0, 0)] = 1.0;
        }
    }

    /// Scales the matrix to a unit diagonal.
    fn scale(&mut self) {
        let matrix = &mut self.matrix;
        let q = matrix.nrows();
        self.units = (0..q).map(|j| matrix[(j, j)].sqrt().recip()).collect();
        for (j, mut column) in matrix.column_iter_mut().enumerate() {
            for (entry, unit) in column.iter_mut().zip(&self.units).skip(j) {
                *entry *= unit * self.units[j];
            }
            column[j] = 1.0 + q as f64 * f64::EPSILON;
        }
    }

    /// Returns the solution of an equation with the H that the factor belongs to.
    fn direction<S: Samples>(&self, equation: &mut Equation<'_, S>) -> (f64, Vec<f64>) {
        let right = std::iter::once(0.0).chain(equation.gradient.iter().map(|g| -g)).collect();
        let mut direction = self.solve(right);
        let coef = direction.split_off(1);
        (direction[0], coef)
    }

    /// Returns `H^(-1) right`, of the H that the factor belongs to.
    fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        right.iter_mut().zip(&self.units).for_each(|(r, unit)| *r *= unit);
        solve_factored(&self.matrix, &mut right);
        right.iter_mut().zip(&self.units).for_each(|(r, unit)| *r *= unit);
        right
    }
}

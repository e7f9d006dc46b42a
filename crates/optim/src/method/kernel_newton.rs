//! Newton's method for several classes over the functions of the space of a kernel.
//!
//! With scores `S = K A + 1 b'`, the derivatives G of the risk in them and its second ones H, a step solves
//! `H[K D + 1 d'] + 2 lambda D = -(G + 2 lambda A)` and `1'H[K D + 1 d'] = -1'G` by conjugate gradients in
//! the inner product `<A, B> = tr(A'K B)` of the space: with one product of K a step, and no factor of it.
//! Chapelle, *Training a support vector machine in the primal*, Neural Computation 19 (2007), does so for two
//! classes.

use std::time::Instant;

use nalgebra::DMatrix;

use crate::certificate::OnKernel;
use crate::method::{ConjugateGradients, Descent, Exactness, is_over};
use crate::problem::summation::{dot, sums_of_rows};
use crate::problem::{MarginSummary, Point};
use crate::space::joint::JointSamples;
use crate::space::{Duals, Scores};
use crate::{Certificate, Lambda};

/// Returns `K X` for the kernel matrix K and n x k numbers X.
type KernelProducts<'k> = dyn Fn(&DMatrix<f64>) -> DMatrix<f64> + 'k;

/// The method at one point after another.
///
/// The coefficients of a [`Point`] are A, n x k numbers with those of a sample one after another, and behind
/// them the intercepts if there are any; its products are the scores.
pub(crate) struct KernelNewton<'n, 'o> {
    samples: &'n mut JointSamples<'o>,
    multiply: &'n KernelProducts<'n>,
    /// The roots of the diagonal of K.
    norms: &'n [f64],
    deadline: Option<Instant>,
    passes: usize,
    /// The `-(G + 2 lambda A)` of the point that was certified last, and behind it `-1'G`.
    residual: Vec<f64>,
    /// The balanced duals there.
    duals: Vec<f64>,
}

impl<'n, 'o> KernelNewton<'n, 'o> {
    pub(crate) fn new(
        samples: &'n mut JointSamples<'o>,
        multiply: &'n KernelProducts<'n>,
        norms: &'n [f64],
        deadline: Option<Instant>,
    ) -> Self {
        let (residual, duals) = (Vec::new(), Vec::new());
        KernelNewton { samples, multiply, norms, deadline, passes: 0, residual, duals }
    }

    /// Returns the number of classes.
    fn classes(&self) -> usize {
        self.samples.parts().1.count()
    }

    /// Returns the number of coefficients of the samples.
    fn coefficients(&self) -> usize {
        self.norms.len() * self.classes()
    }

    /// Returns the origin.
    pub(crate) fn origin(&self) -> Point {
        let intercepts = if self.samples.has_intercepts() { self.classes() } else { 0 };
        Point::zero(self.coefficients(), self.coefficients() + intercepts)
    }

    /// Computes the products of a point again.
    pub(crate) fn refresh(&mut self, point: &mut Point) {
        let (coefs, intercepts) = point.coef.split_at(self.coefficients());
        let mut scores = self.image(coefs);
        shift(&mut scores, intercepts, self.classes());
        point.products = scores;
    }

    /// Returns the pulls of the duals at the point that was certified last, n x k numbers.
    pub(crate) fn pulls(&self) -> Vec<f64> {
        let mut pulls = vec![0.0; self.coefficients()];
        self.samples.parts().0.pulls(&self.duals, &mut pulls);
        pulls
    }

    /// Returns true if the loss contradicts at that point that it is convex.
    pub(crate) fn is_contradicted(&self) -> bool {
        self.samples.parts().0.is_contradicted(self.samples.margins())
    }

    /// Returns `K X`.
    fn image(&mut self, x: &[f64]) -> Vec<f64> {
        self.passes += 1;
        let (n, k) = (self.norms.len(), self.classes());
        let image = (self.multiply)(&DMatrix::from_row_slice(n, k, x));
        assert_eq!(image.shape(), (n, k), "shape of a product with the kernel matrix");
        image.transpose().as_slice().to_vec()
    }

    /// Returns the sums over the samples, one a class; none without intercepts.
    fn totals(&self, of_classes: &[f64]) -> Vec<f64> {
        match self.samples.has_intercepts() {
            true => sums_of_rows(of_classes, self.classes(), &|_| 1.0),
            false => Vec::new(),
        }
    }

    /// Returns the ridge on intercepts that keeps their equations definite, and the curvature in one that
    /// conjugate gradients take for it, given the curvatures of the samples.
    ///
    /// Where no margin is on a curved part of the loss, the equations have nothing to hold the intercepts but
    /// the ridge, which is in proportion to the slopes in them (Levenberg and Marquardt).
    fn of_intercepts(&self, curvatures: &[f64], ridge: f64) -> (f64, f64) {
        /// The factor in units of slope, and the one beside the curvature: those of
        /// [`Newton`](crate::method::Newton) for free columns.
        const SHARE: f64 = 0.03;
        const TINY: f64 = 1e-12;
        let mut diagonal = vec![0.0; self.coefficients()];
        self.samples.parts().0.diagonal(curvatures, &mut diagonal);
        let bends = self.totals(&diagonal);
        let least = bends.iter().copied().fold(f64::INFINITY, f64::min);
        let slopes = &self.residual[self.coefficients()..];
        let slope = slopes.iter().fold(f64::MIN_POSITIVE, |most, r| most.max(r.abs()));
        let damping = SHARE * slope;
        let damping = if least > 0.0 { damping.min(TINY * least) } else { damping };
        let bend = bends.iter().sum::<f64>() / bends.len() as f64 + damping;
        let mean = self.norms.iter().map(|norm| norm * norm).sum::<f64>() / self.norms.len() as f64;
        // In these units an intercept has the curvature of a function of the size of the kernel.
        (damping, bend / (ridge + mean * bend))
    }
}

/// Adds the intercepts to scores.
fn shift(scores: &mut [f64], intercepts: &[f64], k: usize) {
    for scores in scores.chunks_exact_mut(k) {
        scores.iter_mut().zip(intercepts).for_each(|(s, b)| *s += b);
    }
}

/// Subtracts the intercepts from scores.
fn unshifted(scores: &[f64], intercepts: &[f64], k: usize) -> Vec<f64> {
    let mut values = scores.to_vec();
    for values in values.chunks_exact_mut(k) {
        values.iter_mut().zip(intercepts).for_each(|(s, b)| *s -= b);
    }
    values
}

impl Descent for KernelNewton<'_, '_> {
    type Products = Vec<f64>;

    fn certify(&mut self, lambda: Lambda, point: &mut Point) -> Certificate {
        let (k, ridge) = (self.classes(), 2.0 * lambda.get());
        let (coefs, intercepts) = point.coef.split_at(self.coefficients());
        let values = unshifted(&point.products, intercepts, k);
        self.samples.set_scores(&point.products);
        let objective = self.samples.sums().risk + lambda.get() * dot(coefs, &values);
        let mut gradient = vec![0.0; coefs.len()];
        self.samples.parts().0.gradient(&mut gradient);
        let slopes = self.totals(&gradient);
        gradient.iter_mut().zip(coefs).for_each(|(g, a)| *g += ridge * a);
        self.residual = gradient.iter().chain(&slopes).map(|g| -g).collect();
        self.duals = self.samples.duals();
        self.samples.balance(&mut self.duals);
        let pulls = self.pulls();
        let apart: Vec<f64> = pulls.iter().zip(coefs).map(|(r, a)| r / ridge - a).collect();
        let apart = dot(&apart, &self.image(&apart)).max(0.0);
        let class = |c: usize| coefs.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>();
        let of_classes: Vec<Vec<f64>> = (0..k).map(class).collect();
        let of_classes: Vec<&[f64]> = of_classes.iter().map(Vec::as_slice).collect();
        let certificate = OnKernel {
            lambda,
            norms: self.norms,
            coefs: &of_classes,
            intercepts,
            objective,
            duals: &self.duals,
            totals: &self.totals(&pulls),
            apart,
        }
        .certificate(self.samples);
        Certificate { gradient_norm: ridge * apart.sqrt(), ..certificate }
    }

    fn slope_along(&mut self, lambda: Lambda, point: &Point, direction: &Point, t: f64) -> f64 {
        let risk = self.samples.along(point, direction, t);
        let (along, intercepts) = direction.coef.split_at(self.coefficients());
        let image = unshifted(&direction.products, intercepts, self.classes());
        let (cross, square) = (dot(&point.coef[..along.len()], &image), dot(along, &image));
        risk + 2.0 * lambda.get() * (cross + t * square)
    }

    fn direction(
        &mut self,
        lambda: Lambda,
        certificate: &Certificate,
        tolerance: f64,
    ) -> (Point, f64) {
        /// The largest number of steps of conjugate gradients.
        const MOST_STEPS: usize = 500;
        /// The share of the residual that they leave far from the minimum.
        const SHARE: f64 = 0.1;
        let (nk, k, ridge) = (self.coefficients(), self.classes(), 2.0 * lambda.get());
        let curvatures = self.samples.parts().0.curvatures();
        let (damping, unit) = self.of_intercepts(&curvatures, ridge);
        let mut residual = self.residual.clone();
        // The state has vectors X and x of the intercepts, and K X behind them.
        let conditioned = |residual: &[f64], image: &[f64]| -> Vec<f64> {
            let of_intercepts = residual[nk..].iter().map(|r| r / unit);
            residual[..nk]
                .iter()
                .copied()
                .chain(of_intercepts)
                .chain(image.iter().copied())
                .collect()
        };
        let stacked = |image: Vec<f64>, of_intercepts: &[f64]| -> Vec<f64> {
            let zeros = std::iter::repeat_n(0.0, nk);
            image.into_iter().chain(of_intercepts.iter().copied()).chain(zeros).collect()
        };
        let image = self.image(&residual[..nk]);
        let first = conditioned(&residual, &image);
        let mut state = ConjugateGradients::new(stacked(image, &residual[nk..]), first);
        let mut solution = vec![0.0; state.direction.len()];
        let last = solution.len() - nk;
        // The gap is a fourth of the energy over lambda; a fourth of that is small enough.
        let enough = tolerance * certificate.objective.abs() * lambda.get();
        let share = certificate.relative_gap().sqrt().min(SHARE);
        let target = (share * share * state.energy).max(enough);
        for _ in 0..MOST_STEPS {
            if is_over(self.deadline) {
                break;
            }
            let (along, image) = (&state.direction[..last], &state.direction[last..]);
            let mut changes = image.to_vec();
            shift(&mut changes, &along[nk..], k);
            self.samples.parts().0.bend(&curvatures, &mut changes);
            let mut product = self.totals(&changes);
            product.iter_mut().zip(&along[nk..]).for_each(|(q, d)| *q += damping * d);
            changes.iter_mut().zip(along).for_each(|(q, d)| *q += ridge * d);
            let curvature = dot(&changes, image) + dot(&product, &along[nk..]);
            state.image = stacked(self.image(&changes), &product);
            let Some(step) = state.along(curvature) else { break };
            solution.iter_mut().zip(&state.direction).for_each(|(x, d)| *x += step * d);
            let products = changes.iter().chain(&product);
            residual.iter_mut().zip(products).for_each(|(r, q)| *r -= step * q);
            let next = conditioned(&residual, &state.residual[..nk]);
            if dot(&state.residual, &next) <= target {
                break;
            }
            state.turn(&next, Exactness::Exact);
        }
        let mut products = solution.split_off(last);
        let slope =
            -dot(&self.residual[..nk], &products) - dot(&self.residual[nk..], &solution[nk..]);
        shift(&mut products, &solution[nk..], k);
        (Point { intercept: 0.0, coef: solution, products }, slope)
    }

    fn passes(&self) -> usize {
        self.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.samples.summary()
    }
}

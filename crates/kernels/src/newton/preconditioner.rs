//! Preconditioners of Newton's equations in sample space: approximations of
//! `(I + W^(1/2) K W^(1/2))^(-1)`.

use margins_data::parallel;
use margins_optim::method::GrowingCholesky;
use nalgebra::DMatrix;

use crate::gram::Entries;
use crate::newton::low_rank::LowRank;
use crate::newton::single_scale::SingleScale;
use crate::room::{is_free, matrices};

/// The number of samples up to which a factor of their whole matrix pays.
pub(crate) const LARGEST_FACTOR: usize = 4000;
/// The number of samples up to which no low rank is cheaper than such a factor.
const SMALL: usize = 800;
/// The number of samples up to which a factor costs too little to try without one.
const AT_ONCE: usize = 400;

/// A preconditioner: a factor kept from step to step, or a low-rank one rebuilt for each step.
///
/// Few samples have a factor at once, very many a low rank. Between those nothing but the diagonal
/// serves until its steps have cost as much as more than that; then a low rank, if there are many
/// samples and it leaves little of K beside W, else a factor.
#[derive(Clone)]
pub(crate) enum Preconditioner<'m> {
    Factor(SampleFactor<'m>),
    LowRank(LowRank),
}

/// Returns the matrix, if it is held and small enough for a factor of it.
fn factorable(entries: &Entries) -> Option<&DMatrix<f64>> {
    entries.held().filter(|matrix| matrix.nrows() <= LARGEST_FACTOR)
}

impl<'m> Preconditioner<'m> {
    pub(crate) fn new(entries: &'m Entries) -> Self {
        match factorable(entries) {
            Some(matrix) => Preconditioner::Factor(SampleFactor::new(matrix)),
            None => Preconditioner::LowRank(LowRank::new(entries)),
        }
    }

    /// Makes ready for a W, given the diagonal of `W^(1/2)`.
    pub(crate) fn prepare(&mut self, roots: &[f64]) {
        match self {
            Preconditioner::Factor(factor) => factor.prepare(roots),
            Preconditioner::LowRank(low_rank) => low_rank.prepare(roots),
        }
    }

    /// Makes ready for a W, with nothing kept of earlier ones.
    pub(crate) fn renew(&mut self, roots: &[f64]) {
        match self {
            Preconditioner::Factor(factor) => factor.renew(roots),
            Preconditioner::LowRank(low_rank) => low_rank.prepare(roots),
        }
    }

    /// Applies the preconditioner to each residual. Several at once cost little more than one.
    pub(crate) fn apply<const N: usize>(
        &self,
        roots: &[f64],
        residuals: [&[f64]; N],
    ) -> [Vec<f64>; N] {
        match self {
            Preconditioner::Factor(factor) => factor.apply(roots, residuals),
            Preconditioner::LowRank(low_rank) => residuals.map(|residual| low_rank.apply(residual)),
        }
    }

    /// Returns the number of steps after which something else than going on has to be done.
    pub(crate) fn patience(&self, roots: &[f64]) -> usize {
        const MOST_STEPS: usize = 500;
        match self {
            Preconditioner::Factor(factor) => factor.patience(roots),
            Preconditioner::LowRank(_) => MOST_STEPS,
        }
    }

    /// Returns the largest share of a residual that a solution should leave: less where a step
    /// costs little.
    pub(crate) fn coarsest_share(&self) -> f64 {
        match self {
            Preconditioner::Factor(_) => 0.01,
            Preconditioner::LowRank(_) => 0.1,
        }
    }

    /// Records steps taken with the preconditioner; returns true if it has been replaced by a better
    /// one.
    pub(crate) fn record_steps(
        &mut self,
        entries: &'m Entries,
        roots: &[f64],
        steps: usize,
    ) -> bool {
        match self {
            Preconditioner::Factor(factor) => {
                let due = factor.is_due(roots, steps);
                if due && factor.samples.is_empty() && roots.len() > SMALL {
                    let low_rank = LowRank::new(entries);
                    if !low_rank.is_poor(roots) {
                        *self = Preconditioner::LowRank(low_rank);
                    }
                }
                if due {
                    self.renew(roots);
                }
                due
            }
            Preconditioner::LowRank(low_rank) => match factorable(entries) {
                Some(matrix) if low_rank.is_poor(roots) => {
                    *self = Preconditioner::Factor(SampleFactor::new(matrix));
                    self.renew(roots);
                    true
                }
                _ => false,
            },
        }
    }

    /// Returns features whose inner products approximate K, where there are any.
    pub(crate) fn low_rank(&self) -> Option<&LowRank> {
        match self {
            Preconditioner::Factor(_) => None,
            Preconditioner::LowRank(low_rank) => Some(low_rank),
        }
    }
}

/// The Cholesky factor of `K + W^(-1)` over some samples, at the W of the time when each was added,
/// beside the diagonal of the others.
///
/// `I + W^(1/2) K W^(1/2) = W^(1/2) (K + W^(-1)) W^(1/2)`, and along a path `K + W^(-1)` hardly
/// changes but for the samples that gain curvature: on the ray beyond separation W does not change
/// at all.
///
/// Where the kernel is narrow or lambda large the diagonal is enough: there is no factor before the
/// steps without one have cost as much.
#[derive(Clone)]
pub(crate) struct SampleFactor<'m> {
    matrix: &'m DMatrix<f64>,
    diagonal: Vec<f64>,
    samples: Vec<usize>,
    contained: Vec<bool>,
    factor: Factor,
    /// The scale of the entries of a factor in single precision.
    scale: SingleScale,
    /// The cost of the steps beyond the first few since the factor was made, in products with K.
    debt: f64,
}

/// A factor in single precision, at half the memory and time, unless the matrix is too near to
/// singular for it: a preconditioner need not be exact.
#[derive(Clone)]
enum Factor {
    Single(GrowingCholesky<f32>),
    Double(GrowingCholesky<f64>),
}

impl Factor {
    fn clear(&mut self) {
        match self {
            Factor::Single(factor) => factor.clear(),
            Factor::Double(factor) => factor.clear(),
        }
    }

    fn extend(
        &mut self,
        count: usize,
        scale: SingleScale,
        entry: impl Fn(usize, usize) -> f64,
    ) -> bool {
        match self {
            Factor::Single(factor) => factor.extend(count, |i, j| scale.apply(entry(i, j))),
            Factor::Double(factor) => factor.extend(count, entry),
        }
    }

    /// Returns the solutions for right-hand sides given by their entries, one after the other, of
    /// which none should be far above 1.
    fn solve(&self, scale: SingleScale, right: impl Iterator<Item = f64>) -> Vec<f64> {
        match self {
            Factor::Single(factor) => {
                let mut right: Vec<f32> = right.map(|x| (scale.get() * x) as f32).collect();
                factor.solve(&mut right);
                right.into_iter().map(f64::from).collect()
            }
            Factor::Double(factor) => {
                let mut right: Vec<f64> = right.collect();
                factor.solve(&mut right);
                right
            }
        }
    }
}

impl<'m> SampleFactor<'m> {
    /// Returns the preconditioner without a factor: the diagonal.
    pub(crate) fn new(matrix: &'m DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        let diagonal = matrix.diagonal().as_slice().to_vec();
        SampleFactor {
            matrix,
            samples: Vec::new(),
            contained: vec![false; n],
            factor: Factor::Single(GrowingCholesky::new(n)),
            scale: SingleScale::of(&diagonal),
            diagonal,
            debt: 0.0,
        }
    }

    /// Returns about `(I + W^(1/2) K W^(1/2))^(-1)` times each residual, given the diagonal of
    /// `W^(1/2)`. Several at once cost little more than one.
    pub(crate) fn apply<const N: usize>(
        &self,
        roots: &[f64],
        residuals: [&[f64]; N],
    ) -> [Vec<f64>; N] {
        let alone = |(i, r): (usize, &f64)| r / (1.0 + roots[i] * roots[i] * self.diagonal[i]);
        let mut out =
            residuals.map(|residual| residual.iter().enumerate().map(alone).collect::<Vec<f64>>());
        if self.samples.is_empty() {
            return out;
        }
        let inverse = |i: usize| if roots[i] > 0.0 { 1.0 / roots[i] } else { 0.0 };
        // In single precision the entries need a common scale.
        let scales = residuals.map(|residual| {
            let sizes = self.samples.iter().map(|&i| (inverse(i) * residual[i]).abs());
            sizes.fold(f64::MIN_POSITIVE, f64::max)
        });
        let right = residuals.iter().zip(scales).flat_map(|(residual, scale)| {
            self.samples.iter().map(move |&i| inverse(i) * residual[i] / scale)
        });
        let solutions = self.factor.solve(self.scale, right);
        let parts = solutions.chunks_exact(self.samples.len());
        for ((out, part), scale) in out.iter_mut().zip(parts).zip(scales) {
            for (&i, x) in self.samples.iter().zip(part) {
                out[i] = scale * inverse(i) * x;
            }
        }
        out
    }

    /// Returns the cost of a fresh factor in steps with the present one, as measured: a
    /// factorisation runs at some twenty times the rate at which a step reads its matrices.
    fn price(roots: &[f64]) -> f64 {
        let n = roots.len() as f64;
        let m = roots.iter().filter(|&&w| w > 0.0).count() as f64;
        let step = n * m.min(0.5 * n) + m * m;
        (m * m * m / 60.0 + m * m) / step.max(1.0)
    }

    /// Returns the number of steps after which a fresh factor is cheaper than going on.
    pub(crate) fn patience(&self, roots: &[f64]) -> usize {
        let shares = if self.samples.is_empty() { 1.0 } else { 2.0 };
        (shares * Self::price(roots)) as usize + 10
    }

    /// Pays for steps taken. Returns true once they have cost as much as a fresh factor.
    fn is_due(&mut self, roots: &[f64], steps: usize) -> bool {
        // A step without a factor costs less, and a factor has to be paid for first.
        let free = if self.samples.is_empty() { 10.0 } else { 3.0 };
        self.debt += (steps as f64 - free).max(0.0);
        let due = self.debt > Self::price(roots);
        if due {
            self.debt = 0.0;
        }
        due
    }

    pub(crate) fn renew(&mut self, roots: &[f64]) {
        self.clear();
        self.extend(roots);
    }

    /// Takes the samples that have gained curvature into the factor, if there is one or if there are few
    /// samples: of many few may be curved at first.
    pub(crate) fn prepare(&mut self, roots: &[f64]) {
        if !self.samples.is_empty() || roots.len() <= AT_ONCE {
            self.extend(roots);
        }
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.contained.fill(false);
        self.factor.clear();
    }

    pub(crate) fn extend(&mut self, roots: &[f64]) {
        let matrix = self.matrix;
        // Below this share of the identity a sample needs no preconditioning.
        const NEGLIGIBLE: f64 = 1e-8;
        let counts = |i: usize| roots[i] * roots[i] * matrix[(i, i)] > NEGLIGIBLE;
        let new = (0..roots.len()).filter(|&i| !self.contained[i] && counts(i));
        let old = self.samples.len();
        self.samples.extend(new.collect::<Vec<usize>>());
        if self.samples.len() == old {
            return;
        }
        let samples = &self.samples;
        let entry = |i: usize, j: usize| {
            let k = matrix[(samples[i], samples[j])];
            if i == j { k + roots[samples[i]].powi(-2) } else { k }
        };
        if self.factor.extend(samples.len() - old, self.scale, entry) {
            samples[old..].iter().for_each(|&i| self.contained[i] = true);
        } else if matches!(self.factor, Factor::Single(_))
            && is_free(parallel::threads() * matrices(2, roots.len()))
        {
            self.clear();
            self.factor = Factor::Double(GrowingCholesky::new(roots.len()));
            self.extend(roots);
        } else {
            self.samples.truncate(old);
        }
    }
}

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use margins_data::Design;
use margins_optim::solve::GrowingCholesky;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::gram::Entries;
use crate::single_scale::SingleScale;

/// The least and the largest number of landmarks, and with it of the rank.
const RANKS: (usize, usize) = (200, 600);
/// The samples a landmark.
const SAMPLES: usize = 8;
/// The share by which the part of a sample in `Z'WZ` may be off.
const OFF: f64 = 0.1;
/// The number of times that `Z'WZ` is moved from one W to another before it is computed anew.
const MOST_MOVES: usize = 10;
/// The scale that keeps products of small entries away from subnormal numbers, which are slow.
const SCALE: f32 = (1u64 << 30) as f32;

/// An approximation of `K` as `Z Z' + E` with `Z` from landmarks among the samples (Nystrom) and
/// `E` the diagonal that is left, in single precision, and by the Woodbury identity the inverse of
/// `I + W^(1/2) (Z Z' + E) W^(1/2)`.
#[derive(Clone)]
pub(crate) struct LowRank {
    /// The matrix `Z'` at the root of the scale, rank x n.
    features: Mat<f32>,
    scale: SingleScale,
    /// The diagonal of E.
    remainder: Vec<f64>,
    /// The matrix `W^(1/2) Z` with rows divided by the root of `1 + W E`, transposed, times
    /// [`SCALE`].
    scaled: Mat<f32>,
    /// The reciprocals of the roots of `1 + W E`.
    inverse_roots: Vec<f64>,
    /// The squares of the factors from Z to `scaled`, which are `W/(1 + W E)`.
    squares: Vec<f64>,
    /// The lower half of `SCALE^2` times the identity plus the product of `scaled` with its
    /// transpose.
    gram: Mat<f32>,
    /// The number of times that `gram` was moved since it was computed.
    moves: usize,
    /// The factor of `gram`.
    inner: GrowingCholesky<f32>,
}

impl LowRank {
    pub(crate) fn new(entries: &Entries) -> Self {
        /// The number of samples whose values with the landmarks are computed together.
        const CHUNK: usize = 8192;
        let n = entries.order();
        // Features and scaled features, in single precision.
        let most = entries.memory().map(|memory| memory.bytes() / (2 * size_of::<f32>() * n));
        let wanted = (n / SAMPLES).clamp(RANKS.0, RANKS.1);
        let rank = wanted.min(n).min(most.unwrap_or(wanted)).max(1);
        // Any landmarks precondition; these are the same on every run.
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let landmarks = index::sample(&mut random, n, rank).into_vec();
        // What a double matrix of deficient rank needs to be factorised in single precision.
        let diagonal = entries.diagonal();
        let jitter = 1e-5 * diagonal.iter().copied().fold(0.0, f64::max);
        let single = SingleScale::of(&diagonal);
        let among = entries.block(&landmarks, &landmarks);
        let small = Mat::from_fn(rank, rank, |i, j| {
            single.apply(if i == j { among[(i, j)] + jitter } else { among[(i, j)] })
        });
        let mut features = Mat::zeros(rank, n);
        for first in (0..n).step_by(CHUNK) {
            let samples: Vec<usize> = (first..n.min(first + CHUNK)).collect();
            let values = entries.block(&landmarks, &samples);
            for (&i, values) in samples.iter().zip(values.column_iter()) {
                let features = features.col_as_slice_mut(i);
                features.iter_mut().zip(values.iter()).for_each(|(z, &k)| *z = single.apply(k));
            }
        }
        match small.llt(Side::Lower) {
            Ok(factor) => {
                solve_lower_triangular_in_place(factor.L(), features.as_mut(), Par::Seq);
            }
            Err(_) => features.fill(0.0),
        }
        let remainder = (0..n).map(|i| {
            let squares = features.col_as_slice(i).iter().map(|&z| f64::from(z).powi(2));
            (diagonal[i] - squares.sum::<f64>() / single.get()).max(0.0)
        });
        LowRank {
            remainder: remainder.collect(),
            scaled: Mat::zeros(rank, n),
            inverse_roots: vec![1.0; n],
            squares: vec![0.0; n],
            gram: Mat::zeros(rank, rank),
            moves: MOST_MOVES,
            inner: GrowingCholesky::new(rank),
            features,
            scale: single,
        }
    }

    /// Returns `Z`, one row a sample; `None` if it is not finite.
    pub(crate) fn design(&self) -> Option<Design> {
        let (rank, n) = (self.features.nrows(), self.features.ncols());
        let unit = self.scale.get().sqrt();
        let features = DMatrix::from_fn(rank, n, |k, i| f64::from(self.features[(k, i)]) / unit);
        Design::from_samples(features).ok()
    }

    /// Returns true if the mean of `W E` is far above the identity, so that steps will be many.
    pub(crate) fn is_poor(&self, roots: &[f64]) -> bool {
        const POOR: f64 = 50.0;
        let left: f64 = roots.iter().zip(&self.remainder).map(|(root, e)| root * root * e).sum();
        left > POOR * roots.len() as f64
    }

    /// Makes ready for a W, given the diagonal of `W^(1/2)`: exactly, or to a few percent of it if
    /// that takes less than half of the samples.
    pub(crate) fn prepare(&mut self, roots: &[f64]) {
        let n = roots.len();
        let mut samples: Vec<usize> = (0..n).filter(|&i| self.is_off(i, roots[i])).collect();
        self.moves += 1;
        if self.moves > MOST_MOVES || 2 * samples.len() > n {
            self.moves = 0;
            self.squares.fill(0.0);
            self.gram.fill(0.0);
            self.gram.diagonal_mut().fill(SCALE * SCALE);
            samples = (0..n).collect();
        }
        self.move_to(roots, &samples);
        self.inner.clear();
        let gram = &self.gram;
        // Without a factor the diagonal alone preconditions.
        self.inner.extend(gram.nrows(), |i, j| gram[(i.max(j), i.min(j))]);
    }

    /// Returns `W/(1 + W E)` of a sample.
    fn square(&self, sample: usize, root: f64) -> f64 {
        let curvature = root * root;
        curvature / (1.0 + curvature * self.remainder[sample])
    }

    fn is_off(&self, sample: usize, root: f64) -> bool {
        let (old, new) = (self.squares[sample], self.square(sample, root));
        (new - old).abs() > OFF * old.min(new)
    }

    /// Brings some samples to their W.
    fn move_to(&mut self, roots: &[f64], samples: &[usize]) {
        let rank = self.features.nrows();
        let unit = f64::from(SCALE) / self.scale.get().sqrt();
        // The change of the Gram matrix is the product of these two.
        let mut left: Mat<f32> = Mat::zeros(rank, samples.len());
        let mut right: Mat<f32> = Mat::zeros(rank, samples.len());
        let scale = |to: &mut [f32], features: &[f32], factor: f64| {
            to.iter_mut().zip(features).for_each(|(to, z)| *to = factor as f32 * z);
        };
        for (k, &i) in samples.iter().enumerate() {
            let features = self.features.col_as_slice(i);
            let square = self.square(i, roots[i]);
            let change = square - self.squares[i];
            let factor = unit * change.abs().sqrt();
            scale(left.col_as_slice_mut(k), features, factor);
            scale(right.col_as_slice_mut(k), features, factor.copysign(change));
            scale(self.scaled.col_as_slice_mut(i), features, unit * square.sqrt());
            self.squares[i] = square;
            self.inverse_roots[i] = 1.0 / (1.0 + roots[i] * roots[i] * self.remainder[i]).sqrt();
        }
        triangular::matmul(
            self.gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            left.as_ref(),
            BlockStructure::Rectangular,
            right.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
    }

    pub(crate) fn apply(&self, residual: &[f64]) -> Vec<f64> {
        let n = residual.len();
        let halved = || residual.iter().zip(&self.inverse_roots).map(|(r, s)| r * s);
        // In single precision the entries need a common scale.
        let scale = halved().fold(f64::MIN_POSITIVE, |scale, r| scale.max(r.abs()));
        let right: Vec<f32> = halved().map(|r| (r / scale) as f32).collect();
        let mut inner = vec![0.0f32; self.inner.order()];
        let mut image = vec![0.0f32; n];
        if !inner.is_empty() {
            let rank = inner.len();
            let column = MatMut::from_column_major_slice_mut(&mut inner, rank, 1);
            let right = MatRef::from_column_major_slice(&right, n, 1);
            product(column, self.scaled.as_ref(), right);
            self.inner.solve(&mut inner);
            let column = MatRef::from_column_major_slice(&inner, rank, 1);
            let image = MatMut::from_column_major_slice_mut(&mut image, n, 1);
            product(image, self.scaled.transpose(), column);
        }
        (right.iter().zip(&image).zip(&self.inverse_roots))
            .map(|((r, p), s)| scale * s * f64::from(r - p))
            .collect()
    }
}

/// Computes `out = a b`.
fn product(out: MatMut<'_, f32>, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    faer::linalg::matmul::matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is moved to another W differs from what is computed for it by no more than the share
    /// that samples may be off.
    #[test]
    fn moving_to_other_curvatures_is_as_good_as_starting_there() {
        let n = 400;
        let matrix = DMatrix::from_fn(n, n, |i, j| (-1e-4 * (i as f64 - j as f64).powi(2)).exp());
        let entries = Entries::of(matrix);
        let first: Vec<f64> = (0..n).map(|i| if i % 5 == 0 { 0.0 } else { 20.0 }).collect();
        let second: Vec<f64> = (0..n)
            .map(|i| match i % 5 {
                0 => 15.0,
                1 => 0.0,
                _ => 20.1,
            })
            .collect();
        let (mut moved, mut fresh) = (LowRank::new(&entries), LowRank::new(&entries));
        moved.prepare(&first);
        moved.prepare(&second);
        assert_eq!(moved.moves, 1);
        fresh.prepare(&second);
        let residual: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let (a, b) = (moved.apply(&residual), fresh.apply(&residual));
        let difference: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
        let size: f64 = b.iter().map(|b| b * b).sum();
        assert!(difference > 0.0 && difference.sqrt() <= OFF * size.sqrt());
    }
}

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use margins_data::Design;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::gram::Entries;
use crate::growing_cholesky::GrowingCholesky;
use crate::single_scale::SingleScale;

/// The number of landmarks, and with it the rank.
const RANK: usize = 600;
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
    /// The factor of `SCALE^2` times the identity plus the product of `scaled` with its transpose.
    inner: GrowingCholesky<f32>,
}

impl LowRank {
    pub(crate) fn new(entries: &Entries) -> Self {
        /// The number of samples whose values with the landmarks are computed together.
        const CHUNK: usize = 8192;
        let n = entries.order();
        // Features and scaled features, in single precision.
        let most = entries.memory().map(|memory| memory.bytes() / (2 * size_of::<f32>() * n));
        let rank = RANK.min(n).min(most.unwrap_or(RANK)).max(1);
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

    pub(crate) fn prepare(&mut self, roots: &[f64]) {
        let rank = self.features.nrows();
        let unit = f64::from(SCALE) / self.scale.get().sqrt();
        for (i, root) in roots.iter().enumerate() {
            let inverse = 1.0 / (1.0 + root * root * self.remainder[i]).sqrt();
            self.inverse_roots[i] = inverse;
            let factor = (root * inverse * unit) as f32;
            let features = self.features.col_as_slice(i);
            let scaled = self.scaled.col_as_slice_mut(i);
            scaled.iter_mut().zip(features).for_each(|(s, z)| *s = factor * z);
        }
        let mut gram: Mat<f32> = Mat::zeros(rank, rank);
        gram.diagonal_mut().fill(SCALE * SCALE);
        triangular::matmul(
            gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            self.scaled.as_ref(),
            BlockStructure::Rectangular,
            self.scaled.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        self.inner.clear();
        // Without a factor the diagonal alone preconditions.
        self.inner.extend(rank, |i, j| gram[(i.max(j), i.min(j))]);
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

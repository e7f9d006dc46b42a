//! A low-rank preconditioner from landmarks, for Newton's method in sample space.

use std::ops::Range;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use margins_data::{Design, Memory, parallel};
use margins_optim::method::GrowingCholesky;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::gram::Entries;
use crate::newton::single_scale::SingleScale;
use crate::newton::sparse_inverse::SparseInverse;

/// The smallest and the largest number of landmarks, and with it of the rank.
const RANKS: (usize, usize) = (100, 300);
/// The samples per landmark.
const SAMPLES: usize = 16;
/// The share by which the part of a sample in `Z'WZ` may be off.
const OFF: f64 = 0.1;
/// The number of times that `Z'WZ` is updated from one W to another before it is recomputed.
const MOST_MOVES: usize = 10;
/// The number of parts of the samples that may be multiplied at the same time.
const PARTS: usize = 4;
/// The number of samples that one task serves.
const TASK: usize = 64;
/// The number of samples whose values with the landmarks are computed together.
const CHUNK: usize = 2048;
/// The scale that keeps products of small entries away from subnormal numbers, which are slow.
const SCALE: f32 = (1u64 << 30) as f32;

/// An approximation of `(I + W^(1/2) K W^(1/2))^(-1)` from `K = Z Z' + R`, with `Z` from landmarks
/// among the samples (Nystrom), in single precision: with `G'G` about `(I + W^(1/2) R W^(1/2))^(-1)`
/// and `V = G W^(1/2) Z` it is `G' (I + V V')^(-1) G`, by the Woodbury identity.
#[derive(Clone)]
pub(crate) struct LowRank {
    /// The matrix `Z'` at the root of the scale, rank x n.
    features: Mat<f32>,
    scale: SingleScale,
    /// The diagonal E of R.
    remainder: Vec<f64>,
    rest: SparseInverse,
    /// The matrix V, transposed, times [`SCALE`].
    scaled: Mat<f32>,
    /// The numbers `W/(1 + W E)` of the W that each sample is at.
    squares: Vec<f64>,
    /// The lower half of `SCALE^2 (I + V'V)`.
    gram: Mat<f32>,
    /// The number of times that `gram` was moved since it was computed.
    moves: usize,
    /// The factor of `gram`.
    inner: GrowingCholesky<f32>,
}

impl LowRank {
    /// Returns the bytes that each landmark takes: features and scaled features in single precision, for
    /// a start the features in double precision with a copy that is shifted, and two blocks of values.
    fn bytes_of_landmark(n: usize) -> usize {
        n * 2 * (size_of::<f32>() + size_of::<f64>()) + 2 * CHUNK * size_of::<f64>()
    }

    /// Returns the rank for n samples whose entries are held, or computed by solvers with this memory.
    fn rank(is_held: bool, memory: Option<Memory>, n: usize) -> usize {
        // The same on any number of threads, as results are.
        const THREADS: usize = 4;
        let fixed = SparseInverse::bytes(is_held, THREADS, n);
        let most =
            memory.map(|memory| memory.bytes().saturating_sub(fixed) / Self::bytes_of_landmark(n));
        // Where products compute the kernel again, fewer of them are worth more.
        let largest = if is_held { RANKS.1 } else { 2 * RANKS.1 };
        let wanted = (n / SAMPLES).clamp(RANKS.0, largest);
        wanted.min(n).min(most.unwrap_or(wanted)).max(1)
    }

    /// Returns the bytes that the approximation takes while it is made or moved, for n samples whose
    /// entries are held, or computed by solvers with this memory.
    pub(crate) fn bytes(is_held: bool, memory: Option<Memory>, n: usize) -> usize {
        let rank = Self::rank(is_held, memory, n);
        let squares = 4 * rank * rank * size_of::<f64>();
        rank * Self::bytes_of_landmark(n)
            + SparseInverse::bytes(is_held, parallel::threads(), n)
            + squares
    }

    pub(crate) fn new(entries: &Entries) -> Self {
        let n = entries.order();
        let rank = Self::rank(entries.is_held(), entries.memory(), n);
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
            rest: SparseInverse::new(entries, features.as_ref(), single),
            scaled: Mat::zeros(rank, n),
            squares: vec![0.0; n],
            gram: Mat::zeros(rank, rank),
            moves: MOST_MOVES,
            inner: GrowingCholesky::new(rank),
            features,
            scale: single,
        }
    }

    /// Returns `Z`, one row per sample; `None` if it is not finite.
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
        let off: Vec<bool> = (0..n).map(|i| self.is_off(i, roots[i])).collect();
        // A row depends on its neighbours where its own sample has curvature.
        let concerns = |i: usize| off[i] || roots[i] > 0.0 && self.rest.row(i).any(|(j, _)| off[j]);
        let mut marked: Vec<bool> = (0..n).map(concerns).collect();
        self.moves += 1;
        if self.moves > MOST_MOVES || 2 * marked.iter().filter(|&&marked| marked).count() > n {
            self.moves = 0;
            marked.fill(true);
            self.gram.fill(0.0);
            self.gram.diagonal_mut().fill(SCALE * SCALE);
        } else {
            let old: Vec<f32> = (0..n)
                .filter(|&i| marked[i])
                .flat_map(|i| self.scaled.col_as_slice(i).iter().copied())
                .collect();
            self.add_squares(&old, -1.0);
        }
        self.move_to(roots, &marked);
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

    /// Brings the rows of the samples that are marked to a W, and adds their squares.
    fn move_to(&mut self, roots: &[f64], marked: &[bool]) {
        let rank = self.features.nrows();
        self.rest.move_to(roots, marked);
        let samples: Vec<usize> = (0..marked.len()).filter(|&i| marked[i]).collect();
        let unit = f64::from(SCALE) / self.scale.get().sqrt();
        let mut new = vec![0.0f32; rank * samples.len()];
        let (rest, features) = (&self.rest, &self.features);
        parallel::for_each_chunk(&mut new, rank * TASK, |task, columns| {
            for (&i, to) in samples[task * TASK..].iter().zip(columns.chunks_exact_mut(rank)) {
                for (j, g) in rest.row(i).filter(|&(j, g)| g * roots[j] != 0.0) {
                    let factor = (unit * g * roots[j]) as f32;
                    let features = features.col_as_slice(j);
                    to.iter_mut().zip(features).for_each(|(to, z)| *to += factor * z);
                }
            }
        });
        for (&i, new) in samples.iter().zip(new.chunks_exact(rank)) {
            self.squares[i] = self.square(i, roots[i]);
            self.scaled.col_as_slice_mut(i).copy_from_slice(new);
        }
        self.add_squares(&new, 1.0);
    }

    /// Adds to `gram` the product of some columns with their transpose, times a sign.
    fn add_squares(&mut self, columns: &[f32], sign: f32) {
        let rank = self.gram.nrows();
        let columns = MatRef::from_column_major_slice(columns, rank, columns.len() / rank);
        triangular::matmul(
            self.gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            columns,
            BlockStructure::Rectangular,
            columns.transpose(),
            BlockStructure::Rectangular,
            sign,
            Par::Seq,
        );
    }

    /// Returns `V (I + V'V)^(-1) V' x`, or 0 where there is no factor.
    fn project(&self, x: &[f32]) -> Vec<f32> {
        let (rank, n) = (self.inner.order(), x.len());
        if rank == 0 {
            return vec![0.0; n];
        }
        // The same parts on any number of threads, for the sum must not depend on it.
        let sums = parallel::map(0..PARTS, |part| {
            let Range { start, end } = part_of(n, part);
            let mut sum = vec![0.0f32; rank];
            let out = MatMut::from_column_major_slice_mut(&mut sum, rank, 1);
            let x = MatRef::from_column_major_slice(&x[start..end], end - start, 1);
            product(out, self.scaled.subcols(start, end - start), x);
            sum
        });
        let mut inner: Vec<f32> = (0..rank).map(|k| sums.iter().map(|sum| sum[k]).sum()).collect();
        self.inner.solve(&mut inner);
        let images = parallel::map(0..PARTS, |part| {
            let Range { start, end } = part_of(n, part);
            let mut image = vec![0.0f32; end - start];
            let out = MatMut::from_column_major_slice_mut(&mut image, end - start, 1);
            let inner = MatRef::from_column_major_slice(&inner, rank, 1);
            product(out, self.scaled.subcols(start, end - start).transpose(), inner);
            image
        });
        images.concat()
    }

    pub(crate) fn apply(&self, residual: &[f64]) -> Vec<f64> {
        let white = self.rest.multiply(residual);
        // In single precision the entries need a common scale.
        let scale = white.iter().fold(f64::MIN_POSITIVE, |scale, r| scale.max(r.abs()));
        let right: Vec<f32> = white.iter().map(|r| (r / scale) as f32).collect();
        let image = self.project(&right);
        let left: Vec<f64> =
            white.iter().zip(&image).map(|(r, p)| r - scale * f64::from(*p)).collect();
        self.rest.multiply_transposed(&left)
    }
}

fn part_of(n: usize, part: usize) -> Range<usize> {
    part * n / PARTS..(part + 1) * n / PARTS
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
        let first: Vec<f64> = (0..n).map(|i| if i % 40 == 0 { 0.0 } else { 20.0 }).collect();
        let second: Vec<f64> = (0..n)
            .map(|i| match i % 40 {
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

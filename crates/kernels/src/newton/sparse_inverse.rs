//! A sparse triangular factor of an inverse, for what a low rank leaves of a kernel, which is local.

use std::ops::Range;

use faer::{Accum, Mat, MatRef, Par};
use margins_data::parallel;

use crate::gram::Entries;
use crate::newton::single_scale::SingleScale;

/// The most neighbours of a sample.
const NEIGHBOURS: usize = 8;
/// The most samples that a row has entries for.
const WIDTH: usize = NEIGHBOURS + 1;
/// The number of samples that one task serves.
const TASK: usize = 64;
/// The number of samples that one task serves where kernel values are computed, block by block.
const BLOCK_COLUMNS: usize = 512;
/// The number of samples before these that a block compares them with.
const BLOCK_ROWS: usize = 1024;

/// The factor G with `G'G` about `(I + W^(1/2) R W^(1/2))^(-1)`, for the part R of a kernel matrix
/// that a low rank leaves.
///
/// A row of G has entries for a sample and its neighbours alone, which are the samples before it
/// that are most similar to it. It is exact for the matrix over these: the last row of the inverse
/// of their Cholesky factor (Kolotilina and Yeremin, SIAM J. Matrix Anal. Appl. 14, 1993). A low
/// rank with such a factor for the rest is the adaptive factorised Nystrom preconditioner of Zhao,
/// Xu, Huang, Chow and Xi (SIAM J. Sci. Comput. 46, 2024).
#[derive(Clone)]
pub(crate) struct SparseInverse {
    rows: Vec<Row>,
    /// The remainder of the low rank at the samples of each row.
    rests: Vec<Rest>,
}

/// A row of G: samples and their entries, the sample of the row last. Places in front that no
/// neighbour takes have the sample of the row and 0.
#[derive(Clone, Copy)]
struct Row {
    samples: [u32; WIDTH],
    entries: [f64; WIDTH],
}

/// The lower half of R over the samples of a row, row by row.
type Rest = [f32; WIDTH * (WIDTH + 1) / 2];

impl SparseInverse {
    /// Returns the bytes that n samples take while their parts are put together, and that the search for
    /// neighbours takes on so many threads where the kernel is computed.
    pub(crate) fn bytes(is_held: bool, threads: usize, n: usize) -> usize {
        let rows = 2 * n * (size_of::<Row>() + size_of::<Rest>());
        let values = BLOCK_COLUMNS * n.min(BLOCK_ROWS) * size_of::<f64>();
        if is_held { rows } else { rows + threads * values }
    }

    /// Returns the factor for `W = 0`, given features in columns whose inner products, divided by
    /// `scale`, are the low rank.
    pub(crate) fn new(kernel: &Entries, features: MatRef<'_, f32>, scale: SingleScale) -> Self {
        let n = kernel.order();
        let size = if matches!(kernel, Entries::Computed(_)) { BLOCK_COLUMNS } else { TASK };
        let parts = parallel::map(0..n.div_ceil(size), |task| {
            let rows = neighbours(kernel, task * size..n.min((task + 1) * size));
            let rests: Vec<Rest> =
                rows.iter().map(|row| row.rest(kernel, features, scale)).collect();
            (rows, rests)
        });
        let (rows, rests): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        SparseInverse { rows: rows.concat(), rests: rests.concat() }
    }

    /// Returns the samples and the entries of a row; a sample may come again with 0.
    pub(crate) fn row(&self, sample: usize) -> impl Iterator<Item = (usize, f64)> {
        let Row { samples, entries } = &self.rows[sample];
        samples.iter().map(|&j| j as usize).zip(entries.iter().copied())
    }

    /// Brings the rows that are marked to a W, given the diagonal of `W^(1/2)`.
    pub(crate) fn move_to(&mut self, roots: &[f64], marked: &[bool]) {
        let rests = &self.rests;
        parallel::for_each_chunk(&mut self.rows, TASK, |task, rows| {
            let from = task * TASK;
            for ((row, rest), marked) in rows.iter_mut().zip(&rests[from..]).zip(&marked[from..]) {
                if *marked {
                    row.move_to(roots, rest);
                }
            }
        });
    }

    /// Returns `G x`.
    pub(crate) fn multiply(&self, x: &[f64]) -> Vec<f64> {
        (0..x.len()).map(|i| self.row(i).map(|(j, g)| g * x[j]).sum()).collect()
    }

    /// Returns `G' x`.
    pub(crate) fn multiply_transposed(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        for (i, &x) in x.iter().enumerate() {
            self.row(i).for_each(|(j, g)| out[j] += g * x);
        }
        out
    }
}

impl Row {
    /// Returns the row of a sample for `W = 0`, given at most as many neighbours as there are
    /// places.
    fn new(sample: usize, neighbours: &[usize]) -> Self {
        let mut row = Row { samples: [sample as u32; WIDTH], entries: [0.0; WIDTH] };
        let places = row.samples[..NEIGHBOURS].iter_mut().rev();
        places.zip(neighbours).for_each(|(place, &j)| *place = j as u32);
        row.entries[NEIGHBOURS] = 1.0;
        row
    }

    /// Returns what a low rank leaves of the kernel over the samples of the row.
    fn rest(&self, kernel: &Entries, features: MatRef<'_, f32>, scale: SingleScale) -> Rest {
        let samples = self.samples.map(|j| j as usize);
        let values = kernel.block(&samples, &samples);
        let near = Mat::from_fn(features.nrows(), WIDTH, |k, a| features[(k, samples[a])]);
        let mut products: Mat<f32> = Mat::zeros(WIDTH, WIDTH);
        let (out, left) = (products.as_mut(), near.transpose());
        faer::linalg::matmul::matmul(out, Accum::Replace, left, near.as_ref(), 1.0, Par::Seq);
        let mut rest = [0.0; WIDTH * (WIDTH + 1) / 2];
        for a in 0..WIDTH {
            for b in 0..=a {
                let left = values[(a, b)] - f64::from(products[(a, b)]) / scale.get();
                rest[place(a, b)] = if a == b { left.max(0.0) as f32 } else { left as f32 };
            }
        }
        rest
    }

    /// Brings the row to a W.
    fn move_to(&mut self, roots: &[f64], rest: &Rest) {
        let samples = self.samples.map(|j| j as usize);
        let own = samples[NEIGHBOURS];
        // Samples without curvature have no part in it.
        let has_part = |&a: &usize| samples[a] != own && roots[samples[a]] > 0.0;
        let curved: Vec<usize> = (0..NEIGHBOURS).filter(has_part).chain([NEIGHBOURS]).collect();
        let last = last_of_inverse(curved.len(), |a, b| {
            let (a, b) = (curved[a], curved[b]);
            roots[samples[a]] * roots[samples[b]] * f64::from(rest[place(a, b)])
        });
        self.entries = [0.0; WIDTH];
        match last {
            Some(last) => curved.iter().zip(last).for_each(|(&a, x)| self.entries[a] = x),
            // Rounding has left no positive definite matrix: the sample alone.
            None => {
                let own = roots[own].powi(2) * f64::from(rest[place(NEIGHBOURS, NEIGHBOURS)]);
                self.entries[NEIGHBOURS] = (1.0 + own).sqrt().recip();
            }
        }
    }
}

/// Returns where the entry of a lower half is that stands row by row.
fn place(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// Returns the last row of the inverse of the Cholesky factor of the identity plus a matrix of an
/// order from 1 to [`WIDTH`], given its lower half; `None` if that is not positive definite.
fn last_of_inverse(order: usize, at: impl Fn(usize, usize) -> f64) -> Option<[f64; WIDTH]> {
    let mut factor = [[0.0; WIDTH]; WIDTH];
    for a in 0..order {
        for b in 0..=a {
            let known: f64 = factor[a].iter().zip(&factor[b]).take(b).map(|(x, y)| x * y).sum();
            let left = at(a, b) - known;
            factor[a][b] = if a == b { (1.0 + left).sqrt() } else { left / factor[b][b] };
        }
    }
    let mut row = [0.0; WIDTH];
    row[order - 1] = 1.0;
    for b in (0..order).rev() {
        row[b] /= factor[b][b];
        for c in 0..b {
            row[c] -= factor[b][c] * row[b];
        }
    }
    row.iter().all(|x: &f64| x.is_finite()).then_some(row)
}

/// Returns the rows of some samples for `W = 0`.
///
/// Products with features have a low rank, which leaves nothing to neighbours.
fn neighbours(kernel: &Entries, samples: Range<usize>) -> Vec<Row> {
    let n = kernel.order();
    let mut similar = vec![MostSimilar::default(); samples.len()];
    match kernel {
        Entries::Stored { matrix, .. } => {
            for (similar, i) in similar.iter_mut().zip(samples.clone()) {
                similar.look_at(0, &matrix.as_slice()[i * n..i * n + i]);
            }
        }
        Entries::Features(_) => {}
        Entries::Computed(matrix) => {
            let these: Vec<usize> = samples.clone().collect();
            for first in (0..samples.end).step_by(BLOCK_ROWS) {
                if matrix.is_interrupted() {
                    break;
                }
                let others: Vec<usize> = (first..samples.end.min(first + BLOCK_ROWS)).collect();
                let values = kernel.block(&others, &these);
                for ((similar, column), i) in
                    similar.iter_mut().zip(values.column_iter()).zip(samples.clone())
                {
                    let before = i.saturating_sub(first).min(others.len());
                    similar.look_at(first, &column.as_slice()[..before]);
                }
            }
        }
    }
    samples.zip(similar).map(|(i, similar)| Row::new(i, &similar.samples())).collect()
}

/// The samples of largest values so far, whatever their signs, the largest first.
#[derive(Clone, Default)]
struct MostSimilar {
    best: Vec<(f64, usize)>,
    /// The size that a value must exceed to be among them.
    least: f64,
}

impl MostSimilar {
    /// Takes the values of samples from `first` on.
    fn look_at(&mut self, first: usize, values: &[f64]) {
        let MostSimilar { best, least } = self;
        for (j, size) in values.iter().map(|value| value.abs()).enumerate() {
            if size > *least {
                let at = best.partition_point(|&(larger, _)| larger >= size);
                best.insert(at, (size, first + j));
                best.truncate(NEIGHBOURS);
                if best.len() == NEIGHBOURS {
                    *least = best[NEIGHBOURS - 1].0;
                }
            }
        }
    }

    fn samples(&self) -> Vec<usize> {
        self.best.iter().map(|&(_, j)| j).collect()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// Returns the factor for a kernel without any low rank.
    fn alone(matrix: DMatrix<f64>) -> SparseInverse {
        let n = matrix.nrows();
        let diagonal: Vec<f64> = matrix.diagonal().iter().copied().collect();
        let features = Mat::zeros(1, n);
        SparseInverse::new(&Entries::of(matrix), features.as_ref(), SingleScale::of(&diagonal))
    }

    /// With `exp(-|i - j|)` a sample depends on the one before alone, given it: the inverse of the
    /// matrix is tridiagonal, and so is nearly that of the matrix with a millionth of the identity.
    /// Entries are rounded to 6e-8 in single precision, and the condition of the matrix is 4.7.
    #[test]
    fn factors_of_inverses_with_a_band_are_exact() {
        let n = 150;
        let matrix = DMatrix::from_fn(n, n, |i, j| (-(i as f64 - j as f64).abs()).exp());
        let mut factor = alone(matrix.clone());
        factor.move_to(&vec![1e3; n], &vec![true; n]);
        let x = DVector::from_fn(n, |i, _| (i as f64).sin());
        let image = matrix * (1e6 * &x) + &x;
        let back = factor.multiply_transposed(&factor.multiply(image.as_slice()));
        for (a, b) in back.iter().zip(&x) {
            assert!((a - b).abs() < 1e-5, "{a} not {b}");
        }
    }

    #[test]
    fn samples_without_curvature_stay_as_they_are() {
        let n = 40;
        let mut factor = alone(DMatrix::from_fn(n, n, |i, j| 0.5f64.powi(i.abs_diff(j) as i32)));
        let roots: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.0 } else { 2.0 }).collect();
        factor.move_to(&roots, &vec![true; n]);
        for i in (0..n).step_by(3) {
            let row: Vec<(usize, f64)> = factor.row(i).filter(|&(_, g)| g != 0.0).collect();
            assert_eq!(row, [(i, 1.0)]);
            assert!(
                (0..n).filter(|&k| k != i).all(|k| factor.row(k).all(|(j, g)| j != i || g == 0.0))
            );
        }
    }

    #[test]
    fn neighbours_are_the_samples_of_largest_values() {
        let most_similar = |parts: &[&[f64]]| {
            let (mut similar, mut first) = (MostSimilar::default(), 0);
            for part in parts {
                similar.look_at(first, part);
                first += part.len();
            }
            similar.samples()
        };
        let values: Vec<f64> = (0..30).map(|j| f64::from((j * 7) % 30)).collect();
        let whole = most_similar(&[&values]);
        assert!(whole.iter().map(|&j| values[j]).eq((22..30).rev().map(f64::from)));
        assert_eq!(most_similar(&[&values[..4], &values[4..20], &values[20..]]), whole);
        assert!(most_similar(&[&[0.0; 5]]).is_empty());
        assert_eq!(most_similar(&[&[-1.0, 0.5]]), [0, 1]);
    }
}

//! Inner products of the features of a design, and of its samples.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};
use nalgebra::DMatrix;

use super::{Design, Storage};
use crate::{Sample, parallel};

impl Design {
    /// Computes the lower triangle of the (p+1) x (p+1) matrix `Z' diag(d) Z` with `Z = [1 X]`, the
    /// constant first, for nonnegative weights `d` of length n. What stands above the diagonal has
    /// no meaning.
    ///
    /// # Panics
    /// If the shapes differ from these.
    pub fn weighted_gram(&self, d: &[f64], out: &mut DMatrix<f64>) {
        let q = self.columns() + 1;
        assert_eq!(d.len(), self.rows(), "weights of a Gram matrix");
        assert_eq!(out.shape(), (q, q), "shape of a Gram matrix");
        out.fill(0.0);
        // From this share of stored features on, products of dense strips take less time.
        const DENSE: f64 = 0.25;
        let is_thin = |stored: usize| (stored as f64) < DENSE * (self.rows() * q) as f64;
        match &self.storage {
            Storage::Sparse(matrix) if is_thin(matrix.nnz()) => self.add_sparse_gram(d, out),
            _ => self.add_gram_by_strips(d, out),
        }
    }

    /// Adds `Z' diag(d) Z` by products of dense matrices. Only samples of positive weight, scaled
    /// by its root, take part; so many at a time that the scaled ones stay in the cache.
    fn add_gram_by_strips(&self, d: &[f64], out: &mut DMatrix<f64>) {
        const BYTES: usize = 1 << 22;
        let q = self.columns() + 1;
        let strip = (BYTES / (size_of::<f64>() * q)).max(256);
        let mut weighted = self.samples().zip(d).filter(|(_, d)| **d > 0.0);
        let mut scaled: Vec<f64> = Vec::new();
        loop {
            scaled.clear();
            for (sample, &d) in weighted.by_ref().take(strip) {
                let root = d.sqrt();
                scaled.push(root);
                match sample {
                    Sample::Dense(x) => scaled.extend(x.iter().map(|x| root * x)),
                    Sample::Sparse { columns, values, .. } => {
                        let first = scaled.len();
                        scaled.resize(first + q - 1, 0.0);
                        let row = &mut scaled[first..];
                        columns.iter().zip(values).for_each(|(&j, x)| row[j] = root * x);
                    }
                }
            }
            if scaled.is_empty() {
                break;
            }
            let count = scaled.len() / q;
            add_lower_product(out, MatRef::from_column_major_slice(&scaled, q, count));
        }
    }

    /// Adds `Z' diag(d) Z` by the pairs of features that a sample stores.
    fn add_sparse_gram(&self, d: &[f64], out: &mut DMatrix<f64>) {
        const UNROLLED: usize = 4;
        let q = self.columns() + 1;
        let entries = out.as_mut_slice();
        for (sample, &d) in self.samples().zip(d).filter(|(_, d)| **d > 0.0) {
            let Sample::Sparse { columns, values, .. } = sample else { continue };
            entries[0] += d;
            for (&column, &value) in columns.iter().zip(values) {
                entries[column + 1] += d * value;
            }
            for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
                let scaled = d * value;
                let below = &mut entries[(column + 1) * q + 1..(column + 2) * q];
                let (rows, last_rows) = columns[k..].as_chunks::<UNROLLED>();
                let (others, last_others) = values[k..].as_chunks::<UNROLLED>();
                for (rows, others) in rows.iter().zip(others) {
                    for (&row, &other) in rows.iter().zip(others) {
                        below[row] += scaled * other;
                    }
                }
                for (&row, &other) in last_rows.iter().zip(last_others) {
                    below[row] += scaled * other;
                }
            }
        }
    }

    /// Returns the n x n matrix `X X'` of inner products between samples.
    pub fn sample_gram(&self) -> DMatrix<f64> {
        let n = self.rows();
        let mut gram = DMatrix::zeros(n, n);
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                let x = MatRef::from_column_major_slice(samples.as_slice(), p, n);
                add_lower_product(&mut gram, x.transpose());
            }
            Storage::Sparse(matrix) => {
                // Row i is scattered once into a dense vector; the rows below it are gathered.
                let mut dense = vec![0.0; matrix.ncols()];
                for i in 0..n {
                    let Sample::Sparse { columns, values, .. } = self.sample(i) else { continue };
                    for (&column, &value) in columns.iter().zip(values) {
                        dense[column] = value;
                    }
                    for j in i..n {
                        gram[(j, i)] = self.sample(j).dot(&dense);
                    }
                    for &column in columns {
                        dense[column] = 0.0;
                    }
                }
            }
        }
        gram.fill_upper_triangle_with_lower_triangle();
        gram
    }
}

/// Adds the lower triangle of `a a'` to that of `out`, tile by tile in parallel.
fn add_lower_product(out: &mut DMatrix<f64>, a: MatRef<'_, f64>) {
    const TILE: usize = 128;
    let n = out.nrows();
    let add = |k: usize, columns: &mut [f64]| {
        let (first, width) = (k * TILE, columns.len() / n);
        let tile =
            MatMut::from_column_major_slice_mut(columns, n, width).subrows_mut(first, n - first);
        let (square, below) = tile.split_at_row_mut(width);
        let (a_square, a_below) = a.subrows(first, n - first).split_at_row(width);
        triangular::matmul(
            square,
            BlockStructure::TriangularLower,
            Accum::Add,
            a_square,
            BlockStructure::Rectangular,
            a_square.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        matmul(below, Accum::Add, a_below, a_square.transpose(), 1.0, Par::Seq);
    };
    let tiles = out.as_mut_slice();
    if n <= TILE {
        add(0, tiles);
    } else {
        parallel::for_each_chunk(tiles, TILE * n, add);
    }
}

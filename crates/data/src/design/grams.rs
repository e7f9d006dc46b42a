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
        let mut scaled: Vec<f64> = Vec::with_capacity(q * strip.min(self.rows()));
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
            Storage::Sparse(_) => self.gather_products(self, true, gram.as_mut_slice()),
        }
        gram.fill_upper_triangle_with_lower_triangle();
        gram
    }

    /// Returns the matrix of inner products of the samples, one per row, with those of another design,
    /// one per column.
    ///
    /// # Panics
    /// If the designs have different numbers of features, or one is sparse and the other is not.
    pub fn products_with(&self, others: &Design) -> DMatrix<f64> {
        assert_eq!(self.columns(), others.columns(), "samples with as many features");
        let (n, m, p) = (self.rows(), others.rows(), self.columns());
        let mut products = DMatrix::zeros(n, m);
        match (&self.storage, &others.storage) {
            (Storage::Dense(samples), Storage::Dense(others)) => matmul(
                MatMut::from_column_major_slice_mut(products.as_mut_slice(), n, m),
                Accum::Replace,
                MatRef::from_column_major_slice(samples.as_slice(), p, n).transpose(),
                MatRef::from_column_major_slice(others.as_slice(), p, m),
                1.0,
                Par::Seq,
            ),
            (Storage::Sparse(_), Storage::Sparse(_)) => {
                self.gather_products(others, false, products.as_mut_slice());
            }
            _ => panic!("samples that are stored in one way"),
        }
        products
    }

    /// Writes the inner products of sparse samples with others, one column for each of the others,
    /// in parallel; of the square matrix of a design with itself the lower triangle if that is
    /// enough.
    fn gather_products(&self, others: &Design, lower: bool, out: &mut [f64]) {
        const COLUMNS: usize = 64;
        let n = self.rows();
        parallel::for_each_chunk(out, (COLUMNS * n).max(1), |k, chunk| {
            // One of the others is scattered into a dense vector, from which all samples gather.
            let mut dense = vec![0.0; self.columns()];
            for (i, out) in (k * COLUMNS..).zip(chunk.chunks_exact_mut(n)) {
                let other = others.sample(i);
                other.for_each(|column, x| dense[column] = x);
                let first = if lower { i } else { 0 };
                for (j, out) in out.iter_mut().enumerate().skip(first) {
                    *out = self.sample(j).dot(&dense);
                }
                other.for_each(|column, _| dense[column] = 0.0);
            }
        });
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

//! The matrix of inner products of explicit features.

use faer::{Accum, Mat, MatMut, Par};
use margins_data::{Design, parallel};
use margins_kernel_functions::linear_scores;
use margins_optim::problem::summation::dot;
use margins_optim::products::sample_products;
use nalgebra::DMatrix;

use crate::Error;
use crate::symmetric::{SingleColumns, single};

/// The matrix `Z Z'` of features Z: products in double precision go through the features, and all
/// columns are there in single precision for steps along them.
#[derive(Debug, Clone)]
pub(crate) struct FeatureProducts {
    features: Design,
    diagonal: Vec<f64>,
    columns: SingleColumns,
}

impl FeatureProducts {
    /// Computes the columns, [in parallel](margins_data::parallel), each pair once.
    ///
    /// # Errors
    /// More samples than there is memory for; `is_over` has returned true.
    pub(super) fn new(features: Design, is_over: impl Fn() -> bool + Sync) -> Result<Self, Error> {
        /// The columns that one task computes.
        const WIDTH: usize = 256;
        let n = features.rows();
        let diagonal: Vec<f64> = features.samples().map(|z| z.squared_norm()).collect();
        let scale = SingleColumns::scale_of(&diagonal);
        let unit = scale.sqrt();
        let mut singles = Mat::<f32>::zeros(features.columns(), n);
        for (i, sample) in features.samples().enumerate() {
            let out = singles.col_as_slice_mut(i);
            sample.for_each(|k, z| out[k] = single(z / unit));
        }
        let mut entries = super::room_for(n)?;
        parallel::try_for_each_chunk(&mut entries, (n * WIDTH).max(1), |k, columns| {
            if is_over() {
                return Err(margins_kernel_functions::Error::Interrupted.into());
            }
            let first = k * WIDTH;
            let (count, rows) = (columns.len() / n, n - first);
            let out = MatMut::from_column_major_slice_mut(&mut *columns, n, count);
            faer::linalg::matmul::matmul(
                out.subrows_mut(first, rows),
                Accum::Replace,
                singles.subcols(first, rows).transpose(),
                singles.subcols(first, count),
                1.0,
                Par::Seq,
            );
            columns.iter_mut().for_each(|entry| *entry = single(f64::from(*entry)));
            Ok::<(), Error>(())
        })?;
        super::mirror(&mut entries, n);
        Ok(FeatureProducts { features, diagonal, columns: SingleColumns { scale, entries } })
    }

    pub(crate) fn columns(&self) -> &SingleColumns {
        &self.columns
    }

    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    pub(super) fn width(&self) -> usize {
        self.features.columns()
    }

    pub(crate) fn value(&self, i: usize, j: usize) -> f64 {
        if let Some(samples) = self.features.dense_samples() {
            let row = |i: usize| &samples[i * self.width()..][..self.width()];
            return dot(row(i), row(j));
        }
        self.features.dot(j, &self.sum([(i, 1.0)]))
    }

    /// Returns the products of some samples, one per row, with others, one per column.
    pub(crate) fn block(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        sample_products(&self.features.select(rows), &self.features.select(columns))
    }

    pub(super) fn select(&self, samples: &[usize]) -> Self {
        let n = samples.len();
        let of = |j: &usize| &self.columns.entries[j * self.diagonal.len()..];
        let entries = samples.iter().flat_map(|j| samples.iter().map(move |&i| of(j)[i]));
        let mut room = Vec::with_capacity(n * n);
        room.extend(entries);
        FeatureProducts {
            features: self.features.select(samples),
            diagonal: samples.iter().map(|&i| self.diagonal[i]).collect(),
            columns: SingleColumns { scale: self.columns.scale, entries: room },
        }
    }

    fn sum(&self, terms: impl IntoIterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut sum = vec![0.0; self.width()];
        terms.into_iter().for_each(|(i, factor)| self.features.sample(i).add_to(factor, &mut sum));
        sum
    }

    /// Returns `Z'x`.
    fn combined(&self, x: &[f64]) -> Vec<f64> {
        let used: Vec<usize> = (0..x.len()).filter(|&i| x[i] != 0.0).collect();
        if 2 * used.len() <= x.len() {
            return self.sum(used.into_iter().map(|i| (i, x[i])));
        }
        let mut w = vec![0.0; self.width()];
        self.features.multiply_transposed(x, &mut w);
        w
    }

    /// Computes `out = K x`.
    pub(super) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        self.features.multiply(&self.combined(x), out);
    }

    /// Returns `x'Kx`.
    pub(super) fn quadratic_form(&self, x: &[f64]) -> f64 {
        let w = self.combined(x);
        dot(&w, &w)
    }

    /// Returns `K X`.
    pub(super) fn multiply_all(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(x.nrows(), x.ncols());
        for (mut out, x) in out.column_iter_mut().zip(x.column_iter()) {
            self.multiply(x.as_slice(), out.as_mut_slice());
        }
        out
    }

    /// Returns the scores of the samples `rows` by functions of the samples `columns`, one per row of
    /// `coefs` and of the result.
    pub(super) fn combine(
        &self,
        rows: &[usize],
        columns: &[usize],
        coefs: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut functions = DMatrix::zeros(coefs.nrows(), self.width());
        for (mut function, coefs) in functions.row_iter_mut().zip(coefs.row_iter()) {
            let w = self.sum(columns.iter().copied().zip(coefs.iter().copied()));
            function.iter_mut().zip(w).for_each(|(out, w)| *out = w);
        }
        linear_scores(&self.features.select(rows), &functions)
    }
}

//! The matrix of samples and features, dense or compressed sparse, with contiguous samples.

mod columns;
mod dense_rows;
mod parts;
mod products;
mod room;
mod sparse_rows;
mod stored;

use std::sync::Arc;

use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use prefetch_index::prefetch_index;

pub use dense_rows::DenseRows;
pub(crate) use room::LABEL;
pub use sparse_rows::SparseRows;

use crate::error::check_len;
use crate::{Error, Sample};

/// A samples x features matrix whose samples are contiguous in memory.
///
/// A design answers the few questions that solvers ask (`X w`, `X'z`, a sample against a vector) and
/// hides how it is stored: dense samples one after the other, or
/// compressed sparse rows. All values are finite. Clones share their values until one of them is
/// changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    storage: Storage,
}

#[derive(Debug, Clone, PartialEq)]
enum Storage {
    /// The matrix of features x samples: nalgebra is column-major, so that a column is a sample.
    Dense(Arc<DMatrix<f64>>),
    Sparse(Arc<CsrMatrix<f64>>),
}

impl Design {
    /// Makes a dense design of an n x p matrix, one row per sample.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite.
    pub fn dense(matrix: &DMatrix<f64>) -> Result<Self, Error> {
        Self::from_samples(matrix.transpose())
    }

    /// Makes a dense design of a p x n matrix whose columns are the samples; takes it over without
    /// a copy.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite.
    pub fn from_samples(samples: DMatrix<f64>) -> Result<Self, Error> {
        let p = samples.nrows();
        Self::check_size(samples.ncols(), p)?;
        dense_rows::check_finite(samples.as_slice(), 0, p)?;
        Ok(Self::of_finite(samples))
    }

    /// Makes a dense design of a p x n matrix, neither of which is 0, with finite values.
    fn of_finite(samples: DMatrix<f64>) -> Self {
        Design { storage: Storage::Dense(Arc::new(samples)) }
    }

    /// Makes a dense design of rows of equal length, one per sample.
    ///
    /// # Errors
    /// No rows, no columns, rows of different lengths, or a value that is not finite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Error> {
        let p = rows.first().map_or(0, |row| row.as_ref().len());
        let mut flat = Vec::with_capacity(rows.len() * p);
        for (row, features) in rows.iter().enumerate() {
            let features = features.as_ref();
            if features.len() != p {
                return Err(Error::Ragged { row, found: features.len(), expected: p });
            }
            flat.extend_from_slice(features);
        }
        Self::from_samples(DMatrix::from_vec(p, rows.len(), flat))
    }

    /// Makes a sparse design of compressed sparse rows, one per sample.
    ///
    /// # Errors
    /// No rows, no columns, or a value that is not finite. [`Error::Memory`]: so many columns that
    /// there is no room for a vector with an entry for each, which everything that learns has.
    pub fn sparse(matrix: CsrMatrix<f64>) -> Result<Self, Error> {
        Self::check_size(matrix.nrows(), matrix.ncols())?;
        Self::check_vector(matrix.nrows(), matrix.ncols())?;
        if !matrix.values().iter().all(|x| x.is_finite()) {
            let is_wrong = |(_, _, x): &(usize, usize, &f64)| !x.is_finite();
            let (row, column, &value) = matrix.triplet_iter().find(is_wrong).expect("one is wrong");
            return Err(Error::NotFinite { row, column, value });
        }
        Ok(Design { storage: Storage::Sparse(Arc::new(matrix)) })
    }

    /// Makes a sparse design of the stored features of every sample, as pairs of a zero-based
    /// column and a value, columns ascending.
    ///
    /// # Errors
    /// The errors of [`sparse`](Self::sparse), a column out of order or beyond the last.
    pub fn from_sparse_rows(rows: &[Vec<(usize, f64)>], columns: usize) -> Result<Self, Error> {
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (row, stored) in rows.iter().enumerate() {
            for (k, &(column, value)) in stored.iter().enumerate() {
                if column >= columns || (k > 0 && stored[k - 1].0 >= column) {
                    return Err(Error::SparseColumn { row, column, columns });
                }
                indices.push(column);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        Self::of_ascending(columns, offsets, indices, values)
    }

    /// Makes a sparse design of compressed rows, whose columns ascend and are in range.
    fn of_ascending(
        columns: usize,
        offsets: Vec<usize>,
        indices: Vec<usize>,
        values: Vec<f64>,
    ) -> Result<Self, Error> {
        let rows = offsets.len() - 1;
        let matrix = CsrMatrix::try_from_csr_data(rows, columns, offsets, indices, values);
        Self::sparse(matrix.expect("ascending columns in range form a CSR matrix"))
    }

    fn check_size(rows: usize, columns: usize) -> Result<(), Error> {
        if rows == 0 {
            Err(Error::Empty("rows"))
        } else if columns == 0 {
            Err(Error::Empty("columns"))
        } else {
            Ok(())
        }
    }

    /// Returns the number of samples n.
    pub fn rows(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.ncols(),
            Storage::Sparse(matrix) => matrix.nrows(),
        }
    }

    /// Returns the number of features p.
    pub fn columns(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.nrows(),
            Storage::Sparse(matrix) => matrix.ncols(),
        }
    }

    /// Returns true if only nonzero features are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse(_))
    }

    /// Returns the number of stored values: `n p` if dense.
    pub fn stored(&self) -> usize {
        match &self.storage {
            Storage::Dense(samples) => samples.len(),
            Storage::Sparse(matrix) => matrix.nnz(),
        }
    }

    /// Returns the values of all samples one after the other; `None` if sparse.
    pub fn dense_samples(&self) -> Option<&[f64]> {
        match &self.storage {
            Storage::Dense(samples) => Some(samples.as_slice()),
            Storage::Sparse(_) => None,
        }
    }

    /// Returns sample `i`.
    ///
    /// # Panics
    /// If `i >= n`.
    #[inline(always)]
    pub fn sample(&self, i: usize) -> Sample<'_> {
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                Sample::Dense(&samples.as_slice()[i * p..(i + 1) * p])
            }
            Storage::Sparse(matrix) => {
                let range = matrix.row_offsets()[i]..matrix.row_offsets()[i + 1];
                Sample::Sparse {
                    columns: &matrix.col_indices()[range.clone()],
                    values: &matrix.values()[range],
                    features: matrix.ncols(),
                }
            }
        }
    }

    /// Asks the memory for sample `i`, for passes in random order that will need it soon; nothing
    /// if there is no such sample. Of long samples it asks for the beginning, after which the
    /// processor fetches by itself.
    #[inline(always)]
    pub fn prefetch(&self, i: usize) {
        const LINE: usize = 8;
        // Of columns and values each; more cost as much as they save.
        const SPARSE_LINES: usize = 4;
        const DENSE_LINES: usize = 16;
        if i >= self.rows() {
            return;
        }
        match &self.storage {
            Storage::Dense(samples) => {
                let p = samples.nrows();
                for at in (0..p).step_by(LINE).take(DENSE_LINES) {
                    prefetch_index(samples.as_slice(), i * p + at);
                }
            }
            Storage::Sparse(matrix) => {
                let [start, end] = [i, i + 1].map(|row| matrix.row_offsets()[row]);
                for at in (start..end).step_by(LINE).take(SPARSE_LINES) {
                    prefetch_index(matrix.col_indices(), at);
                    prefetch_index(matrix.values(), at);
                }
            }
        }
    }

    /// Returns all samples in order.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample<'_>> {
        (0..self.rows()).map(|i| self.sample(i))
    }

    /// Returns the samples with the given indices, in their order; an index may repeat.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, indices: &[usize]) -> Design {
        let storage = match &self.storage {
            Storage::Dense(samples) => Storage::Dense(Arc::new(samples.select_columns(indices))),
            Storage::Sparse(matrix) => {
                let mut offsets = Vec::with_capacity(indices.len() + 1);
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                offsets.push(0);
                for &i in indices {
                    let Sample::Sparse { columns: c, values: v, .. } = self.sample(i) else {
                        continue;
                    };
                    columns.extend_from_slice(c);
                    values.extend_from_slice(v);
                    offsets.push(columns.len());
                }
                let selected = CsrMatrix::try_from_csr_data(
                    indices.len(),
                    matrix.ncols(),
                    offsets,
                    columns,
                    values,
                );
                let selected = selected.expect("rows of a valid CSR matrix form a valid one");
                Storage::Sparse(Arc::new(selected))
            }
        };
        Design { storage }
    }

    /// Returns the samples of several designs, one after the other; sparse if all of them are.
    ///
    /// # Errors
    /// No designs, or another number of columns than that of the first.
    pub fn stack(designs: &[Design]) -> Result<Self, Error> {
        let columns = designs.first().ok_or(Error::Empty("rows"))?.columns();
        for design in designs {
            check_len("columns", columns, design.columns())?;
        }
        let samples = || designs.iter().flat_map(Design::samples);
        if designs.iter().all(Design::is_sparse) {
            let mut rows = Vec::new();
            for sample in samples() {
                let mut row = Vec::new();
                sample.for_each(|column, x| row.push((column, x)));
                rows.push(row);
            }
            return Self::from_sparse_rows(&rows, columns);
        }
        let mut values = vec![0.0; columns * samples().count()];
        for (out, sample) in values.chunks_exact_mut(columns).zip(samples()) {
            sample.for_each(|column, x| out[column] = x);
        }
        let rows = values.len() / columns;
        Self::from_samples(DMatrix::from_vec(columns, rows, values))
    }

    /// Returns the n x p matrix, densified if sparse.
    pub fn to_dense(&self) -> DMatrix<f64> {
        match &self.storage {
            Storage::Dense(samples) => samples.transpose(),
            Storage::Sparse(matrix) => DMatrix::from(&**matrix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_that_leave_no_room_for_a_vector_are_refused() {
        for columns in [10usize.pow(14), usize::MAX / 8, usize::MAX] {
            let refused = Design::from_sparse_rows(&[vec![(0, 1.0), (columns - 1, 2.0)]], columns);
            assert!(
                matches!(refused, Err(Error::Memory { rows: 1, columns: p, .. }) if p == Some(columns))
            );
        }
        assert!(Design::from_sparse_rows(&[vec![(0, 1.0)]], 1_000_000).is_ok());
    }

    /// Returns the same small random matrix in both storages.
    pub(super) fn both() -> impl Strategy<Value = (Design, Design)> {
        (1usize..9, 1usize..9).prop_flat_map(|(n, p)| {
            let cell = prop_oneof![Just(0.0), -3.0..3.0f64];
            proptest::collection::vec(cell, n * p).prop_map(move |flat| {
                let matrix = DMatrix::from_row_slice(n, p, &flat);
                let sparse = Design::sparse(CsrMatrix::from(&matrix)).expect("finite");
                (Design::dense(&matrix).expect("finite"), sparse)
            })
        })
    }

    proptest! {
        #[test]
        fn stacks_hold_the_samples_of_all((dense, sparse) in both()) {
            let n = dense.rows();
            let twice: Vec<usize> = (0..n).chain(0..n).collect();
            for pair in [[&dense, &dense], [&dense, &sparse], [&sparse, &sparse]] {
                let stacked = Design::stack(&pair.map(Clone::clone)).expect("the same columns");
                prop_assert_eq!(stacked.is_sparse(), pair.iter().all(|design| design.is_sparse()));
                prop_assert_eq!(stacked.to_dense(), dense.select(&twice).to_dense());
            }
            let wider = Design::from_rows(&[vec![1.0; dense.columns() + 1]]).expect("finite");
            prop_assert!(Design::stack(&[dense, wider]).is_err() && Design::stack(&[]).is_err());
        }

        #[test]
        fn selection_and_scaling_agree_between_storages((mut dense, mut sparse) in both()) {
            let n = dense.rows();
            let chosen = [n - 1, 0, n / 2, 0];
            prop_assert_eq!(dense.select(&chosen).to_dense(), sparse.select(&chosen).to_dense());
            let factors: Vec<f64> = (0..dense.columns()).map(|j| 0.5 + j as f64).collect();
            dense.scale_columns(&factors);
            sparse.scale_columns(&factors);
            prop_assert_eq!(dense.to_dense(), sparse.to_dense());
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_by_place() {
        let error = Design::from_rows(&[[1.0, 2.0], [3.0, f64::NAN]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 1, column 1: the value is NaN, but features must be finite"
        );
    }
}

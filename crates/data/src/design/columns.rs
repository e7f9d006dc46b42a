//! Columns of a design, scaled and shifted in place, chosen and put side by side.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::{Design, Storage};
use crate::Error;
use crate::error::check_len;

impl Design {
    /// Returns the columns with the given indices, ascending.
    ///
    /// # Errors
    /// No columns, or an index that is not below p.
    ///
    /// ```
    /// use margins_data::Design;
    ///
    /// let design = Design::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// assert_eq!(design.select_columns(&[0, 2])?, Design::from_rows(&[[1.0, 3.0], [4.0, 6.0]])?);
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    pub fn select_columns(&self, columns: &[usize]) -> Result<Design, Error> {
        if columns.is_empty() {
            return Err(Error::Empty("columns"));
        }
        let mut places = vec![None; self.columns()];
        for (place, &column) in columns.iter().enumerate() {
            check_len("columns", self.columns(), self.columns().max(column + 1))?;
            places[column] = Some(place);
        }
        if self.is_sparse() {
            let row = |sample: crate::Sample<'_>| {
                let mut row = Vec::new();
                sample.for_each(|column, x| row.extend(places[column].map(|place| (place, x))));
                row
            };
            let rows: Vec<Vec<(usize, f64)>> = self.samples().map(row).collect();
            return Design::from_sparse_rows(&rows, columns.len());
        }
        let mut samples = DMatrix::zeros(columns.len(), self.rows());
        for (mut out, sample) in samples.column_iter_mut().zip(self.samples()) {
            sample
                .for_each(|column, x| places[column].into_iter().for_each(|place| out[place] = x));
        }
        Design::from_samples(samples)
    }

    /// Returns the columns of this design and, behind them, those of another with as many rows; dense.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn beside(&self, other: &Design) -> Result<Design, Error> {
        check_len("rows", self.rows(), other.rows())?;
        let p = self.columns();
        let mut samples = DMatrix::zeros(p + other.columns(), self.rows());
        for (i, mut out) in samples.column_iter_mut().enumerate() {
            self.sample(i).for_each(|column, x| out[column] = x);
            other.sample(i).for_each(|column, x| out[p + column] = x);
        }
        Design::from_samples(samples)
    }

    /// Multiplies column `j` by `factors[j]`, in place.
    ///
    /// # Panics
    /// If there is not one finite factor for each column.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.columns(), "one factor a column");
        assert!(factors.iter().all(|f| f.is_finite()), "column factors must be finite");
        match &mut self.storage {
            Storage::Dense(samples) => {
                for mut sample in Arc::make_mut(samples).column_iter_mut() {
                    for (x, factor) in sample.iter_mut().zip(factors) {
                        *x *= factor;
                    }
                }
            }
            Storage::Sparse(matrix) => {
                for (_, column, x) in Arc::make_mut(matrix).triplet_iter_mut() {
                    *x *= factors[column];
                }
            }
        }
    }

    /// Subtracts `shifts[j]` from every stored value of column `j`, in place. Where a sparse column
    /// has values that are not stored, and so 0, its shift must be 0.
    ///
    /// # Panics
    /// If there is not one finite shift for each column.
    pub fn shift_columns(&mut self, shifts: &[f64]) {
        assert_eq!(shifts.len(), self.columns(), "one shift a column");
        assert!(shifts.iter().all(|s| s.is_finite()), "column shifts must be finite");
        match &mut self.storage {
            Storage::Dense(samples) => {
                for mut sample in Arc::make_mut(samples).column_iter_mut() {
                    sample.iter_mut().zip(shifts).for_each(|(x, shift)| *x -= shift);
                }
            }
            Storage::Sparse(matrix) => {
                for (_, column, x) in Arc::make_mut(matrix).triplet_iter_mut() {
                    *x -= shifts[column];
                }
            }
        }
    }
}

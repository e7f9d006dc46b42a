//! Columns of a design, scaled and shifted in place.

use std::sync::Arc;

use super::{Design, Storage};

impl Design {
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

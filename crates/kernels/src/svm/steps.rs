//! The precision that steps are taken in.

use nalgebra::DMatrix;

use super::columns::Columns;
use super::values::Values;
use crate::symmetric::SingleColumns;

/// The precision of the steps.
pub(super) enum Steps<'a> {
    /// Double precision, with the columns of K, until so many more steps have cost as much as a copy
    /// of K; for good where there is no such number, as K is a part of a larger matrix, or as steps
    /// in single precision came to something else than what K itself says.
    Double(Columns<'a, f64>, Option<usize>),
    /// Single precision, with the columns and their scale.
    Single(Columns<'a, f32>, f64),
}

impl<'a> Steps<'a> {
    pub(super) fn first(values: Values<'a>, lambdas: usize, cache_bytes: usize) -> Self {
        /// The steps per sample that take the time of the copy of K.
        const STEPS: usize = 4;
        let order = values.order();
        match values {
            Values::Matrix(matrix) => Steps::Double(
                Columns::new(matrix.as_slice(), order, cache_bytes),
                Some(STEPS * order / lambdas.max(1)),
            ),
            Values::Features(products) => Steps::single(products.columns(), order, cache_bytes),
        }
    }

    /// Returns double precision for good.
    pub(super) fn double(matrix: &'a DMatrix<f64>, cache_bytes: usize) -> Self {
        Steps::Double(Columns::new(matrix.as_slice(), matrix.nrows(), cache_bytes), None)
    }

    pub(super) fn single(copy: &'a SingleColumns, order: usize, cache_bytes: usize) -> Self {
        Steps::Single(Columns::new(&copy.entries, order, cache_bytes), copy.scale)
    }
}

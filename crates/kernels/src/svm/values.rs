//! The values of K in double precision that steps ask for.

use nalgebra::DMatrix;

use crate::gram::{Entries, FeatureProducts};

/// A matrix whose values are there in double precision, one by one: it is held, or its features are.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Matrix(&'a DMatrix<f64>),
    Features(&'a FeatureProducts),
}

impl<'a> Values<'a> {
    /// Returns the values of these entries; `None` if they are computed where they are needed.
    pub(super) fn of(entries: &'a Entries) -> Option<Self> {
        match entries {
            Entries::Stored { matrix, .. } => Some(Values::Matrix(matrix)),
            Entries::Features(products) => Some(Values::Features(products)),
            Entries::Computed(_) => None,
        }
    }

    pub(super) fn order(self) -> usize {
        match self {
            Values::Matrix(matrix) => matrix.nrows(),
            Values::Features(products) => products.diagonal().len(),
        }
    }

    pub(super) fn at(self, i: usize, j: usize) -> f64 {
        match self {
            Values::Matrix(matrix) => matrix[(i, j)],
            Values::Features(products) if i == j => products.diagonal()[i],
            Values::Features(products) => products.value(i, j),
        }
    }

    pub(super) fn among(self, samples: &[usize]) -> DMatrix<f64> {
        match self {
            Values::Matrix(matrix) => {
                let m = samples.len();
                DMatrix::from_fn(m, m, |i, j| matrix[(samples[i], samples[j])])
            }
            Values::Features(products) => products.block(samples, samples),
        }
    }
}

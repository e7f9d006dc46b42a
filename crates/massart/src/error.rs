//! The errors of this crate.

use margins_data::{Counted, Shortage};
use margins_losses::OutOfRange;
use thiserror::Error;

/// The reason why a learner of halfspaces cannot be built or cannot take its samples.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] OutOfRange),
    /// Parts of the problem do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that does not fit.
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// A sample weight is negative, NaN or infinite.
    #[error("weight {value} of row {row} is not a finite number of at least 0")]
    Weight {
        /// The row, counted from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A sample cannot be scaled: its norm is so near zero that it has no inverse, or overflows.
    #[error("row {row}: the norm is {norm:e}, too small to divide by: scale the features first")]
    Direction {
        /// The row, counted from 0.
        row: usize,
        /// The norm.
        norm: f64,
    },
    /// A sign is neither +1 nor -1.
    #[error("row {row}: the sign is {sign}, but must be 1 or -1")]
    Sign {
        /// The row, counted from 0.
        row: usize,
        /// The sign.
        sign: f64,
    },
    /// There are fewer samples than a learner needs.
    #[error("{what}: {found}, but at least {needed} are needed")]
    TooFew {
        /// The name of what is too few.
        what: &'static str,
        /// The number that is needed.
        needed: usize,
        /// The number that there is.
        found: usize,
    },
    /// The candidates of a plan do not fit in memory.
    #[error(
        "{} of {} do not fit in memory: {shortage}. Keep fewer candidates",
        Counted(*count, "candidate"),
        Counted(*columns, "coefficient")
    )]
    Candidates {
        /// The number of candidates.
        count: usize,
        /// The number of coefficients of each.
        columns: usize,
        /// The memory that is needed and that is free.
        shortage: Shortage,
    },
    /// The search in the plane is given another number of features.
    #[error(
        "the search for the lowest 0-1 error is in the plane, and there are {columns} features with the \
         intercept: leave all but two out, or choose another learner"
    )]
    Plane {
        /// The number of features, the intercept among them.
        columns: usize,
    },
    /// The crate of solvers refused something.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// The crate of data refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

impl Error {
    /// Returns an error of a sample as one of a row.
    pub(crate) fn of_row(self, row: usize) -> Self {
        match self {
            Error::Direction { norm, .. } => Error::Direction { row, norm },
            other => other,
        }
    }
}

//! The error type of the crate.

use margins_data::{Memory, Shortage};
use thiserror::Error;

/// The reason why a Gram matrix or a kernel classifier cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
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
    /// An entry of a kernel matrix is NaN or infinite.
    #[error("entry {value} of the kernel matrix, row {row}, column {column}, is not finite")]
    GramEntry {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A precomputed matrix is not symmetric.
    #[error(
        "the kernel matrix is not symmetric: {one} in row {row}, column {column}, but {other} in row \
         {column}, column {row}"
    )]
    NotSymmetric {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The entry there.
        one: f64,
        /// The entry with row and column exchanged.
        other: f64,
    },
    /// The kernel matrix does not fit into memory.
    #[error(
        "the kernel matrix of {n} rows takes {}, more than the free memory; a kernel that is known to be \
         positive semidefinite does not need the matrix, nor do Nystrom or random Fourier features",
        in_words(*gigabytes)
    )]
    TooLarge {
        /// Number of samples.
        n: usize,
        /// Size of the matrix.
        gigabytes: f64,
    },
    /// A matrix or factor of kernel values does not fit in memory.
    #[error("{what} of {n} rows does not fit into memory: {shortage}; {remedy}")]
    Memory {
        /// The matrix or factor, in words.
        what: &'static str,
        /// Number of samples or of landmarks.
        n: usize,
        /// The memory that it takes, and what is free.
        shortage: Shortage,
        /// The advice, in words.
        remedy: &'static str,
    },
    /// Something needs the kernel matrix in memory, which computes its entries where they are
    /// needed.
    #[error(
        "{purpose} needs the kernel matrix of {n} rows in memory, which exceeds the memory limit. Allow \
         {}, or use Nystrom or random Fourier features",
        Memory::from_bytes(8usize.saturating_mul(*n).saturating_mul(*n))
    )]
    NotHeld {
        /// The purpose, in words.
        purpose: String,
        /// Number of samples.
        n: usize,
    },
    /// The trace of a kernel matrix is infinite.
    #[error("the trace of the matrix of kernel '{0}' overflows: scale the features first")]
    Trace(String),
    /// A factor of low rank does not fit into the memory that it may take.
    #[error(
        "pivoted Cholesky stopped at rank {rank}, the largest that fits into {} for {n} rows, with {left:.1e} of the \
         trace left instead of {tolerance:e}. About rank {needed} would be needed, which takes {}: allow more memory \
         or a larger tolerance, or use Nystrom or random Fourier features",
        in_words(*gigabytes),
        in_words(*needed_gigabytes)
    )]
    FactorTooLarge {
        /// Number of samples.
        n: usize,
        /// The rank reached.
        rank: usize,
        /// The memory allowed.
        gigabytes: f64,
        /// The share of the trace that remains.
        left: f64,
        /// The share that may remain.
        tolerance: f64,
        /// An estimate of the rank that is needed, at the pace of the last half of the pivots.
        needed: usize,
        /// The memory that a factor of that rank takes.
        needed_gigabytes: f64,
    },
    /// A label is not -1 or +1.
    #[error("label {value} of row {row} is neither -1 nor +1")]
    Sign {
        /// Zero-based row.
        row: usize,
        /// The label.
        value: f64,
    },
    /// The kernel matrix has a negative eigenvalue.
    #[error(
        "the kernel matrix is not positive semidefinite, so that no duality gap can certify a fit. Try other \
         parameters, another kernel, or a small positive number added to the diagonal of your matrix"
    )]
    Indefinite,
    /// A factor of the matrix would be needed to know whether the kernel is positive semidefinite.
    #[error(
        "kernel '{0}' is not known to be positive semidefinite, which this approximation needs"
    )]
    MaybeIndefinite(String),
    /// A kernel cannot be made or evaluated.
    #[error(transparent)]
    Kernel(#[from] margins_kernel_functions::Error),
    /// A solver of `margins-optim` refused the problem or an option.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

impl Error {
    /// Returns true if the function of a [`Watched`](crate::Watched) kernel, or that of
    /// [`Gram::of_features`](crate::Gram::of_features), ended the work.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Error::Kernel(margins_kernel_functions::Error::Interrupted))
    }
}

/// Returns an amount of memory in the unit that suits it.
fn in_words(gigabytes: f64) -> Memory {
    Memory::from_bytes((1e9 * gigabytes) as usize)
}

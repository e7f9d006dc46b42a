//! The error type of the crate.

use margins_data::{Memory, Shortage};
use margins_losses::{OutOfRange, did_you_mean_of};
use thiserror::Error;

use crate::Alternatives;
use crate::foreign_names::{FOREIGN_NAMES, FOREIGN_PARAMETERS};

/// The reason why a kernel, a Gram matrix or a kernel classifier cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("kernel '{kernel}': parameter {range}")]
    Parameter {
        /// Name of the kernel.
        kernel: &'static str,
        /// The parameter, the value that was refused and the range.
        range: OutOfRange,
    },
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
    /// A kernel value is NaN or infinite.
    #[error("kernel '{kernel}' of rows {one} and {other} is {value}; scale the features first")]
    KernelValue {
        /// Specification of the kernel.
        kernel: String,
        /// Zero-based row of the one sample.
        one: usize,
        /// Zero-based row of the other.
        other: usize,
        /// The value.
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
    /// No kernel has this name.
    #[error(
        "unknown kernel '{name}': known are {known}{}",
        did_you_mean_of(name, known.split(", "), &FOREIGN_NAMES)
    )]
    UnknownKernel {
        /// The name that was asked for.
        name: String,
        /// The registered names, separated by commas.
        known: String,
    },
    /// The kernel has no parameter of this name.
    #[error(
        "kernel '{kernel}' has no parameter '{parameter}': it takes {known}{}",
        did_you_mean_of(parameter, names_of(known), &FOREIGN_PARAMETERS)
    )]
    UnknownParameter {
        /// Name of the kernel.
        kernel: String,
        /// The parameter that was given.
        parameter: String,
        /// The parameters that it takes, in words.
        known: String,
    },
    /// A parameter that has no default is not given.
    #[error("kernel '{kernel}' needs its {parameter}, as in {kernel}:{parameter}=0.5")]
    MissingParameter {
        /// Name of the kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
    },
    /// A parameter that comes from training data is not known yet.
    #[error(
        "kernel '{kernel}' takes a parameter from the training data, which it does not have yet. Call \
         Kernel::adapt_to with the data, or set the parameter, as in gaussian:sigma=0.5."
    )]
    NeedsData {
        /// Specification of the kernel.
        kernel: String,
    },
    /// The text is not a specification of a kernel.
    #[error("kernel specification '{specification}': {reason}")]
    Syntax {
        /// The text that was given.
        specification: String,
        /// The fault, in words.
        reason: String,
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
        "{purpose} needs the kernel matrix of {n} rows in memory, which exceeds the memory limit. {}",
        ways.map_or("Approximate the kernel".to_owned(), |ways| ways.to_string())
    )]
    NotHeld {
        /// The purpose, in words.
        purpose: String,
        /// Number of samples.
        n: usize,
        /// The time and the memory of other ways, where they are known.
        ways: Option<Alternatives>,
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
    /// All samples are the same, so that no distance determines a scale.
    #[error(
        "all rows are the same, so their distances suggest no width: set it, as in gaussian:sigma=0.5"
    )]
    NoDistance,
    /// The distance between two samples is no number.
    #[error("the distance of rows {one} and {other} overflows: scale the features first")]
    Distance {
        /// Zero-based row of the one sample.
        one: usize,
        /// Zero-based row of the other.
        other: usize,
    },
    /// A width from data is no number.
    #[error(
        "rows {one} and {other} have the distance {distance:.3e}, too small or too large for sigma = 1/distance^2: scale \
         the features first, or use a kernel of the distance itself, such as \
         laplacian:sigma={:.1e}", 1.0 / distance
    )]
    Width {
        /// Zero-based row of the one sample.
        one: usize,
        /// Zero-based row of the other.
        other: usize,
        /// The distance, that of a quantile between two pairs.
        distance: f64,
    },
    /// A feature map of no features.
    #[error("a feature map needs at least {least} features, found {found}")]
    TooFewFeatures {
        /// The smallest number.
        least: usize,
        /// The number given.
        found: usize,
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
    /// The function of a [`Watched`](crate::Watched) kernel ended the work.
    #[error("the work with the kernel was interrupted")]
    Interrupted,
    /// A solver of `margins-optim` refused the problem or an option (with the feature `solvers`).
    #[cfg(feature = "solvers")]
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

impl Error {
    /// Returns the error of a block whose rows are those of a matrix from one on, as the error of the
    /// matrix.
    pub(crate) fn of_rows_from(self, first: usize) -> Self {
        match self {
            Error::KernelValue { kernel, one, other, value } => {
                Error::KernelValue { kernel, one: first + one, other, value }
            }
            error => error,
        }
    }
}

/// Returns the names of parameters that are listed with their defaults.
fn names_of(listed: &str) -> impl Iterator<Item = &str> {
    listed.split(", ").filter_map(|parameter| parameter.split(' ').next())
}

/// Returns an amount of memory in the unit that suits it.
fn in_words(gigabytes: f64) -> Memory {
    Memory::from_bytes((1e9 * gigabytes) as usize)
}

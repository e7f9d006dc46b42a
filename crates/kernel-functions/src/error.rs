//! The error type of the crate.

use margins_losses::{OutOfRange, did_you_mean_of};
use thiserror::Error;

use crate::foreign_names::{FOREIGN_NAMES, FOREIGN_PARAMETERS};

/// The reason why a kernel cannot be made or evaluated.
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
    /// Samples and coefficients do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that does not fit.
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
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
    /// The kernel is not defined for a sample.
    #[error("kernel '{kernel}' of rows {one} and {other}: {reason}")]
    Refused {
        /// Specification of the kernel.
        kernel: String,
        /// Zero-based row of the one sample.
        one: usize,
        /// Zero-based row of the other.
        other: usize,
        /// The fault of one of them, and what to do.
        reason: String,
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
    /// The function of a [`Watched`](crate::Watched) kernel ended the work.
    #[error("the work with the kernel was interrupted")]
    Interrupted,
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
            Error::Refused { kernel, one, other, reason } => {
                Error::Refused { kernel, one: first + one, other, reason }
            }
            error => error,
        }
    }
}

/// Returns the names of parameters that are listed with their defaults.
fn names_of(listed: &str) -> impl Iterator<Item = &str> {
    listed.split(", ").filter_map(|parameter| parameter.split(' ').next())
}

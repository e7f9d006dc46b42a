use thiserror::Error;

/// Why a kernel, a Gram matrix or a kernel classifier cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("kernel '{kernel}': parameter {parameter} is {value}, but must be {requirement}")]
    Parameter {
        /// Name of the kernel.
        kernel: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// The value that was refused.
        value: f64,
        /// The range in words, such as "a finite number greater than 0".
        requirement: &'static str,
    },
    /// Parts of the problem do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What does not fit.
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
        "the kernel matrix is not positive semidefinite: a function has the squared norm {square:e}; \
         no gap certifies a fit then"
    )]
    Indefinite {
        /// The negative square that proves it.
        square: f64,
    },
    /// The optim crate refused something.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

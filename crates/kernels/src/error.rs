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
    /// The optim crate refused something.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

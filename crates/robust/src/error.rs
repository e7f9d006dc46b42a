//! The error type of the crate.

use margins_losses::OutOfRange;
use thiserror::Error;

/// The reason why a robust learner cannot be built or cannot take a problem.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] OutOfRange),
    /// The text is not the specification of a learner.
    #[error("solver specification '{specification}': {reason}")]
    Specification {
        /// The text that was given.
        specification: String,
        /// The reason for the refusal.
        reason: String,
    },
    /// There are more blocks than samples to fill them.
    #[error("{blocks} blocks need as many samples of positive weight, found {samples}")]
    Blocks {
        /// The number of blocks.
        blocks: usize,
        /// The number of samples of positive weight.
        samples: usize,
    },
    /// An intercept has no variance term, without which only a constraint on the dual determines
    /// it.
    #[error(
        "the large-margin distribution machine has an intercept only with a variance weight \
         greater than 0; give one or fix the intercept at 0"
    )]
    FreeIntercept,
    /// A system that the solver factorises would be too large.
    #[error("the solver factorises a matrix of order {order}, more than its limit of {limit}")]
    TooLarge {
        /// The order of the matrix.
        order: usize,
        /// The largest order accepted.
        limit: usize,
    },
    /// A matrix that should be positive definite is not so in floating point.
    #[error(
        "a matrix of order {0} is numerically singular; a larger lambda or scaled features may help"
    )]
    Singular(usize),
    /// A start has another number of coefficients than there are features.
    #[error("the start has {found} coefficients, but the data have {expected} features")]
    Start {
        /// The number of coefficients.
        found: usize,
        /// The number of features.
        expected: usize,
    },
    /// A start has a value that is not finite.
    #[error(
        "the start has the value {value} at index {index} (0 is the intercept), but must be finite"
    )]
    StartNotFinite {
        /// The index, 0 for the intercept.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The crate of solvers refused something.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
}

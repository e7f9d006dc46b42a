//! The error type of the crate.

use margins_losses::OutOfRange;
use thiserror::Error;

/// The reason why a calibration refuses its input.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] OutOfRange),
    /// A sample is empty.
    #[error("{0}: at least one value is needed")]
    Empty(&'static str),
    /// A value of a sample is NaN or infinite.
    #[error("{name}: value {value} at index {index} is not finite")]
    NotFinite {
        /// The name of the sample.
        name: &'static str,
        /// The index, counted from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// An entry of a sample is outside its range.
    #[error("{name} {index} is {value}, but must be {requirement}")]
    Entry {
        /// The name of the entry.
        name: &'static str,
        /// The index, counted from 0.
        index: usize,
        /// The value.
        value: f64,
        /// The range in words.
        requirement: &'static str,
    },
    /// No bound on the variance, from which the scale would follow, can be estimated from a sample.
    #[error("{0}: give the scale, or a bound on the variance")]
    NoVariance(OutOfRange),
    /// An iteration ended before it met its tolerance.
    #[error("{what} did not converge in {iterations} iterations")]
    NotConverged {
        /// The name of the iteration.
        what: &'static str,
        /// The number of iterations done.
        iterations: usize,
    },
    /// Two samples differ in length.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        /// The part that does not fit.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// All labels are of one class.
    #[error("labels of both classes are needed, all {0} are of one")]
    OneClass(usize),
    /// The scores of classifiers that decide in this way have no probabilities.
    #[error("a {0} classifier has no probabilities")]
    NoProbabilities(String),
}

impl Error {
    /// Refuses a sample without values or with one that is not finite.
    pub(crate) fn check_sample(name: &'static str, sample: &[f64]) -> Result<(), Error> {
        if sample.is_empty() {
            return Err(Error::Empty(name));
        }
        match sample.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(Error::NotFinite { name, index, value: sample[index] }),
            None => Ok(()),
        }
    }

    /// Refuses a sample with an entry for which `valid` does not hold.
    pub(crate) fn check_entries(
        name: &'static str,
        sample: &[f64],
        requirement: &'static str,
        valid: impl Fn(f64) -> bool,
    ) -> Result<(), Error> {
        match sample.iter().position(|&x| !valid(x)) {
            Some(index) => Err(Error::Entry { name, index, value: sample[index], requirement }),
            None => Ok(()),
        }
    }

    /// Refuses a length other than the one that fits.
    pub(crate) fn check_length(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Error> {
        if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
    }
}

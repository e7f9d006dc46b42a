//! The error type of the crate.

use thiserror::Error;

use crate::foreign_names::FOREIGN_NAMES;
use crate::{OutOfRange, did_you_mean_of};

/// The reason why a loss cannot be built from its parameters or its specification.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("loss '{loss}': parameter {range}")]
    Parameter {
        /// Name of the loss.
        loss: &'static str,
        /// The parameter, the value that was refused and the range.
        range: OutOfRange,
    },
    /// No loss has this name.
    #[error(
        "unknown loss '{name}': known are {known}{}",
        did_you_mean_of(name, known.split(", "), &FOREIGN_NAMES)
    )]
    UnknownLoss {
        /// The name that was asked for.
        name: String,
        /// The registered names, separated by commas.
        known: String,
    },
    /// The loss has no parameter of this name.
    #[error("loss '{loss}' has no parameter '{parameter}': {known}")]
    UnknownParameter {
        /// Name of the loss.
        loss: String,
        /// The parameter that was given.
        parameter: String,
        /// The parameters that it takes, in words.
        known: String,
    },
    /// A loss was registered under another name than its own.
    #[error(
        "a loss is registered as '{registered}', but its method `name` returns '{own}': return \
         '{registered}'"
    )]
    Misnamed {
        /// The name in the registry.
        registered: String,
        /// The name that the loss gives itself.
        own: String,
    },
    /// The text is not `name` or `name:key=value,key=value`.
    #[error("loss specification '{specification}': {reason}")]
    Syntax {
        /// The text that was given.
        specification: String,
        /// The fault, in words.
        reason: String,
    },
}

impl Error {
    /// Returns the value of a parameter of a loss if it is finite and `valid` holds of it.
    ///
    /// # Errors
    /// [`Error::Parameter`] for any other value.
    pub fn check(
        loss: &'static str,
        parameter: &'static str,
        value: f64,
        requirement: &'static str,
        valid: impl FnOnce(f64) -> bool,
    ) -> Result<f64, Error> {
        OutOfRange::check(parameter, value, requirement, valid)
            .map_err(|range| Error::Parameter { loss, range })
    }
}

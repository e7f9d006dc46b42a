//! Experiments of *Leaky hockey stick loss* (Kwon and Zou 2023).

pub(crate) mod comparison;
pub(crate) mod figures;
mod geometry;
pub(crate) mod table_1;
pub(crate) mod table_2;
pub(crate) mod timing;
pub(crate) mod trials;
mod tuning;

use std::error::Error;

/// An error that may come from another thread.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The same error where threads do not matter.
pub(crate) fn here(failure: Failure) -> Box<dyn Error> {
    failure
}

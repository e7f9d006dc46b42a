//! Kernel classifiers with any margin loss.

mod error;

pub use error::Error;

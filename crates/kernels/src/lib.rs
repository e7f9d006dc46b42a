//! Kernel classifiers with any margin loss.

mod error;
pub mod svm;

pub use error::Error;

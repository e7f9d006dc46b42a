//! Kernel classifiers with any margin loss.

mod error;
mod growing_cholesky;
pub mod newton;
mod path;
pub mod svm;
mod symmetric;

pub use error::Error;
pub use path::{KernelFit, path_on};

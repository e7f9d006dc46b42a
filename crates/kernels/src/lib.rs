//! Kernel classifiers with any margin loss.

mod error;
mod growing_cholesky;
mod newton;
mod path;
mod preconditioner;
pub mod svm;
mod symmetric;

pub use error::Error;
pub use path::{KernelFit, path_on};

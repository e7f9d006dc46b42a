//! Kernel classifiers with any margin loss.

mod error;
mod growing_cholesky;
pub mod newton;
mod path;
mod symmetric;

pub use error::Error;
pub use path::{KernelFit, path_on};

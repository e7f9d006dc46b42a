//! Kernel classifiers with any margin loss.

mod cross_validation;
mod error;
mod gram;
mod growing_cholesky;
mod newton;
mod objective;
mod path;
mod preconditioner;
pub mod svm;
mod symmetric;

pub use cross_validation::{cross_validate, training_path};
pub use error::Error;
pub use gram::Gram;
pub use objective::KernelObjective;
pub use path::{KernelFit, fit, path};

//! Kernel classifiers with any margin loss.
//!
//! This crate knows nothing of files, of the command or of other ways to classify. On top of the
//! objectives and paths of `margins-optim` it puts the function space of a kernel:
//!
//! * [`Kernel`] and [`KernelRegistry`]: the kernels, sums and products of them, and yours.
//! * [`Gram`]: the kernel matrix; [`combine`]: scores without one; [`SigmaRange`]: how wide a kernel.
//! * [`KernelObjective`], [`fit`] and [`path`]: certified fits at one lambda or along a path.
//! * [`cross_validate`]: the error along a path, one kernel matrix for all folds.
//! * [`svm`]: the support vector machine by sequential minimal optimisation.
//! * [`margin_distribution()`]: the large-margin distribution machine.
//! * `testkit` (with the feature of this name): the conformance tests for kernels of yours.
//! * [`features`]: Nystrom and random Fourier features for data too large for a kernel matrix.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_kernels::{Gaussian, Gram, KernelObjective, combine, path};
//! use margins_losses::LeakyHockeyStick;
//! use margins_optim::{Options, lambda_grid};
//!
//! // Exclusive or: no line separates the classes.
//! let design = Design::from_rows(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])?;
//! let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
//! let kernel = Gaussian::new(1.0)?;
//! let gram = Gram::new(&kernel, &design)?;
//! let objective = KernelObjective::new(&LeakyHockeyStick, &gram, &labels)?;
//! let fits = path(&objective, &lambda_grid(1.0, 1e-7, 100)?, &Options::default(), &|_| {})?;
//! assert!(fits.iter().all(|fit| fit.report.converged()));
//! let last = &fits[99];
//! let scores = combine(&kernel, &design, &design, &last.coef)?;
//! assert!(scores[0] + last.intercept < 0.0 && scores[3] + last.intercept > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bandwidth;
mod block;
mod cross_validation;
mod error;
pub mod features;
mod gram;
mod grammar;
mod growing_cholesky;
mod kernel;
mod leave_one_out;
mod low_rank;
mod margin_distribution;
mod newton;
mod objective;
mod path;
mod pivoted_cholesky;
mod preconditioner;
mod registry;
pub mod svm;
mod symmetric;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use bandwidth::SigmaRange;
pub use block::Block;
pub use cross_validation::{cross_validate, training_path};
pub use error::Error;
pub use gram::{Gram, combine, combine_all};
pub use kernel::{
    Anova, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Polynomial, Product, Sigmoid,
    Sum,
};
pub use leave_one_out::{leave_one_out, one_step_leave_one_out};
pub use margin_distribution::margin_distribution;
pub use objective::KernelObjective;
pub use path::{KernelFit, fit, path};
pub use pivoted_cholesky::PivotedCholesky;
pub use registry::KernelRegistry;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

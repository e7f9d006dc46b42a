//! Kernel classifiers with any margin loss.
//!
//! This crate knows nothing of files, of the command or of other learners. It has kernels, and the
//! scores of kernel classifiers:
//!
//! * [`Kernel`] and [`KernelRegistry`]: kernels, their sums and products, and your own kernels.
//! * [`combine`] and [`combine_all`]: scores `sum_j a_j k(z_j, x)`, without a kernel matrix.
//! * [`SigmaRange`]: the widths of a Gaussian kernel that the data suggest.
//! * [`features`]: Nystrom and random Fourier features for data too large for a kernel matrix.
//! * `testkit` (with the feature of this name): conformance tests for your own kernels.
//!
//! The feature `solvers`, which is on by default, adds solvers over the function space of a kernel.
//! They use the objectives and paths of `margins-optim`, on which the crate depends only with this
//! feature:
//!
//! * [`Gram`]: the kernel matrix with the factors that solvers share, in memory or computed where
//!   it is needed.
//! * [`KernelObjective`], [`fit`] and [`path`]: certified fits at one lambda or along a path.
//! * [`cross_validate`]: the error along a path, one kernel matrix for all folds.
//! * [`certify`](fn@certify): the duality gap of functions that another solver has found.
//! * [`svm`]: the support vector machine by sequential minimal optimisation.
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
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod alternatives;
mod bandwidth;
mod block;
#[cfg(feature = "solvers")]
mod certify;
#[cfg(feature = "solvers")]
mod cross_validation;
mod error;
mod expansion;
pub mod features;
mod foreign_names;
#[cfg(feature = "solvers")]
mod gram;
mod grammar;
mod kernel;
#[cfg(feature = "solvers")]
mod kernel_fit;
#[cfg(feature = "solvers")]
mod leave_one_out;
#[cfg(feature = "solvers")]
mod low_rank;
#[cfg(feature = "solvers")]
mod newton;
#[cfg(feature = "solvers")]
mod newton_equation;
#[cfg(feature = "solvers")]
mod number;
#[cfg(feature = "solvers")]
mod objective;
#[cfg(feature = "solvers")]
mod path;
#[cfg(feature = "solvers")]
mod path_memory;
#[cfg(feature = "solvers")]
mod pivoted_cholesky;
#[cfg(feature = "solvers")]
mod preconditioner;
mod registry;
#[cfg(feature = "solvers")]
mod response;
#[cfg(feature = "solvers")]
mod rkhs_norm;
#[cfg(feature = "solvers")]
mod room;
#[cfg(feature = "solvers")]
mod single_scale;
#[cfg(feature = "solvers")]
mod sparse_inverse;
#[cfg(feature = "solvers")]
pub mod svm;
#[cfg(feature = "solvers")]
mod symmetric;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use alternatives::Alternatives;
pub use bandwidth::SigmaRange;
pub use block::Block;
pub use error::Error;
pub use expansion::{combine, combine_all, diagonal};
pub use kernel::{
    Anova, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Polynomial, Product, Sigmoid,
    Sum, Watched,
};
pub use registry::KernelRegistry;
#[cfg(feature = "solvers")]
pub use {
    certify::{KnownFunction, certify},
    cross_validation::{cross_validate, planned_folds, svm_path_of_rows, training_path},
    gram::Gram,
    kernel_fit::KernelFit,
    leave_one_out::{leave_one_out, one_step_leave_one_out},
    objective::KernelObjective,
    path::{fit, path},
    path_memory::{PlannedPaths, Route},
    pivoted_cholesky::PivotedCholesky,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

//! Kernel classifiers with any margin loss.
//!
//! This crate knows nothing of files, of the command or of other learners. It minimises over the
//! function space of a kernel, with the objectives and paths of `margins-optim`:
//!
//! * [`Gram`]: the kernel matrix with the factors that solvers share, in memory or computed where
//!   it is needed.
//! * [`KernelObjective`], [`fit`] and [`path`]: certified fits at one lambda or along a path.
//! * [`joint_path`]: several classes in one problem.
//! * [`cross_validate`]: the error along a path, one kernel matrix for all folds.
//! * [`certify`](fn@certify): the duality gap of functions that another solver has found.
//! * [`svm`]: the support vector machine by sequential minimal optimisation.
//! * [`features`]: Nystrom and random Fourier features for data too large for a kernel matrix.
//!
//! Kernels and their scores are in `margins-kernel-functions`, because a program that predicts needs
//! no solver. This crate re-exports them, so that one `use` has both: [`Kernel`],
//! [`KernelRegistry`], [`combine`], [`SigmaRange`]. The conformance tests for your own kernels are
//! in that crate alone.
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

mod certify;
mod cross_validation;
mod error;
pub mod features;
mod gram;
mod joint;
mod kernel_fit;
mod leave_one_out;
mod newton;
mod objective;
mod path;
mod pivoted_cholesky;
mod rkhs_norm;
mod room;
pub mod svm;
mod symmetric;

pub use certify::{KnownFunction, certify};
pub use cross_validation::{cross_validate, svm_path_of_rows, training_path};
pub use error::Error;
pub use gram::Gram;
pub use joint::{JointPulls, joint_certificates, joint_path};
pub use kernel_fit::KernelFit;
pub use leave_one_out::{leave_one_out, one_step_leave_one_out};
pub use margins_kernel_functions::{
    Anova, Bessel, Block, Gaussian, Kernel, KernelRegistry, Laplacian, Linear, Matern32, Matern52,
    Points, Polynomial, Product, SigmaRange, Sigmoid, Spline, Sum, Watched, combine, combine_all,
    diagonal,
};
pub use margins_optim::method::Route;
pub use objective::KernelObjective;
pub use path::{PlannedPaths, fit, path};
pub use pivoted_cholesky::PivotedCholesky;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

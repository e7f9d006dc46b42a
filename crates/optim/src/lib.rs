//! Certified solvers for regularised margin losses.
//!
//! This crate knows nothing of files, kernels or probabilities. It minimises, over an intercept `b`
//! that is never penalised and coefficients `w`,
//!
//! `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`
//!
//! for any convex [`MarginLoss`](margins_losses::MarginLoss), at one lambda or along a whole path.
//! The duality gap of every fit bounds its distance to the minimum. *Converged* means that the
//! relative gap is at most the tolerance, nothing else.
//!
//! * [`Objective`]: loss, data, weights, and whether there is an intercept.
//! * [`Lambda`] and [`lambda_grid`]: regularisation.
//! * [`fit`] and [`path()`]: one lambda, or many with warm starts and the closed-form ray.
//! * [`Solver`]: semismooth Newton, proximal Newton, stochastic dual coordinate ascent, L-BFGS,
//!   cutting planes, MM as published or accelerated, and gradient descent.
//! * [`Training`]: fits and paths from a data set, with standardisation and class weights.
//! * [`cross_validate`]: a path for every fold, the best lambda and the one-standard-error lambda.
//! * [`products`]: weighted Gram matrices and other matrix products with a design.
//! * [`online`]: learners that take one sample at a time.
//! * [`online::stochastic`]: stochastic gradient and Pegasos, a sample or a mini-batch at a time.
//!
//! `margins-robust` has robust estimates of the mean loss, and `margins-massart` halfspaces under
//! Massart noise.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_losses::LeakyHockeyStick;
//! use margins_optim::{Lambda, Objective, Options, fit};
//!
//! let design = Design::from_rows(&[[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]])?;
//! let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
//! let objective = Objective::new(&LeakyHockeyStick, &design, &labels)?;
//! let fit = fit(&objective, Lambda::new(0.1)?, &Options::default())?;
//! assert!(fit.report.converged() && fit.report.relative_gap <= 1e-6);
//! assert!(fit.score(&design.sample(3)) > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! Both are on by default. `rayon` adds threads. `serde` adds serde's traits to learners, step
//! lengths and lambdas, and encodes the messages between a fit and its shards as bytes.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod certificate;
mod error;
pub mod method;
pub mod online;
pub mod path;
pub mod problem;
pub mod products;
pub mod shards;
pub mod space;

pub use certificate::Certificate;
pub use error::Error;
pub use method::{
    Fit, HistoryEntry, Observed, Observer, Options, Report, Solver, Status, StepRule,
};
pub use path::{
    ClassWeights, CrossValidatedPath, ErrorCurve, FinishedFolds, FoldOutcome, FoldRows,
    LeaveOneOutBounds, Measured, ScoredFold, Sensitivity, Training, cross_validate,
    cross_validate_by, error_curve, fit, held_out_curve, leave_one_out_bounds, path,
};
pub use problem::{DEFAULT_GRID, Lambda, MarginSummary, Objective, lambda_grid};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

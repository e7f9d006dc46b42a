//! Estimators of margin classifiers, one module for each kind. The settings of an estimator have a
//! method `fit(&data)`, which returns the model with its evidence:
//! [`FittedClassifier`](regularised::FittedClassifier), [`FittedStream`](stream::FittedStream),
//! [`FittedHalfspace`](massart::FittedHalfspace) or [`FittedEnsemble`](focused::FittedEnsemble).
//!
//! * [`regularised`]: minimises the regularised risk, with a duality gap: at one lambda, along a
//!   path, or by cross-validation over lambdas and kernels; two classes or more; probabilities;
//!   robust objectives.
//! * [`stream`]: adaptive steps and stochastic gradient, over a stream or over data in memory.
//! * [`massart`]: halfspaces under Massart noise, with a bound on the error.
//! * [`risk_bound`]: the excess risk bound of margin pursuit, its quantities estimated from data.
//! * [`focused`]: minimises the largest loss, by a game between a learner and a focused player.
//!
//! [`settings`] lists the settings of each estimator with their help texts.
//!
//! The builder of the crate `margins`, the command and the experiments call these modules.
//!
//! ```
//! use margins_data::generate::{Example, GaussianMixture};
//! use margins_estimators::Evidence;
//! use margins_estimators::regularised::{ClassifierSettings, CrossValidation, Regularisation};
//! use margins_optim::lambda_grid;
//!
//! let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
//! let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 10)?, ..CrossValidation::default() };
//! let settings = ClassifierSettings {
//!     regularisation: Regularisation::CrossValidated(how),
//!     standardize: true,
//!     ..ClassifierSettings::default()
//! };
//! let fitted = settings.fit(&data)?;
//! assert!(matches!(fitted.evidence, Evidence::Gap { certified: true, .. }));
//! assert_eq!(fitted.model.columns(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! * `rayon` (default): threads. No result depends on it.
//! * `serde` (default): model files, and checkpoints of a game or a cross-validation.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod against_rest;
mod certificate;
#[cfg(feature = "serde")]
mod checkpoint;
mod error;
mod evidence;
pub mod focused;
mod limits;
mod linear_model;
pub mod massart;
pub mod regularised;
pub mod risk_bound;
pub mod settings;
mod standardization;
pub mod stream;
#[cfg(feature = "rayon")]
mod threads;

pub use error::Error;
pub use evidence::Evidence;
pub use limits::{COPIES, memory_below};
pub use linear_model::linear_model;
#[cfg(feature = "rayon")]
pub use threads::on_threads;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

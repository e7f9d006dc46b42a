//! Estimators of margin classifiers, a module each. Their settings have a method `fit(&data)`, which
//! returns the model with the evidence for it: [`FittedClassifier`](regularised::FittedClassifier),
//! [`FittedStream`](stream::FittedStream), [`FittedHalfspace`](massart::FittedHalfspace) and
//! [`FittedEnsemble`](focused::FittedEnsemble).
//!
//! * [`regularised`]: the regularised risk minimised, with a duality gap: one lambda, a path, or
//!   cross-validation over lambdas and kernels; two classes or more; probabilities; robust
//!   learners.
//! * [`stream`]: stochastic gradient, over a stream that passes by once or over data in memory.
//! * [`massart`]: halfspaces under Massart noise, with a bound on the error.
//! * [`focused`]: the largest loss made small, by a game against focused samples.
//!
//! [`settings`] lists the settings of each with their texts for users.
//!
//! The builder of the crate `margins`, the command and the experiments call these and add nothing
//! but their own surface: a new setting is one field here.
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
//! * `serde` (default): files of models, and of the state of a game or a cross-validation.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

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
pub mod settings;
mod standardization;
pub mod stream;
#[cfg(feature = "rayon")]
mod threads;

pub use error::Error;
pub use evidence::Evidence;
pub use linear_model::linear_model;
#[cfg(feature = "rayon")]
pub use threads::on_threads;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

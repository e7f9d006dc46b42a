//! Models are what fits of margin classifiers leave behind: the functions that they combine, their
//! coefficients, the rule by which classes are decided, and how far from the optimum the fits can
//! be. There is no solver here and none below: a program that only applies models depends on this
//! crate alone.
//!
//! * [`Model`]: scores, decisions and [probabilities](Model::class_probabilities) of two classes or
//!   more.
//! * [`Member`]: one of its binary classifiers, with the certificate of its fit.
//! * [`Scheme`]: how the members decide between the classes.
//! * [`Basis`]: the functions of a sample that the members combine, if not its features.
//! * [`Registry`]: the losses and kernels that a model may name.
//! * [`Error`]: what can be wrong with a model, its file or the samples.
//!
//! # Files
//!
//! With the feature `serde` a model is written as JSON, for people and other programs, or in a
//! compact binary form with a checksum; every older version of either is read.
//!
//! ```
//! use margins_data::Design;
//! use margins_losses::Logistic;
//! use margins_model::{Member, Model, Registry, Scheme, TrainingSummary};
//!
//! let member = Member {
//!     lambda: Some(0.1),
//!     intercept: -1.0,
//!     coef: vec![2.0, 0.0],
//!     training: TrainingSummary::uncertified(100),
//!     platt: None,
//! };
//! let classes = vec!["ham".to_owned(), "spam".to_owned()];
//! let model = Model::from_members(&Logistic, classes, Scheme::Binary, None, None, vec![member])?;
//!
//! let registry = Registry::standard();
//! let samples = Design::from_rows(&[[1.0, 7.0], [0.0, 7.0]])?;
//! let scores = model.decision_functions(&samples, &registry)?;
//! assert_eq!(scores.as_slice(), [1.0, -1.0]);
//! assert_eq!(model.predict(&samples, &registry)?, [1, 0]);
//! let probabilities = model.class_probabilities(&scores, &Logistic)?;
//! assert!(probabilities[(0, 1)] > 0.7);
//! # #[cfg(feature = "serde")] {
//! use margins_model::Format;
//!
//! let bytes = model.to_bytes(Format::Binary)?;
//! assert_eq!(Model::from_bytes(&bytes, &registry)?, model);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! * `kernels` (default): models of kernel classifiers; without it their files are refused by name.
//! * `rayon` (default): threads for scores. No result depends on it.
//! * `serde` (default): model files, and serde's traits for [`Model`].
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod basis;
mod error;
#[cfg(feature = "serde")]
mod file;
mod member;
mod model;
mod probabilities;
mod registry;
mod scheme;

pub use basis::{Basis, Functions};
pub use error::Error;
#[cfg(feature = "serde")]
pub use file::{Format, Header, from_checked_bytes, to_checked_bytes};
pub use margins_data::write_atomically;
pub use member::{Member, TrainingSummary};
pub use model::Model;
pub use registry::Registry;
pub use scheme::Scheme;

#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

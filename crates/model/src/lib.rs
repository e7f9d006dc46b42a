//! Models of margin classifiers: the functions that they combine, their coefficients, the rule that
//! decides the class, and the certificate of each fit. Neither this crate nor its dependencies have
//! a solver, so that a program that only applies models depends on this crate alone.
//!
//! * [`Model`]: scores, decisions and [probabilities](Model::class_probabilities) of two classes or
//!   more.
//! * [`ModelPath`]: models at several lambdas over the same functions.
//! * [`Member`]: one of its binary classifiers, with the certificate of its fit.
//! * [`Scheme`]: how the members decide between the classes.
//! * [`Basis`]: the functions of a sample that the members combine, if not its features.
//! * [`Registry`]: the losses and kernels that a model may name.
//! * [`Predictor`]: a model with its loss and its kernel, for batches and for single rows.
//! * [`Error`]: errors of a model, its file or the samples.
//!
//! # Files
//!
//! With the feature `serde` a model is written as JSON, for people and other programs, or in a
//! compact binary form with a checksum.
//!
//! ```
//! use margins_model::{Design, Member, Model, Predictor, Registry, Scheme, TrainingSummary};
//!
//! let member = Member {
//!     lambda: Some(0.1),
//!     intercept: -1.0,
//!     coef: vec![2.0, 0.0],
//!     training: TrainingSummary::uncertified(100),
//!     platt: None,
//! };
//! let registry = Registry::standard();
//! let loss = registry.losses.parse("logistic")?;
//! let classes = vec!["ham".to_owned(), "spam".to_owned()];
//! let model = Model::from_members(&loss, classes, Scheme::Binary, None, None, vec![member])?;
//!
//! let predictor = Predictor::new(model.clone(), &registry)?;
//! let samples = Design::from_rows(&[[1.0, 7.0], [0.0, 7.0]])?;
//! assert_eq!(predictor.decision_functions(&samples)?.as_slice(), [1.0, -1.0]);
//! assert_eq!(predictor.predict(&samples)?, [1, 0]);
//! assert!(predictor.probabilities(&samples)?[(0, 1)] > 0.7);
//! assert_eq!(predictor.predict_row(&[1.0, 7.0])?, 1);
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
//! * `rayon` (default): threads for scores. No result depends on it.
//! * `serde` (default): model files, and serde's traits for [`Model`].
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod basis;
mod error;
mod features;
#[cfg(feature = "serde")]
mod file;
mod member;
mod model;
mod path;
mod predictor;
mod probabilities;
mod probability_table;
mod registry;

pub use basis::{Basis, Functions};
pub use error::Error;
pub use features::accept_features;
#[cfg(feature = "serde")]
pub use file::{Format, Header, from_checked_bytes, to_checked_bytes};
pub use margins_calibration::probability::Scheme;
pub use margins_data::{Design, write_atomically};
pub use margins_losses::MarginLoss;
pub use member::{Member, TrainingSummary};
pub use model::{DecisionList, Divisor, Model};
pub use path::ModelPath;
pub use predictor::Predictor;
pub use probability_table::ProbabilityTable;
pub use registry::Registry;

#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

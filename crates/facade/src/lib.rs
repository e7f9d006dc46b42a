//! Binary classification with margin losses: the one crate that applications depend on.
//!
//! This crate knows how the others fit together and nothing of its own but the model file. The
//! layers, from the bottom up:
//!
//! * [`losses`]: scalar mathematics of margin losses, and the trait for yours.
//! * [`calibration`]: what a surrogate risk says about misclassification; probabilities.
//! * [`data`]: designs, labels, readers, splits, metrics, generators.
//! * [`optim`]: objectives, certified solvers, lambda paths, cross-validation.
//! * [`kernels`]: kernel classifiers, support vector machines, feature maps.
//! * [`boost`]: the maximal loss minimised by focused online learning, and its opponents.
//! * [`Prepared`]: data made ready for linear, kernel or approximate classifiers alike.
//! * [`Model`]: what a fit leaves behind, saved and loaded.
//!
//! ```
//! use margins::data::{generate::{Example, GaussianMixture}, split::stratified_folds};
//! use margins::losses::LeakyHockeyStick;
//! use margins::optim::{Training, cross_validate, lambda_grid};
//!
//! let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
//! let folds = stratified_folds(data.labels(), 5, 3)?;
//! let training = Training::new(&LeakyHockeyStick);
//! let cv = cross_validate(&training, &data, &folds, &lambda_grid(1.0, 1e-4, 20)?)?;
//! assert!(cv.curve.certified.iter().all(|&certified| certified));
//! let best = &cv.fits[cv.curve.best];
//! assert!(best.report.relative_gap <= 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod classifier;
mod contest;
mod error;
mod estimator;
mod features;
pub mod model;
mod registry;
mod rescaling;
mod selection;
mod space;
mod threads;
mod training_report;

pub use margins_boost as boost;
pub use margins_calibration as calibration;
pub use margins_data as data;
pub use margins_kernels as kernels;
pub use margins_losses as losses;
pub use margins_optim as optim;
pub use builder::ClassifierBuilder;
pub use classifier::Classifier;
pub use error::Error;
pub use estimator::{Estimator, Probabilities, Progress};
pub use features::Features;
pub use model::{Model, Scheme};
pub use registry::Registry;
pub use rescaling::data_driven_scale;
pub use selection::{CrossValidation, DEFAULT_FOLDS, Selection, folds_of};
pub use space::{Approximation, LeaveOneOut, PRECOMPUTED, Prepared, Subset};
pub use threads::on_threads;
pub use training_report::{MemberReport, TrainingReport};

//! Classification with margin losses: the crate that applications depend on.
//!
//! A [`Classifier`] is built, fitted, certified, applied and saved by a builder. The parts that it
//! uses are re-exported from their crates, one module for each:
//!
//! * [`losses`]: scalar mathematics of margin losses, and the trait for your own.
//! * [`calibration`]: bounds on the error by the surrogate risk; probabilities.
//! * [`data`]: designs, labels, readers, splits, metrics, generators.
//! * [`optim`]: objectives, certified solvers, lambda paths, cross-validation.
//! * [`massart`]: halfspaces with a margin, learned under Massart noise.
//! * [`kernel_functions`]: kernels and their scores, without a solver.
//! * [`kernels`]: kernel classifiers, support vector machines, feature maps.
//! * [`boost`]: focused online learning, which minimises the maximal loss, and its opponents.
//! * [`estimators`]: the estimators, from settings to a model with its evidence.
//! * [`model`]: models, which predict, and are saved and loaded, without a solver.
//!
//! # Fit and certify
//!
//! Samples may be rows, matrices or a data set that was read from a file; labels anything that can
//! be displayed. A fit of a convex loss comes with its duality gap: a bound on how far its
//! objective is from the minimum.
//!
//! ```
//! use margins::Classifier;
//!
//! let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0], [2.5, 2.0]];
//! let labels = ["ham", "ham", "spam", "spam", "ham"];
//! let classifier = Classifier::builder().lambda(0.01).build()?.fit_samples(&rows, labels)?;
//! let report = classifier.report();
//! assert!(report.is_certified());
//! assert!(report.members[0].summary.relative_gap.is_some_and(|gap| gap <= 1e-6));
//! println!("{report}");
//! assert_eq!(classifier.predict(&[[3.0, 0.0]])?, ["spam"]);
//! # Ok::<(), margins::Error>(())
//! ```
//!
//! # Cross-validate and select
//!
//! Without a lambda in the settings, `fit` chooses lambda by cross-validation: the lambda of the
//! lowest error, or the largest one within a standard error of it.
//!
//! ```
//! use margins::{Classifier, CrossValidation, Selection};
//! use margins::data::generate::{Example, GaussianMixture};
//! use margins::optim::lambda_grid;
//!
//! let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
//! let how = CrossValidation {
//!     lambdas: lambda_grid(1.0, 1e-4, 20)?,
//!     selection: Selection::OneStandardError,
//!     ..CrossValidation::default()
//! };
//! let estimator = Classifier::builder().standardize(true).cross_validation(how).seed(3).build()?;
//! let classifier = estimator.fit(&data)?;
//! let curve = classifier.report().curve.as_ref().ok_or("cross-validated")?;
//! assert!(curve.certified.iter().all(|&certified| certified));
//! assert!(curve.one_standard_error <= curve.best);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Kernels
//!
//! A kernel is given by its specification, as on the command line, and may be approximated for large
//! data. Cross-validation chooses among several kernels (`kernels` of the builder).
//!
//! ```
//! use margins::{Approximation, Classifier};
//!
//! // Exclusive or: no line separates the classes.
//! let rows = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
//! let labels = [0, 0, 1, 1];
//! let builder = Classifier::builder().kernel("gaussian:sigma=1").lambda(1e-3);
//! let exact = builder.clone().build()?.fit_samples(&rows, labels)?;
//! let approximate = builder.approximation(Approximation::Nystrom { landmarks: 4, leverage: None });
//! let approximate = approximate.build()?.fit_samples(&rows, labels)?;
//! assert_eq!(exact.predict_index(&rows)?, labels);
//! assert_eq!(approximate.predict_index(&rows)?, labels);
//! # Ok::<(), margins::Error>(())
//! ```
//!
//! # Labels
//!
//! Labels may have any type, and a class is identified by its name: [`Classifier::predict`] returns
//! names, [`Classifier::predict_index`] indices into [`Classifier::classes`], and
//! [`Classifier::predict_labels`] values of your type. Numbers that are not whole are refused.
//!
//! ```
//! use margins::Classifier;
//!
//! let rows = [[0.0], [1.0], [2.0], [3.0]];
//! let estimator = Classifier::builder().lambda(0.01).build()?;
//! let classifier = estimator.fit_samples(&rows, [10, 10, 20, 20])?;
//! assert_eq!(classifier.predict(&rows)?, ["10", "10", "20", "20"]);
//! assert_eq!(classifier.predict_index(&rows)?, [0, 0, 1, 1]);
//! let labels: Vec<u32> = classifier.predict_labels(&rows)?;
//! assert_eq!(labels, [10, 10, 20, 20]);
//! assert!(estimator.fit_samples(&rows, [0.37, 1.92, 1.1, 0.5]).is_err());
//! # Ok::<(), margins::Error>(())
//! ```
//!
//! # Several classes and probabilities
//!
//! More than two classes are fitted one-versus-rest or one-versus-one;
//! [`Classifier::predict_proba`] explains how probabilities are combined. A loss without
//! probabilities, such as the hinge, needs Platt scaling.
//!
//! ```
//! use margins::losses::{Hinge, Logistic};
//! use margins::{Classifier, Probabilities, Scheme};
//!
//! let rows: Vec<[f64; 2]> = (0..30).map(|i| [(i % 3) as f64, (i as f64).sin()]).collect();
//! let labels: Vec<&str> = (0..30).map(|i| ["low", "mid", "high"][i % 3]).collect();
//! let builder = Classifier::builder().lambda(1e-3).scheme(Scheme::OneVersusOne);
//! let logistic = builder.clone().loss(Logistic).build()?.fit_samples(&rows, &labels)?;
//! let hinge = builder.loss(Hinge).probabilities(Probabilities::Platt { folds: Some(5) });
//! let hinge = hinge.build()?.fit_samples(&rows, &labels)?;
//! assert_eq!(logistic.classes(), ["high", "low", "mid"]);
//! for classifier in [logistic, hinge] {
//!     assert_eq!(classifier.predict(&rows)?, labels);
//!     let p = classifier.predict_proba(&rows)?;
//!     assert!((p.row(0).sum() - 1.0).abs() < 1e-12 && p[(0, 1)] > 0.5);
//! }
//! # Ok::<(), margins::Error>(())
//! ```
//!
//! # Your own loss
//!
//! A loss needs two methods; solvers, certificates, kernels, cross-validation and probabilities then
//! work with it. Each fit checks at its margins that the derivatives match the values, and that the
//! loss is convex if it claims so; a loss that fails gets [no
//! certificate](optim::Status::Contradicted). Register the loss in a [`Registry`] to load its models.
//!
//! ```
//! use margins::{Classifier, Registry};
//! use margins::losses::MarginLoss;
//!
//! /// `log(1 + exp(2 (1 - u)))/2`.
//! #[derive(Debug)]
//! struct Shifted;
//!
//! impl MarginLoss for Shifted {
//!     fn name(&self) -> &str {
//!         "shifted"
//!     }
//!     fn value(&self, u: f64) -> f64 {
//!         let z = 2.0 * (1.0 - u);
//!         0.5 * (z.max(0.0) + (-z.abs()).exp().ln_1p())
//!     }
//!     fn derivative(&self, u: f64) -> f64 {
//!         -1.0 / (1.0 + (-2.0 * (1.0 - u)).exp())
//!     }
//! }
//!
//! let rows = [[0.0], [1.0], [2.0], [3.0]];
//! let classifier = Classifier::builder().loss(Shifted).lambda(0.01).build()?.fit_samples(&rows, [0, 1, 0, 1])?;
//! assert!(classifier.report().is_certified());
//! assert!(classifier.predict_proba(&rows)?[(3, 1)] > 0.5);
//!
//! # #[cfg(feature = "serde")] {
//! let registry = Registry::standard().with_loss("shifted", &[], |_| Ok(Box::new(Shifted)));
//! # let path = std::env::temp_dir().join(format!("margins-{}.json", std::process::id()));
//! classifier.save(&path)?;
//! let read = Classifier::load(&path, &registry)?;
//! assert_eq!(read.predict(&rows)?, classifier.predict(&rows)?);
//! # std::fs::remove_file(path)?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! By default:
//!
//! * `rayon`: threads. No result depends on it; without it everything runs on the calling thread,
//!   and there are neither `on_threads` nor `threads` of the builder.
//! * `serde`: model files, and serde's traits for [`Model`], [`Classifier`], [`optim::Lambda`],
//!   step lengths and online learners.
//!
//! On request:
//!
//! * `ndarray`: matrices of ndarray as samples, and `to_array2`.
//! * `linfa`: `Fit` and `Predict` of linfa, by `LinfaEstimator`; includes `ndarray`.
//! * `parquet`: Parquet files in [`data::read`].
//! * `testkit`: conformance tests for your own losses and kernels.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod builder;
mod classifier;
mod estimator;
mod features;
#[cfg(feature = "linfa")]
mod linfa_adapter;
#[cfg(feature = "ndarray")]
mod ndarray_adapter;

pub use builder::ClassifierBuilder;
pub use classifier::Classifier;
pub use estimator::Estimator;
pub use features::Features;
#[cfg(feature = "linfa")]
pub use linfa_adapter::{LinfaClassifier, LinfaError, LinfaEstimator};
pub use margins_boost as boost;
pub use margins_calibration as calibration;
pub use margins_data as data;
pub use margins_estimators as estimators;
pub use margins_estimators::Error;
#[cfg(feature = "rayon")]
pub use margins_estimators::on_threads;
pub use margins_estimators::regularised::{Approximation, PRECOMPUTED, Preparation, Sigmas};
pub use margins_estimators::regularised::{
    AutoScale, CandidateReport, ClassCosts, CrossValidation, DEFAULT_FOLDS, FixedParameter,
    LeaveOneOut, MemberReport, Prepared, Probabilities, Progress, ScaleReport, Selection, Subset,
    TrainingReport, folds_of,
};
pub use margins_estimators::stream::data_driven_scale;
pub use margins_kernel_functions as kernel_functions;
pub use margins_kernels as kernels;
pub use margins_losses as losses;
pub use margins_massart as massart;
pub use margins_model as model;
pub use margins_model::{Model, Predictor, ProbabilityTable, Registry, Scheme};
pub use margins_optim as optim;
pub use margins_robust as robust;
pub use nalgebra;
#[cfg(feature = "ndarray")]
pub use ndarray;
#[cfg(feature = "ndarray")]
pub use ndarray_adapter::to_array2;

#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

//! Data sets for classification.
//!
//! This crate knows nothing of losses or solvers. It holds samples (dense or compressed sparse
//! rows) with labels of two classes or more, reads and writes them, splits and scales them, draws
//! them from the mixtures of the literature, and measures the predictions of a classifier.
//!
//! * [`Design`]: the samples x features matrix; a sample is contiguous in memory.
//! * [`Labels`]: +1 and -1, with the class names that they stand for.
//! * [`Classes`]: labels of several classes, as indices into their names; [`ClassIndex`] finds a
//!   class by its name.
//! * [`Dataset`]: a design, its labels, and optionally weights, names and folds.
//! * [`encode`]: tables with words and missing values as features.
//! * [`read`]: CSV and svmlight files, plain or gzip.
//! * [`mod@write`]: the same formats.
//! * [`blocks`]: files of fixed partitions, for data larger than memory.
//! * [`AtomicFile`]: a file that is written completely or not at all.
//! * [`split`]: stratified folds, hold-out, balanced subsamples.
//! * [`Standardizer`]: scales features to unit standard deviation; sparse data stay sparse.
//! * [`metrics`]: error, AUC, log-loss, Brier score, margin distribution.
//! * [`generate`]: Gaussian mixtures with known Bayes error, halfspaces with Massart noise.
//! * [`Memory`]: an amount of memory, and how much of it is free.
//! * [`parallel`]: parallel loops with results in a fixed order, for the crates above.
//!
//! ```
//! use margins_data::{Dataset, Design, Labels};
//!
//! let design = Design::from_rows(&[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])?;
//! let labels = Labels::new(&["spam", "ham", "spam"])?;
//! assert_eq!(labels.positive_class(), "spam"); // the later of the two in sorted order
//! let data = Dataset::new(design, labels)?;
//! assert_eq!((data.rows(), data.columns()), (3, 2));
//! assert_eq!(data.design().dot(2, &[1.0, -1.0]), -1.0);
//! # Ok::<(), margins_data::Error>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod atomic_file;
pub mod blocks;
mod class_collector;
mod class_index;
mod class_labels;
mod class_name;
mod classes;
mod codes;
mod dataset;
mod decimal;
mod design;
pub mod digits;
pub mod encode;
mod error;
mod exact_decimal;
pub mod generate;
mod inner_loops;
mod labels;
mod memory;
pub mod metrics;
mod missing;
pub mod parallel;
pub mod read;
mod room;
mod sample;
pub mod split;
mod standardize;
pub mod write;

pub use atomic_file::{AtomicFile, write_atomically};
pub use class_index::ClassIndex;
pub use class_labels::ClassLabels;
pub use class_name::same_class;
pub use classes::Classes;
pub use dataset::Dataset;
pub use design::{DenseRows, Design, SparseRows};
pub use error::{Column, Counted, Error, Listed, Place, RowNumber};
pub use labels::Labels;
pub use memory::Memory;
pub use room::Shortage;
pub use sample::Sample;
pub use standardize::{SeeRows, Standardizer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

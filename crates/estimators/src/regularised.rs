//! Fits of the regularised risk, certified by their duality gap.
//!
//! The objective is `F(b, w) = (1/n) sum_i c_i L(y_i f(x_i)) + lambda ||w||^2`, for linear
//! classifiers, kernels and their approximations. [`ClassifierSettings`] say which loss and which
//! functions; how lambda is found ([`Regularisation`]: a single one, a path, cross-validation over
//! lambdas and kernels or leave-one-out); how several classes are divided into binary problems; and
//! where probabilities come from. [`ClassifierSettings::fit`] returns a [`FittedClassifier`],
//! [`ClassifierSettings::path`] the fits at every lambda of a [`Path`].
//!
//! A cross-validation ends with the fit at the lambda selected, on all rows, by way of larger
//! lambdas: there is one such procedure, here.

mod approximation;
mod auto_scale;
mod checks;
mod class_costs;
mod constant_decisions;
mod contests;
mod cross_validation;
mod data_summary;
mod distributed;
mod exact;
mod file_rows;
mod fit;
mod fitted;
mod judge;
#[cfg(feature = "serde")]
mod kept_folds;
mod landmarks;
mod losses;
mod margin_distribution;
mod model;
mod optimality;
mod planned_paths;
mod platt;
mod prepared;
#[cfg(feature = "serde")]
mod problem_in_words;
mod progress;
mod report;
mod scale_rule;
mod search;
mod settings;
mod sigmas;
mod space;
#[cfg(feature = "serde")]
mod stored_points;
mod time_limit;

pub use approximation::Approximation;
pub use class_costs::ClassCosts;
pub use cross_validation::{
    CrossValidation, DEFAULT_FOLDS, Folds, LeaveOneOut, Selection, folds_of,
};
pub use data_summary::DataSummary;
pub use file_rows::FileRows;
pub(crate) use fit::{bytes_of_members, check_members};
pub use fitted::{FittedClassifier, Path};
pub use landmarks::LandmarkBlocks;
pub use margin_distribution::margin_distribution;
pub use model::model_of_fit;
pub use prepared::{PRECOMPUTED, Preparation};
pub use prepared::{Prepared, Subset};
pub(crate) use prepared::{constant_fits, decided_sign};
pub use progress::{IterationObserver, Observer, Progress};
pub use report::{CandidateReport, MemberReport, TrainingReport};
pub use scale_rule::{AutoScale, ScaleReport};
pub use settings::{ClassifierSettings, FixedParameter, Probabilities, Regularisation};
pub use sigmas::Sigmas;
pub use space::KernelChoice;

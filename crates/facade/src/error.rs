use margins_data::Listed;
use margins_robust::Learner;

use crate::model;

/// Why a classifier cannot be fitted or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The losses crate refused something.
    #[error(transparent)]
    Losses(#[from] margins_losses::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
    /// The calibration crate refused something.
    #[error(transparent)]
    Calibration(#[from] margins_calibration::Error),
    /// The optim crate refused something.
    #[error(transparent)]
    Optim(#[from] margins_optim::Error),
    /// A robust learner cannot take the problem.
    #[error(transparent)]
    Robust(#[from] margins_robust::Error),
    /// A learner of halfspaces under Massart noise refused something.
    #[cfg(feature = "massart")]
    #[error(transparent)]
    Massart(#[from] margins_massart::Error),
    /// The kernels crate refused something.
    #[cfg(feature = "kernels")]
    #[error(transparent)]
    Kernels(#[from] margins_kernels::Error),
    /// A model cannot be made, read, written or applied.
    #[error(transparent)]
    Model(#[from] model::Error),
    /// Only a kernel that can be evaluated can be approximated.
    #[error("a precomputed kernel matrix cannot be approximated")]
    ApproximatePrecomputed,
    /// A kernel matrix has no features to scale.
    #[error("a precomputed kernel matrix has no features that could be standardised")]
    StandardizePrecomputed,
    /// Leaving one out is done in the function space of a kernel.
    #[error("leave-one-out needs a kernel without approximation")]
    LeaveOneOut,
    /// A learner that is linear in features met a kernel.
    #[error(
        "{0} is linear in its features and takes no kernel matrix: approximate the kernel by features, \
         as --approx nystrom does"
    )]
    LinearLearner(Learner),
    /// Random Fourier features exist for the Gaussian kernel.
    #[error("random Fourier features exist here for the gaussian kernel, not for '{0}'")]
    Fourier(String),
    /// Two settings of which only one can hold.
    #[error("{one} and {other} contradict each other: {reason}")]
    Contradiction {
        /// One setting, as it was made.
        one: String,
        /// The other.
        other: String,
        /// Why not both.
        reason: &'static str,
    },
    /// A setting is outside its range.
    #[error("{setting} is {value}, but must be {requirement}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// The value that was refused.
        value: String,
        /// The range in words, such as "at least 1".
        requirement: String,
    },
    /// A class was named that the data or the model does not have.
    #[error("there is no class '{class}'{}: the classes are {}", at_row(row), Listed(classes))]
    UnknownClass {
        /// The name.
        class: String,
        /// Zero-based row where it stands, if it comes from labels.
        row: Option<usize>,
        /// The classes that there are.
        classes: Vec<String>,
    },
    /// No two of the samples are of one class.
    #[error(
        "the {0} samples have {0} classes, no two of them the same: are the labels measurements or names of samples?"
    )]
    AllClassesDiffer(usize),
    /// A class has a name that is no value of the type that was asked for.
    #[error("the class '{class}' is no value of type {wanted}")]
    LabelType {
        /// Its name.
        class: String,
        /// The type.
        wanted: &'static str,
    },
    /// The binary scheme met more than two classes.
    #[error(
        "the data have {0} classes: choose Scheme::OneVersusRest or Scheme::OneVersusOne for more than two"
    )]
    SeveralClasses(usize),
    /// Neither the loss nor the settings give probabilities.
    #[error(
        "the loss '{0}' has no probabilities; Probabilities::Platt in the builder fits them on held-out scores"
    )]
    NoProbabilities(String),
    /// The time limit came before any lambda was certified in all folds.
    #[error(
        "the time limit of {0:?} came before the fits at any lambda were certified in all folds: give more time, fewer \
         lambdas or a single one"
    )]
    TimeLimit(std::time::Duration),
    /// Threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// The number of them.
        threads: usize,
        /// What the system says.
        reason: String,
    },
    /// linfa refused something.
    #[cfg(feature = "linfa")]
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

fn at_row(row: &Option<usize>) -> String {
    row.map_or_else(String::new, |row| format!(" (row {row})"))
}

impl Error {
    pub(crate) fn setting(
        setting: &'static str,
        value: &impl ToString,
        requirement: impl Into<String>,
    ) -> Self {
        Error::Setting { setting, value: value.to_string(), requirement: requirement.into() }
    }
}

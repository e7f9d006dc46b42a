//! The error type of the crate.

use margins_data::{Listed, Shortage};
use margins_model::Scheme;
use margins_robust::RobustLearner;

/// A reason for which a classifier cannot be fitted or applied.
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
    #[error(transparent)]
    Massart(#[from] margins_massart::Error),
    /// The game of focused online learning refused something.
    #[error(transparent)]
    Boost(#[from] margins_boost::Error),
    /// The crates of kernels refused something.
    #[error(transparent)]
    Kernels(#[from] margins_kernels::Error),
    /// A model cannot be made, read, written or applied.
    #[error(transparent)]
    Model(#[from] margins_model::Error),
    /// Only a kernel that can be evaluated can be approximated.
    #[error("a precomputed kernel matrix cannot be approximated")]
    ApproximatePrecomputed,
    /// A kernel matrix has no features to scale.
    #[error("a precomputed kernel matrix has no features that could be standardised")]
    StandardizePrecomputed,
    /// Every feature is taken out of the kernel.
    #[error(
        "every feature has the penalty factor 0, which leaves none for the kernel: leave the kernel \
         out, or give some feature a factor of 1"
    )]
    NoKernelFeatures,
    /// A kernel matrix has no columns to encode.
    #[error("a precomputed kernel matrix has no columns that could be encoded")]
    EncodePrecomputed,
    /// Only fits in the function space of a kernel, to a loss without a kink, can leave one sample
    /// out at a time.
    #[error(
        "leave-one-out needs a kernel without approximation and a loss without a kink, such as \
         squared-hinge"
    )]
    LeaveOneOut,
    /// A learner that is linear in features met a kernel matrix.
    #[error(
        "{0} is linear in its features and takes no kernel matrix: approximate the kernel by features, \
         as --approx nystrom does"
    )]
    LinearLearner(RobustLearner),
    /// Random Fourier features exist for the Gaussian kernel.
    #[error("random Fourier features are available for the gaussian kernel only, not for '{0}'")]
    Fourier(String),
    /// Two settings that cannot be combined.
    #[error("{one} cannot be combined with {other}: {reason}")]
    Contradiction {
        /// The one setting, as it was made.
        one: String,
        /// The other setting.
        other: String,
        /// The reason why both cannot hold.
        reason: &'static str,
    },
    /// A setting is outside its range.
    #[error("{setting} is {value}, but must be {requirement}")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// The value that was refused.
        value: String,
        /// The range in words, such as "at least 1".
        requirement: String,
    },
    /// The data or the model do not have a class that was named.
    #[error("there is no class '{class}'{}: the classes are {}", at_row(row), Listed(classes))]
    UnknownClass {
        /// The name of the class.
        class: String,
        /// The zero-based row of the name, if it comes from labels.
        row: Option<usize>,
        /// The classes that there are.
        classes: Vec<String>,
    },
    /// The binary scheme met more than two classes.
    #[error(
        "the data have {0} classes: choose Scheme::OneVersusRest or Scheme::OneVersusOne for more than two"
    )]
    SeveralClasses(usize),
    /// The classifiers of all members take more memory than there is.
    #[error(
        "{scheme} of {classes} classes needs {members} classifiers: {shortage}. Merge classes{}.",
        if *scheme == Scheme::OneVersusOne { ", or take one-versus-rest" } else { "" }
    )]
    Members {
        /// The scheme.
        scheme: Scheme,
        /// The number of classes.
        classes: usize,
        /// The number of members.
        members: usize,
        /// The memory that is needed and that is free.
        shortage: Shortage,
    },
    /// The classifiers of all members take more time than there is.
    #[error(
        "{scheme} of {classes} classes needs {members} classifiers, which take at least {seconds:.0} s, and the time \
         limit is {limit:?}: give more time, or merge classes{}",
        if *scheme == Scheme::OneVersusOne { ", or take one-versus-rest" } else { "" }
    )]
    MembersTime {
        /// The scheme.
        scheme: Scheme,
        /// The number of classes.
        classes: usize,
        /// The number of members.
        members: usize,
        /// The seconds that all fits take at least.
        seconds: f64,
        /// The time limit.
        limit: std::time::Duration,
    },
    /// A learner shifts its scores, and the loss would make probabilities of them.
    #[error(
        "{learner} shifts the scores, so the probabilities of {loss} do not apply: use a loss without \
         probabilities, such as hinge"
    )]
    ShiftedScores {
        /// The learner.
        learner: RobustLearner,
        /// The specification of the loss.
        loss: String,
    },
    /// A stream has no rows to learn from.
    #[error("there are no samples")]
    EmptyStream,
    /// The rows of a stream count nothing.
    #[error("all weights are 0")]
    ZeroWeights,
    /// A file is not the state of the game or cross-validation to be resumed, or cannot be read or
    /// written.
    #[cfg(feature = "serde")]
    #[error("{}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: std::path::PathBuf,
        /// The fault in words.
        reason: String,
        /// The kind of the fault if the system refuses the file; none if what is in it is at fault.
        kind: Option<std::io::ErrorKind>,
    },
    /// A state does not belong to the learner that is to continue.
    #[error("not the state of this learner: {0}")]
    State(String),
    /// The time limit came before any lambda was certified in all folds.
    #[error(
        "the time limit of {0:?} came before the fits at any lambda were certified in all folds: give more time, fewer \
         lambdas or a single one"
    )]
    TimeLimit(std::time::Duration),
    /// The time limit came before the kernel was ready for a fit.
    #[error(
        "the time limit of {0:?} came before the kernel matrix was computed: give more time, or an approximation such as \
         nystrom:m=1000"
    )]
    Unprepared(std::time::Duration),
    /// A path ends before the lambda asked for.
    #[error(
        "the path ends at lambda {last}, where the published stopping rule reached its iteration limit, before lambda \
         {wanted}: choose a larger lambda, or stop by the gap"
    )]
    PathEnded {
        /// The last lambda with a fit.
        last: margins_optim::Lambda,
        /// The lambda asked for.
        wanted: margins_optim::Lambda,
    },
    /// Threads cannot be started.
    #[error("cannot start {threads} threads: {reason}; fewer threads take less memory")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The words of the system.
        reason: String,
    },
}

fn at_row(row: &Option<usize>) -> String {
    row.map_or_else(String::new, |row| format!(" (row {row})"))
}

impl From<margins_kernel_functions::Error> for Error {
    fn from(error: margins_kernel_functions::Error) -> Self {
        Error::Kernels(error.into())
    }
}

impl Error {
    /// Returns the refusal of a setting outside its range.
    pub(crate) fn setting(
        setting: &'static str,
        value: &impl ToString,
        requirement: impl Into<String>,
    ) -> Self {
        Error::Setting { setting, value: value.to_string(), requirement: requirement.into() }
    }

    /// Returns the refusal of two settings of which only one can hold.
    pub(crate) fn contradiction(one: String, other: String, reason: &'static str) -> Self {
        Error::Contradiction { one, other, reason }
    }
}

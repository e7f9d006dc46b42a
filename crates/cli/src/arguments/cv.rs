//! Options of `margins cv`.

use std::path::PathBuf;

use clap::Args;
use margins::Sigmas;

use super::regularised::{
    ClassifierArguments, LambdasArguments, ModelArguments, RegularisedArguments,
};
use super::report::{PageArguments, TestArguments};
use super::values::{LeaveOneOutName, MeasureName, Selection, whole};

#[derive(Debug, Args)]
pub(crate) struct CvArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) classifier: ClassifierArguments,
    #[command(flatten)]
    pub(crate) candidates: CandidatesArguments,
    #[command(flatten)]
    pub(crate) lambdas: LambdasArguments,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

/// The options for several kernels to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct CandidatesArguments {
    /// Additional candidate kernel; may be repeated
    #[arg(long, value_name = "KERNEL", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) or_kernel: Vec<String>,
    /// Candidate sigmas: auto:COUNT, FIRST:LAST:COUNT or a list
    ///
    /// Each kernel given without a sigma is tried with every candidate. A list is comma-separated;
    /// ranges are evenly spaced on a logarithmic scale. auto is for gaussian kernels: it ranges from 10 / q10 down to 0.1 / q90,
    /// where q10 and q90 are the 0.1 and 0.9 quantiles of the squared distances between rows.
    #[arg(long, value_name = "GRID", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) sigmas: Option<Sigmas>,
}

/// The options of the cross-validation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct ChoiceArguments {
    /// Number of stratified folds [default: 5]
    ///
    /// With --fold-column, the values of the column are distributed over this number of folds, and
    /// rows with the same value stay in the same fold.
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) folds: Option<usize>,
    /// Leave-one-out cross-validation, for kernel classifiers
    #[arg(
        long,
        value_name = "HOW",
        conflicts_with_all = ["folds", "fold_column", "multi_class"],
        requires = "kernel",
        hide_short_help = true
    )]
    pub(crate) leave_one_out: Option<LeaveOneOutName>,
    /// Skip clearly worse lambdas in the second half of the folds
    ///
    /// A lambda is skipped if its error over the first half of the folds is four standard deviations
    /// above the error of the best lambda. The table of --verbose marks it as abandoned.
    #[arg(long, conflicts_with = "leave_one_out", hide_short_help = true)]
    pub(crate) abandon_hopeless: bool,
    /// Checkpoint file: save finished folds to it, and resume from it if it exists
    ///
    /// To resume a run that was killed, repeat the same command. The result is identical, bit for
    /// bit, to an uninterrupted run. A checkpoint of other data or settings is an error.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["leave_one_out", "time_limit"],
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Measure: error, balanced-error, log-loss, auc or brier
    ///
    /// Lambda and kernel are selected by the mean over the folds of: the error rate, the mean error
    /// rate per class, the mean negative log-probability of the true class, the area under the ROC
    /// curve (two classes), or the mean squared error of the probabilities. Ties are resolved by the
    /// log-loss. log-loss and brier need a loss with probabilities.
    #[arg(
        long,
        value_name = "MEASURE",
        default_value = "error",
        hide_possible_values = true,
        conflicts_with_all = ["leave_one_out", "abandon_hopeless"]
    )]
    pub(crate) measure: MeasureName,
    /// Rule to select lambda
    #[arg(long, value_name = "RULE", default_value = "best")]
    pub(crate) select: Selection,
}

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
    /// Another kernel to choose from; may be repeated
    #[arg(long, value_name = "KERNEL", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) or_kernel: Vec<String>,
    /// Sigmas to choose from: auto:COUNT, FIRST:LAST:COUNT, or a list
    ///
    /// Every kernel that leaves its sigma out is tried with each of them, evenly spaced on a
    /// logarithmic scale. auto is for gaussian kernels: from ten times the reciprocal of the 0.1
    /// quantile of squared distances down to a tenth of that of the 0.9 quantile.
    #[arg(long, value_name = "GRID", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) sigmas: Option<Sigmas>,
}

/// The options of the cross-validation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct ChoiceArguments {
    /// Number of stratified folds [default: 5]
    ///
    /// With --fold-column, the number of folds that the values of the column are distributed over;
    /// rows with the same value stay in one fold.
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) folds: Option<usize>,
    /// Hold out single samples, for kernels
    #[arg(
        long,
        value_name = "HOW",
        conflicts_with_all = ["folds", "fold_column", "multi_class"],
        requires = "kernel",
        hide_short_help = true
    )]
    pub(crate) leave_one_out: Option<LeaveOneOutName>,
    /// Leave hopeless lambdas out of later folds
    ///
    /// A lambda is hopeless if the earlier half of the folds has shown it to be four standard
    /// deviations worse than the best. What is left out is marked.
    #[arg(long, conflicts_with = "leave_one_out", hide_short_help = true)]
    pub(crate) abandon_hopeless: bool,
    /// Write every finished fold to this file; go on from it if it is there
    ///
    /// A run that was killed goes on from there when the same command is given again, and ends with
    /// the same bits as one that was not. A file of other data or settings is refused.
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
    /// Lambda and the kernel with the best mean over the folds are taken: of the error rate, the mean
    /// of the error rates of the classes, the mean of -log of the probability of the true class, the
    /// area under the ROC curve (two classes), or the mean squared error of the probabilities. Of
    /// equal values the one with the smallest log-loss is taken. log-loss and brier need a loss with
    /// probabilities.
    #[arg(
        long,
        value_name = "MEASURE",
        default_value = "error",
        hide_possible_values = true,
        conflicts_with_all = ["leave_one_out", "abandon_hopeless"]
    )]
    pub(crate) measure: MeasureName,
    /// Rule for lambda
    #[arg(long, value_name = "RULE", default_value = "best")]
    pub(crate) select: Selection,
}

//! Options of `margins cv`.

use std::path::PathBuf;

use clap::Args;
use margins::Sigmas;

use super::fit::DualsArguments;
use super::regularised::{
    ClassifierArguments, LambdasArguments, ModelArguments, RegularisedArguments, StopArguments,
};
use super::report::{PageArguments, TestArguments};
use super::values::{LeaveOneOutName, MeasureName, Selection, number, whole};

#[derive(Debug, Args)]
pub(crate) struct CvArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) classifier: ClassifierArguments,
    #[command(flatten)]
    pub(crate) losses: LossesArguments,
    #[command(flatten)]
    pub(crate) candidates: CandidatesArguments,
    #[command(flatten)]
    pub(crate) lambdas: LambdasArguments,
    #[command(flatten)]
    pub(crate) stop: StopArguments,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
    #[command(flatten)]
    pub(crate) duals: DualsArguments,
}

/// The options for several losses to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct LossesArguments {
    /// Candidate loss, in addition to --loss; may be repeated
    ///
    /// Each is cross-validated on the same folds, and that of the lowest error (or best --measure) is
    /// taken.
    #[arg(long, value_name = "LOSS", hide_short_help = true)]
    pub(crate) or_loss: Vec<String>,
    #[arg(
        long,
        value_name = "LIST",
        value_parser = number,
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub(crate) scales: Vec<f64>,
}

/// The options for several kernels to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct CandidatesArguments {
    #[arg(long, value_name = "KERNEL", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) or_kernel: Vec<String>,
    #[arg(long, value_name = "GRID", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) sigmas: Option<Sigmas>,
}

/// The options of the cross-validation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct ChoiceArguments {
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
    #[arg(
        long,
        value_name = "MEASURE",
        default_value = "error",
        hide_possible_values = true,
        conflicts_with_all = ["leave_one_out", "abandon_hopeless"]
    )]
    pub(crate) measure: MeasureName,
    #[arg(long, value_name = "RULE", default_value = "best")]
    pub(crate) select: Selection,
}

//! Options of `margins stream`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use margins::estimators::stream::Projection;
use margins::optim::Lambda;
use margins::optim::online::stochastic::Averaging;

use super::data::{ClassesArguments, DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::{LossArguments, ModelArguments, PenaltyArguments};
use super::values::{
    OneVersusRest, averaging, choices, number, parse_lambda_or_none, projection, seconds,
    tolerance, whole,
};

#[derive(Debug, Args)]
#[command(mut_arg("fold_column", |option| option.requires("epochs")))]
#[command(mut_arg("class_weight", |option| option.requires("epochs")))]
#[command(mut_arg("standardize", |option| option.requires("epochs")))]
#[command(mut_arg("threads", |option| option.requires("epochs").hide_short_help(true)))]
pub(crate) struct StreamArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) classes: ClassesArguments,
    #[command(flatten)]
    pub(crate) loss: LossArguments,
    /// Scheme
    ///
    /// In a single pass, the classes are the labels of the first rows, or the comma-separated list
    /// --classes.
    #[arg(long, value_name = "HOW", conflicts_with_all = ["history", "rescale_at"], help_heading = "Loss")]
    pub(crate) multi_class: Option<OneVersusRest>,
    #[arg(
        long,
        value_parser = parse_lambda_or_none,
        default_value = "0",
        help_heading = "Regularisation"
    )]
    pub(crate) lambda: Lambda,
    #[command(flatten)]
    pub(crate) penalty: PenaltyArguments,
    #[command(flatten)]
    pub(crate) method: MethodArguments,
    #[command(flatten)]
    pub(crate) memory: MemoryArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
}

impl StreamArguments {
    /// Returns the data, with their encoding.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
    }
}

/// The options of stochastic gradient.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArguments {
    #[arg(long, value_name = "METHOD", default_value = "adaptive")]
    pub(crate) method: MethodName,
    #[arg(long, value_name = "LENGTH", value_parser = number)]
    pub(crate) step: Option<f64>,
    #[arg(long, value_name = "HOW")]
    pub(crate) schedule: Option<ScheduleName>,
    #[arg(long, value_name = "WHICH", value_parser = averaging)]
    pub(crate) average: Option<Averaging>,
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) batch: Option<usize>,
    #[arg(long, value_name = "RADIUS", value_parser = projection)]
    pub(crate) projection: Option<Projection>,
    #[arg(long, value_name = "NORM", hide_short_help = true)]
    pub(crate) random_start: Option<f64>,
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The options of data that are visited more than once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data in memory")]
pub(crate) struct MemoryArguments {
    #[arg(long, value_parser = whole::<usize>, value_name = "N", conflicts_with = "classes")]
    pub(crate) epochs: Option<usize>,
    #[arg(long, requires = "epochs", hide_short_help = true)]
    pub(crate) with_replacement: bool,
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "epochs", hide_short_help = true)]
    pub(crate) rescale_at: Option<u64>,
    #[arg(
        long,
        value_name = "HOW",
        default_value = "divide",
        requires = "rescale_at",
        hide_short_help = true
    )]
    pub(crate) rescale_steps: RescaleStepsName,
    #[arg(long, value_parser = whole::<usize>, value_name = "N", requires = "epochs", hide_short_help = true)]
    pub(crate) balanced_rows: Option<usize>,
    #[arg(long, value_name = "SHARE", requires = "epochs")]
    pub(crate) hold_out: Option<f64>,
    #[arg(long, value_parser = whole::<usize>, value_name = "N", requires = "hold_out")]
    pub(crate) patience: Option<usize>,
    #[arg(long, value_name = "GAP", value_parser = tolerance, requires = "epochs")]
    pub(crate) tol: Option<f64>,
    /// CSV file to write, with a row per epoch; - writes to standard output
    ///
    /// The columns are cost, objective, gap, training error and margins.
    #[arg(long, value_name = "FILE", requires = "epochs")]
    pub(crate) history: Option<PathBuf>,
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        requires = "epochs",
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
}

choices! {
    /// The stochastic methods.
    MethodName of "method": Adaptive, Coin, Sgd, Pegasos, MarginPursuit
}

choices! {
    /// The step lengths after the scale of margin pursuit was set from the data.
    RescaleStepsName of "rescale_steps": Divide, Keep
}

choices! {
    /// The schedules of step lengths.
    ScheduleName of "schedule": Constant, InverseSqrt, InverseTime, Bottou, MarginPursuit
}

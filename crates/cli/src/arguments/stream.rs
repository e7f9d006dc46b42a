//! Options of `margins stream`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use margins::estimators::stream::Projection;
use margins::optim::Lambda;
use margins::optim::online::stochastic::Averaging;

use super::data::{ClassesArguments, DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::{LossArguments, ModelArguments, PenaltyArguments};
use super::values::{
    averaging, number, parse_lambda_or_none, projection, seconds, tolerance, whole,
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
    /// Scheme for several classes
    ///
    /// In one pass the classes are those of the first rows, or all that --classes names with commas
    /// between them.
    #[arg(long, value_name = "HOW", conflicts_with_all = ["history", "rescale_at"], help_heading = "Loss")]
    pub(crate) multi_class: Option<StreamScheme>,
    /// Weight of the squared norm beside the mean loss
    ///
    /// Without a penalty no duality gap is known, and the gradient is the evidence of --epochs.
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
    /// Method
    #[arg(long, value_name = "METHOD", default_value = "adaptive")]
    pub(crate) method: MethodName,
    /// First step length of sgd [default: 1, or that of the schedule]
    #[arg(long, value_name = "LENGTH", value_parser = number)]
    pub(crate) step: Option<f64>,
    /// Schedule of the steps of sgd [default: bottou]
    #[arg(long, value_name = "HOW")]
    pub(crate) schedule: Option<ScheduleName>,
    /// Mean of iterates: none, polyak, or suffix:SHARE [default: none]
    ///
    /// none takes the last iterate, polyak the mean of all, and suffix that of the last ones, which
    /// needs --epochs.
    #[arg(long, value_name = "WHICH", value_parser = averaging)]
    pub(crate) average: Option<Averaging>,
    /// Samples a step of sgd or pegasos [default: 1]
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Radius of the ball of coefficients, or none [default: by the method]
    ///
    /// Coefficients are projected on the ball after every step. Unless told, it is none for sgd and
    /// 1/sqrt(2 lambda) for pegasos. The other methods take none.
    #[arg(long, value_name = "RADIUS", value_parser = projection)]
    pub(crate) projection: Option<Projection>,
    /// Begin sgd or pegasos at random coefficients of this norm [default: at 0]
    #[arg(long, value_name = "NORM", hide_short_help = true)]
    pub(crate) random_start: Option<f64>,
    /// Seed of the order of the samples and of a random start
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The options of data that are visited more than once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data in memory")]
pub(crate) struct MemoryArguments {
    /// Passes over data in memory [default: one, not in memory]
    ///
    /// The data are read into memory, visited in shuffled order, and the fit is certified at the
    /// end.
    #[arg(long, value_parser = whole::<usize>, value_name = "N", conflicts_with = "classes")]
    pub(crate) epochs: Option<usize>,
    /// Draw samples independently instead of in shuffled epochs
    #[arg(long, requires = "epochs", hide_short_help = true)]
    pub(crate) with_replacement: bool,
    /// Set the scale of margin-pursuit from the data after this number of steps
    ///
    /// It is set once, and the steps are divided by the factor that the scale grows by.
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "epochs", hide_short_help = true)]
    pub(crate) rescale_at: Option<u64>,
    /// Stop when this share, held out, no longer improves
    ///
    /// The share of the samples is not trained on. It ends a fit when it has not improved for
    /// --patience epochs.
    #[arg(long, value_name = "SHARE", requires = "epochs")]
    pub(crate) hold_out: Option<f64>,
    /// Epochs without improvement before the end [default: 5]
    #[arg(long, value_parser = whole::<usize>, value_name = "N", requires = "hold_out")]
    pub(crate) patience: Option<usize>,
    /// Relative gap that counts as converged [default: 1e-6]
    #[arg(long, value_name = "GAP", value_parser = tolerance, requires = "epochs")]
    pub(crate) tol: Option<f64>,
    /// Write a CSV file with a row for every epoch; - for standard output
    ///
    /// Its columns are cost, objective, gap, training error and margins.
    #[arg(long, value_name = "FILE", requires = "epochs")]
    pub(crate) history: Option<PathBuf>,
    /// End after the epoch in which this time is over
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        requires = "epochs",
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
}

/// The binary problems that several classes of a stream are broken into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamScheme {
    /// One-versus-rest: a member for every class against all others
    Ovr,
}

/// The stochastic methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Adaptive steps and coin betting, mixed: any loss, nothing to tune, any units of features
    Adaptive,
    /// Coin betting alone: any loss, no step length
    Coin,
    /// Stochastic gradient by a schedule of steps: any loss
    Sgd,
    /// Pegasos: the hinge loss
    Pegasos,
}

/// The schedules of step lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleName {
    /// STEP
    Constant,
    /// STEP / sqrt(t)
    InverseSqrt,
    /// STEP / t
    InverseTime,
    /// STEP / (1 + 2 lambda STEP t)
    Bottou,
    /// 1 / (scale sqrt(lambda) t), of the margin-pursuit loss
    MarginPursuit,
}

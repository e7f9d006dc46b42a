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
    /// Scheme for more than two classes
    ///
    /// In a single pass, the classes are the labels of the first rows, or the comma-separated list
    /// --classes.
    #[arg(long, value_name = "HOW", conflicts_with_all = ["history", "rescale_at"], help_heading = "Loss")]
    pub(crate) multi_class: Option<StreamScheme>,
    /// Weight of the penalty in mean loss + lambda * squared norm
    ///
    /// With 0 there is no duality gap, and --epochs reports the norm of the gradient instead.
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
    /// Algorithm
    #[arg(long, value_name = "METHOD", default_value = "adaptive")]
    pub(crate) method: MethodName,
    /// First step length of sgd [default: 1, or by the schedule]
    #[arg(long, value_name = "LENGTH", value_parser = number)]
    pub(crate) step: Option<f64>,
    /// Step length schedule of sgd [default: bottou]
    #[arg(long, value_name = "HOW")]
    pub(crate) schedule: Option<ScheduleName>,
    /// Averaging of iterates: none, polyak, or suffix:SHARE [default: none]
    ///
    /// none returns the last iterate, polyak the mean of all iterates, and suffix the mean of the
    /// last SHARE of the iterates, which needs --epochs.
    #[arg(long, value_name = "WHICH", value_parser = averaging)]
    pub(crate) average: Option<Averaging>,
    /// Mini-batch size of sgd or pegasos [default: 1]
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Radius to project the coefficients to, or none [default: by method]
    ///
    /// Coefficients are projected onto the ball after every step. By default, none for sgd and
    /// 1/sqrt(2 lambda) for pegasos. The other methods do not project.
    #[arg(long, value_name = "RADIUS", value_parser = projection)]
    pub(crate) projection: Option<Projection>,
    /// Norm of random initial coefficients of sgd or pegasos [default: start at 0]
    #[arg(long, value_name = "NORM", hide_short_help = true)]
    pub(crate) random_start: Option<f64>,
    /// Random seed of the sample order and of --random-start
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The options of data that are visited more than once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data in memory")]
pub(crate) struct MemoryArguments {
    /// Number of passes over data in memory [default: one pass over a stream]
    ///
    /// Reads the data into memory, visits them in shuffled order, and certifies the fit at the end.
    #[arg(long, value_parser = whole::<usize>, value_name = "N", conflicts_with = "classes")]
    pub(crate) epochs: Option<usize>,
    /// Draw samples independently instead of in shuffled epochs
    #[arg(long, requires = "epochs", hide_short_help = true)]
    pub(crate) with_replacement: bool,
    /// Step after which the scale of margin-pursuit is set from the data
    ///
    /// The scale is set once, and the step lengths are divided by the factor of its increase.
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "epochs", hide_short_help = true)]
    pub(crate) rescale_at: Option<u64>,
    /// Share of the samples to hold out for early stopping
    ///
    /// The fit stops if the loss of the held-out samples has not improved for --patience epochs.
    #[arg(long, value_name = "SHARE", requires = "epochs")]
    pub(crate) hold_out: Option<f64>,
    /// Number of epochs without improvement before stopping [default: 5]
    #[arg(long, value_parser = whole::<usize>, value_name = "N", requires = "hold_out")]
    pub(crate) patience: Option<usize>,
    /// Relative duality gap at which the fit counts as converged [default: 1e-6]
    #[arg(long, value_name = "GAP", value_parser = tolerance, requires = "epochs")]
    pub(crate) tol: Option<f64>,
    /// CSV file to write, with a row per epoch; - writes to standard output
    ///
    /// The columns are cost, objective, gap, training error and margins.
    #[arg(long, value_name = "FILE", requires = "epochs")]
    pub(crate) history: Option<PathBuf>,
    /// Time limit; the current epoch is finished first
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
    /// One-versus-rest: one binary classifier per class
    Ovr,
}

/// The stochastic methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Mixture of adaptive steps and coin betting: any loss, no parameters to tune
    Adaptive,
    /// Coin betting alone: any loss, no step length
    Coin,
    /// Stochastic gradient with a step length schedule: any loss
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

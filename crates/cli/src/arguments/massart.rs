//! Options of `margins massart`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use margins::data::Memory;
use margins::estimators::massart::RowScaling;

use super::data::{ClassesArguments, DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::ModelArguments;
use super::report::{PageArguments, TestArguments};
use super::values::{number, positive, seconds, whole};

#[derive(Debug, Args)]
#[command(mut_arg("classes", |option| option.requires("stream")))]
#[command(mut_arg("fold_column", |option| option.conflicts_with("stream")))]
#[command(mut_arg("weights_column", |option| option.conflicts_with("stream")))]
pub(crate) struct MassartArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) classes: ClassesArguments,
    /// Read the rows as a stream, in bounded memory, and only as many as needed (sgd)
    #[arg(long, help_heading = "Data")]
    pub(crate) stream: bool,
    /// Memory limit for a block file, such as 2GB [default: half of the free memory]
    ///
    /// Rows of a larger file are read in several passes; --learner cuts reads the file once per
    /// cut.
    #[arg(
        long,
        value_name = "AMOUNT",
        conflicts_with = "stream",
        help_heading = "Data",
        hide_short_help = true
    )]
    pub(crate) memory: Option<Memory>,
    #[command(flatten)]
    pub(crate) noise: NoiseArguments,
    #[command(flatten)]
    pub(crate) learner: LearnerArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

impl MassartArguments {
    /// Returns the data, with their encoding.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
    }
}

/// The options of the noise and of the accuracy.
#[derive(Debug, Args)]
#[command(next_help_heading = "Noise")]
pub(crate) struct NoiseArguments {
    /// Noise rate: upper bound on the probability of a flipped label (sgd, cuts)
    #[arg(long, value_name = "RATE", value_parser = number)]
    pub(crate) eta: Option<f64>,
    /// Margin of the best halfspace, after --scale-rows (sgd, cuts)
    #[arg(long, value_name = "MARGIN", value_parser = number)]
    pub(crate) gamma: Option<f64>,
    /// Target excess of the error over eta [default: 0.05]
    #[arg(long, value_name = "EPSILON", value_parser = number)]
    pub(crate) epsilon: Option<f64>,
    /// Failure probability of the learner [default: 0.05]
    #[arg(long, value_name = "DELTA", value_parser = number)]
    pub(crate) delta: Option<f64>,
}

/// The options of the learner.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArguments {
    /// Algorithm
    #[arg(long, value_name = "LEARNER", default_value = "sgd")]
    pub(crate) learner: MassartLearner,
    /// Scale features to mean 0 and standard deviation 1; sparse features are not centred
    ///
    /// The saved model applies to the unscaled features.
    #[arg(long, conflicts_with = "stream")]
    pub(crate) standardize: bool,
    /// Fix the intercept at 0
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Norm to divide the rows by [default: largest; each with --stream]
    ///
    /// After division by the largest norm, margins are proportional to distances from the boundary.
    /// After division by its own norm, the margin of each row is the sine of an angle.
    #[arg(long, value_name = "BY")]
    pub(crate) scale_rows: Option<RowScalingName>,
    /// Number of dimensions of a random projection of the features (cuts)
    ///
    /// The projection costs half of gamma. By default, the dimension is the smallest one proven to
    /// keep half of gamma, and nothing is projected if that dimension is not smaller.
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) project: Option<usize>,
    /// Time limit; returns the best halfspace so far
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Random seed of the samples and of the projection
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
}

/// The numbers that rows are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowScalingName {
    /// Largest norm of all rows
    Largest,
    /// Norm of each row
    Each,
}

impl From<RowScalingName> for RowScaling {
    fn from(name: RowScalingName) -> Self {
        match name {
            RowScalingName::Largest => RowScaling::Largest,
            RowScalingName::Each => RowScaling::Each,
        }
    }
}

/// The learners of halfspaces under Massart noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MassartLearner {
    /// Reweighted stochastic gradient
    Sgd,
    /// Cutting planes
    Cuts,
    /// Reweighted stochastic gradient over a grid of noise rates and margins
    Auto,
}

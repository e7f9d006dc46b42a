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
    /// Take the rows as they come, in bounded memory, and no more than are needed (sgd)
    #[arg(long, help_heading = "Data")]
    pub(crate) stream: bool,
    /// Most memory for a block file, such as 2GB [default: half of what is free]
    ///
    /// The rows that are drawn from a larger file are read in some passes, and cutting planes take a
    /// pass for every cut.
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
    /// Noise rate, the most that the probability of a flipped label may be (sgd, cuts)
    #[arg(long, value_name = "RATE", value_parser = number)]
    pub(crate) eta: Option<f64>,
    /// Margin of the best halfspace, on rows divided as --scale-rows says (sgd, cuts)
    #[arg(long, value_name = "MARGIN", value_parser = number)]
    pub(crate) gamma: Option<f64>,
    /// Excess over eta that the error may have [default: 0.05]
    #[arg(long, value_name = "EPSILON", value_parser = number)]
    pub(crate) epsilon: Option<f64>,
    /// Probability with which the learner may fail [default: 0.05]
    #[arg(long, value_name = "DELTA", value_parser = number)]
    pub(crate) delta: Option<f64>,
}

/// The options of the learner.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArguments {
    /// Learner
    #[arg(long, value_name = "LEARNER", default_value = "sgd")]
    pub(crate) learner: MassartLearner,
    /// Scale features to mean 0 and deviation 1 first, sparse ones to deviation 1
    ///
    /// The model is one of the features as they are in the file.
    #[arg(long, conflicts_with = "stream")]
    pub(crate) standardize: bool,
    /// Fix the intercept at 0
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Number that rows are divided by [default: largest; each with --stream]
    ///
    /// Divided by the largest norm of a row, rows have margins in proportion to their distance from
    /// the boundary. Divided by its own norm, each row has a margin that is an angle.
    #[arg(long, value_name = "BY")]
    pub(crate) scale_rows: Option<RowScalingName>,
    /// Project the features to this many random dimensions first (cuts)
    ///
    /// It costs half of gamma. Unless told, the learner projects to as many dimensions as keep half
    /// of gamma for certain, if that makes the data smaller.
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) project: Option<usize>,
    /// End after this time with the best halfspace so far
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Seed of the samples drawn and of the projection
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
}

/// The numbers that rows are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowScalingName {
    /// The largest norm of all rows
    Largest,
    /// The norm of each row
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
    /// Reweighted stochastic gradient for many noise rates and margins
    Auto,
}

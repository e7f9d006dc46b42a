//! Options of `margins focus`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use margins::boost::Combination;

use super::data::{FileArguments, PositiveArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::ModelArguments;
use super::report::{PageArguments, TestArguments};
use super::values::{number, seconds, whole};

#[derive(Debug, Args)]
#[command(mut_arg("out", |option| option.conflicts_with("pause_at")))]
pub(crate) struct FocusArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    #[command(flatten)]
    pub(crate) file: FileArguments,
    #[command(flatten)]
    positive: PositiveArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) game: GameArguments,
    #[command(flatten)]
    pub(crate) learner: LearnerArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
}

/// The options of the game.
#[derive(Debug, Args)]
#[command(next_help_heading = "Game")]
pub(crate) struct GameArguments {
    /// Loss, clipped to [0, 1], as name or name:parameter=value,...; ramp is the clipped hinge
    #[arg(long, default_value = "zero-one")]
    pub(crate) loss: String,
    /// Largest loss of a row at which the game ends, between 0 and 1
    ///
    /// A row that is on the wrong side keeps the game going whatever its loss.
    #[arg(long, value_name = "EPSILON", value_parser = number, default_value_t = 0.49)]
    pub(crate) epsilon: f64,
    /// Most steps; the game ends earlier once every loss is at most --epsilon [default: by theorem 1]
    ///
    /// Theorem 1 is taken for a learner that makes as many mistakes as there are samples.
    #[arg(long, value_parser = whole::<u64>, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// Classifiers in the ensemble, taken before random steps [default: by theorem 1]
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) outputs: Option<usize>,
    /// Combination of the classifiers
    #[arg(long, value_name = "HOW", default_value = "majority")]
    pub(crate) combine: CombinationName,
    /// Slack for outliers, such as additive-sum:budget=5
    ///
    /// additive-sum:budget=5, additive-euclidean:budget=5 or multiplicative:budget=5.
    #[arg(long, value_name = "SLACK", conflicts_with = "subsample")]
    pub(crate) slack: Option<String>,
    /// Learn from a random part of the samples, as in outliers=5,rare=200
    ///
    /// The part is likely to have none of 5 outliers, and enough of 200 rare samples.
    #[arg(long, value_name = "COUNTS")]
    pub(crate) subsample: Option<String>,
    /// End after this time with the ensemble so far; a checkpoint goes on from there
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Seed of the game
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The options of the online learner.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArguments {
    /// Online learner, such as passive-aggressive:capped=1 or stump
    ///
    /// perceptron, averaged-perceptron, passive-aggressive (capped=C for PA-I, damped=C for PA-II),
    /// online-gradient:inverse-sqrt=1,radius=5,lambda=1e-3,loss=hinge (or constant=STEP,
    /// inverse-time=STEP; the loss comes last), stump:thresholds=20,eta=0.1,
    /// kernel-perceptron:budget=1000 (needs --kernel), mlp:hidden=32x16,step=0.05,loss=logistic.
    #[arg(long, value_name = "LEARNER", default_value = "perceptron")]
    pub(crate) learner: String,
    /// Kernel of the kernel perceptron, such as gaussian or poly:degree=3
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Scale features to mean 0 and deviation 1 first, sparse ones to deviation 1
    ///
    /// The model is one of the features as they are in the file.
    #[arg(long)]
    pub(crate) standardize: bool,
    /// Fix the intercept of a linear learner at 0
    #[arg(long)]
    pub(crate) no_intercept: bool,
}

/// The options of a game that is paused.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct CheckpointArguments {
    /// Write the state to this file now and then and at the end; go on from it if it is there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// End after this step, to go on later with the same --checkpoint
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "checkpoint")]
    pause_at: Option<u64>,
}

/// The combinations of the classifiers of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombinationName {
    /// The class that most classifiers vote for
    Majority,
    /// The mean of their scores
    Average,
}

impl From<CombinationName> for Combination {
    fn from(name: CombinationName) -> Self {
        match name {
            CombinationName::Majority => Combination::Majority,
            CombinationName::Average => Combination::Average,
        }
    }
}

impl FocusArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        let positive = self.positive.positive.as_deref();
        Source { positive, encode: Some(&self.encode), ..self.file.source() }
    }

    /// Returns the file of the state.
    pub(crate) fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.checkpoint.as_deref()
    }

    /// Returns the step after which the game pauses.
    pub(crate) fn pause_at(&self) -> Option<u64> {
        self.checkpoint.pause_at
    }
}

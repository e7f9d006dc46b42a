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
    /// Loss, clipped to [0, 1]: name or name:parameter=value,...; ramp is the clipped hinge
    #[arg(long, default_value = "zero-one")]
    pub(crate) loss: String,
    /// Target for the largest loss of a row, between 0 and 1
    ///
    /// The game ends when every row is classified correctly with a loss of at most EPSILON.
    #[arg(long, value_name = "EPSILON", value_parser = number, default_value_t = 0.49)]
    pub(crate) epsilon: f64,
    /// Maximum number of steps [default: by theorem 1]
    ///
    /// The game ends earlier once every loss is at most --epsilon. The default is theorem 1 for a
    /// learner that makes as many mistakes as there are samples.
    #[arg(long, value_parser = whole::<u64>, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    /// Number of classifiers in the ensemble, drawn from random steps [default: by theorem 1]
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) outputs: Option<usize>,
    /// How the classifiers are combined
    #[arg(long, value_name = "HOW", default_value = "majority")]
    pub(crate) combine: CombinationName,
    /// Slack for outliers, such as additive-sum:budget=5
    ///
    /// additive-sum:budget=5, additive-euclidean:budget=5 or multiplicative:budget=5.
    #[arg(long, value_name = "SLACK", conflicts_with = "subsample")]
    pub(crate) slack: Option<String>,
    /// Learn from a random subsample, such as outliers=5,rare=200
    ///
    /// The size is chosen such that the subsample is likely to miss 5 outliers and to have enough of
    /// 200 rare samples.
    #[arg(long, value_name = "COUNTS")]
    pub(crate) subsample: Option<String>,
    /// Time limit; returns the ensemble so far, and a checkpoint can resume from it
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
    /// Scale features to mean 0 and standard deviation 1; sparse features are not centred
    ///
    /// The saved model applies to the unscaled features.
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
    /// Checkpoint file: save the state regularly, and resume from it if it exists
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Pause after this step, to resume later with the same --checkpoint
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "checkpoint")]
    pause_at: Option<u64>,
}

/// The combinations of the classifiers of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombinationName {
    /// Majority vote
    Majority,
    /// Mean score
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

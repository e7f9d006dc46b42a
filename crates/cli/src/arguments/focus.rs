//! Options of `margins focus`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use margins::estimators::focused::MistakeBound;

use super::data::{DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::ModelArguments;
use super::report::{PageArguments, TestArguments};
use super::values::{ClassWeight, GamesOfClasses, choices, number, seconds, whole};

#[derive(Debug, Args)]
#[command(mut_arg("out", |option| option.conflicts_with("pause_at")))]
pub(crate) struct FocusArguments {
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
    #[command(flatten)]
    pub(crate) data: DataArguments,
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
    #[arg(long, default_value = "zero-one")]
    pub(crate) loss: String,
    #[arg(long, value_name = "EPSILON", value_parser = number, default_value_t = 0.49)]
    pub(crate) epsilon: f64,
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) class_weight: ClassWeight,
    #[arg(long, value_parser = whole::<u64>, value_name = "N")]
    pub(crate) max_steps: Option<u64>,
    #[arg(long, value_parser = whole::<usize>, value_name = "K")]
    pub(crate) outputs: Option<usize>,
    #[arg(long, value_name = "HOW", default_value = "majority")]
    pub(crate) combine: OutputName,
    #[arg(long, value_parser = number, default_value_t = 0.01, hide_short_help = true)]
    pub(crate) delta: f64,
    #[arg(long, value_name = "B", value_parser = number, hide_short_help = true)]
    mistakes: Option<f64>,
    #[arg(
        long,
        value_name = "GAMMA",
        value_parser = number,
        conflicts_with = "mistakes",
        hide_short_help = true
    )]
    margin: Option<f64>,
    #[arg(long, value_name = "PLAYER", default_value = "focused", hide_short_help = true)]
    pub(crate) player: PlayerName,
    #[arg(long, value_name = "SLACK", default_value = "auto", conflicts_with = "subsample")]
    pub(crate) slack: String,
    #[arg(long, value_name = "COUNTS")]
    pub(crate) subsample: Option<String>,
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The options of the online learner.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArguments {
    #[arg(long, value_name = "LEARNER", default_value = "perceptron")]
    pub(crate) learner: String,
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    #[arg(long)]
    pub(crate) standardize: bool,
    #[arg(long)]
    pub(crate) no_intercept: bool,
    #[arg(long, value_name = "HOW", conflicts_with = "positive")]
    pub(crate) multi_class: Option<GamesOfClasses>,
}

/// The options of a game that is paused.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct CheckpointArguments {
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    #[arg(long, value_parser = whole::<u64>, value_name = "STEP", requires = "checkpoint")]
    pause_at: Option<u64>,
}

choices! {
    /// The classifiers that come out of a game.
    OutputName of "combine": Majority, Average, Last, Validated
}

choices! {
    /// The players who draw the rows.
    PlayerName of "player": Focused, Uniform, Exp3P
}

impl GameArguments {
    /// Returns the bound on the mistakes of the learner.
    pub(crate) fn mistakes(&self) -> MistakeBound {
        match (self.mistakes, self.margin) {
            (Some(mistakes), _) => MistakeBound::Mistakes(mistakes),
            (None, Some(margin)) => MistakeBound::Margin(margin),
            (None, None) => MistakeBound::Samples,
        }
    }
}

impl FocusArguments {
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
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

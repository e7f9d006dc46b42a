//! Options of `margins plan`.

use clap::Args;

use super::regularised::FormatArguments;
use super::values::{number, whole};

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Failure probability of theorem 1 or 2
    #[arg(
        long,
        value_name = "DELTA",
        value_parser = number,
        default_value_t = 0.01,
        help_heading = "Theorems 1 and 2"
    )]
    pub(crate) delta: f64,
    /// Mean loss of every row (theorem 1), or error (theorem 2) [default: 0.49 in theorem 1]
    #[arg(long, value_name = "EPSILON", value_parser = number, help_heading = "Theorems 1 and 2")]
    pub(crate) epsilon: Option<f64>,
    #[command(flatten)]
    pub(crate) game: GameNumbers,
    #[command(flatten)]
    pub(crate) mixture: MixtureNumbers,
    #[command(flatten)]
    pub(crate) subsample: SubsampleNumbers,
    #[command(flatten)]
    pub(crate) output: FormatArguments,
}

/// The numbers of theorem 1.
#[derive(Debug, Args)]
#[command(next_help_heading = "Theorem 1: the game")]
pub(crate) struct GameNumbers {
    /// Number of rows, also of theorem 3
    #[arg(long, value_name = "M", value_parser = whole::<usize>, required_unless_present = "dimension")]
    pub(crate) rows: Option<usize>,
    /// Bound on the sum of the learner's losses [default: the number of rows]
    #[arg(long, value_name = "B", value_parser = number, requires = "rows")]
    pub(crate) mistakes: Option<f64>,
    /// Slack for K outliers: the losses left sum to at most B + 1.07 sqrt(K T)
    #[arg(long, value_name = "K", value_parser = number, default_value_t = 0.0, requires = "rows")]
    pub(crate) slack: f64,
    /// Print the failure probability after this number of steps
    #[arg(long, value_name = "T", value_parser = whole::<u64>, requires = "rows")]
    pub(crate) steps: Option<u64>,
    /// Print the failure probability with this number of classifiers
    #[arg(long, value_name = "K", value_parser = whole::<usize>, requires = "rows")]
    pub(crate) outputs: Option<usize>,
}

/// The numbers of theorem 2.
#[derive(Debug, Args)]
#[command(next_help_heading = "Theorem 2: typical and rare samples")]
pub(crate) struct MixtureNumbers {
    /// VC dimension of the classifiers
    #[arg(
        long,
        value_name = "D",
        value_parser = whole::<usize>,
        requires_all = ["epsilon", "rare_share"]
    )]
    pub(crate) dimension: Option<usize>,
    /// VC dimension of the classifiers that are good on typical samples [default: --dimension]
    #[arg(long, value_name = "D1", value_parser = whole::<usize>, requires = "dimension")]
    pub(crate) reduced_dimension: Option<usize>,
    /// Gap: an error of at most this on rare samples is at most epsilon [default: --epsilon]
    #[arg(long, value_name = "C", value_parser = number, requires = "dimension")]
    pub(crate) gap: Option<f64>,
    /// Share of rare samples, at most 1/2
    #[arg(long, value_name = "SHARE", value_parser = number, requires = "dimension")]
    pub(crate) rare_share: Option<f64>,
}

/// The numbers of theorem 3.
#[derive(Debug, Args)]
#[command(next_help_heading = "Theorem 3: subsamples")]
pub(crate) struct SubsampleNumbers {
    /// Number of outliers among the rows
    #[arg(
        long,
        value_name = "K",
        value_parser = whole::<usize>,
        requires_all = ["rows", "rare"]
    )]
    pub(crate) outliers: Option<usize>,
    /// Number of rare rows
    #[arg(long, value_name = "M2", value_parser = whole::<usize>, requires = "outliers")]
    pub(crate) rare: Option<usize>,
    /// Size of the subsample [default: the size with the lowest bound]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, requires = "outliers")]
    pub(crate) size: Option<usize>,
}

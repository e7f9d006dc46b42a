//! Options of `margins path`.

use clap::Args;

use super::fit::{DualsArguments, ObjectiveArguments};
use super::regularised::{
    LambdasArguments, ModelArguments, PointsArguments, RegularisedArguments, StopArguments,
};
use super::report::PageArguments;
use super::values::{MultiClass, number};

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) objective: ObjectiveArguments,
    #[arg(long, value_name = "HOW", help_heading = "Loss")]
    pub(crate) multi_class: Option<MultiClass>,
    #[command(flatten)]
    pub(crate) lambdas: LambdasArguments,
    #[command(flatten)]
    pub(crate) stop: StopArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) points: PointsArguments,
    #[command(flatten)]
    pub(crate) duals: DualsArguments,
    /// Print the limit for lambda to 0 of separable classes, with the penalty lambda * sum |w|^Q
    ///
    /// The direction of all small lambdas, and the largest lambda that has it. Losses: lhs, l-r and dwd.
    #[arg(
        long,
        value_name = "Q",
        value_parser = number,
        requires = "no_intercept",
        conflicts_with_all = [
            "kernel", "standardize", "penalty_factor", "objective", "stop", "out", "report", "checkpoint",
            "lambdas", "duals", "solver", "tol", "max_iterations", "time_limit", "seed", "multi_class"
        ],
        hide_short_help = true,
        help_heading = "Regularisation"
    )]
    pub(crate) limit: Option<f64>,
}

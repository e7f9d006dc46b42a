//! Options of `margins fit`.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::optim::{Lambda, StepRule};
use margins::robust::RobustLearner;

use super::regularised::{
    ClassifierArguments, ModelArguments, PointsArguments, RegularisedArguments,
};
use super::report::{PageArguments, TestArguments};
use super::values::{parse_lambda_or_none, parse_objective, step_rule};

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) common: RegularisedArguments,
    #[command(flatten)]
    pub(crate) objective: ObjectiveArguments,
    #[command(flatten)]
    pub(crate) classifier: ClassifierArguments,
    /// Weight of the penalty in mean loss + lambda * squared norm
    ///
    /// 0 fits linear functions without a penalty, by --solver lbfgs (default) or gd. The gradient is
    /// the evidence of such a fit. An --objective margin-distribution with lambda3 sets lambda itself.
    #[arg(
        long,
        value_parser = parse_lambda_or_none,
        required_unless_present = "objective",
        help_heading = "Regularisation"
    )]
    pub(crate) lambda: Option<Lambda>,
    /// Linear model to start from, with --lambda 0 [default: 0]
    #[arg(long, value_name = "MODEL", conflicts_with = "multi_class", help_heading = "Solver")]
    pub(crate) start: Option<PathBuf>,
    /// Step length of gd: search, smooth, or a number [default: search]
    ///
    /// search is a line search. smooth is the constant 2/(2 lambda + v), where v bounds the curvature
    /// of the objective.
    #[arg(long, value_name = "STEP", value_parser = step_rule, help_heading = "Solver")]
    pub(crate) step: Option<StepRule>,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) points: PointsArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
    /// CSV file to write, with a row per iteration; - writes to standard output
    ///
    /// The columns are cost, objective, gap, training error and margins.
    #[arg(long, value_name = "FILE", conflicts_with = "multi_class", help_heading = "Output")]
    pub(crate) history: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) duals: DualsArguments,
}

/// The option for dual variables.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct DualsArguments {
    /// CSV file to write, with the dual variables of every row; - writes to standard output
    ///
    /// The columns are sign, weight, margin, dual and multiplier, and distance and slack for the leaky
    /// hockey stick; before them lambda, of a path, and class, of several classes one-versus-rest. JSON
    /// then has the constrained form, in which the norm of the coefficients is bounded instead of
    /// penalised, and so have fit and cv --verbose for two classes.
    #[arg(long, value_name = "FILE", conflicts_with = "penalty_factor", hide_short_help = true)]
    pub(crate) duals: Option<PathBuf>,
}

impl DualsArguments {
    /// Returns the file for dual variables.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.duals.as_deref()
    }
}

/// The option for a robust objective.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct ObjectiveArguments {
    #[arg(long, value_name = "OBJECTIVE", value_parser = parse_objective)]
    pub(crate) objective: Option<RobustLearner>,
}

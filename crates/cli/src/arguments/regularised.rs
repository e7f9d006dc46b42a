//! Options of fits of the regularised risk, for the commands that share them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use margins::Approximation;
use margins::data::Memory;
use margins::optim::Solver;
use margins::optim::problem::PenaltyFactors;

use super::data::{DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::values::{
    ClassWeight, Grid, MultiClass, OutputFormat, Probability, SolverName, StopName, parse_grid,
    penalty_factor, seconds, tolerance, whole,
};

/// The default of the relative duality gap to reach.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// The options of the loss.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct LossArguments {
    #[arg(long, default_value = "lhs")]
    pub(crate) loss: String,
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) class_weight: ClassWeight,
}

/// The options for the functions to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArguments {
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    #[arg(long, value_name = "HOW", default_value = "none", requires = "kernel")]
    pub(crate) approx: Approximation,
    #[arg(long, value_name = "AMOUNT", hide_short_help = true)]
    pub(crate) memory: Option<Memory>,
    #[arg(long, requires = "kernel", hide_short_help = true)]
    pub(crate) certify_exact: bool,
}

/// The option for the points that a fit has reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PointsArguments {
    /// Checkpoint file: save the fits to it, and resume from it if it exists
    ///
    /// For linear classifiers of a block file. To resume a run that was killed, repeat the same
    /// command; it continues from the saved lambda, intercept and coefficients. A checkpoint of other
    /// data or settings is an error.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) checkpoint: Option<PathBuf>,
}

/// The options for several classes and for probabilities.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct ClassifierArguments {
    #[arg(long, value_name = "HOW")]
    pub(crate) multi_class: Option<MultiClass>,
    #[arg(long, value_name = "HOW", default_value = "loss")]
    pub(crate) probability: Probability,
}

/// The options for what is penalised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct PenaltyArguments {
    #[arg(long)]
    pub(crate) standardize: bool,
    #[arg(long)]
    pub(crate) no_intercept: bool,
}

/// The option for the penalty on single features.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct FactorArguments {
    #[arg(long, value_name = "COLUMN=W", value_parser = penalty_factor, hide_short_help = true)]
    penalty_factor: Vec<(String, f64)>,
}

impl FactorArguments {
    /// Returns the penalty factors, if there are any.
    pub(crate) fn factors(&self) -> Result<Option<PenaltyFactors>, margins::optim::Error> {
        let given = &self.penalty_factor;
        (!given.is_empty()).then(|| PenaltyFactors::of_names(given.clone())).transpose()
    }

    /// Returns the penalty factors as they are given, if there are any.
    pub(crate) fn in_words(&self) -> Option<String> {
        let word = |(column, factor): &(String, f64)| format!("{column}={factor}");
        let words: Vec<String> = self.penalty_factor.iter().map(word).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The option for the lambdas of a path.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct LambdasArguments {
    #[arg(
        long,
        value_name = "GRID",
        default_value = "1:1e-7:100",
        value_parser = parse_grid
    )]
    pub(crate) lambdas: Grid,
}

/// The option for the stopping rule of paths.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct StopArguments {
    #[arg(long, value_name = "RULE", default_value = "gap", hide_short_help = true)]
    pub(crate) stop: StopName,
}

impl StopArguments {
    /// Returns a solver with the stopping rule.
    pub(crate) fn of(&self, solver: Solver) -> Solver {
        match self.stop {
            StopName::Gap => solver,
            StopName::Published => solver.with_published_rule().unwrap_or(solver),
        }
    }
}

/// The options of the solver.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArguments {
    #[arg(long, value_name = "SOLVER")]
    pub(crate) solver: Option<SolverName>,
    #[arg(long, value_name = "GAP", value_parser = tolerance)]
    pub(crate) tol: Option<f64>,
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    #[arg(long, value_parser = whole::<u64>, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
}

impl SolverArguments {
    pub(crate) fn solver(&self) -> SolverName {
        self.solver.unwrap_or(SolverName::Auto)
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.tol.unwrap_or(TOLERANCE)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// The options that every fit of the regularised risk has.
#[derive(Debug, Args)]
pub(crate) struct RegularisedArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) loss: LossArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    #[command(flatten)]
    pub(crate) penalty: PenaltyArguments,
    #[command(flatten)]
    pub(crate) factors: FactorArguments,
    #[command(flatten)]
    pub(crate) solver: SolverArguments,
}

impl RegularisedArguments {
    /// Returns the data, with their encoding.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
    }
}

/// The option for the format of the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatArguments {
    /// Format of the output
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: OutputFormat,
}

/// The options for the model and the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ModelArguments {
    /// Model file to write: JSON if the name ends in .json, binary otherwise
    ///
    /// - writes JSON to standard output; the report then goes to standard error. /dev/fd/3 and other
    ///   descriptors take JSON too.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    report: FormatArguments,
}

impl ModelArguments {
    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Returns the line on the model file, if one is written.
    pub(crate) fn written(&self) -> Option<(&'static str, String)> {
        self.out().map(|path| ("model", path.display().to_string()))
    }

    pub(crate) fn format(&self) -> OutputFormat {
        self.report.format
    }
}

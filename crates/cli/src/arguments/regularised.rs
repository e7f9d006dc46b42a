//! Options of fits of the regularised risk, for the commands that share them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use margins::Approximation;
use margins::data::Memory;

use super::data::{DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::values::{
    ClassWeight, Grid, MultiClass, OutputFormat, Probability, SolverName, parse_grid, seconds,
    tolerance, whole,
};

/// The relative duality gap to reach unless told.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// The options of the loss.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct LossArguments {
    /// Loss, such as lhs, hinge, logistic or l-r:r=2
    ///
    /// A name or name:parameter=value,...: lhs, l-r:r=2, margin-pursuit:gamma=1,scale=1,
    /// log-cosh:gamma=1,scale=1, hinge, squared-hinge, smoothed-hinge:width=0.5, modified-huber,
    /// dwd:q=1, logistic, exponential, squared, leaky-relu:lambda=0.1, garg-roth:alpha=1,beta=1.
    #[arg(long, default_value = "lhs")]
    pub(crate) loss: String,
    /// Weights of classes: none, balanced, or yes=2,no=1
    ///
    /// balanced gives both classes the same total weight. A cost multiplies the weight of every
    /// sample of its class; it is 1 for a class that is not named.
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) class_weight: ClassWeight,
}

/// The options for the functions to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArguments {
    /// Kernel, such as gaussian or poly:degree=3 [default: linear classifier]
    ///
    /// gaussian (sigma from the data), gaussian:sigma=0.5, laplacian:sigma=1, poly:degree=3,
    /// matern32:length=1, matern52:length=1, anova:sigma=1, sigmoid, linear; sums with + and
    /// products with *, which binds tighter, and parentheses; precomputed for a kernel matrix in
    /// the place of features. scale and auto as values are the rules of gamma in scikit-learn, as in
    /// gaussian:sigma=scale.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Approximation: cholesky, nystrom:m=1000, rff:m=2000
    ///
    /// For large data. cholesky:tol=1e-8 takes memory=1 for the most gigabytes of its factor,
    /// nystrom takes leverage=LAMBDA for leverage scores, and rff is for gaussian kernels.
    #[arg(long, value_name = "HOW", default_value = "none", requires = "kernel")]
    pub(crate) approx: Approximation,
    /// Most memory for the kernel matrix or a block file, such as 2GB [default: half of what is free]
    ///
    /// The values of a larger kernel matrix are computed anew wherever they are needed, which takes
    /// longer; fits are certified as ever. The hinge then takes the time of a few matrices, and the
    /// other losses that of 20 to 100 of them for each lambda. Where features take the place of a
    /// kernel, the amount is for the inner products of the samples, along which the hinge is fitted
    /// if they fit. Linear classifiers hold this amount of a larger block file, and read the rest
    /// in each pass.
    #[arg(long, value_name = "AMOUNT", hide_short_help = true)]
    pub(crate) memory: Option<Memory>,
    /// Tell how far fits on Nystrom features are from those of the kernel itself
    ///
    /// The gap for the kernel itself takes one pass over its matrix, which is never held.
    #[arg(long, requires = "kernel", hide_short_help = true)]
    pub(crate) certify_exact: bool,
}

/// The option for the points that a fit has reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PointsArguments {
    /// Write the points reached to this file; go on from it if it is there
    ///
    /// It is for linear classifiers of a block file. A run that was killed goes on from intercept,
    /// coefficients and lambda when the same command is given again, and certifies them anew. A file
    /// of other data or settings is refused.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) checkpoint: Option<PathBuf>,
}

/// The options for several classes and for probabilities.
#[derive(Debug, Args)]
#[command(next_help_heading = "Loss")]
pub(crate) struct ClassifierArguments {
    /// Scheme for several classes
    #[arg(long, value_name = "HOW")]
    pub(crate) multi_class: Option<MultiClass>,
    /// Probabilities
    #[arg(long, value_name = "HOW", default_value = "loss")]
    pub(crate) probability: Probability,
}

/// The options for what is penalised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct PenaltyArguments {
    /// Scale features to unit standard deviation for the fit
    #[arg(long)]
    pub(crate) standardize: bool,
    /// Fix the intercept at 0
    #[arg(long)]
    pub(crate) no_intercept: bool,
}

/// The option for the lambdas of a path.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct LambdasArguments {
    /// Lambdas: FIRST:LAST:COUNT, or a list with commas
    ///
    /// The COUNT lambdas are evenly spaced on a logarithmic scale. Lambda is the weight of the
    /// squared norm beside the mean loss.
    #[arg(
        long,
        value_name = "GRID",
        default_value = "1:1e-7:100",
        value_parser = parse_grid
    )]
    pub(crate) lambdas: Grid,
}

/// The options of the solver.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArguments {
    /// Solver [default: auto]
    #[arg(long, value_name = "SOLVER")]
    pub(crate) solver: Option<SolverName>,
    /// Relative duality gap to reach [default: 1e-6]
    #[arg(long, value_name = "GAP", value_parser = tolerance)]
    pub(crate) tol: Option<f64>,
    /// Most iterations at one lambda [default: by the solver]
    ///
    /// Unless told, it is 200 for newton, 1000 for proximal-newton and sdca, 10000 for mm and gd, and
    /// 2000 for bundle.
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// End after this time; a fit without a certificate says so
    ///
    /// A fit without a certificate by then is kept as it is, with the status time-limit. A
    /// cross-validation divides the time among its folds, and chooses among the lambdas certified by
    /// then. The time includes kernel matrices and factorisations.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Seed of everything that is drawn [default: 1]
    ///
    /// The seed of the folds, of landmarks and random features, of the pairs that sigma is taken
    /// from, and of the order in which --solver sdca visits the samples.
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
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: OutputFormat,
}

/// The options for the model and the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ModelArguments {
    /// Write the model: JSON if the name ends in .json, else binary
    ///
    /// The file - stands for JSON on standard output; the report then goes to standard error.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    report: FormatArguments,
}

impl ModelArguments {
    pub(crate) fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    pub(crate) fn format(&self) -> OutputFormat {
        self.report.format
    }
}

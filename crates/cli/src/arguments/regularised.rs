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

/// The default of the relative duality gap to reach.
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
    /// Class weights: none, balanced or yes=2,no=1
    ///
    /// balanced gives both classes the same total weight. A number multiplies the weight of every
    /// sample of its class; classes not listed have 1.
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
    /// matern32:length=1, matern52:length=1, anova:sigma=1, sigmoid, linear. Kernels are combined
    /// with +, * and parentheses. precomputed reads a kernel matrix instead of features. The values
    /// scale and auto are the rules of gamma in scikit-learn, such as gaussian:sigma=scale.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Approximation: cholesky, nystrom:m=1000, rff:m=2000
    ///
    /// For large data. cholesky is a pivoted Cholesky factorisation with tol=1e-8 and memory=1, the limit for its
    /// factor in gigabytes. nystrom uses m landmarks, chosen by leverage scores with leverage=LAMBDA.
    /// rff uses m random Fourier features and is for gaussian kernels.
    #[arg(long, value_name = "HOW", default_value = "none", requires = "kernel")]
    pub(crate) approx: Approximation,
    /// Memory limit for the kernel matrix or a block file [default: half of the free memory]
    ///
    /// An amount such as 2GB. Entries of a larger kernel matrix are recomputed when needed. This is
    /// slower, by the time of a few kernel matrices for the hinge and of 20 to 100 per lambda for
    /// other losses; the certificate is the same. With --approx, the limit is for the inner products
    /// of the samples, which the hinge uses. Linear classifiers keep this amount of a larger block
    /// file in memory and read the rest in each pass.
    #[arg(long, value_name = "AMOUNT", hide_short_help = true)]
    pub(crate) memory: Option<Memory>,
    /// Print the duality gap for the exact kernel as well, with --approx nystrom
    ///
    /// This takes one pass over the kernel matrix, which is never stored.
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
    /// Scheme for more than two classes
    #[arg(long, value_name = "HOW")]
    pub(crate) multi_class: Option<MultiClass>,
    /// Probability estimates
    #[arg(long, value_name = "HOW", default_value = "loss")]
    pub(crate) probability: Probability,
}

/// The options for what is penalised.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularisation")]
pub(crate) struct PenaltyArguments {
    /// Scale features to unit standard deviation during the fit
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
    /// Grid of lambdas: FIRST:LAST:COUNT or a list
    ///
    /// The COUNT lambdas are evenly spaced on a logarithmic scale. A list is comma-separated. A fit minimises the mean loss +
    /// lambda * squared norm.
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
    /// Algorithm [default: auto]
    #[arg(long, value_name = "SOLVER")]
    pub(crate) solver: Option<SolverName>,
    /// Relative duality gap to reach [default: 1e-6]
    #[arg(long, value_name = "GAP", value_parser = tolerance)]
    pub(crate) tol: Option<f64>,
    /// Maximum number of iterations at each lambda [default: by solver]
    ///
    /// By default, 200 for newton, 1000 for proximal-newton and sdca, 2000 for bundle, and 10,000 for
    /// mm, lbfgs and gd.
    #[arg(long, value_parser = whole::<usize>, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// Time limit, including kernel matrices and factorisations
    ///
    /// A fit that is not certified by then is returned with the status time-limit. A cross-validation
    /// divides the time among its folds and selects among the lambdas certified by then.
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    /// Random seed [default: 1]
    ///
    /// Seed of the folds, the landmarks and random features, the pairs of rows that set sigma, and
    /// the order of the samples in --solver sdca.
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
    /// - writes JSON to standard output; the report then goes to standard error.
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

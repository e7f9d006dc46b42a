//! What can be said on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use margins::Approximation;
use margins::optim::Lambda;

use crate::Failure;
use crate::choices::{
    ClassWeight, DataFormat, FOL, Grid, LeaveOneOutName, MultiClass, OutputFormat, Probability,
    Selection, SolverChoice, number, parse_grid, parse_lambda, parse_solver, positive, seconds,
    tolerance,
};
use crate::focused::FocusedArguments;
use crate::stochastic::GradientArguments;

/// Binary classification with margin losses: every fit with a duality gap.
#[derive(Debug, Parser)]
#[command(name = "margins", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a linear or kernel classifier at one lambda
    Fit(Box<FitArguments>),
    /// Fit a linear or kernel classifier at every lambda of a path
    Path(PathArguments),
    /// Cross-validate a path and fit at the lambda it selects
    Cv(CvArguments),
    /// Apply a model: score, label and, where the loss has one, probability
    Predict(PredictArguments),
    /// Describe a data file or a model
    Inspect(InspectArguments),
    /// Write a model in the other format, or one of an older version in the latest
    Convert(ConvertArguments),
    /// What an excess surrogate risk says about the misclassification risk: the Psi-transform
    Psi(PsiArguments),
}

/// Where the data come from and how to read them.
#[derive(Debug, Args)]
pub(crate) struct DataArguments {
    /// CSV with a header, or svmlight/LIBSVM; plain or gzip; - for standard input. Or simulated data of the leaky hockey
    /// stick paper: mixture:example=1,n=200,seed=1 (example 1, 2, 3 or 3-corrected; p=10 or 30 for example 3)
    #[arg(long, value_name = "FILE")]
    pub(crate) data: String,
    /// Name of the label column [default: label]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Label to take as the positive class [default: the later of the two in order]
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// Column of sample weights
    #[arg(long, value_name = "NAME")]
    pub(crate) weights_column: Option<String>,
    /// Column of cross-validation folds
    #[arg(long, value_name = "NAME")]
    pub(crate) fold_column: Option<String>,
    /// Number of features of an svmlight file [default: the largest index]
    #[arg(long, value_name = "P")]
    pub(crate) columns: Option<usize>,
    /// Format of the file [default: by its name]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) data_format: Option<DataFormat>,
}

/// What to fit and how.
#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    /// Loss as name or name:parameter=value,..., such as lhs, l-r:r=2, margin-pursuit:gamma=1,scale=1,
    /// log-cosh:gamma=1,scale=1, squared-hinge, smoothed-hinge:width=0.5, logistic, exponential, squared. For --solver fol
    /// any of them is clipped to [0, 1], ramp is the clipped hinge, and the default is zero-one; for the massart solvers
    /// there is massart alone, which is their default
    #[arg(
        long,
        default_value = "lhs",
        default_value_ifs = [
            ("solver", FOL, "zero-one"),
            ("solver", "massart-sgd", "massart"),
            ("solver", "massart-cuts", "massart"),
            ("solver", "massart-auto", "massart"),
        ]
    )]
    pub(crate) loss: String,
    /// Kernel as name or name:parameter=value,...: gaussian (sigma from the data), gaussian:sigma=0.5,
    /// laplacian:sigma=1, poly:degree=3, matern32:length=1, matern52:length=1, anova:sigma=1, sigmoid, linear; sums
    /// with + and products with *, which binds tighter, and parentheses; precomputed for a kernel matrix in the place of features [default: linear
    /// classifier]
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Approximation of the kernel for large data: none, cholesky:tol=1e-8 (with memory=1 for
    /// the most gigabytes that its factor may take), nystrom:m=1000 (with leverage=LAMBDA for
    /// leverage scores), rff:m=2000
    #[arg(long, value_name = "HOW", default_value = "none", requires = "kernel")]
    pub(crate) approx: Approximation,
    /// Scale features to unit standard deviation for the fit
    #[arg(long)]
    pub(crate) standardize: bool,
    /// Fix the intercept at 0
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Weights of the classes: none, balanced (the same total weight for both), or what an error on a sample of a class
    /// costs, as in yes=2,no=1 (1 for a class that is not named), which multiplies its weight
    #[arg(long, value_name = "HOW", default_value = "none", allow_hyphen_values = true)]
    pub(crate) class_weight: ClassWeight,
    /// Data of more than two classes: ovr (a member for every class against the rest) or ovo (one for every pair);
    /// for fit and cv
    #[arg(long, value_name = "HOW")]
    pub(crate) multi_class: Option<MultiClass>,
    /// Probabilities of the model: loss (those of which scores are the minimisers of the risk; hinge has none) or platt
    /// (Platt scaling of held-out scores, for any loss); platt is for fit and cv
    #[arg(long, value_name = "HOW", default_value = "loss")]
    pub(crate) probability: Probability,
    /// Relative duality gap to reach
    #[arg(long, value_name = "GAP", default_value_t = 1e-6, value_parser = tolerance)]
    pub(crate) tol: f64,
    /// Solver: auto (newton for up to 3000 features or rows; for more, and for a loss with a kink such as hinge, sdca),
    /// mm (majorisation-minimisation as published), mm-accelerated (with extrapolation), mm-batched (many lambdas and
    /// folds at once), newton (semismooth), sdca (stochastic dual coordinate ascent), bundle (cutting planes), gd
    /// (gradient descent), sgd or pegasos (stochastic gradient, fit only). Or another objective over the same losses,
    /// for fit and path: catoni:alpha=1, median-of-means:blocks=11, margin-distribution:mean=1,variance=1,
    /// garg-roth:restarts=10 (for the loss of that name). For fit with --loss massart:eta=0.3,gamma=0.05 (noise rate and
    /// margin; epsilon=0.05,delta=0.05 to change the accuracy): massart-sgd, massart-cuts; massart-auto does
    /// without eta and gamma. They take no --lambda, as fol does (focused online learning, fit only: the largest loss made
    /// small)
    #[arg(long, value_name = "SOLVER", default_value = "auto", value_parser = parse_solver)]
    pub(crate) solver: SolverChoice,
    /// Most iterations at one lambda [default: 200 for newton, 10000 for mm and gd, 1000 for sdca, 2000 for bundle]
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<usize>,
    /// End after this time, for the solvers of paths: what has no certificate by then is kept as it is and marked with
    /// the status time-limit. A cross-validation chooses among the lambdas certified by then. It is looked at between
    /// iterations, not while a matrix is factorised
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) time_limit: Option<Duration>,
    /// Seed of the folds, of landmarks and random features, of the pairs that sigma is taken from, of the order in
    /// which sdca visits the samples, and of the part of many samples that newton starts from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads for cross-validation folds [default: all cores]; no result depends on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Output
    #[arg(long, default_value = "table")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) train: TrainArguments,
    /// Regularisation: the weight of the squared norm beside the mean loss; needed by every solver but the massart ones
    /// and fol, which have none
    #[arg(long, value_parser = parse_lambda, allow_hyphen_values = true)]
    lambda: Option<Lambda>,
    /// massart-cuts: project the features to this many random dimensions first, at the price of half of gamma [default: to
    /// as many as keep half of gamma for certain, if that makes the data smaller]
    #[arg(long, value_name = "M", value_parser = positive)]
    pub(crate) project: Option<usize>,
    /// Write the model to this file: as JSON where its name ends in .json, else binary; - for JSON on standard output, the
    /// report then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a CSV file with a row for every iteration or epoch: cost, objective, gap, training error, margins; - for
    /// standard output
    #[arg(long, value_name = "FILE", conflicts_with = "multi_class")]
    pub(crate) history: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gradient: GradientArguments,
    #[command(flatten)]
    pub(crate) focused: FocusedArguments,
}

impl FitArguments {
    /// The regularisation, which only methods without a penalty may leave out.
    pub(crate) fn lambda(&self) -> Result<Lambda, Failure> {
        self.lambda.ok_or_else(|| {
            let solver = &self.train.solver;
            Failure::usage(format!("--solver {solver} needs --lambda, such as --lambda 0.01"))
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct PathArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) train: TrainArguments,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

#[derive(Debug, Args)]
pub(crate) struct GridArguments {
    /// Lambdas: FIRST:LAST:COUNT, evenly spaced on a logarithmic scale, or a list separated by
    /// commas
    #[arg(long, value_name = "GRID", default_value = "1:1e-7:100", value_parser = parse_grid, allow_hyphen_values = true)]
    pub(crate) lambdas: Grid,
}

#[derive(Debug, Args)]
pub(crate) struct CvArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) train: TrainArguments,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
    /// Number of stratified folds [default: 5]
    #[arg(long, value_name = "K", conflicts_with = "fold_column")]
    pub(crate) folds: Option<usize>,
    /// Kernels to choose from beside --kernel, each as there; may be repeated
    #[arg(long, value_name = "KERNEL", requires = "kernel", conflicts_with = "leave_one_out")]
    pub(crate) or_kernel: Vec<String>,
    /// Leave one sample out at a time instead of a fold (kernel classifiers): exact refits it, one-step
    /// approximates that by one Newton step
    #[arg(long, value_name = "HOW", conflicts_with_all = ["folds", "fold_column", "multi_class"], requires = "kernel")]
    pub(crate) leave_one_out: Option<LeaveOneOutName>,
    /// Leave lambdas out of the later half of the folds that the earlier half has shown to be hopeless: four
    /// standard deviations worse than the best; what is left out is marked
    #[arg(long, conflicts_with = "leave_one_out")]
    pub(crate) abandon_hopeless: bool,
    /// Which lambda the final fit takes
    #[arg(long, value_name = "RULE", default_value = "best")]
    pub(crate) select: Selection,
    /// Write the model of the final fit to this file: as JSON where its name ends in .json, else binary; - for JSON on
    /// standard output, the report then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// Model file
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArguments,
    /// Write the predictions to this file; standard output then shows how good they are, if the data
    /// have labels; - for standard output, as without this option
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Output: a table is CSV
    #[arg(long, default_value = "table")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// Model file
    #[arg(long, value_name = "FILE", conflicts_with = "data", required_unless_present = "data")]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: Option<DataArguments>,
    /// Output
    #[arg(long, default_value = "table")]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// Model file
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Write the model to this file: as JSON where its name ends in .json, else binary; - for JSON on standard output, the
    /// report then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PsiArguments {
    /// Loss, as for the other commands
    #[arg(long)]
    pub(crate) loss: String,
    /// Excess misclassification risks in [0, 1], separated by commas; with --inverse excess surrogate
    /// risks of at least 0
    #[arg(long, value_name = "LIST", required = true, value_delimiter = ',', value_parser = number, allow_hyphen_values = true)]
    pub(crate) at: Vec<f64>,
    /// Evaluate the inverse: the most that the misclassification risk can exceed the least one by
    #[arg(long)]
    pub(crate) inverse: bool,
    /// Output
    #[arg(long, default_value = "table")]
    pub(crate) format: OutputFormat,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use margins::optim::{DEFAULT_GRID, lambda_grid};

    #[test]
    fn the_interface_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_default_grid_is_the_library_s() {
        let arguments =
            Arguments::try_parse_from(["margins", "path", "--data", "x.csv"]).expect("valid");
        let Command::Path(path) = arguments.command else { panic!("not a path") };
        let (from, to, count) = DEFAULT_GRID;
        assert_eq!(path.grid.lambdas.0, lambda_grid(from, to, count).unwrap());
    }
}

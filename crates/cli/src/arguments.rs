//! The command line: one module a command, with the options of its problem alone.

pub(crate) mod blocks;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod cv;
pub(crate) mod data;
pub(crate) mod encode;
pub(crate) mod fit;
pub(crate) mod focus;
pub(crate) mod global;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod massart;
pub(crate) mod path;
pub(crate) mod predict;
pub(crate) mod psi;
pub(crate) mod regularised;
pub(crate) mod report;
pub(crate) mod signed;
pub(crate) mod stream;
pub(crate) mod values;

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;
use crate::program;

/// Fit margin-based classifiers, with a duality gap that certifies each fit.
#[derive(Debug, Parser)]
#[command(name = "margins", max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) messages: global::MessageArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a linear or kernel classifier at one lambda
    Fit(fit::FitArguments),
    /// Fit a linear or kernel classifier at each lambda of a path
    Path(path::PathArguments),
    /// Choose lambda and kernel by cross-validation, and fit
    Cv(cv::CvArguments),
    /// Fit a linear classifier to streaming data by stochastic gradient descent
    ///
    /// By default, reads the data once, in the order of the file and in bounded memory. With --epochs,
    /// reads the data into memory, visits them in shuffled order and reports the duality gap. With
    /// --verbose, computing the line for each epoch takes as long as one or two more epochs.
    Stream(stream::StreamArguments),
    /// Learn a halfspace with a margin under Massart noise
    ///
    /// Each label is flipped with a probability of at most eta, which may differ between samples. The
    /// error of the result is guaranteed to be close to eta, not to the error of the best halfspace.
    Massart(massart::MassartArguments),
    /// Minimise the largest loss by focused online learning
    ///
    /// An online learner plays a game against an adversary that draws samples with a large loss more
    /// often. The game ends when the ensemble of its classifiers is correct on every sample.
    Focus(focus::FocusArguments),
    /// Predict scores, labels and probabilities with a model
    Predict(predict::PredictArguments),
    /// Evaluate a model on labelled data, and write an HTML report
    Report(report::ReportArguments),
    /// Describe a data file or a model file
    Inspect(inspect::InspectArguments),
    /// Convert data to a block file, for faster reading and for data larger than memory
    ///
    /// Reads the data once, in memory that does not grow with the number of rows; --encode reads them
    /// once more per pass of the encoding. The other commands read block files with --data.
    Blocks(blocks::BlocksArguments),
    /// Convert a model file between JSON and binary
    Convert(convert::ConvertArguments),
    /// Evaluate the Psi-transform, which bounds excess risks
    ///
    /// It relates the excess surrogate risk to the excess misclassification risk, both over the lowest
    /// risks of all measurable functions. A fit that is optimal in a class, such as the linear
    /// functions, may misclassify far more rows than another function of the class.
    Psi(psi::PsiArguments),
    /// Print ten example commands that run as they are
    ///
    /// The examples use simulated data. The second one writes model.json, which later ones read, and
    /// the fourth writes page.html, both to the current folder.
    Examples,
    /// Print a shell completion script
    Completions(completions::CompletionsArguments),
    /// Write manual pages
    Man(man::ManArguments),
}

/// Returns the command line under the name of the program.
pub(crate) fn command() -> clap::Command {
    let name = program::name();
    let examples = format!(
        "Examples ({name} examples prints more):\n  \
         {name} cv --data train.csv --loss logistic --standardize --out model.json\n  \
         {name} predict --model model.json --data test.csv --out predictions.csv\n  \
         {name} report --model model.json --data test.csv --out page.html",
    );
    Arguments::command().name(program::name()).version(program::version()).after_help(examples)
}

impl Command {
    /// Returns the number of threads, if the command works on several.
    pub(crate) fn threads(&self) -> Result<Option<usize>, Failure> {
        let arguments = match self {
            Command::Fit(fit) => fit.common.solver.threads,
            Command::Path(path) => path.common.solver.threads,
            Command::Cv(cv) => cv.common.solver.threads,
            Command::Stream(stream) => stream.threads,
            Command::Massart(massart) => massart.learner.threads,
            Command::Focus(focus) => focus.threads,
            Command::Predict(predict) => predict.threads,
            Command::Report(report) => report.threads,
            Command::Inspect(inspect) => inspect.threads,
            Command::Blocks(blocks) => blocks.threads,
            Command::Convert(_)
            | Command::Psi(_)
            | Command::Examples
            | Command::Completions(_)
            | Command::Man(_) => return Ok(None),
        };
        arguments.count().map(Some)
    }
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
        assert_eq!(path.lambdas.lambdas.0, lambda_grid(from, to, count).unwrap());
    }
}

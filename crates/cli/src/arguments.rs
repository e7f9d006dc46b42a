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

/// Classification with margin losses: regularised convex fits with a duality gap.
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
    /// Fit a linear or kernel classifier at every lambda of a path
    Path(path::PathArguments),
    /// Cross-validate a path and fit at the lambda it selects
    Cv(cv::CvArguments),
    /// Fit a linear classifier by stochastic gradient to streaming data
    ///
    /// Without --epochs the data are read once, in the order of the file and in bounded memory. With
    /// --epochs they are read into memory and visited in shuffled order, and the fit comes with its
    /// duality gap.
    Stream(stream::StreamArguments),
    /// Learn a halfspace with a margin under Massart noise
    ///
    /// Labels are flipped with probabilities of at most eta, which may differ from sample to
    /// sample. The error of the halfspace comes close to eta, and not to that of the best
    /// halfspace.
    Massart(massart::MassartArguments),
    /// Make the largest loss small by focused online learning
    ///
    /// An online learner plays against a player that draws the samples of large loss more often.
    /// The game ends as soon as the ensemble of its classifiers is right on every sample.
    Focus(focus::FocusArguments),
    /// Apply a model: score, label and, where the model has one, probability
    Predict(predict::PredictArguments),
    /// Evaluate a model on labelled data, and write the results as a page
    Report(report::ReportArguments),
    /// Describe a data file or a model
    Inspect(inspect::InspectArguments),
    /// Write data as a block file, which is read faster and in parts
    ///
    /// The data are read once, in memory that does not grow with the rows, but raw tables with
    /// --encode, which are read once more for every pass that their encoding takes. All other
    /// commands read such a file instead of text.
    Blocks(blocks::BlocksArguments),
    /// Write a model in the other format, JSON or binary
    Convert(convert::ConvertArguments),
    /// Evaluate the Psi-transform: excess surrogate risk against excess misclassification risk
    ///
    /// Both are excesses over the smallest risks of all measurable functions. A fit that is the best of a
    /// class, such as the linear functions, may have an excess of 0 over the class and yet misclassify
    /// far more rows than another function of it.
    Psi(psi::PsiArguments),
    /// Print ten commands that work as they are, each with what it does
    ///
    /// Their data are simulated. The second writes model.json, which others read, and the fourth
    /// page.html, both in the current folder.
    Examples,
    /// Print what a shell needs to complete the words of this command
    Completions(completions::CompletionsArguments),
    /// Write manual pages, one for each command
    Man(man::ManArguments),
}

/// Returns the command line under the name of the program.
pub(crate) fn command() -> clap::Command {
    let examples = format!("{} examples prints ten commands to begin with.", program::name());
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

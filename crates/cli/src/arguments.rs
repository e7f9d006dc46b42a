//! The command line: one module per command, with the options of its problem alone.

pub(crate) mod blocks;
pub(crate) mod bound;
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
pub(crate) mod location;
pub(crate) mod man;
pub(crate) mod massart;
pub(crate) mod path;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod psi;
pub(crate) mod regress;
pub(crate) mod regularised;
pub(crate) mod report;
pub(crate) mod signed;
pub(crate) mod stream;
pub(crate) mod values;

use clap::{CommandFactory, Parser, Subcommand};
use margins::estimators::settings::{ESTIMATORS, EstimatorSettings, Setting, of_option};

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
    /// Fit a bounded regression function with a small error on every row
    ///
    /// Labels are numbers. Focused online learning plays until no row has an error above epsilon of the
    /// range of the labels, if linear functions that are clipped to this range can be so near. Block
    /// files and simulated data are not read, because their labels are classes. No model is written:
    /// --test and --out predict other rows.
    Regress(regress::RegressArguments),
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
    /// Estimate the location of numbers, such as margins, robustly, with an interval
    ///
    /// Prints Catoni's M-estimate of the mean, how far it is from the mean of the numbers, where it stays
    /// if some numbers are replaced, and the median of means for comparison; with --variance also
    /// intervals for the mean of the distribution.
    Location(location::LocationArguments),
    /// Estimate the excess risk bound of margin pursuit from data, term by term
    ///
    /// Theorem 11 of Holland (2019) for gradient descent without intercept and penalty. Its constants
    /// are estimated from the rows, so the bound is an estimate. It is vacuous for most data, and the
    /// terms show why.
    Bound(bound::BoundArguments),
    /// Calculate steps, samples and failure probabilities of focused online learning
    ///
    /// Theorems 1, 2 and 3 of Shalev-Shwartz and Wexler (2016), with constants: steps and classifiers
    /// of a game, samples for a small error on typical and on rare samples, and how likely a subsample
    /// has an outlier or too few rare rows. Prints each theorem whose numbers are given.
    Plan(plan::PlanArguments),
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
    let command = Arguments::command().name(name).version(program::version()).after_help(examples);
    explained(command, ESTIMATORS)
}

/// Gives every option without a text of its own the text of its setting.
fn explained(command: clap::Command, estimators: &[EstimatorSettings]) -> clap::Command {
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|argument| {
            let row = argument.get_long().and_then(|option| of_option(estimators, &name, option));
            match row {
                Some((setting, beside)) if argument.get_help().is_none() => {
                    with_text(argument, setting, beside)
                }
                _ => argument,
            }
        })
    })
}

/// Gives an option the text of its setting, which may mention the settings beside it.
fn with_text(argument: clap::Arg, setting: &Setting, beside: &[Setting]) -> clap::Arg {
    let option_of = |name: &str| {
        let row = beside.iter().find(|row| row.name == name);
        format!("--{}", row.and_then(|row| row.option).unwrap_or(name))
    };
    let (mut line, paragraph) = setting.help(option_of);
    let default = setting.shown_default();
    if !default.is_empty() && argument.get_default_values().is_empty() {
        line = format!("{line} [default: {default}]");
    }
    if paragraph.is_empty() {
        return argument.help(line);
    }
    argument.long_help(format!("{line}\n\n{paragraph}")).help(line)
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
            Command::Regress(_)
            | Command::Convert(_)
            | Command::Psi(_)
            | Command::Location(_)
            | Command::Bound(_)
            | Command::Plan(_)
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
    use clap::builder::PossibleValue;
    use margins::estimators::settings::Kind;
    use margins::optim::{DEFAULT_GRID, lambda_grid};

    #[test]
    fn the_interface_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_option_has_the_text_and_the_default_of_its_setting() {
        for command in command().get_subcommands() {
            for argument in command.get_arguments() {
                let (of, option) = (command.get_name(), argument.get_long().unwrap_or_default());
                let help =
                    argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
                let help = help.unwrap_or_else(|| panic!("{of} --{option} has no help"));
                assert!(!help.contains('{'), "{of} --{option}: {help}");
                let defaults = argument.get_default_values();
                let Some((row, _)) = of_option(ESTIMATORS, of, option) else { continue };
                // Calculators have defaults of their own.
                let has_own = ["bound", "plan"].contains(&of);
                if argument.get_action().takes_values() && !defaults.is_empty() && !has_own {
                    assert_eq!(defaults, [row.shown_default()], "{of} --{option}");
                }
            }
        }
    }

    #[test]
    fn every_option_of_a_setting_exists_with_its_choices() {
        for estimator in ESTIMATORS {
            let command = command();
            for row in estimator.settings {
                let Some(option) = row.option else { continue };
                let of = estimator.commands.iter().filter_map(|name| command.find_subcommand(name));
                let found = of.flat_map(clap::Command::get_arguments);
                let mut found = found.filter(|argument| argument.get_long() == Some(option));
                let argument =
                    found.next().unwrap_or_else(|| panic!("{}: {option}", estimator.name));
                if let Kind::Choice(choices) = row.kind {
                    let given = argument.get_possible_values();
                    let mut given: Vec<_> = given.iter().map(PossibleValue::get_name).collect();
                    let mut names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
                    given.sort_unstable();
                    names.sort_unstable();
                    assert_eq!(given, names, "{}: {option}", estimator.name);
                }
            }
        }
    }

    #[test]
    fn a_new_setting_explains_its_option() {
        let of_stream =
            ESTIMATORS.iter().find(|estimator| estimator.commands == ["stream"]).unwrap();
        let momentum = Setting {
            name: "momentum",
            option: Some("momentum"),
            default: "0.9",
            sentence: "Share of the step before, beside {first_step}",
            more: "It is `0` for others than sgd.",
            ..of_stream.settings[0]
        };
        let settings = [of_stream.settings, &[momentum]].concat();
        let estimators = [EstimatorSettings { settings: settings.leak(), ..*of_stream }];
        let stream = clap::Command::new("stream")
            .arg(clap::Arg::new("momentum").long("momentum"))
            .arg(clap::Arg::new("files").long("files").help("Its own text"));
        let mut command = explained(clap::Command::new("margins").subcommand(stream), &estimators);
        let help = command.find_subcommand_mut("stream").unwrap().render_long_help().to_string();
        for text in
            ["Share of the step before, beside --step [default: 0.9]", "It is 0 for", "Its own"]
        {
            assert!(help.contains(text), "{help}");
        }
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

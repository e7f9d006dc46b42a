//! The experiments by their names, and the calls of them.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use margins_experiments::Document;

use crate::{Failure, files};
use crate::{focused, leaky_hockey_stick, margin_pursuit, massart, multi_class, robust_outliers};

/// Figures and tables of the papers.
#[derive(Subcommand)]
enum Experiment {
    /// rho with its derivatives
    MarginPursuitFig1,
    /// H, Psi and its inverse over the level and the scale
    MarginPursuitFig2,
    /// Margin pursuit beside Pegasos on COV and DIGIT5
    MarginPursuitFig3(margin_pursuit::trajectories::Arguments),
    /// Margin pursuit beside Pegasos on PROTEIN and SIDO
    MarginPursuitFig4(margin_pursuit::trajectories::Arguments),
    /// Margin pursuit with too little regularisation and a scale from the data
    MarginPursuitFig5(margin_pursuit::trajectories::Arguments),
    /// The double-cube condition with its roots
    MarginPursuitFig6,
    /// The single-cube conditions with their roots
    MarginPursuitFig7,
    /// The leaky hockey stick loss beside the hinge loss
    LhsFig1,
    /// Separators with the largest least margin and with the largest product of margins
    LhsFig2(Separators),
    /// The losses between the line and the leaky hockey stick
    LhsFig3,
    /// Classifiers on simulated examples
    LhsTable1(leaky_hockey_stick::comparison::Settings),
    /// Classifiers on data sets
    LhsTable2(leaky_hockey_stick::table_2::Arguments),
    /// Errors above the Bayes error along n, for lambdas of theorem 5 and others
    LhsConsistency(leaky_hockey_stick::consistency::Arguments),
    /// Times along the number of samples
    LhsTiming(leaky_hockey_stick::timing::Arguments),
    /// Samples that the learner under Massart noise needs, with fitted slopes
    MassartSampleComplexity(massart::sample_complexity::Arguments),
    /// How often learners under Massart noise miss eta + epsilon, beside those before them
    MassartAdversaries(massart::adversaries::Arguments),
    /// Calls of the separation oracle along the dimension
    MassartCuts(massart::cuts::Arguments),
    /// Cost of selecting one of all iterates
    MassartSelection(massart::selection::Arguments),
    /// A search for the noise that misleads the minimisers of convex surrogates most
    MassartSurrogates(massart::surrogates::Arguments),
    /// Learners on data sets whose labels adversaries flip
    MassartRealData(massart::real_data::Arguments),
    /// Robust learners on samples of which some are wrong
    RobustOutliers(robust_outliers::Arguments),
    /// Schemes of several classes on data sets
    MultiClass(multi_class::Arguments),
    /// Rounds to zero error of focused online learning and of SGD
    FolGap(focused::Settings),
    /// Numbers read until every sample is right, along the margin
    FolMargin(focused::margin::Arguments),
    /// Effort until a classifier is right on all samples of separable data
    FolSeparable(focused::separable::Arguments),
    /// Errors on typical and on rare samples
    FolRare(focused::Settings),
    /// Outliers, with slack and sub-sampling
    FolOutliers(focused::Settings),
    /// A multilayer perceptron on MNIST with few fives
    FolDeep(focused::deep::Arguments),
}

#[derive(Args)]
struct Separators {
    /// Seed of centres and samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Separable samples to draw
    #[arg(long, default_value_t = 1000)]
    draws: usize,
}

impl Experiment {
    /// Returns what the experiment finds. A journal of its finished trials is in the folder, which
    /// a later call continues.
    fn run(&self, folder: &Path) -> Result<Document, Failure> {
        use leaky_hockey_stick::{consistency, figures, table_1, table_2, timing};
        use margin_pursuit::trajectories;
        let figure = |found: Result<_, Failure>, title| Ok(Document::of(found?, title));
        match self {
            Experiment::MarginPursuitFig1 => {
                Ok(Document::of(margin_pursuit::figure_1(), "Figure 1: rho and its derivatives"))
            }
            Experiment::MarginPursuitFig2 => {
                figure(margin_pursuit::figure_2(), "Figure 2: H, Psi and its inverse")
            }
            Experiment::MarginPursuitFig3(arguments) => trajectories::figure_3(arguments, folder),
            Experiment::MarginPursuitFig4(arguments) => trajectories::figure_4(arguments, folder),
            Experiment::MarginPursuitFig5(arguments) => trajectories::scale::run(arguments, folder),
            Experiment::MarginPursuitFig6 => {
                figure(margin_pursuit::figure_6(), "Figure 6: roots of the double-cube condition")
            }
            Experiment::MarginPursuitFig7 => {
                figure(margin_pursuit::figure_7(), "Figure 7: roots of the single-cube conditions")
            }
            Experiment::LhsFig1 => Ok(Document::of(
                figures::figure_1(),
                "Figure 1: the leaky hockey stick and the hinge",
            )),
            Experiment::LhsFig2(Separators { seed, draws }) => {
                figure(figures::figure_2(*seed, *draws), "Figure 2: two kinds of separators")
            }
            Experiment::LhsFig3 => {
                figure(figures::figure_3(), "Figure 3: the family of the leaky hockey stick")
            }
            Experiment::LhsTable1(settings) => table_1::run(settings, folder),
            Experiment::LhsTable2(arguments) => table_2::run(arguments, folder),
            Experiment::LhsConsistency(arguments) => consistency::run(arguments, folder),
            Experiment::LhsTiming(arguments) => timing::run(arguments),
            Experiment::MassartSampleComplexity(arguments) => {
                massart::sample_complexity::run(arguments, folder)
            }
            Experiment::MassartAdversaries(arguments) => {
                massart::adversaries::run(arguments, folder)
            }
            Experiment::MassartCuts(arguments) => massart::cuts::run(arguments, folder),
            Experiment::MassartSelection(arguments) => massart::selection::run(arguments, folder),
            Experiment::MassartSurrogates(arguments) => massart::surrogates::run(arguments),
            Experiment::MassartRealData(arguments) => massart::real_data::run(arguments, folder),
            Experiment::RobustOutliers(arguments) => robust_outliers::run(arguments, folder),
            Experiment::MultiClass(arguments) => multi_class::run(arguments, folder),
            Experiment::FolGap(settings) => focused::gap::run(settings, folder),
            Experiment::FolMargin(arguments) => focused::margin::run(arguments, folder),
            Experiment::FolSeparable(arguments) => focused::separable::run(arguments, folder),
            Experiment::FolRare(settings) => focused::rare::run(settings, folder),
            Experiment::FolOutliers(settings) => focused::outliers::run(settings, folder),
            Experiment::FolDeep(arguments) => focused::deep::run(arguments, folder),
        }
    }
}

/// Returns the command that has every experiment for a subcommand.
pub(crate) fn command() -> Command {
    Experiment::augment_subcommands(Command::new("experiment").subcommand_required(true))
}

/// An experiment with its arguments.
pub(crate) struct Call {
    experiment: Experiment,
    /// The command line without what concerns this machine alone.
    pub(crate) line: String,
    /// The parameters, those that the command line does not name among them.
    pub(crate) parameters: Vec<(String, String)>,
}

impl FromArgMatches for Call {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let experiment = Experiment::from_arg_matches(matches)?;
        let mut line = String::from("cargo xtask experiment");
        let mut parameters = Vec::new();
        let all = command();
        if let Some((name, matches)) = matches.subcommand() {
            line += &format!(" {name}");
            let found = all.find_subcommand(name).into_iter();
            for argument in found.flat_map(Command::get_arguments) {
                let Some((value, is_given)) = value(argument, matches) else { continue };
                let option = argument.get_long().unwrap_or_default();
                match (is_given, value.as_str()) {
                    (true, "true") => line += &format!(" --{option}"),
                    (true, value) => line += &format!(" --{option} {value}"),
                    (false, _) => {}
                }
                parameters.push((option.replace('-', " "), value));
            }
        }
        Ok(Call { experiment, line, parameters })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Call {
    fn augment_subcommands(command: Command) -> Command {
        Experiment::augment_subcommands(command)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Experiment::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Experiment::has_subcommand(name)
    }
}

/// Returns the value of an argument, DIR for a folder, and whether the command line has it.
fn value(argument: &Arg, matches: &ArgMatches) -> Option<(String, bool)> {
    let id = argument.get_id().as_str();
    let values = matches.get_raw(id)?;
    let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
    if argument.get_id() == DATA {
        return Some(("DIR".to_owned(), is_given));
    }
    let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
    Some((values.join(","), is_given))
}

/// The argument of experiments on data sets.
const DATA: &str = "data_dir";

/// Returns whether an experiment needs a folder of data sets, if it takes one at all.
pub(crate) fn needs_data(experiment: &Command) -> Option<bool> {
    let folder = experiment.get_arguments().find(|argument| argument.get_id() == DATA);
    folder.map(Arg::is_required_set)
}

impl Call {
    /// Returns the call of an experiment with these arguments.
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let all = command().no_binary_name(true);
        Ok(Call::from_arg_matches(&all.try_get_matches_from(words)?)?)
    }

    /// Returns the parameters with their values.
    pub(crate) fn in_words(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name} {value}"));
        parameters.collect::<Vec<_>>().join(", ")
    }

    /// Returns what the experiment finds, and the names of the files that it writes into a folder, which
    /// is made if need be.
    pub(crate) fn run(&self, folder: &Path) -> Result<(Document, Vec<String>), Failure> {
        files::make_folder(folder)?;
        let document = self.experiment.run(folder)?;
        let files = document.write(folder, &self.line)?;
        Ok((document, files))
    }
}

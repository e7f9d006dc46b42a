//! Automation of the workspace: `cargo xtask <task>`.

mod book;
mod compare;
mod figure;
mod focused;
mod layers;
mod leaky_hockey_stick;
mod margin_pursuit;
mod massart;
mod msrv;
mod peers;
mod pictures;
mod robust_outliers;
mod trials;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation of the margins workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check that no dependency needs a newer Rust than the workspace promises
    Msrv,
    /// Check that crates, and the modules of each crate, depend on those below them only
    Layers(layers::Arguments),
    /// Check that the pages of the book are linked, and that the commands they show exist
    Book,
    /// Draw every loss with its derivative, and a path of errors, into docs/pictures
    Pictures,
    /// Compute a figure or a table of a paper
    Experiment {
        /// Which one
        #[command(subcommand)]
        name: Experiment,
    },
    /// Time cross-validated linear paths against MM as published with its own stopping rule
    Compare {
        /// CSV files with a fold column
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Alternating repetitions, of which the median counts
        #[arg(long, default_value_t = 7)]
        repetitions: usize,
    },
    /// Time other programs beside ours by turns and write the table of docs/performance.md
    Peers(peers::Arguments),
}

/// Figures and tables of the papers.
#[derive(Subcommand)]
enum Experiment {
    /// rho with its derivatives
    MarginPursuitFig1(Folder),
    /// H, Psi and its inverse over the level and the scale
    MarginPursuitFig2(Folder),
    /// Margin pursuit beside Pegasos on COV and DIGIT5
    MarginPursuitFig3(margin_pursuit::trajectories::Arguments),
    /// Margin pursuit beside Pegasos on PROTEIN and SIDO
    MarginPursuitFig4(margin_pursuit::trajectories::Arguments),
    /// Margin pursuit with too little regularisation and a scale from the data
    MarginPursuitFig5(margin_pursuit::trajectories::Arguments),
    /// The double-cube condition with its roots
    MarginPursuitFig6(Folder),
    /// The single-cube conditions with their roots
    MarginPursuitFig7(Folder),
    /// The leaky hockey stick loss beside the hinge loss
    LhsFig1(Folder),
    /// Separators with the largest least margin and with the largest product of margins
    LhsFig2(Separators),
    /// The losses between the line and the leaky hockey stick
    LhsFig3(Folder),
    /// Classifiers on simulated examples
    LhsTable1(leaky_hockey_stick::comparison::Settings),
    /// Classifiers on data sets
    LhsTable2(leaky_hockey_stick::table_2::Arguments),
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
    /// Rounds to zero error of focused online learning and of SGD
    FolGap(focused::Settings),
    /// Effort until a classifier is right on all samples of separable data
    FolSeparable(focused::DataSettings),
    /// Errors on typical and on rare samples
    FolRare(focused::Settings),
    /// Outliers, with slack and sub-sampling
    FolOutliers(focused::Settings),
    /// A multilayer perceptron on MNIST with few fives
    FolDeep(focused::DataSettings),
}

#[derive(Args)]
struct Folder {
    /// Folder for the files
    #[arg(long, default_value = "report")]
    out: PathBuf,
}

#[derive(Args)]
struct Separators {
    #[command(flatten)]
    folder: Folder,
    /// Seed of centres and samples
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Experiment {
    fn run(&self) -> Outcome {
        use leaky_hockey_stick::{figures, table_1, table_2, timing};
        use margin_pursuit::trajectories;
        match self {
            Experiment::MarginPursuitFig1(to) => margin_pursuit::figure_1().write(&to.out),
            Experiment::MarginPursuitFig2(to) => margin_pursuit::figure_2()?.write(&to.out),
            Experiment::MarginPursuitFig3(arguments) => {
                let sets = ["COV", "DIGIT5"];
                trajectories::naive_scaling("margin-pursuit-fig3", arguments, &sets).map_err(here)
            }
            Experiment::MarginPursuitFig4(arguments) => {
                let sets = ["PROTEIN", "SIDO"];
                trajectories::naive_scaling("margin-pursuit-fig4", arguments, &sets).map_err(here)
            }
            Experiment::MarginPursuitFig5(arguments) => {
                trajectories::data_driven_scaling(arguments).map_err(here)
            }
            Experiment::MarginPursuitFig6(to) => margin_pursuit::figure_6()?.write(&to.out),
            Experiment::MarginPursuitFig7(to) => margin_pursuit::figure_7()?.write(&to.out),
            Experiment::LhsFig1(to) => figures::figure_1().write(&to.out),
            Experiment::LhsFig2(Separators { folder, seed }) => {
                figures::figure_2(*seed).map_err(here)?.write(&folder.out)
            }
            Experiment::LhsFig3(to) => figures::figure_3()?.write(&to.out),
            Experiment::LhsTable1(settings) => table_1::run(settings).map_err(here),
            Experiment::LhsTable2(arguments) => table_2::run(arguments).map_err(here),
            Experiment::LhsTiming(arguments) => timing::run(arguments).map_err(here),
            Experiment::MassartSampleComplexity(arguments) => {
                massart::sample_complexity::run(arguments).map_err(here)
            }
            Experiment::MassartAdversaries(arguments) => {
                massart::adversaries::run(arguments).map_err(here)
            }
            Experiment::MassartCuts(arguments) => massart::cuts::run(arguments).map_err(here),
            Experiment::MassartSelection(arguments) => {
                massart::selection::run(arguments).map_err(here)
            }
            Experiment::MassartSurrogates(arguments) => {
                massart::surrogates::run(arguments).map_err(here)
            }
            Experiment::MassartRealData(arguments) => {
                massart::real_data::run(arguments).map_err(here)
            }
            Experiment::RobustOutliers(arguments) => robust_outliers::run(arguments).map_err(here),
            Experiment::FolGap(settings) => focused::gap::run(settings).map_err(here),
            Experiment::FolSeparable(settings) => focused::separable::run(settings).map_err(here),
            Experiment::FolRare(settings) => focused::rare::run(settings).map_err(here),
            Experiment::FolOutliers(settings) => focused::outliers::run(settings).map_err(here),
            Experiment::FolDeep(settings) => focused::deep::run(settings).map_err(here),
        }
    }
}

/// Returns what cargo says of the workspace with the options given.
fn metadata(options: &[&str]) -> Result<serde_json::Value, Box<dyn Error>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .args(options)
        .current_dir(workspace())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Msrv => msrv::check(),
        Task::Layers(arguments) => layers::run(&arguments),
        Task::Book => book::check(),
        Task::Pictures => pictures::draw(&workspace().join("docs/pictures")),
        Task::Experiment { name } => name.run(),
        Task::Compare { files, repetitions } => compare::compare(&files, repetitions),
        Task::Peers(arguments) => peers::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The packages that the lock file names.
const LOCKED: [&str; 2] = ["--locked", "--all-features"];

type Outcome = Result<(), Box<dyn Error>>;

/// An error that may come from another thread.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Returns an error for where threads do not matter.
fn here(failure: Failure) -> Box<dyn Error> {
    failure
}

/// Returns the root of the workspace.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

//! Automation of the workspace: `cargo xtask <task>`.

mod compare;
mod figure;
mod margin_pursuit;
mod msrv;
mod pictures;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

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
    /// Draw every loss with its derivative into docs/pictures
    Pictures,
    /// Compute a figure of a paper as CSV and SVG
    Experiment {
        /// Which figure
        name: Experiment,
        /// Folder for the files
        #[arg(long, default_value = "report")]
        out: PathBuf,
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
}

/// Figures of the papers.
#[derive(Clone, Copy, ValueEnum)]
enum Experiment {
    /// rho with its derivatives
    MarginPursuitFig1,
    /// H, Psi and its inverse over the level and the scale
    MarginPursuitFig2,
    /// The double-cube condition with its roots
    MarginPursuitFig6,
    /// The single-cube conditions with their roots
    MarginPursuitFig7,
}

impl Experiment {
    fn run(self, out: &Path) -> Outcome {
        let figure = match self {
            Experiment::MarginPursuitFig1 => margin_pursuit::figure_1(),
            Experiment::MarginPursuitFig2 => margin_pursuit::figure_2()?,
            Experiment::MarginPursuitFig6 => margin_pursuit::figure_6()?,
            Experiment::MarginPursuitFig7 => margin_pursuit::figure_7()?,
        };
        figure.write(out)
    }
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Msrv => msrv::check(),
        Task::Pictures => pictures::draw(&workspace().join("docs/pictures")),
        Task::Experiment { name, out } => name.run(&out),
        Task::Compare { files, repetitions } => compare::compare(&files, repetitions),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

type Outcome = Result<(), Box<dyn Error>>;

/// The root of the workspace.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

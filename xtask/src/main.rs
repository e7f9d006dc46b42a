//! Automation of the workspace: `cargo xtask <task>`.

mod book;
mod compare;
mod dependencies;
#[cfg(test)]
mod digest;
mod experiment;
#[cfg(unix)]
mod faults;
mod focused;
mod formulas;
mod layers;
mod leaky_hockey_stick;
mod margin_pursuit;
mod massart;
mod multi_class;
mod packages;
mod peers;
mod pictures;
mod report;
mod robust_outliers;
mod settings;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};
use margins_experiments::{Failure, files, machine, trials};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation of the margins workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the Rust version, licence and source of every dependency
    Dependencies,
    /// Pack every crate, build it by itself with no, default and all features, and run programs of
    /// users
    Packages,
    /// Check that crates, and the modules of each crate, depend on those below them only
    Layers(layers::Arguments),
    /// Check that the pages of the book are linked, that the commands they show exist, and that their
    /// formulas are valid LaTeX
    Book,
    /// Preprocessor of mdBook that turns blocks of LaTeX into MathML
    #[command(hide = true)]
    Formulas(formulas::Arguments),
    /// Write what follows from the rows of settings: Python's signatures, documentation and stubs, and
    /// docs/settings.md
    Settings,
    /// Draw every loss with its derivative, and a path of errors, into docs/pictures
    Pictures,
    /// Compute a figure or a table of a paper
    Experiment {
        /// Which one
        #[command(subcommand)]
        call: experiment::Call,
        /// Folder for page, pictures, numbers, and the journal of finished trials that a later call
        /// continues
        #[arg(long, global = true, default_value = "report")]
        out: PathBuf,
    },
    /// Run all experiments and write one page of them
    Report(report::Arguments),
    /// Time cross-validated linear paths against MM as published with its own stopping rule
    Compare {
        /// CSV files with a fold column; by default 900 rows of two simulated examples
        files: Vec<PathBuf>,
        /// Alternating repetitions, of which the median counts
        #[arg(long, default_value_t = 7)]
        repetitions: usize,
    },
    /// Time other programs beside ours, alternating, and write the table of docs/performance.md
    Peers(peers::Arguments),
    /// Kill jobs at random moments and let them go on; then try files and limits that fail them
    #[cfg(unix)]
    Faults(faults::Arguments),
}

/// Returns what cargo says of the workspace with the options given.
fn metadata(options: &[&str]) -> Result<serde_json::Value, Failure> {
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
        Task::Dependencies => dependencies::check(),
        Task::Packages => packages::check(),
        Task::Layers(arguments) => layers::run(&arguments),
        Task::Book => book::check(),
        Task::Formulas(arguments) => formulas::run(&arguments),
        Task::Settings => settings::write(),
        Task::Pictures => pictures::draw(&workspace().join("docs/pictures")),
        Task::Experiment { call, out } => call.run(&out).map(|(document, files)| {
            let files = files.iter().map(|name| out.join(name).display().to_string());
            println!("{}\n\nWrote {}", document.finding, files.collect::<Vec<_>>().join(", "));
        }),
        Task::Report(arguments) => report::run(&arguments),
        Task::Compare { files, repetitions } => compare::compare(&files, repetitions),
        Task::Peers(arguments) => peers::run(&arguments),
        #[cfg(unix)]
        Task::Faults(arguments) => faults::run(&arguments),
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

type Outcome = Result<(), Failure>;

/// Returns the root of the workspace.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

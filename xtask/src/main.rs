//! Automation of the workspace: `cargo xtask <task>`.

mod compare;
mod msrv;
mod pictures;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Msrv => msrv::check(),
        Task::Pictures => pictures::draw(&workspace().join("docs/pictures")),
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

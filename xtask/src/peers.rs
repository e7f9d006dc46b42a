//! Times other programs beside ours on the same files, folds and lambdas, alternating on one machine, and writes a table.

mod excess;
mod files;
mod opponent;
mod ours;
mod rows;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use margins::model::write_atomically;
use serde_json::{Value, json};

use crate::{Failure, Outcome, machine};
use rows::Row;

/// The result of one run of either program.
struct Run {
    seconds: f64,
    /// True if the program finished within the limit.
    ended: bool,
    /// The largest resident memory in bytes, if the system reports it.
    memory: Option<u64>,
    /// What the program printed, as JSON.
    answer: Value,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of the Python environment with the opponents
    #[arg(long)]
    venv: PathBuf,
    /// Folder with the folders `bench` and `data`
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// The command of ours that is timed
    #[arg(long, default_value = "target/release/margins")]
    margins: PathBuf,
    /// Alternating repetitions of each row, of which the median counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Seconds after which an opponent is stopped; its row then shows a lower bound, from one repetition
    #[arg(long, default_value_t = 1800)]
    limit: u64,
    /// Run the rows whose name holds this text, all by default; may be repeated
    #[arg(long)]
    row: Vec<String>,
    /// Folder for drawn files and for the results of rows
    #[arg(long, default_value = "target/peers")]
    work: PathBuf,
    /// Page whose table is replaced, between the two comments that name this command
    #[arg(long, default_value = "docs/performance.md")]
    page: PathBuf,
}

/// Runs the rows that are asked for, one after the other, and writes the table of all that have ever been run.
///
/// The result of a row is a file in the folder of work, so that a run that was stopped goes on where it was: with `--row`.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    fs::create_dir_all(&arguments.work)?;
    let rows = rows::all();
    let asked = |row: &&Row| {
        arguments.row.is_empty() || arguments.row.iter().any(|part| row.name().contains(part))
    };
    if !rows.iter().any(|row| asked(&row)) {
        let names: Vec<String> = rows.iter().map(Row::name).collect();
        return Err(format!("no row is named so; there are {}", names.join(", ")).into());
    }
    for row in rows.iter().filter(asked) {
        eprintln!("{}", row.name());
        let result = compare(row, arguments)?;
        let text = serde_json::to_string_pretty(&result)?;
        let file = result_file(row, &arguments.work);
        write_atomically(file, |out| out.write_all(text.as_bytes()))?;
        table::replace(&arguments.page, &rows, &arguments.work)?;
    }
    Ok(())
}

fn result_file(row: &Row, work: &Path) -> PathBuf {
    work.join(format!("{}.json", row.name()))
}

/// Runs our program and the opponent alternately, and recomputes the objective of the opponent.
fn compare(row: &Row, arguments: &Arguments) -> Result<Value, Failure> {
    let file = files::find(&row.file, &arguments.shared, &arguments.work)?;
    let coefs = arguments.work.join("coefficients.bin");
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for run in 0..arguments.runs.max(1) {
        eprintln!("  repetition {} of {}", run + 1, arguments.runs.max(1));
        ours.push(ours::run(row, &arguments.margins, &file)?);
        match opponent::run(row, arguments, &file, &coefs)? {
            Some(result) => theirs.push(result),
            None => break,
        }
        if theirs.iter().any(|run| !run.ended) {
            break;
        }
    }
    let above = match theirs.last() {
        Some(run) if run.ended => {
            excess::above_the_optimum(row, arguments, &file, &coefs, &run.answer)?
        }
        _ => None,
    };
    Ok(json!({
        "date": machine::today(),
        "machine": machine::name(),
        "ours": summary(&ours),
        "theirs": if theirs.is_empty() { Value::Null } else { summary(&theirs) },
        "above": above,
    }))
}

fn summary(runs: &[Run]) -> Value {
    let mut seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let last = runs.last().map(|run| run.answer.clone());
    let memory = runs.iter().filter_map(|run| run.memory).max();
    // Of the run whose seconds are the median.
    let ended = 2 * runs.iter().filter(|run| !run.ended).count() < runs.len();
    json!({ "seconds": median(&mut seconds), "ended": ended, "memory": memory, "answer": last })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

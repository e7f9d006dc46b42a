//! Faults: what a killed run leaves behind, and what commands say where files and limits fail them.
//!
//! [`kills`] ends jobs with SIGKILL at random moments and lets them go on. [`table`] has the other
//! faults. Both print tables in Markdown, and the task fails if a promise does not hold.

mod expected;
mod kills;
mod lab;
mod process;
mod table;

use std::path::PathBuf;

use clap::Args;

use crate::Failure;
use lab::Lab;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The command to try
    #[arg(long, default_value = "target/release/margins")]
    margins: PathBuf,
    /// Kills of every job, at moments spread over its length; 0 leaves the jobs out
    #[arg(long, default_value_t = 100)]
    kills: usize,
    /// Kill only the jobs with this text in their names, and leave the other faults out
    #[arg(long)]
    job: Option<String>,
    /// Seed of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// libfaketime, by which the clock jumps
    #[arg(long, default_value = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")]
    faketime: PathBuf,
}

/// Tries all faults and prints what was seen.
///
/// # Errors
/// A promise that does not hold, or a command that cannot be run.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let lab = Lab::new(&arguments.margins)?;
    let killed = match arguments.kills {
        0 => Vec::new(),
        kills => kills::run(&lab, kills, arguments.job.as_deref(), arguments.seed)?,
    };
    if !killed.is_empty() {
        print!("{}", kills::markdown(&killed));
    }
    let seen = match arguments.job {
        Some(_) => Vec::new(),
        None => table::run(&lab, &arguments.faketime)?,
    };
    if !seen.is_empty() {
        print!("\n{}", expected::markdown(&seen));
    }
    let broken: Vec<&str> = (killed.iter().flat_map(|job| &job.broken))
        .chain(seen.iter().filter(|row| !row.holds).map(|row| &row.seen))
        .map(String::as_str)
        .collect();
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n").into()) }
}

//! Options of every command, and options with an environment variable.

use clap::Args;

use crate::failure::Failure;
use crate::messages::Loudness;

/// The options for messages on standard error.
#[derive(Debug, Args)]
pub(crate) struct MessageArguments {
    /// Print only the result: no warnings, no progress
    #[arg(long, global = true)]
    quiet: bool,
    /// Print steps and times to standard error, and tables in full
    #[arg(long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

impl MessageArguments {
    pub(crate) fn loudness(&self) -> Loudness {
        match (self.quiet, self.verbose) {
            (true, _) => Loudness::Quiet,
            (false, true) => Loudness::Verbose,
            (false, false) => Loudness::Normal,
        }
    }
}

/// The option for the threads.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ThreadsArguments {
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl ThreadsArguments {
    /// Returns the number of threads that the option or the environment says, or that of all.
    pub(crate) fn count(self) -> Result<usize, Failure> {
        const VARIABLE: &str = "MARGINS_THREADS";
        if let Some(count) = self.threads {
            return Ok(count.into());
        }
        let Some(value) = std::env::var_os(VARIABLE) else { return Ok(all()) };
        match value.to_str().map(str::trim).map(str::parse::<u16>) {
            Some(Ok(count @ 1..)) => Ok(count.into()),
            _ => Err(Failure::Usage(format!(
                "the environment variable {VARIABLE} is '{}', but must be a whole number from 1 to {}",
                value.to_string_lossy(),
                u16::MAX
            ))),
        }
    }
}

/// Returns the number of threads that rayon would start by itself. Were it left to that, a system that
/// starts none would end the program by a panic.
fn all() -> usize {
    let given = std::env::var("RAYON_NUM_THREADS").ok().and_then(|count| count.parse().ok());
    let of_system = || std::thread::available_parallelism().map_or(1, usize::from);
    given.filter(|&count| count > 0).unwrap_or_else(of_system)
}

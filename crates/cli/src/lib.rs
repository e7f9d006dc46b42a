//! The `margins` command as a library, so that a program with losses and kernels of its own can offer the
//! same command over a larger [`Registry`].
//!
//! ```no_run
//! use margins::Registry;
//!
//! let registry = Registry::standard(); // with_loss(...) and with_kernel(...) add yours
//! margins_cli::run(&registry, std::env::args_os());
//! ```

mod args;
mod choices;
mod cv;
mod document;
mod files;
mod focused;
mod inspect;
mod job;
mod massart;
mod model;
mod multiclass;
mod predict;
mod probability;
mod psi;
mod source;
mod specification;
mod stochastic;
mod table;
mod train;
mod usage;

use std::ffi::OsString;
use std::fmt::Display;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use margins::Registry;

use args::{Arguments, Command};

/// Why the command ends without a result, and with which exit status.
#[derive(Debug)]
enum Failure {
    /// Status 2: the arguments make no sense.
    Usage(String),
    /// Status 1: the job failed.
    Job(String),
}

impl Failure {
    fn usage(error: impl Display) -> Self {
        Failure::Usage(error.to_string())
    }

    fn job(error: impl Display) -> Self {
        Failure::Job(error.to_string())
    }
}

/// Runs the command with these arguments, the first being the program's name: exit status 0, 1 if
/// the job failed, 2 for wrong usage.
pub fn run(
    registry: &Registry,
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> ExitCode {
    let parsed = Arguments::command().try_get_matches_from(arguments).and_then(|given| {
        match Arguments::from_arg_matches(&given) {
            Ok(arguments) => Ok((given, arguments)),
            Err(error) => Err(error.format(&mut Arguments::command())),
        }
    });
    let (given, arguments) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version are errors to clap; where they cannot be printed nobody reads them.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = perform(registry, &given, &arguments.command);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\nFor more information, try '--help'.");
            ExitCode::from(2)
        }
        Err(Failure::Job(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the command says, if no option was given that it cannot use.
fn perform(registry: &Registry, given: &ArgMatches, command: &Command) -> Result<(), Failure> {
    let given = given.subcommand().map_or(given, |(_, given)| given);
    match command {
        Command::Fit(arguments) => {
            usage::check(given, &arguments.train.solver)?;
            train::fit(registry, arguments)
        }
        Command::Path(arguments) => {
            arguments.train.check_path()?;
            usage::check(given, &arguments.train.solver)?;
            train::path(registry, arguments)
        }
        Command::Cv(arguments) => {
            arguments.train.check_path()?;
            usage::check(given, &arguments.train.solver)?;
            cv::cv(registry, arguments)
        }
        Command::Predict(arguments) => predict::predict(registry, arguments),
        Command::Inspect(arguments) => inspect::inspect(registry, arguments),
        Command::Convert(arguments) => model::convert(registry, arguments),
        Command::Psi(arguments) => psi::psi(registry, arguments),
    }
}

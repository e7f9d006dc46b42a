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
mod document;
mod focused;
mod inspect;
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

use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
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
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are errors to clap; where they cannot be printed nobody reads them.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = match arguments.command {
        Command::Fit(arguments) => train::fit(registry, &arguments),
        Command::Path(arguments) => train::path(registry, &arguments),
        Command::Cv(arguments) => train::cv(registry, &arguments),
        Command::Predict(arguments) => predict::predict(registry, &arguments),
        Command::Inspect(arguments) => inspect::inspect(registry, &arguments),
        Command::Convert(arguments) => model::convert(registry, &arguments),
        Command::Psi(arguments) => psi::psi(registry, &arguments),
    };
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

/// Refuses to overwrite what is being read.
fn keep_input(output: Option<&Path>, input: &Path) -> Result<(), Failure> {
    let same = |path: &Path| match (path.canonicalize(), input.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        _ => false,
    };
    match output {
        Some(path) if same(path) => {
            Err(Failure::Usage(format!("--out {} would overwrite the input", path.display())))
        }
        _ => Ok(()),
    }
}

/// Writes to a file, complete or not at all, or to standard output, which is also what `-` means. A reader that hangs up, such as
/// `head`, is no failure.
fn emit(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    match file.filter(|path| *path != Path::new("-")) {
        Some(path) => margins::model::write_atomically(path, write)
            .map_err(|error| Failure::job(format!("{}: {error}", path.display()))),
        None => {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            match write(&mut out).and_then(|()| out.flush()) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    Err(Failure::job(format!("standard output: {error}")))
                }
                _ => Ok(()),
            }
        }
    }
}

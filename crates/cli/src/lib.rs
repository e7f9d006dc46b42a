//! The `margins` command as a library, so that a program with losses and kernels of its own can
//! offer the same command over a larger [`Registry`].
//!
//! ```no_run
//! use margins::Registry;
//!
//! let registry = Registry::standard(); // with_loss(...) and with_kernel(...) add yours
//! margins_cli::run(&registry, std::env::args_os());
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod arguments;
mod commands;
mod failure;
mod messages;
mod output;
mod program;
mod rows;
mod simulation;
mod source;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};
use margins::Registry;
use margins::losses::did_you_mean;

use arguments::{Arguments, signed};
use commands::Invocation;
use failure::Failure;
use messages::to_stderr;

/// An option of a command, for pages that list them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandOption {
    /// The command, such as `fit`.
    pub command: String,
    /// The name of the option behind `--`.
    pub name: String,
    /// The default, empty if there is none.
    pub default: String,
    /// The first line of its help.
    pub meaning: String,
}

/// Returns the options of all commands, but for those that every command has.
///
/// ```
/// let options = margins_cli::options();
/// let option = options.iter().find(|option| option.name == "measure").expect("an option of cv");
/// assert_eq!((&*option.command, &*option.default), ("cv", "error"));
/// ```
pub fn options() -> Vec<CommandOption> {
    let command = arguments::command();
    let of = |command: &clap::Command| -> Vec<CommandOption> {
        let option = |argument: &clap::Arg| {
            let defaults = argument.get_default_values().iter();
            let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
            Some(CommandOption {
                command: command.get_name().to_owned(),
                name: argument.get_long()?.to_owned(),
                default: defaults.join(","),
                meaning: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            })
        };
        command.get_arguments().filter_map(option).collect()
    };
    command.get_subcommands().flat_map(of).collect()
}

/// Runs the command with these arguments and returns its exit status: 0, 1 if the job failed, 2 for
/// wrong usage. The first argument is the path of the program. Help, messages, pages and examples
/// call the program by the name of that file.
pub fn run(
    registry: &Registry,
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> ExitCode {
    let words: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    program::set_name(&words);
    let result = match parse(&words) {
        Ok(arguments) => {
            messages::set(arguments.messages.loudness());
            commands::perform(registry, &arguments.command, &Invocation::new(&words))
        }
        Err(error) => return explain(error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            to_stderr(format_args!("error: {message}\n\nFor more information, try '--help'."));
            ExitCode::from(2)
        }
        Err(Failure::Job(message)) => {
            to_stderr(format_args!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = arguments::command();
    let joined = signed::joined(words, &command);
    let mut matches = command.try_get_matches_from_mut(joined)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Prints the help, the version, or the error in the arguments. For an option of other commands it
/// names these commands instead of an option with a similar name.
fn explain(mut error: clap::Error) -> ExitCode {
    let elsewhere = option_of_others(&error);
    if elsewhere.is_some() {
        error.remove(ContextKind::SuggestedArg);
    }
    // If help cannot be printed, there is no one to report that to.
    let _ = error.print();
    if let Some((option, commands)) = elsewhere {
        to_stderr(format_args!("\nnote: {option} is an option of {}", commands.join(", ")));
    }
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        let commands = arguments::command();
        let names = commands.get_subcommands().map(clap::Command::get_name);
        if let Some(meant) = did_you_mean(name, names).strip_prefix("; ") {
            to_stderr(format_args!("\n{meant}"));
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Returns an option that the command does not have, with the commands that have it.
fn option_of_others(error: &clap::Error) -> Option<(String, Vec<String>)> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let commands = commands_with(option);
    let is_theirs = error.kind() == clap::error::ErrorKind::UnknownArgument && !commands.is_empty();
    is_theirs.then(|| (option.clone(), commands))
}

/// Returns the names of the commands that have an option.
fn commands_with(option: &str) -> Vec<String> {
    let Some(name) = option.strip_prefix("--") else { return Vec::new() };
    let arguments = arguments::command();
    let has = |command: &&clap::Command| {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
    };
    let homes = arguments.get_subcommands().filter(has);
    homes.map(|command| format!("{} {}", program::name(), command.get_name())).collect()
}

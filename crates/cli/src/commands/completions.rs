//! The command that prints completions for a shell.

use crate::arguments::command;
use crate::arguments::completions::CompletionsArguments;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::program;

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = command();
    clap_complete::generate(arguments.shell, &mut command, program::name(), &mut script);
    emit(None, |out| out.write_all(&script))
}

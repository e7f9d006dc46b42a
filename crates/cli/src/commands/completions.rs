//! The command that prints completions for a shell.

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::arguments::completions::CompletionsArguments;
use crate::failure::Failure;
use crate::output::files::emit;

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    emit(None, |out| out.write_all(&script))
}

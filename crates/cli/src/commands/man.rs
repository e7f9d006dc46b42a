//! The command that writes manual pages.

use clap::Command;
use clap_mangen::Man;

use crate::arguments::command;
use crate::arguments::man::ManArguments;
use crate::failure::Failure;
use crate::output::files::emit;
use crate::program;

pub(super) fn man(arguments: &ManArguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Job(format!("{}: {error}", folder.display())))?;
    let mut whole = command().disable_help_subcommand(true);
    // The commands learn here the name of the program, which the names of their pages begin with.
    whole.build();
    let pages = [&whole].into_iter().chain(whole.get_subcommands());
    pages.cloned().try_for_each(|command| write(command, arguments))
}

fn write(command: Command, arguments: &ManArguments) -> Result<(), Failure> {
    let page = Man::new(command).source(program::with_version());
    emit(Some(&arguments.folder.join(page.get_filename())), |out| page.render(out))
}

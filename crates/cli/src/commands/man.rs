//! The command that writes manual pages.

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::arguments::man::ManArguments;
use crate::failure::Failure;
use crate::output::files::emit;

pub(super) fn man(arguments: &ManArguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Job(format!("{}: {error}", folder.display())))?;
    let mut whole = Arguments::command().disable_help_subcommand(true);
    // The commands learn here that they belong to margins, which the names of their pages begin with.
    whole.build();
    let pages = [&whole].into_iter().chain(whole.get_subcommands());
    pages.cloned().try_for_each(|command| write(command, arguments))
}

fn write(command: Command, arguments: &ManArguments) -> Result<(), Failure> {
    let page = Man::new(command).source(format!("margins {}", env!("CARGO_PKG_VERSION")));
    emit(Some(&arguments.folder.join(page.get_filename())), |out| page.render(out))
}

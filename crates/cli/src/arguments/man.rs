//! Options of `margins man`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Folder to write the pages to; created if it does not exist
    ///
    /// Writes one page for the program and one for each command. man finds pages in folders such as
    /// ~/.local/share/man/man1.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

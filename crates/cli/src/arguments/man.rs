//! Options of `margins man`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Folder that the pages are written to, which is made if it is not there
    ///
    /// There is a page on the program and one for each command. man finds them in the folder man1 of
    /// a folder of its path, such as ~/.local/share/man/man1.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

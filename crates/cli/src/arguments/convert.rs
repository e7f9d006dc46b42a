//! Options of `margins convert`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// Model file
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub(crate) model: PathBuf,
    /// Model file to write: JSON if the name ends in .json, binary otherwise
    ///
    /// - writes JSON to standard output. /dev/fd/3 and other descriptors take JSON too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: PathBuf,
}

//! Options of `margins completions`.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell that the completions are for
    ///
    /// Bash reads them by source <(margins completions bash), zsh from a file _margins in a folder
    /// of its fpath, fish from ~/.config/fish/completions/margins.fish.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

//! Options of `margins completions`.

use clap::Args;
use clap_complete::Shell;

use crate::program;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell that the completions are for
    #[arg(value_name = "SHELL", long_help = long_help())]
    pub(crate) shell: Shell,
}

fn long_help() -> String {
    format!(
        "Shell that the completions are for\n\nBash reads them by source <({name} completions bash), zsh \
         from a file _{name} in a folder of its fpath, fish from ~/.config/fish/completions/{name}.fish.",
        name = program::name()
    )
}

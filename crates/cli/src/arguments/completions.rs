//! Options of `margins completions`.

use clap::Args;
use clap_complete::Shell;

use crate::program;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to print completions for
    #[arg(value_name = "SHELL", long_help = long_help())]
    pub(crate) shell: Shell,
}

fn long_help() -> String {
    format!(
        "Shell to print completions for\n\nBash: source <({name} completions bash). Zsh: save as _{name} in a folder of fpath. Fish: save \
         as ~/.config/fish/completions/{name}.fish.",
        name = program::name()
    )
}

//! `custom-command fit --data ... --loss tsallis:alpha=1.5`, and all else that `margins` can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    margins_cli::run(&custom_command::registry(), std::env::args_os())
}

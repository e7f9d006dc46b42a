//! The `margins` command with the losses of this project.

use std::process::ExitCode;

use margins::losses::LossRegistry;

fn main() -> ExitCode {
    margins_cli::run(&LossRegistry::standard(), std::env::args_os())
}

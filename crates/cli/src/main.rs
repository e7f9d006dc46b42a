//! The `margins` command with the losses and kernels of this project.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

use std::process::ExitCode;

use margins::Registry;

fn main() -> ExitCode {
    margins_cli::run(&Registry::standard(), std::env::args_os())
}

//! The `margins` command with the losses and kernels of this project.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

use std::process::ExitCode;

use margins::Registry;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    share_one_heap();
    margins_cli::run(&Registry::standard(), std::env::args_os())
}

/// Starts the program again with one heap for all threads, if there is a limit of address space (`ulimit
/// -v`): the system's allocator reserves 64 MB of addresses for the heap of each thread, at moments that
/// no estimate of memory can foresee. Goes on as it is where that fails.
#[cfg(target_os = "linux")]
fn share_one_heap() {
    use std::os::unix::process::CommandExt;
    const HEAPS: &str = "MALLOC_ARENA_MAX";

    if margins::data::Memory::address_space().is_none() || std::env::var_os(HEAPS).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut arguments = std::env::args_os();
        let mut again = std::process::Command::new(program);
        if let Some(name) = arguments.next() {
            again.arg0(name);
        }
        let _ = again.args(arguments).env(HEAPS, "1").exec();
    }
}

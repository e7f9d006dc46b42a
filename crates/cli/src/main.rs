//! The `margins` command with the losses and kernels of this project.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

use std::process::ExitCode;

use margins::Registry;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    give_memory_back();
    margins_cli::run(&Registry::standard(), std::env::args_os())
}

/// Starts the program again with other settings of the system's allocator, if there is a limit of address
/// space (`ulimit -v`). By default it reserves 64 MB of addresses for the heap of each thread, and keeps
/// large pieces that were freed, at moments that no estimate of memory can foresee. If the start fails,
/// this program continues.
#[cfg(target_os = "linux")]
fn give_memory_back() {
    use std::os::unix::process::CommandExt;
    const SETTINGS: [(&str, &str); 2] =
        [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "1048576")];

    let is_set = |(name, _): &(&str, &str)| std::env::var_os(name).is_some();
    if margins::data::Memory::address_space().is_none() || SETTINGS.iter().all(is_set) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut arguments = std::env::args_os();
        let mut again = std::process::Command::new(program);
        if let Some(name) = arguments.next() {
            again.arg0(name);
        }
        let missing = SETTINGS.into_iter().filter(|setting| !is_set(setting));
        let _ = again.args(arguments).envs(missing).exec();
    }
}

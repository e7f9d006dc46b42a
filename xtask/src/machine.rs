//! The description of the machine of a run, printed beside its results.

use std::process::Command;

/// Returns the day, from the clock of the system.
pub(crate) fn today() -> String {
    let date = Command::new("date").arg("+%-d %B %Y").output();
    date.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default()
}

/// Returns the number of processors and their name, where the system tells it.
pub(crate) fn name() -> String {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name =
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, name)| name.trim());
    format!("{count} cores of {name}")
}

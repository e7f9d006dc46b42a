//! The program that runs: `margins`, or another one that offers the same command over a larger
//! registry. Messages, examples and pages call it by the name that it was started by.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

const MARGINS: &str = "margins";

/// The name of the program, the same as long as the process runs.
static NAME: OnceLock<String> = OnceLock::new();

/// Takes the name of the program from its arguments, of which it is the first.
pub(crate) fn set_name(words: &[OsString]) {
    NAME.get_or_init(|| {
        let file = words.first().and_then(|path| Path::new(path).file_name());
        let name = file.unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(EXE_SUFFIX).unwrap_or(&name);
        if name.is_empty() { MARGINS.to_owned() } else { name.to_owned() }
    });
}

/// Returns the name of the program.
pub(crate) fn name() -> &'static str {
    NAME.get().map_or(MARGINS, String::as_str)
}

/// Returns what follows the name of the program: its version, or that of `margins` within it.
pub(crate) fn version() -> &'static str {
    match name() {
        MARGINS => env!("CARGO_PKG_VERSION"),
        _ => concat!("(margins ", env!("CARGO_PKG_VERSION"), ")"),
    }
}

/// Returns the name with the version: `margins 0.1.0`, or `custom-command (margins 0.1.0)`.
pub(crate) fn with_version() -> String {
    format!("{} {}", name(), version())
}

/// Returns what a block file is, as options for one say when other data are given.
pub(crate) fn block_file() -> String {
    format!("a block file, which `{} blocks` makes from other data", name())
}

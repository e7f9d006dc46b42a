//! What a command must do in a world that fails it, and what it did.

use std::fmt::Write as _;
use std::path::Path;

use super::process::Ended;

/// A row of the table.
pub(super) struct Seen {
    fault: &'static str,
    command: String,
    pub(super) seen: String,
    pub(super) holds: bool,
}

impl Seen {
    /// Says that a promise holds, or not.
    pub(super) fn new(
        fault: &'static str,
        command: impl Into<String>,
        seen: impl Into<String>,
        holds: bool,
    ) -> Self {
        Seen { fault, command: command.into(), seen: seen.into(), holds }
    }

    /// Says whether a command was refused by exit 1 and by a message that has a name in it; paths
    /// of the folder are left out of what is shown.
    pub(super) fn refused(
        fault: &'static str,
        command: impl Into<String>,
        ended: &Ended,
        name: &str,
        folder: &Path,
    ) -> Self {
        let names = ended.words.contains(name) && !ended.words.contains("panicked");
        let seen = without(&ended.describe(), folder);
        Seen::new(fault, command, seen, ended.code() == Some(1) && names)
    }
}

/// Returns a text without the path of a folder.
pub(super) fn without(text: &str, folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let folder = folder.display().to_string();
    text.replace(&format!("{folder}/"), "").replace(&folder, &name)
}

pub(super) fn markdown(rows: &[Seen]) -> String {
    let mut text =
        "| fault | command | what was seen | holds |\n| --- | --- | --- | --- |\n".to_owned();
    for Seen { fault, command, seen, holds } in rows {
        let (seen, holds) = (seen.replace('|', "\\|"), if *holds { "yes" } else { "no" });
        let _ = writeln!(text, "| {fault} | `{command}` | {seen} | {holds} |");
    }
    text
}

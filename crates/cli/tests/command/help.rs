//! The help of every command, and the page of the book that shows it.

use std::path::Path;

use crate::{Workshop, text};

pub(crate) const COMMANDS: [&str; 19] = [
    "fit",
    "path",
    "cv",
    "stream",
    "massart",
    "focus",
    "regress",
    "predict",
    "report",
    "inspect",
    "blocks",
    "convert",
    "psi",
    "location",
    "bound",
    "plan",
    "examples",
    "completions",
    "man",
];

/// The most lines of a short help.
const SCREEN: usize = 50;

const HEAD: &str = "\
# The command

Look up an option of a command. `margins COMMAND --help` prints the same text, and
`margins COMMAND -h` a line for each option.

The exit status is 0, 1 if the job failed, and 2 for invalid arguments. [JSON documents](json.md),
[data formats](data-formats.md) and [model files](model-files.md) have their own pages. The texts
come from a build with the feature `parquet`.

```text
";

/// Returns the help of a command in the width of the page.
fn help(arguments: &[&str]) -> String {
    let output = Workshop::new().run(arguments);
    assert!(output.status.success(), "{arguments:?}");
    let lines = text(&output.stdout);
    let lines: Vec<&str> = lines.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn short_help_fits_on_a_screen() {
    for command in COMMANDS {
        let help = help(&[command, "-h"]);
        let lines = help.lines().count();
        assert!(lines <= SCREEN, "margins {command} -h has {lines} lines");
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
}

#[test]
fn the_help_of_the_program_fits_on_a_small_screen() {
    let help = help(&["--help"]);
    assert!(help.lines().count() <= 40 && help.lines().all(|line| line.len() <= 100), "{help}");
    let last = help.lines().rev().take(3);
    assert!(last.filter(|line| line.starts_with("  margins ")).count() == 3, "{help}");
}

/// INSTA_UPDATE=always writes the page, as it does the snapshots.
#[test]
fn the_page_shows_the_help() {
    let mut page = HEAD.to_owned() + &help(&["--help"]) + "```\n";
    for command in COMMANDS {
        page += &format!("\n## margins {command}\n\n```text\n{}```\n", help(&[command, "--help"]));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command.md");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&file, &page).expect("a writable page");
    }
    let written = std::fs::read_to_string(&file).expect("the page");
    assert!(written == page, "docs/command.md is not what the command prints");
}

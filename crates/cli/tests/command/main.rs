//! The command from outside: what it prints, how it ends, what it leaves behind.

mod blocks;
mod classes;
mod decisions;
mod documentation;
mod encoding;
mod files;
mod fits;
mod focused;
mod help;
mod kernels;
mod location;
mod massart;
mod messages;
mod models;
mod options;
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod refusals;
mod regression;
#[cfg(unix)]
mod sessions;
mod stochastic;
#[cfg(unix)]
mod terminals;
mod threads;
mod unlabelled;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Twelve samples of two overlapping classes.
const DATA: &str = "\
height,width,label
1.0,2.0,no
1.5,0.5,no
2.0,3.0,yes
2.5,1.0,no
3.0,2.5,yes
3.5,0.0,no
4.0,1.5,yes
4.5,3.5,yes
0.5,1.0,no
5.0,0.5,yes
1.0,4.0,yes
2.0,0.0,no
";

/// Says past the capture of the tests what a test leaves out on this machine, and why.
fn skipped(what: &str) {
    // Nothing can be done if standard error is closed.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

struct Workshop {
    folder: TempDir,
}

impl Workshop {
    fn new() -> Self {
        let workshop = Workshop { folder: TempDir::new().expect("a temporary folder") };
        workshop.write("data.csv", DATA.as_bytes());
        workshop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).expect("a writable folder");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_in(&[], arguments)
    }

    /// Runs the command with variables of the environment.
    fn run_in(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_margins"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .envs(variables.iter().copied())
            .output()
            .expect("the command runs")
    }

    /// Standard output of a run that must succeed and print nothing else.
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
        text(&output.stdout)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--format", "json"]].concat();
        serde_json::from_str(&self.output(&arguments)).expect("a JSON document")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// What of a binary model changes with the version that writes it.
fn without_versions() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"checksum [0-9a-f]{8}", "checksum [crc]");
    settings.add_filter(r"checksum is \w+, but \w+", "checksum is [crc], but [crc]");
    settings.add_filter(r"by margins [0-9.]+", "by margins [version]");
    settings
}

/// Thirty samples around three corners, and the label of each.
fn three_classes() -> String {
    let mut text = "x,y,label\n".to_owned();
    for i in 0..30 {
        let (class, t) = (i % 3, f64::from(i));
        let (x, y) = ([0.0, 2.0, 0.0][class as usize], [0.0, 0.0, 2.0][class as usize]);
        let (x, y) = (x + 0.7 * (1.7 * t).sin(), y + 0.7 * (2.3 * t).cos());
        text += &format!("{x},{y},{}\n", ["a", "b", "c"][class as usize]);
    }
    text
}

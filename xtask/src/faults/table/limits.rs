//! Limits on memory and on open files.

use std::process::Command;

use crate::Failure;
use crate::faults::expected::{Seen, without};
use crate::faults::lab::Lab;
use crate::faults::process::run;

/// A limit of the shell, with the values to try.
struct Limit {
    fault: &'static str,
    option: &'static str,
    values: &'static [u32],
}

const LIMITS: [Limit; 2] = [
    Limit {
        fault: "a limit on memory, `ulimit -v`",
        option: "-v",
        values: &[50_000, 100_000, 150_000, 200_000, 300_000, 500_000],
    },
    Limit {
        fault: "a limit on open files, `ulimit -n`",
        option: "-n",
        // Below 4 the system cannot load a program.
        values: &[4, 5, 6, 7, 8, 16],
    },
];

/// Runs commands under every limit: they do their job, or end by exit 1 with the name of a file.
pub(super) fn all(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let commands: [&[&str]; 3] = [
        &["fit", "--data", "large.csv", "--lambda", "0.1", "--out", "m.bin"],
        &[
            "fit",
            "--data",
            "small.csv",
            "--lambda",
            "0.1",
            "--kernel",
            "gaussian",
            "--out",
            "m.bin",
        ],
        &["cv", "--data", "small.csv", "--lambdas", "1:0.1:2", "--checkpoint", "grid.json"],
    ];
    let mut rows = Vec::new();
    for limit in &LIMITS {
        for arguments in commands {
            rows.push(limit.try_with(lab, arguments)?);
        }
    }
    Ok(rows)
}

impl Limit {
    fn try_with(&self, lab: &Lab, arguments: &[&str]) -> Result<Seen, Failure> {
        let (mut done, mut holds, mut words) = (0, true, String::new());
        for value in self.values {
            let folder = lab.new_folder()?;
            let command = lab.margins(arguments);
            let mut limited = Command::new("sh");
            limited.args(["-c", &format!("ulimit {} {value}; exec \"$0\" \"$@\"", self.option)]);
            limited.arg(command.get_program()).args(command.get_args());
            let ended = run(limited.current_dir(folder.path()))?;
            let names = ["small.csv", "large.csv", "m.bin", "grid.json"];
            let is_named = names.iter().any(|name| ended.words.contains(name));
            match ended.code() {
                Some(0) => done += 1,
                Some(1) if is_named => words = format!("; {}", ended.describe()),
                _ => {
                    holds = false;
                    words = format!("; at {value}: {}", ended.describe());
                }
            }
            let torn = folder.path().join("m.bin").exists() && ended.code() != Some(0);
            holds &= !torn;
            words = without(&words, folder.path());
        }
        let seen = format!("done under {done} of {} limits{words}", self.values.len());
        Ok(Seen::new(self.fault, format!("margins {}", arguments[..3].join(" ")), seen, holds))
    }
}

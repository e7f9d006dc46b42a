//! Other processes: a reader that hangs up, and a second one that writes the same files.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::faults::expected::{Seen, without};
use crate::faults::lab::Lab;
use crate::faults::process::{run, start};
use crate::{Failure, files};

/// The reader of the report hangs up before it is written.
pub(super) fn closed_pipe(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let commands: [&[&str]; 3] = [
        &["fit", "--data", "small.csv", "--lambda", "0.1"],
        &["predict", "--data", "large.csv", "--model", "model.bin"],
        &["fit", "--data", "small.csv", "--lambda", "0.1", "--out", "-"],
    ];
    let row = |arguments: &&[&str]| {
        let mut command = lab.margins(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        let words = String::from_utf8_lossy(&output.stderr);
        let holds = output.status.code() == Some(0) && !words.contains("panicked");
        let shown = format!("margins {} \\| head -c 0", arguments[0]);
        Ok(Seen::new("a closed pipe", shown, output.status.to_string(), holds))
    };
    commands.iter().map(row).collect()
}

/// A command, the files that it writes, and what another one that is refused names.
struct Pair<'a> {
    shown: &'static str,
    command: Box<dyn Fn() -> Command + 'a>,
    outputs: &'static [&'static str],
    refusal: Option<&'static str>,
}

fn pairs(lab: &Lab) -> [Pair<'_>; 4] {
    [
        Pair {
            shown: "margins fit --out",
            command: Box::new(|| {
                let kernel = ["--kernel", "gaussian:sigma=1", "--lambda", "0.01"];
                lab.margins(
                    &[&["fit", "--data", "small.csv"][..], &kernel, &["--out", "m.json"]].concat(),
                )
            }),
            outputs: &["m.json"],
            refusal: None,
        },
        Pair {
            shown: "margins cv --checkpoint",
            command: Box::new(|| {
                let cv =
                    ["cv", "--data", "small.csv", "--kernel", "gaussian", "--sigmas", "auto:3"];
                let files = ["--checkpoint", "grid.json", "--out", "m.json"];
                lab.margins(&[&cv[..], &["--lambdas", "1:1e-3:4"], &files].concat())
            }),
            outputs: &["m.json"],
            refusal: None,
        },
        Pair {
            shown: "margins focus --checkpoint",
            command: Box::new(|| {
                let focus = ["focus", "--data", "small.csv", "--max-steps", "50000"];
                let files = ["--checkpoint", "game.json", "--out", "m.json"];
                lab.margins(&[&focus[..], &files].concat())
            }),
            outputs: &["m.json", "game.json"],
            refusal: None,
        },
        Pair {
            shown: "xtask experiment",
            command: Box::new(|| lab.experiment("results")),
            outputs: &["results/lhs-table1.csv", "results/lhs-table1.md"],
            refusal: Some("results/lhs-table1.journal"),
        },
    ]
}

/// Two processes do one job in one place: each ends with the files of one alone, or is refused.
pub(super) fn two_at_once(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    pairs(lab).iter().map(|pair| pair.race(lab)).collect()
}

impl Pair<'_> {
    fn race(&self, lab: &Lab) -> Result<Seen, Failure> {
        let (alone, together) = (lab.new_folder()?, lab.new_folder()?);
        let one = run((self.command)().current_dir(alone.path()))?;
        let both = [
            start((self.command)().current_dir(together.path()))?,
            start((self.command)().current_dir(together.path()))?,
        ];
        let mut said = Vec::new();
        let mut holds = one.code() == Some(0);
        for running in both {
            let ended = running.end()?;
            let refused = |name: &str| ended.code() == Some(1) && ended.words.contains(name);
            holds &= ended.code() == Some(0) || self.refusal.is_some_and(refused);
            said.push(if ended.code() == Some(0) { "exit 0".to_owned() } else { ended.describe() });
        }
        for name in self.outputs {
            holds &= read(alone.path(), name)? == read(together.path(), name)?;
        }
        let seen = without(&said.join("; "), together.path());
        Ok(Seen::new("two processes in one place", self.shown, seen, holds))
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(files::naming(&path))
}

//! Jobs that are killed at random moments and go on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::lab::Lab;
use super::process::{Ended, kill_after, run as run_to_its_end};
use crate::{Failure, files};

/// A job, with the files that it writes.
struct Job<'a> {
    name: &'static str,
    command: Box<dyn Fn() -> Command + 'a>,
    /// The files that are written when all is done.
    outputs: &'static [&'static str],
    /// The file from which the job goes on.
    kept: Option<&'static str>,
    /// A first part of the job, which is not killed.
    first_part: Option<Box<dyn Fn() -> Command + 'a>>,
}

/// What the kills of a job have shown.
pub(super) struct Killed {
    name: &'static str,
    /// The length of an undisturbed run.
    time: Duration,
    /// The kills that came before the end of the run.
    kills: usize,
    /// The runs to the end, each after one to three kills.
    runs: usize,
    /// Those of them that found something to go on from.
    found: usize,
    /// The hidden files that kills have left, and those that were there after the next run.
    hidden: [usize; 2],
    /// The promises that did not hold.
    pub(super) broken: Vec<String>,
}

/// The content of the files that are there before a run.
const OLD: &[u8] = b"what was here before\n";

/// A command line, the files that it writes, and the one from which it goes on.
type Line = (&'static str, &'static str, &'static [&'static str], Option<&'static str>);

const COMMANDS: [Line; 7] = [
    (
        "`margins cv --checkpoint`",
        "cv --data small.csv --loss logistic --kernel gaussian --sigmas auto:8 --lambdas 1:1e-5:20 --format json --checkpoint grid.json --out chosen.json",
        &["chosen.json"],
        Some("grid.json"),
    ),
    (
        "`margins focus --checkpoint`",
        "focus --data small.csv --max-steps 3000000 --format json --checkpoint game.json --out average.json",
        &["average.json"],
        Some("game.json"),
    ),
    (
        "`margins fit --out`, a kernel with all of its rows",
        "fit --data small.csv --kernel gaussian:sigma=1 --lambda 1e-3 --format json --out fitted.json",
        &["fitted.json"],
        None,
    ),
    ("`margins convert --out`", "convert --model model.bin --out copy.json", &["copy.json"], None),
    (
        "`margins cv --report`",
        "cv --data small.csv --lambdas 1:1e-4:20 --format json --report page.html",
        &["page.html"],
        None,
    ),
    (
        "`margins blocks --out`",
        "blocks --data wide.csv --rows 1000 --out rows.blocks",
        &["rows.blocks"],
        None,
    ),
    (
        "`margins report --out`",
        "report --model model.bin --data small.csv --out report.html",
        &["report.html"],
        None,
    ),
];

/// The first part of the game: checkpoints are a minute apart, and a kill finds one that was paused.
const PAUSED_GAME: &str = "focus --data small.csv --max-steps 3000000 --format json --checkpoint game.json --pause-at 1000000";

fn jobs(lab: &Lab) -> Vec<Job<'_>> {
    let experiment = Job {
        name: "`xtask experiment lhs-table1`, with its journal",
        command: Box::new(|| lab.experiment("results")),
        outputs: &["results/lhs-table1.csv", "results/lhs-table1.md"],
        kept: Some("results/lhs-table1.journal"),
        first_part: None,
    };
    let commands = COMMANDS.into_iter().map(|(name, words, outputs, kept)| Job {
        name,
        command: Box::new(move || lab.margins(&words.split(' ').collect::<Vec<_>>())),
        outputs,
        kept,
        first_part: words.starts_with("focus").then(|| -> Box<dyn Fn() -> Command + '_> {
            Box::new(move || lab.margins(&PAUSED_GAME.split(' ').collect::<Vec<_>>()))
        }),
    });
    [experiment].into_iter().chain(commands).collect()
}

/// Kills every job this many times, or every job with a text in its name. Jobs run one after another,
/// because the time of a job beside others says nothing.
pub(super) fn run(
    lab: &Lab,
    kills: usize,
    part_of_name: Option<&str>,
    seed: u64,
) -> Result<Vec<Killed>, Failure> {
    let mut killed = Vec::new();
    for (stream, job) in (0..).zip(jobs(lab)) {
        if part_of_name.is_none_or(|part| job.name.contains(part)) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            killed.push(job.kill(lab, kills, &mut random)?);
        }
    }
    if killed.is_empty() {
        let names: Vec<&str> = jobs(lab).iter().map(|job| job.name).collect();
        let part = part_of_name.unwrap_or_default();
        return Err(format!("no job has {part} in its name: there are {}", names.join(", ")).into());
    }
    Ok(killed)
}

impl Job<'_> {
    /// Kills the job at moments between its beginning and its end, once, twice or three times in a
    /// row, and lets it go on.
    fn kill(&self, lab: &Lab, kills: usize, random: &mut ChaCha8Rng) -> Result<Killed, Failure> {
        eprintln!("{}", self.name);
        let (expected, whole) = self.undisturbed(lab)?;
        let paused = self.paused(lab)?;
        let length = match &paused {
            Some((_, rest)) => rest.time,
            None => whole.time,
        };
        let mut killed = Killed {
            name: self.name,
            time: length,
            kills: 0,
            runs: 0,
            found: 0,
            hidden: [0; 2],
            broken: Vec::new(),
        };
        while killed.kills < kills && killed.runs < 3 * kills {
            let folder = lab.new_folder()?;
            self.prepare(folder.path())?;
            if let (Some(kept), Some((state, _))) = (self.kept, &paused) {
                let path = folder.path().join(kept);
                std::fs::write(&path, state).map_err(files::naming(&path))?;
            }
            for _ in 0..1 + killed.runs % 3 {
                let moment = length.mul_f64(random.random());
                let hit = kill_after(self.command().current_dir(folder.path()), moment)?;
                killed.kills += usize::from(hit);
            }
            self.look(folder.path(), &expected, &mut killed)?;
            let resumed = run_to_its_end(self.command().current_dir(folder.path()))?;
            self.compare(folder.path(), &expected, [&whole, &resumed], &mut killed)?;
            killed.runs += 1;
        }
        Ok(killed)
    }

    fn command(&self) -> Command {
        (self.command)()
    }

    /// Does the first part of a job that has one; returns the file that this keeps, and the end of the
    /// rest when nothing disturbs it.
    fn paused(&self, lab: &Lab) -> Result<Option<(Vec<u8>, Ended)>, Failure> {
        let (Some(first_part), Some(kept)) = (&self.first_part, self.kept) else {
            return Ok(None);
        };
        let folder = lab.new_folder()?;
        let ended = run_to_its_end(first_part().current_dir(folder.path()))?;
        if ended.code() != Some(0) {
            return Err(format!("{}, first part: {}", self.name, ended.describe()).into());
        }
        let path = folder.path().join(kept);
        let state = std::fs::read(&path).map_err(files::naming(&path))?;
        let rest = run_to_its_end(self.command().current_dir(folder.path()))?;
        match rest.code() {
            Some(0) => Ok(Some((state, rest))),
            _ => Err(format!("{}, after its first part: {}", self.name, rest.describe()).into()),
        }
    }

    /// Returns what a run that nothing disturbs writes, and its end.
    fn undisturbed(&self, lab: &Lab) -> Result<(BTreeMap<&'static str, Vec<u8>>, Ended), Failure> {
        let folder = lab.new_folder()?;
        self.prepare(folder.path())?;
        let whole = run_to_its_end(self.command().current_dir(folder.path()))?;
        if whole.code() != Some(0) {
            return Err(format!("{}: {}", self.name, whole.describe()).into());
        }
        let read = |name: &&'static str| {
            let path = folder.path().join(name);
            Ok((*name, std::fs::read(&path).map_err(files::naming(&path))?))
        };
        Ok((self.outputs.iter().map(read).collect::<Result<_, Failure>>()?, whole))
    }

    /// Puts old files where the job writes.
    fn prepare(&self, folder: &Path) -> Result<(), Failure> {
        for name in self.outputs {
            let path = folder.join(name);
            files::make_folder(path.parent().unwrap_or(folder))?;
            std::fs::write(&path, OLD).map_err(files::naming(&path))?;
        }
        Ok(())
    }

    /// Checks the files after a kill: each is the old one or the new one.
    fn look(
        &self,
        folder: &Path,
        expected: &BTreeMap<&str, Vec<u8>>,
        killed: &mut Killed,
    ) -> Result<(), Failure> {
        for (name, new) in expected {
            let path = folder.join(name);
            let found = std::fs::read(&path).map_err(files::naming(&path))?;
            if found != OLD && lasting(&found) != lasting(new) {
                killed.broken.push(format!("{}: a kill left a torn {name}", self.name));
            }
        }
        killed.found += usize::from(self.kept.is_some_and(|kept| folder.join(kept).exists()));
        killed.hidden[0] += hidden_in(folder)?;
        Ok(())
    }

    /// Compares a run after kills with the undisturbed one, to the bit.
    fn compare(
        &self,
        folder: &Path,
        expected: &BTreeMap<&str, Vec<u8>>,
        [whole, resumed]: [&Ended; 2],
        killed: &mut Killed,
    ) -> Result<(), Failure> {
        if resumed.code() != Some(0) {
            killed.broken.push(format!("{}: after a kill: {}", self.name, resumed.describe()));
            return Ok(());
        }
        if resumed.out != whole.out {
            killed.broken.push(format!("{}: after a kill it prints something else", self.name));
        }
        for (name, new) in expected {
            let path = folder.join(name);
            if lasting(&std::fs::read(&path).map_err(files::naming(&path))?) != lasting(new) {
                killed.broken.push(format!("{}: after a kill {name} is another", self.name));
            }
        }
        let hidden = hidden_in(folder)?;
        if hidden > 0 {
            killed.broken.push(format!("{}: {hidden} hidden files stay", self.name));
        }
        killed.hidden[1] += hidden;
        Ok(())
    }
}

/// Returns the content of a file but for the line of a page with the time of the run.
pub(super) fn lasting(content: &[u8]) -> Vec<u8> {
    let time = (b"<p class=\"origin\">", b"</p>");
    let at = |from: usize, part: &[u8]| {
        content[from..].windows(part.len()).position(|window| window == part).map(|at| from + at)
    };
    match at(0, time.0).and_then(|start| Some((start, at(start, time.1)?))) {
        Some((start, end)) => [&content[..start], &content[end..]].concat(),
        None => content.to_vec(),
    }
}

/// Returns the number of hidden files in a folder and those in it.
fn hidden_in(folder: &Path) -> Result<usize, Failure> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).map_err(files::naming(folder))? {
        let entry = entry.map_err(files::naming(folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += hidden_in(&entry.path())?;
        }
        count += usize::from(entry.file_name().to_string_lossy().starts_with('.'));
    }
    Ok(count)
}

pub(super) fn markdown(jobs: &[Killed]) -> String {
    let mut text =
        "| job | length | kills | runs after them | of them with something to go on from | hidden files \
                    left by kills | after the next run | torn or different files |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for Killed { name, time, kills, runs, found, hidden: [left, after], broken } in jobs {
        let (seconds, torn) = (time.as_secs_f64(), broken.len());
        let _ = writeln!(
            text,
            "| {name} | {seconds:.2} s | {kills} | {runs} | {found} | {left} | {after} | {torn} |"
        );
    }
    text
}

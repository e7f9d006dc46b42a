//! A clock of the system that jumps by decades while commands run. The jumps are those of libfaketime,
//! which stands between a process and the clock that can be set; nobody else's clock changes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::faults::expected::Seen;
use crate::faults::kills::lasting;
use crate::faults::lab::Lab;
use crate::faults::process::{Ended, run};
use crate::{Failure, files};

const FAULT: &str = "a clock that jumps";

/// Where the clock goes from now: before 1970, where counts of seconds are negative, beyond 2038,
/// where they need more than 32 bits, and back.
const JUMPS: [&str; 4] = ["-90y", "+0d", "+300y", "-1d"];

/// How long the clock goes on before it jumps again.
const PAUSE: Duration = Duration::from_millis(3);

/// Commands with the page that they write, if they write one.
const COMMANDS: [(&str, &str, Option<&str>); 4] = [
    (
        "margins fit --report",
        "fit --data small.csv --lambda 0.1 --format json --report page.html",
        Some("page.html"),
    ),
    (
        "margins cv --checkpoint",
        "cv --data small.csv --kernel gaussian --sigmas auto:3 --lambdas 1:1e-3:4 --format json --checkpoint grid.json",
        None,
    ),
    (
        "margins cv --time-limit 1000",
        "cv --data small.csv --kernel gaussian --sigmas auto:3 --lambdas 1:1e-3:4 --format json --time-limit 1000",
        None,
    ),
    (
        "margins focus --time-limit 1000",
        "focus --data small.csv --max-steps 50000 --format json --time-limit 1000",
        None,
    ),
];

/// A game that would take hours, with a limit.
const ENDLESS: &str =
    "focus --data large.csv --max-steps 100000000000 --format json --time-limit 0.5";

/// What a command that is held up by nothing takes at most beyond its limit, reading included.
const PATIENCE: Duration = Duration::from_secs(10);

/// Commands give what they give by a steady clock, and limits of time are those of a stopwatch.
pub(super) fn jumps(lab: &Lab, library: &Path) -> Result<Vec<Seen>, Failure> {
    let clock = Clock::new(lab, library)?;
    clock.try_date()?;
    let mut rows = Vec::new();
    for (shown, words, page) in COMMANDS {
        let (steady, jumping) = (lab.new_folder()?, lab.new_folder()?);
        let command = || lab.margins(&words.split(' ').collect::<Vec<_>>());
        let expected = run(command().current_dir(steady.path()))?;
        let ended = clock.run_jumping(command().current_dir(jumping.path()))?;
        let page = |folder: &Path| match page {
            Some(name) => std::fs::read(folder.join(name)).map(|page| lasting(&page)).ok(),
            None => Some(Vec::new()),
        };
        let (before, after) = (page(steady.path()), page(jumping.path()));
        let same = expected.out == ended.out && before.is_some() && before == after;
        let holds = expected.code() == Some(0) && ended.code() == Some(0) && same;
        let seen = if holds { "what a steady clock gives".to_owned() } else { ended.describe() };
        rows.push(Seen::new(FAULT, shown, seen, holds));
    }
    let folder = lab.new_folder()?;
    let mut command = lab.margins(&ENDLESS.split(' ').collect::<Vec<_>>());
    let ended = clock.run_jumping(command.current_dir(folder.path()))?;
    let stopped = String::from_utf8_lossy(&ended.out).contains("\"time-limit\"");
    let late = ended.time.saturating_sub(Duration::from_millis(500));
    let holds = ended.code() == Some(0) && stopped && !late.is_zero() && late < PATIENCE;
    let seen =
        format!("{}, by its limit after {:.1} s", ended.describe(), ended.time.as_secs_f64());
    rows.push(Seen::new(FAULT, "margins focus --time-limit 0.5", seen, holds));
    Ok(rows)
}

/// A clock for the commands that look at its file.
struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    fn new(lab: &Lab, library: &Path) -> Result<Self, Failure> {
        let library = library.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; libfaketime makes clocks jump, and Debian has it",
                library.display()
            )
        })?;
        let clock = Clock { library, file: lab.input("clock") };
        clock.set(JUMPS[0])?;
        Ok(clock)
    }

    /// Sets the clock that far from now; no reader sees half a word.
    fn set(&self, offset: &str) -> Result<(), Failure> {
        let new = self.file.with_extension("new");
        std::fs::write(&new, format!("{offset}\n")).map_err(files::naming(&new))?;
        std::fs::rename(&new, &self.file).map_err(files::naming(&self.file))
    }

    fn of<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }

    /// Makes sure that commands see this clock.
    fn try_date(&self) -> Result<(), Failure> {
        let ended = run(self.of(Command::new("date").arg("+%s")))?;
        let said = String::from_utf8_lossy(&ended.out);
        match said.trim().parse::<i64>() {
            Ok(seconds) if seconds < 0 => Ok(()),
            _ => Err(format!("{}: it does not set the clock", self.library.display()).into()),
        }
    }

    /// Runs a command while the clock jumps.
    fn run_jumping(&self, command: &mut Command) -> Result<Ended, Failure> {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let jumping = scope.spawn(|| {
                for offset in JUMPS.iter().cycle() {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    self.set(offset).map_err(|error| error.to_string())?;
                    std::thread::sleep(PAUSE);
                }
                Ok::<_, String>(())
            });
            let ended = run(self.of(command));
            done.store(true, Ordering::Relaxed);
            jumping.join().map_err(|_| "the thread that sets the clock panicked")??;
            ended
        })
    }
}

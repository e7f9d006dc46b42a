//! Processes that end by themselves, by a limit of time or by a kill.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

/// No command of these tests takes as long unless it waits for something that never comes.
const MOST: Duration = Duration::from_secs(60);

/// How often a process is polled.
const LOOK: Duration = Duration::from_millis(1);

/// A process that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// What it wrote to standard output, if that was not sent elsewhere.
    pub(super) out: Vec<u8>,
    /// What it wrote to standard error.
    pub(super) words: String,
    pub(super) time: Duration,
    /// True if it had to be killed because it was still waiting.
    pub(super) blocked: bool,
}

impl Ended {
    pub(super) fn code(&self) -> Option<i32> {
        self.status.code().filter(|_| !self.blocked)
    }

    /// Returns the way it ended in words, with the last line that it said.
    pub(super) fn describe(&self) -> String {
        let how = match (self.blocked, self.status.code(), self.status.signal()) {
            (true, ..) => "still waiting".to_owned(),
            (false, Some(code), _) => format!("exit {code}"),
            (false, None, signal) => format!("signal {}", signal.unwrap_or(0)),
        };
        match self.words.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!("{how}: {}", line.trim()),
            None => how,
        }
    }
}

/// A process whose answers go to files: a pipe that is full would hold it up.
pub(super) struct Running {
    child: Child,
    began: Instant,
    out: File,
    words: File,
}

/// Starts a command; its standard output is kept.
pub(super) fn start(command: &mut Command) -> Result<Running, Failure> {
    let out = tempfile::tempfile()?;
    command.stdout(out.try_clone()?);
    start_to(command, out)
}

/// Starts a command whose standard output has been set.
pub(super) fn start_to(command: &mut Command, out: File) -> Result<Running, Failure> {
    let words = tempfile::tempfile()?;
    let child = command
        .stdin(Stdio::null())
        .stderr(words.try_clone()?)
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    Ok(Running { child, began: Instant::now(), out, words })
}

impl Running {
    /// Waits for the end.
    pub(super) fn end(self) -> Result<Ended, Failure> {
        let end = self.began + MOST;
        self.end_by(end)
    }

    /// Waits for the end until a time, and kills with SIGKILL what then still runs.
    pub(super) fn end_by(mut self, end: Instant) -> Result<Ended, Failure> {
        let mut blocked = false;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let now = Instant::now();
            if now >= end {
                blocked = true;
                self.child.kill()?;
                break self.child.wait()?;
            }
            std::thread::sleep(LOOK.min(end - now));
        };
        let time = self.began.elapsed();
        let mut out = Vec::new();
        self.out.rewind()?;
        self.out.read_to_end(&mut out)?;
        let mut words = Vec::new();
        self.words.rewind()?;
        self.words.read_to_end(&mut words)?;
        let words = String::from_utf8_lossy(&words).into_owned();
        Ok(Ended { status, out, words, time, blocked })
    }
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> Result<Ended, Failure> {
    start(command)?.end()
}

/// Runs a command and kills it with SIGKILL after this time; returns true if it was killed before
/// it ended.
pub(super) fn kill_after(command: &mut Command, time: Duration) -> Result<bool, Failure> {
    let running = start(command)?;
    let end = running.began + time;
    Ok(running.end_by(end)?.blocked)
}

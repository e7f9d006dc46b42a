//! Our command on a row.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Run;
use super::rows::{Lambdas, Row, SIGMAS, Work};
use crate::Failure;

/// How often the memory of a running process is read.
const LOOK: Duration = Duration::from_millis(2);

/// Times the whole process of ours on the row.
pub(super) fn run(row: &Row, margins: &Path, file: &Path) -> Result<Run, Failure> {
    run_with(margins, &arguments(row, file))
}

/// Times the whole process of ours with these arguments; its answer is read as JSON.
pub(super) fn run_with(margins: &Path, arguments: &[String]) -> Result<Run, Failure> {
    let began = Instant::now();
    // The answer goes to a file: a pipe that is full would hold the process up.
    let mut out = tempfile::tempfile()?;
    let child = Command::new(margins)
        .args(arguments)
        .args(["--format", "json", "--quiet"])
        .stdout(out.try_clone()?)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", margins.display()))?;
    let (memory, end) = wait(child, Duration::MAX)?;
    let seconds = began.elapsed().as_secs_f64();
    if let End::Failed(words) = end {
        return Err(format!("margins {}: {words}", arguments.join(" ")).into());
    }
    std::io::Seek::rewind(&mut out)?;
    let answer: Value = serde_json::from_reader(std::io::BufReader::new(out))?;
    Ok(Run { seconds, ended: true, memory, answer })
}

/// How a process ended.
pub(super) enum End {
    Done,
    /// The process failed, with what it said.
    Failed(String),
    /// The process took longer than it was given, and was stopped.
    Stopped,
}

/// Waits for a process; returns its largest resident memory and how it ended.
pub(super) fn wait(mut child: Child, most: Duration) -> Result<(Option<u64>, End), Failure> {
    let began = Instant::now();
    let mut memory = None;
    loop {
        memory = peak(child.id()).or(memory);
        if let Some(status) = child.try_wait()? {
            let mut words = String::new();
            if let Some(mut pipe) = child.stderr.take() {
                std::io::Read::read_to_string(&mut pipe, &mut words)?;
            }
            let end = if status.success() { End::Done } else { End::Failed(words) };
            return Ok((memory, end));
        }
        if began.elapsed() >= most {
            child.kill()?;
            child.wait()?;
            return Ok((memory, End::Stopped));
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns the largest resident memory of a process so far, in bytes, where the system has `/proc`.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the arguments of our command for a row.
fn arguments(row: &Row, file: &Path) -> Vec<String> {
    let file = file.display().to_string();
    let words = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
    let common = ["--data", &file, "--loss", row.loss, "--threads", "2"];
    let kernel = row.sigma().map(|sigma| format!("gaussian:sigma={sigma}")).unwrap_or_default();
    match &row.work {
        Work::Grid => {
            let sigmas = SIGMAS.map(|sigma| sigma.to_string()).join(",");
            let rest = ["--kernel", "gaussian", "--sigmas", &sigmas, "--lambdas", "1e-1:1e-7:10"];
            [words(&["cv", "--fold-column", "fold"]), words(&common), words(&rest)].concat()
        }
        Work::Path { lambdas, landmarks, .. } => {
            let rest = ["--kernel", &kernel, "--lambdas", &grid(*lambdas)];
            let approx = landmarks.map(|m| format!("nystrom:m={m}"));
            let approx: Vec<String> =
                approx.into_iter().flat_map(|text| ["--approx".to_owned(), text]).collect();
            [words(&["cv", "--fold-column", "fold"]), words(&common), words(&rest), approx].concat()
        }
        Work::Fit { lambda, gap, .. } => {
            let (lambda, gap) = (lambda.to_string(), gap.to_string());
            let memory: &[&str] = if large(row) { &["--memory", "4GB"] } else { &[] };
            let rest = ["--kernel", &kernel, "--lambda", &lambda, "--tol", &gap];
            let fit = ["fit", "--fold-column", "fold"];
            [words(&fit), words(&common), words(&rest), words(memory)].concat()
        }
        Work::Linear { lambda } => {
            let rest = ["--lambda", &lambda.to_string(), "--no-intercept"];
            [words(&["fit"]), words(&common), words(&rest)].concat()
        }
    }
}

/// Returns true if the kernel matrix of the row does not fit into the memory that it is given.
fn large(row: &Row) -> bool {
    matches!(row.file, super::rows::File::Covtype(rows) if rows > 50_000)
}

pub(super) fn grid(Lambdas { first, last, count }: Lambdas) -> String {
    format!("{first:e}:{last:e}:{count}")
}

//! The other program on a row.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ours::{self, End};
use super::rows::{Opponent, Row, SIGMAS, Work};
use super::{Arguments, Run};
use crate::Failure;
use crate::peers::rows::Lambdas;

const SCRIPT: &str = "benches/peers/opponents.py";

/// Runs the opponent, whose seconds are those of its work alone, without loading and reading. `None` where it is missing. One that
/// is stopped at the limit has the seconds of the whole process.
pub(super) fn run(
    row: &Row,
    arguments: &Arguments,
    file: &Path,
    coefs: &Path,
) -> Result<Option<Run>, Failure> {
    let (job, options) = job(row)?;
    let _ = std::fs::remove_file(coefs);
    let python = arguments.venv.join("bin/python");
    let began = Instant::now();
    let mut child = Command::new(&python)
        .arg(SCRIPT)
        .args([job])
        .arg(file)
        .arg("--out")
        .arg(coefs)
        .args(options)
        .env("OMP_NUM_THREADS", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    let out = child.stdout.take();
    let (memory, end) = ours::wait(child, Duration::from_secs(arguments.limit))?;
    match end {
        End::Done => {}
        End::Failed(words) if words.contains("ModuleNotFoundError") => return Ok(None),
        End::Failed(words) => return Err(format!("{SCRIPT} {job}: {words}").into()),
        End::Stopped => {
            let seconds = began.elapsed().as_secs_f64();
            return Ok(Some(Run { seconds, ended: false, memory, answer: Value::Null }));
        }
    }
    let text = out.map(std::io::read_to_string).transpose()?.unwrap_or_default();
    let answer: Value = serde_json::from_str(text.trim())?;
    let seconds = answer["seconds"].as_f64().ok_or("the opponent reported no seconds")?;
    Ok(Some(Run { seconds, ended: true, memory, answer }))
}

/// Returns the job of the script and its options.
fn job(row: &Row) -> Result<(&'static str, Vec<String>), margins::optim::Error> {
    let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let mut options = Vec::new();
    let mut add = |name: &str, value: String| options.extend([format!("--{name}"), value]);
    match &row.work {
        Work::Grid => {
            add("sigmas", list(&SIGMAS));
            add("lambdas", list(&Lambdas { first: 1e-1, last: 1e-7, count: 10 }.values()?));
        }
        Work::Path { sigma, lambdas, landmarks } => {
            add("sigmas", sigma.to_string());
            add("lambdas", list(&lambdas.values()?));
            if let Some(m) = landmarks {
                add("landmarks", m.to_string());
            }
        }
        Work::Fit { sigma, lambda, .. } => {
            add("sigmas", sigma.to_string());
            add("lambdas", lambda.to_string());
        }
        Work::Linear { lambda } => add("lambdas", lambda.to_string()),
    }
    let job = match row.opponent {
        Opponent::LiquidSvm => "liquidsvm",
        Opponent::Svc => "svc",
        Opponent::Intelex => "intelex",
        Opponent::TorchKm => {
            add("model", if row.loss == "hinge" { "svm" } else { "logistic" }.to_owned());
            "torchkm"
        }
        Opponent::Cyanure => {
            add("model", if row.loss == "squared-hinge" { "sqhinge" } else { row.loss }.to_owned());
            "cyanure"
        }
    };
    Ok((job, options))
}

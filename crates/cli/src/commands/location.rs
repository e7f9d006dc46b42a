//! The command that estimates the location of a column of numbers.

use std::io::Read;
use std::path::Path;

use margins::calibration::Error;
use margins::calibration::location::{LocationSettings, summarize};

use crate::arguments::location::LocationArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::files::emit;
use crate::output::location::LocationDocument;
use crate::output::write_json;

pub(crate) fn location(arguments: &LocationArguments) -> Result<(), Failure> {
    let LocationArguments { scale, variance, delta, changes, seed, .. } = *arguments;
    let (name, numbers) = read_numbers(&arguments.data)?;
    let settings = LocationSettings { scale, variance_bound: variance, delta, changes, seed };
    let found = summarize(&numbers, &settings).map_err(|error| match error {
        Error::Parameter(_) => Failure::usage(error),
        Error::NoVariance(reason) => {
            Failure::job(format!("{name}: {reason}. Pass --variance or --scale"))
        }
        _ => Failure::job(format!("{name}: {error}")),
    })?;
    let document = LocationDocument::new(&name, numbers.len(), &settings, &found);
    emit(None, |out| match arguments.output.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write(out),
    })
}

/// Reads a file with one number per line, blank lines left out, and returns its name too.
fn read_numbers(path: &Path) -> Result<(String, Vec<f64>), Failure> {
    let standard = path == Path::new("-");
    let name = if standard { "standard input".to_owned() } else { path.display().to_string() };
    let text = step(format!("reading {name}"), || {
        let mut bytes = Vec::new();
        match standard {
            true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())?,
            false => bytes = std::fs::read(path)?,
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
    .map_err(|error: std::io::Error| Failure::job(format!("{name}: {error}")))?;
    let mut numbers = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let cell = line.trim().trim_start_matches('\u{feff}');
        match cell.parse() {
            _ if cell.is_empty() => {}
            Ok(x) if f64::is_finite(x) => numbers.push(x),
            _ => {
                let shown: String = cell.chars().take(40).flat_map(char::escape_debug).collect();
                return Err(Failure::job(format!(
                    "{name}, line {}: '{shown}' is not a finite number. Pass one number per line, without \
                     a header",
                    k + 1
                )));
            }
        }
    }
    match numbers.is_empty() {
        true => Err(Failure::job(format!("{name}: no numbers. Pass one number per line"))),
        false => Ok((name, numbers)),
    }
}

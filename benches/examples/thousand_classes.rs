//! Fits many classes in one problem: `cargo run --release -p margins-benches --example thousand_classes --
//! [CLASSES ROWS FEATURES [LAMBDA [joint|multinomial]]]`, by default 1000 classes, 100,000 rows and 30
//! features of a Gaussian mixture, at the lambda of C = 1, multinomial. Prints the seconds, the gap and the
//! peak of memory, and ends with 1 unless the gap is certified.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use margins::data::{Classes, Dataset, Design};
use margins::estimators::regularised::{ClassifierSettings, Regularisation};
use margins::losses::Logistic;
use margins::model::Scheme;
use margins::optim::Lambda;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Returns rows around one centre a class, so near to each other that classes overlap.
fn mixture(
    classes: usize,
    rows: usize,
    features: usize,
) -> Result<Dataset<Classes>, Box<dyn Error>> {
    const SPREAD: f64 = 1.0;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut normal = || -> f64 { random.sample(StandardNormal) };
    let centres: Vec<f64> = (0..classes * features).map(|_| SPREAD * normal()).collect();
    let class = |i: usize| i % classes;
    let row = |i: usize| -> Vec<f64> {
        let centre = &centres[class(i) * features..(class(i) + 1) * features];
        centre.iter().map(|x| x + normal()).collect()
    };
    let table: Vec<Vec<f64>> = (0..rows).map(row).collect();
    let names = (0..classes).map(|class| format!("class {class}")).collect();
    let labels = Classes::from_indices((0..rows).map(|i| class(i) as u32).collect(), names)?;
    Ok(Dataset::new(Design::from_rows(&table)?, labels)?)
}

/// Returns the peak of memory so far, as Linux reports it.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default: usize| given.get(at).map_or(Ok(default), |text| text.parse::<usize>());
    let (classes, rows, features) = (number(0, 1000)?, number(1, 100_000)?, number(2, 30)?);
    let lambda = given.get(3).map_or(Ok(0.5 / rows as f64), |text| text.parse::<f64>())?;
    let scheme = match given.get(4).map(String::as_str) {
        Some("joint") => Scheme::Joint,
        _ => Scheme::Multinomial,
    };
    let data = mixture(classes, rows, features)?;
    let before = peak();
    let settings = ClassifierSettings {
        loss: std::sync::Arc::new(Logistic),
        scheme: Some(scheme),
        regularisation: Regularisation::Single(Lambda::new(lambda)?),
        ..ClassifierSettings::default()
    };
    let start = Instant::now();
    let fitted = settings.fit(&data)?;
    let report = &fitted.fits[0].report;
    println!(
        "{scheme}: {classes} classes, {rows} rows, {features} features: {:.1} s, {:?}, relative gap {:.1e}, \
         {} iterations, {} passes; memory {} before, {} at most",
        start.elapsed().as_secs_f64(),
        report.status,
        report.relative_gap,
        report.iterations,
        report.passes,
        before.unwrap_or_default(),
        peak().unwrap_or_default(),
    );
    Ok(if report.converged() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

//! Times one linear fit, reading and process excluded.
//!
//! `cargo run --release -p margins-benches --example solve -- FILE LOSS LAMBDA TOLERANCE SOLVER
//! [--intercept] [--standardize]` prints the median seconds of three fits, of fewer if they are
//! long, and the report as JSON.

use std::time::Instant;

use margins::data::read::{self, ReadOptions};
use margins::losses::LossRegistry;
use margins::optim::{Lambda, Options, Solver, Training};

/// Seconds after which no further fit is timed.
const ENOUGH: f64 = 5.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, loss, lambda, tolerance, solver, flags @ ..] = arguments.as_slice() else {
        return Err(
            "expected FILE LOSS LAMBDA TOLERANCE SOLVER [--intercept] [--standardize]".into()
        );
    };
    let data = read::dataset(file, &ReadOptions::default())?;
    let loss = LossRegistry::standard().parse(loss)?;
    let solver = match solver.as_str() {
        "auto" => Solver::Auto,
        "newton" => Solver::Newton,
        "sdca" => Solver::SDCA,
        "bundle" => Solver::Bundle,
        other => return Err(format!("no solver '{other}' here").into()),
    };
    let training = Training {
        intercept: flags.iter().any(|flag| flag == "--intercept"),
        standardize: flags.iter().any(|flag| flag == "--standardize"),
        options: Options { solver, tolerance: tolerance.parse()?, ..Options::default() },
        ..Training::new(&*loss)
    };
    let lambdas = [Lambda::new(lambda.parse()?)?];
    let mut seconds = Vec::new();
    let mut reports = Vec::new();
    while seconds.len() < 3 && seconds.iter().sum::<f64>() < ENOUGH {
        let start = Instant::now();
        let fits = training.path(&data, &lambdas)?;
        seconds.push(start.elapsed().as_secs_f64());
        reports.extend(fits.into_iter().map(|fit| fit.report));
    }
    seconds.sort_by(f64::total_cmp);
    let report = &reports[0];
    println!(
        "{{\"seconds\": {}, \"objective\": {}, \"dual_objective\": {}, \"relative_gap\": {}, \
         \"iterations\": {}, \"passes\": {}, \"converged\": {}}}",
        seconds[seconds.len() / 2],
        report.objective,
        report.dual_objective,
        report.relative_gap,
        report.iterations,
        report.passes,
        report.converged()
    );
    Ok(())
}

//! Calls of the oracle along the dimension, for both localisation methods.

use std::path::Path;

use clap::Args;
use margins::massart::cutting_planes::Method;
use margins::massart::{CutOptions, Problem, Target, learn_by_cuts};
use margins_experiments::figure::{Axis, Points, Style, panel, power, with_bars};
use margins_experiments::{Document, Figure, Mean, Numbers, Table};

use super::instance::{Drawn, batch_size, instance};
use crate::{Failure, trials};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Instances a dimension
    #[arg(long, default_value_t = 10)]
    instances: usize,
    /// Threads, 0 for one a core; the results do not depend on them
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

const DIMENSIONS: [usize; 6] = [3, 5, 10, 20, 40, 80];
const ETA: f64 = 0.2;
const GAMMA: f64 = 0.02;
const EPSILON: f64 = 0.02;
const METHODS: [(&str, Method); 2] =
    [("analytic centre", Method::AnalyticCentre), ("ellipsoid", Method::Ellipsoid)];

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let problem = Problem::new(ETA, GAMMA)?.with_target(Target::new(EPSILON, 0.05)?);
    let keys: Vec<trials::Key> = DIMENSIONS
        .iter()
        .flat_map(|d| (0..arguments.instances).map(move |k| (d.to_string(), k)))
        .collect();
    let path = folder.join("massart-cuts.journal");
    let found = trials::run(&path, "massart-cuts 2", &keys, arguments.threads, |(row, k)| {
        let d: usize = row.parse()?;
        let noisy = instance(d, GAMMA, ETA, "trap", *k as u64)?;
        let training = Drawn::new(&noisy, batch_size(&problem, d), *k as u64);
        let mut numbers = Vec::new();
        for (_, method) in METHODS {
            let options = CutOptions { method, most_calls: Some(2000), ..CutOptions::default() };
            let found = learn_by_cuts(&problem, &options, &training.sample()?);
            numbers.extend([found.calls as f64, noisy.linear_error(&found.classifier.coef)?]);
        }
        Ok(Numbers(numbers))
    })?;
    let mut table =
        Table::new(["d", "analytic centre: calls", "error", "ellipsoid: calls", "error"]);
    let mut points = [Vec::new(), Vec::new()];
    for (d, trials) in DIMENSIONS.iter().zip(found.chunks_exact(arguments.instances)) {
        let column = |at: usize| Mean::of(trials.iter().map(|t| t.0[at]));
        let mut cells = vec![d.to_string()];
        for (at, points) in points.iter_mut().enumerate() {
            let (calls, error) = (column(2 * at), column(2 * at + 1));
            points.push((*d as f64, calls.mean, calls.standard_error));
            cells.push(format!("{:.1} ({:.1})", calls.mean, calls.standard_error));
            cells.push(format!("{:.4}", error.mean));
        }
        table.push(cells);
    }
    let about = format!(
        "The table has the mean calls of the oracle (standard error) until the error on the sample \
         is at most eta + epsilon/2, and the mean exact error, over {} instances of the trap a \
         dimension, with eta = {ETA}, gamma = {GAMMA}, epsilon = {EPSILON} and at most 2000 calls.",
        arguments.instances
    );
    let along = points.each_ref().map(|points| growth(points));
    let finding = format!(
        "The analytic centre calls the oracle {}; the ellipsoid calls it {}. The bounds, of the order \
         d log d and d^2, rise with d throughout.",
        along[0], along[1]
    );
    let document = Document::new("massart-cuts", "Oracle calls of the cutting planes", finding)
        .text(about)
        .table(table);
    Ok(document.figure(figure(points)))
}

/// Returns in words how calls grow with d, given with their standard errors: a power of d only where
/// they grow throughout.
fn growth(points: &[(f64, f64, f64)]) -> String {
    let at = |point: &(f64, f64, f64)| format!("{:.1} times at d = {:.0}", point.1, point.0);
    let plain: Points = points.iter().map(|&(d, calls, _)| (d, calls)).collect();
    let most = points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(first), Some(most), Some(last)) = (points.first(), most, points.last()) else {
        return "never".to_owned();
    };
    if most == last {
        format!("{} to {}, as the power {:.2} of d", at(first), at(last), power(&plain))
    } else {
        format!("{}, at most {}, and {}: no power of d", at(first), at(most), at(last))
    }
}

/// Returns the picture of the calls along the dimension, given by the points of the methods.
fn figure(points: [Vec<(f64, f64, f64)>; 2]) -> Figure {
    let pairs = METHODS.iter().zip(points);
    let series = pairs.map(|((name, _), points)| with_bars(*name, points, Style::Bars));
    let calls = panel(
        "calls",
        "Calls of the separation oracle",
        [Axis::log("dimension d"), Axis::log("calls")],
        series.collect(),
    );
    Figure::new("massart-cuts", vec![calls])
}

//! The samples that algorithm 1 needs, along epsilon and along gamma.

use std::path::Path;

use clap::Args;
use margins::massart::{Plan, Problem, Target};
use margins_experiments::figure::{Axis, Series, panel, power};
use margins_experiments::{Document, Figure, Numbers, Table};

use super::instance::{Batch, instance, rare_trap, sgd};
use crate::{Failure, trials};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Instances a setting
    #[arg(long, default_value_t = 20)]
    instances: usize,
    /// Threads, 0 for one a core; the results do not depend on them
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

const D: usize = 20;
const ETA: f64 = 0.3;
// With larger ones a halfspace of the trap is within eta + epsilon after a few dozen samples.
const EPSILONS: [f64; 5] = [0.05, 0.035, 0.025, 0.0175, 0.0125];
const MARGINS: [f64; 5] = [0.1, 0.07, 0.05, 0.035, 0.025];
/// Beside which the other is varied.
const MIDDLE: (f64, f64) = (0.05, 0.1);
/// Numbers of samples are these powers of the root of 2.
const POWERS: std::ops::RangeInclusive<u32> = 8..=40;
/// Share of instances that must have an error of at most eta + epsilon.
const SUCCESS: f64 = 0.9;
/// A learner that takes all samples at once sees the distribution itself from about here on.
const MOST_AT_ONCE: usize = 1 << 17;

/// The learners with the powers of 1/epsilon and 1/gamma in their theorems.
const LEARNERS: [(&str, Option<Batch>, [&str; 2]); 4] = [
    ("sgd", None, ["2", "2"]),
    ("cuts", Some(Batch::Cuts), ["2", "4"]),
    ("partition (2019)", Some(Batch::Partition), ["poly", "poly"]),
    ("proper (2020)", Some(Batch::Proper), ["3", "4"]),
];

/// The parameter that is varied, its place in a setting, and the instances.
const SERIES: [(&str, usize, &str); 3] =
    [("epsilon", 0, "trap"), ("epsilon", 0, "rare trap"), ("gamma", 1, "trap")];

/// Returns epsilon and gamma.
fn setting(series: usize, k: usize) -> [f64; 2] {
    if SERIES[series].1 == 0 { [EPSILONS[k], MIDDLE.1] } else { [MIDDLE.0, MARGINS[k]] }
}

fn samples(power: u32) -> usize {
    std::f64::consts::SQRT_2.powi(power as i32).round() as usize
}

/// Returns the errors for all numbers of samples.
fn trial(
    learner: Option<Batch>,
    instances: &str,
    [epsilon, gamma]: [f64; 2],
    seed: u64,
) -> Result<Numbers, Failure> {
    let problem = Problem::new(ETA, gamma)?.with_target(Target::new(epsilon, 0.05)?);
    let noisy = match instances {
        "trap" => instance(D, gamma, ETA, "trap", seed)?,
        _ => rare_trap(D, &problem, seed)?,
    };
    let error = |power: u32| match learner {
        None => {
            let plan = Plan { steps: samples(power), ..Plan::practical(&problem) };
            sgd(&noisy, &problem, &plan, seed)
        }
        Some(learner) => learner.error(&noisy, &problem, samples(power), seed),
    };
    let powers = POWERS.take_while(|&p| learner.is_none() || samples(p) <= MOST_AT_ONCE);
    powers.map(error).collect::<Result<Vec<f64>, _>>().map(Numbers)
}

/// Returns the power from which on a share of at least [`SUCCESS`] of the trials is within the
/// limit.
fn least(trials: &[Numbers], limit: f64) -> Option<u32> {
    let mut least = None;
    for (at, power) in POWERS.enumerate().take(trials[0].0.len()) {
        let within = trials.iter().filter(|trial| trial.0[at] <= limit).count();
        let succeeds = within as f64 >= SUCCESS * trials.len() as f64;
        least = if succeeds { least.or(Some(power)) } else { None };
    }
    least
}

/// The least power of each series, learner and setting, where there is one.
type Needed = [[[Option<u32>; EPSILONS.len()]; LEARNERS.len()]; SERIES.len()];

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let mut rows = Vec::new();
    for learner in 0..LEARNERS.len() {
        for series in 0..SERIES.len() {
            rows.extend((0..EPSILONS.len()).map(|k| [series, learner, k]));
        }
    }
    let keys: Vec<trials::Key> = rows
        .iter()
        .flat_map(|[series, learner, k]| {
            (0..arguments.instances).map(move |trial| (format!("{series}/{learner}/{k}"), trial))
        })
        .collect();
    let path = folder.join("massart-sample-complexity.journal");
    let name = "massart-sample-complexity 4";
    let found = trials::run(&path, name, &keys, arguments.threads, |(row, seed)| {
        let cells = row.split('/').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        let [series, learner, k] = cells[..] else { return Err("not a setting".into()) };
        trial(LEARNERS[learner].1, SERIES[series].2, setting(series, k), *seed as u64)
    })?;
    let mut csv = String::from("varied,instances,learner,epsilon,gamma,samples\n");
    let mut needed: Needed = [[[None; EPSILONS.len()]; LEARNERS.len()]; SERIES.len()];
    for (&[series, learner, k], trials) in rows.iter().zip(found.chunks_exact(arguments.instances))
    {
        let [epsilon, gamma] = setting(series, k);
        needed[series][learner][k] = least(trials, ETA + epsilon);
        let count =
            needed[series][learner][k].map_or("more".to_owned(), |p| samples(p).to_string());
        let (varied, _, instances) = SERIES[series];
        csv += &format!("{varied},{instances},{},{epsilon},{gamma},{count}\n", LEARNERS[learner].0);
    }
    Ok(page(arguments, needed).csv("massart-samples", csv))
}

/// Returns the ends of slopes in words.
fn ends(slopes: &[f64]) -> String {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let known = slopes.iter().filter(|slope| slope.is_finite());
    let (low, high) = known.fold(start, |(low, high), &s| (low.min(s), high.max(s)));
    if low.is_finite() {
        format!("{low:.1} to {high:.1}")
    } else {
        "none that was found".to_owned()
    }
}

/// Returns tables and picture of the least numbers of samples, as powers of the root of 2.
fn page(arguments: &Arguments, needed: Needed) -> Document {
    let about = format!(
        "The table has the least number of samples, among powers of the root of 2, from which on a \
         learner has an error of at most eta + epsilon on {SUCCESS} of {} instances, with d = {D} \
         and eta = {ETA}; algorithm 1 has the practical step and selection. The slope is that of \
         the logarithms.",
        arguments.instances
    );
    let (mut tables, mut slopes) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut figure = Figure::new("massart-sample-complexity", Vec::new());
    for ((series, (varied, place, instances)), needed) in SERIES.iter().enumerate().zip(needed) {
        let values = [0, 1, 2, 3, 4].map(|k| setting(series, k)[*place]);
        let mut header = vec![format!("{varied} ({instances})")];
        header.extend(values.map(|value| value.to_string()));
        header.extend(["slope", "theorem"].map(str::to_owned));
        let mut table = Table::new(header);
        let mut curves = Vec::new();
        for ((learner, _, theorem), needed) in LEARNERS.iter().zip(needed) {
            let points: Vec<(f64, f64)> = values
                .iter()
                .zip(needed)
                .filter_map(|(value, least)| Some((1.0 / value, samples(least?) as f64)))
                .collect();
            let count =
                |least: Option<u32>| least.map_or("more".into(), |p| samples(p).to_string());
            let mut cells = vec![(*learner).to_owned()];
            cells.extend(needed.map(count));
            let slope = power(&points);
            slopes[*place].push(slope);
            cells.extend([format!("{slope:.2}"), theorem[*place].to_owned()]);
            table.push(cells);
            curves.push(Series::line(*learner, points));
        }
        tables.push(table);
        let along = if *place == 0 { "1/epsilon" } else { "1/gamma" };
        figure.panels.push(panel(
            ["epsilon", "epsilon-rare", "gamma"][series],
            format!("Samples needed along 1/{varied}, {instances}"),
            [Axis::log(along), Axis::log("samples")],
            curves,
        ));
    }
    let finding = format!(
        "The number of samples that a learner needs grows as a power of 1/epsilon of {}, and as one of \
         1/gamma of {}.",
        ends(&slopes[0]),
        ends(&slopes[1])
    );
    let document =
        Document::new("massart-sample-complexity", "Samples that the learners need", finding);
    let document = tables.into_iter().fold(document.text(about), Document::table);
    document.figure(figure)
}

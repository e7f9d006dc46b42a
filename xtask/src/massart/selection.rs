//! The cost of selecting one of all iterates.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use margins::massart::{
    Candidates, Plan, Problem, Selected, Sgd, Sphere, SphereSample, select, select_exhaustively,
};
use margins_experiments::figure::{Axis, Series, panel};
use margins_experiments::{Document, Figure, Numbers, Table};

use super::instance::{Drawn, instance};
use crate::{Failure, trials};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Numbers of steps
    #[arg(long, value_delimiter = ',', default_values_t = [1000, 4000, 16000])]
    steps: Vec<usize>,
}

const D: usize = 50;
const GAMMA: f64 = 0.1;
const ETA: f64 = 0.3;
const ADVERSARIES: [&str; 2] = ["near", "trap"];
/// Alternating, of which the shortest counts: other jobs only make it longer.
const REPETITIONS: usize = 15;

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let keys: Vec<trials::Key> = ADVERSARIES
        .iter()
        .flat_map(|name| arguments.steps.iter().map(|&steps| ((*name).to_owned(), steps)))
        .collect();
    let path = folder.join("massart-selection.journal");
    // One at a time, because they are timed.
    let found =
        trials::run(&path, "massart-selection 3", &keys, 1, |(name, steps)| trial(name, *steps))?;
    let mut csv =
        String::from("adversary,steps,products,all_products,seconds,exhaustive_seconds\n");
    let mut table = Table::new([
        "adversary",
        "T",
        "products: all",
        "computed",
        "factor",
        "seconds: all",
        "selection",
        "factor",
    ]);
    let mut series: Vec<Series> = ADVERSARIES
        .iter()
        .flat_map(|name| [format!("{name}, plain loop"), format!("{name}, selection")])
        .map(|name| Series::line(name, vec![]))
        .collect();
    for (at, ((name, steps), Numbers(numbers))) in keys.iter().zip(&found).enumerate() {
        let [products, all_products, seconds, all] = numbers[..] else {
            return Err("a trial of another experiment".into());
        };
        let (first, place) = (2 * (at / arguments.steps.len()), *steps as f64);
        series[first].points.push((place, all));
        series[first + 1].points.push((place, seconds));
        csv += &format!("{name},{steps},{products},{all_products},{seconds},{all}\n");
        table.push([
            name.clone(),
            steps.to_string(),
            all_products.to_string(),
            products.to_string(),
            format!("{:.1}", all_products / products),
            format!("{all:.4}"),
            format!("{seconds:.4}"),
            format!("{:.1}", all / seconds),
        ]);
    }
    let factor = |[a, b]: [usize; 2]| {
        let factors = found.iter().map(move |Numbers(numbers)| numbers[a] / numbers[b]);
        let (low, high) = factors.fold((f64::INFINITY, 0.0f64), |(l, h), f| (l.min(f), h.max(f)));
        format!("{low:.1} to {high:.1}")
    };
    let finding = format!(
        "The selection takes {} times less time than the plain loop, and computes {} times fewer inner \
         products.",
        factor([3, 2]),
        factor([1, 0])
    );
    let about = format!(
        "The task is to find the best of all T + 1 iterates on N = {} samples. The table has the \
         inner products and seconds (the least of {REPETITIONS}) of the plain loop over candidates \
         and samples, and of the selection, which finds the same iterate, for d = {D}, gamma = \
         {GAMMA} and eta = {ETA}.",
        Plan::practical(&Problem::new(ETA, GAMMA)?).selection
    );
    let document = Document::new("massart-selection", "Time to select an iterate", finding)
        .text(about)
        .table(table);
    Ok(document.figure(figure(series)).csv("massart-selection", csv))
}

/// Returns the picture of the seconds along the steps.
fn figure(series: Vec<Series>) -> Figure {
    let seconds = panel(
        "seconds",
        "Selecting one of all iterates",
        [Axis::log("steps T"), Axis::log("time, s")],
        series,
    );
    Figure::new("massart-selection-seconds", vec![seconds])
}

/// Returns products and seconds of the selection and of the plain loop.
fn trial(adversary: &str, steps: usize) -> Result<Numbers, Failure> {
    let problem = Problem::new(ETA, GAMMA)?;
    let plan = Plan::practical(&problem);
    let noisy = instance(D, GAMMA, ETA, adversary, 1)?;
    let selection = Drawn::new(&noisy, plan.selection, 2);
    let sample = selection.sample()?;
    let points = Sphere::new(noisy.design())?;
    let mut sgd = Sgd::new(problem, D, plan.step)?;
    let mut candidates = Candidates::new(D);
    candidates.push(&sgd.coef());
    let draws = noisy.draw(steps, 3);
    for (&row, &y) in draws.rows.iter().zip(&draws.signs) {
        sgd.run(&points, std::iter::once((row, y)))?;
        candidates.push(&sgd.coef());
    }
    let mut times = [Vec::new(), Vec::new()];
    let mut products = [0.0; 2];
    for _ in 0..REPETITIONS {
        let searches: [fn(&Candidates, &SphereSample<'_>) -> Selected; 2] =
            [select, select_exhaustively];
        let mut answers = Vec::new();
        for (k, search) in searches.into_iter().enumerate() {
            let start = Instant::now();
            let selected = search(&candidates, &sample);
            times[k].push(start.elapsed().as_secs_f64());
            products[k] = selected.products as f64;
            answers.push((selected.index, selected.error));
        }
        if answers[0] != answers[1] {
            return Err(format!("the answers differ: {answers:?}").into());
        }
    }
    let least = times.map(|times| times.into_iter().fold(f64::INFINITY, f64::min));
    Ok(Numbers([products, least].concat()))
}

//! Separable data: samples looked at, and time, until a classifier is right on every one of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use margins::boost::opponents::{AdaBoost, SublinearPerceptron, resampled};
use margins::boost::{Game, Horizon, KernelPerceptron, SamplePlayer, Stop, StumpSearch};
use margins::data::{Dataset, Design, Sample, Standardizer};
use margins::kernels::{Gaussian, Gram, Kernel, Linear, combine, svm};
use margins::optim::online::{OnlineLearner, Perceptron, Scorer};
use margins::optim::{Lambda, Options};
use margins_experiments::figure::{Axis, Style, categories, panel, with_bars};
use margins_experiments::{Document, Figure, Numbers, Table};
use rand::RngExt;

use super::{Settings, dataset, error, focused, generator, median, normal, read, uniform};
use crate::Failure;

const SIMULATED: &str = "simulated";
const DATA: [&str; 4] = ["mushrooms", "banknote-cubic", SIMULATED, "chess-gaussian"];
const METHODS: [&str; 7] = [
    "FOL, perceptron",
    "FOL, majority",
    "SGD, perceptron",
    "AdaBoost, stumps",
    "AdaBoost, perceptron",
    "sublinear perceptron",
    "hard-margin SVM",
];

/// Samples looked at, in passes over the data, at which a method is given up.
const MOST_PASSES: u64 = 400;
/// Passes at which the sublinear perceptron is given up, whose every round also reads a feature of
/// all samples.
const MOST_SUBLINEAR_PASSES: u64 = 20;
/// Passes between two looks at whether a classifier is right, which are not counted.
const PASSES_A_LOOK: f64 = 0.25;
const SIGMA: f64 = 1.0 / 7.0;
/// `C = 1/(2 n lambda)` is large.
const LAMBDA: f64 = 1e-9;
/// Rows up to which the SVM, which needs the kernel matrix, takes part.
const MOST_MACHINE_ROWS: usize = 4000;

/// Returns all monomials of degree up to three of standardised features.
fn cubic(data: &Dataset) -> Result<Dataset, Failure> {
    let scaled = Standardizer::fit(data.design(), None).center_and_scale(data.design())?;
    let expand = |x: Sample<'_>| {
        let mut row = Vec::new();
        x.for_each(|_, value| row.push(value));
        let p = row.len();
        for i in 0..p {
            for j in i..p {
                row.push(row[i] * row[j]);
                (j..p).for_each(|k| row.push(row[i] * row[j] * row[k]));
            }
        }
        row
    };
    let rows: Vec<Vec<f64>> = scaled.samples().map(expand).collect();
    Ok(Dataset::new(Design::from_rows(&rows)?, data.labels().clone())?)
}

/// Returns 2000 normal samples of 20 features, none nearer than 0.05 to a random hyperplane.
fn simulated() -> Result<Dataset, Failure> {
    let mut random = generator(1, 9);
    let normal_vector: Vec<f64> = (0..20).map(|_| normal(&mut random)).collect();
    let norm = normal_vector.iter().map(|w| w * w).sum::<f64>().sqrt();
    let (mut rows, mut signs) = (Vec::new(), Vec::new());
    while rows.len() < 2000 {
        let x: Vec<f64> = (0..20).map(|_| normal(&mut random)).collect();
        let score = x.iter().zip(&normal_vector).map(|(x, w)| x * w).sum::<f64>() / norm;
        if score.abs() >= 0.05 {
            rows.push(x);
            signs.push(score.signum());
        }
    }
    dataset(&rows, signs)
}

/// Passes and seconds until a method is right, both infinite if it is given up.
type Effort = [f64; 2];
const GIVEN_UP: Effort = [f64::INFINITY; 2];

/// Returns the steps until the classifier is right on all samples; looks at it are not timed.
fn effort(
    data: &Dataset,
    samples_a_step: f64,
    most_passes: u64,
    mut step: impl FnMut() -> Result<(), Failure>,
    right: impl Fn() -> bool,
) -> Result<Effort, Failure> {
    let m = data.rows() as f64;
    let between = (PASSES_A_LOOK * m / samples_a_step).ceil() as u64;
    let (mut steps, mut seconds) = (0u64, 0.0);
    loop {
        let start = Instant::now();
        for _ in 0..between {
            step()?;
        }
        seconds += start.elapsed().as_secs_f64();
        steps += between;
        let passes = steps as f64 * samples_a_step / m;
        if right() {
            return Ok([passes, seconds]);
        }
        if passes >= most_passes as f64 {
            return Ok(GIVEN_UP);
        }
    }
}

fn game<P: SamplePlayer, L: OnlineLearner>(
    player: P,
    learner: L,
    data: &Dataset,
    seed: u64,
) -> Result<Effort, Failure> {
    let rounds = (MOST_PASSES + 1) * data.rows() as u64;
    let horizon = Horizon::new(rounds, 1)?;
    let game = Game::new(player, learner, data.design(), data.labels(), horizon, seed)?;
    let game = std::cell::RefCell::new(game);
    effort(
        data,
        1.0,
        MOST_PASSES,
        || Ok(game.borrow_mut().play().map(drop)?),
        || error(game.borrow().learner(), data) == 0.0,
    )
}

/// Returns the passes until a game by the horizon of the command knows its majority to be right on
/// every sample, and the seconds with all checks.
fn majority(data: &Dataset, seed: u64) -> Result<Effort, Failure> {
    let m = data.rows();
    let horizon = Horizon::classification(m, 0.01, m as f64)?;
    let learner = Perceptron::new(data.columns());
    let start = Instant::now();
    let mut game = Game::new(focused(data)?, learner, data.design(), data.labels(), horizon, seed)?;
    let ending = game.run(Stop::Consistent)?;
    let seconds = start.elapsed().as_secs_f64();
    let passes = |round: u64| [round as f64 / m as f64, seconds];
    Ok(ending.consistent_at.map_or(GIVEN_UP, passes))
}

fn boosted<S: Scorer>(
    data: &Dataset,
    samples_a_round: f64,
    mut weak: impl FnMut(&[f64]) -> Result<S, margins::boost::Error>,
) -> Result<Effort, Failure> {
    let boost = std::cell::RefCell::new(AdaBoost::new(data.design(), data.labels())?);
    effort(
        data,
        samples_a_round,
        MOST_PASSES,
        || Ok(boost.borrow_mut().round(&mut weak).map(drop)?),
        || boost.borrow().consistent(),
    )
}

fn machine(kernel: &dyn Kernel, data: &Dataset) -> Result<Effort, Failure> {
    if data.rows() > MOST_MACHINE_ROWS {
        return Ok(GIVEN_UP);
    }
    let start = Instant::now();
    let gram = Gram::new(kernel, data.design())?;
    let signs = data.labels().signs();
    let options = Options { tolerance: 1e-3, ..Options::default() };
    let fit = svm::fit(&gram, signs, None, true, Lambda::new(LAMBDA)?, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let scores = combine(kernel, data.design(), data.design(), &fit.coef)?;
    let right = scores.iter().zip(signs).all(|(f, y)| y * (f + fit.intercept) > 0.0);
    Ok(if right { [fit.report.passes as f64, seconds] } else { GIVEN_UP })
}

fn trial(name: &str, data: &Dataset, seed: u64) -> Result<Vec<f64>, Failure> {
    let m = data.rows();
    let mut random = generator(seed, 4);
    let mut numbers = Vec::new();
    if name == "chess-gaussian" {
        let kernel = Gaussian::new(SIGMA)?;
        let value = move |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
        let learner = || KernelPerceptron::new(value, m, seed);
        numbers.extend(game(focused(data)?, learner()?, data, seed)?);
        numbers.extend(GIVEN_UP);
        numbers.extend(game(uniform(data)?, learner()?, data, seed)?);
        numbers.extend(GIVEN_UP);
        numbers.extend(GIVEN_UP);
        numbers.extend(GIVEN_UP);
        numbers.extend(machine(&kernel, data)?);
        return Ok(numbers);
    }
    let learner = || Perceptron::new(data.columns());
    numbers.extend(game(focused(data)?, learner(), data, seed)?);
    numbers.extend(majority(data, seed)?);
    numbers.extend(game(uniform(data)?, learner(), data, seed)?);
    let search = StumpSearch::new(data.design());
    let stump = |weights: &[f64]| Ok(search.best(data.labels(), weights)?.0);
    numbers.extend(boosted(data, m as f64, stump)?);
    let weak = |weights: &[f64]| {
        resampled(learner(), data.design(), data.labels(), weights, m, &mut random)
    };
    // A round is a pass of the learner and one for the weights.
    numbers.extend(boosted(data, 2.0 * m as f64, weak)?);
    let rounds = MOST_SUBLINEAR_PASSES * m as u64;
    let sublinear =
        SublinearPerceptron::new(data.design(), data.labels(), rounds, random.random())?;
    let sublinear = std::cell::RefCell::new(sublinear);
    numbers.extend(effort(
        data,
        1.0,
        MOST_SUBLINEAR_PASSES,
        || Ok(sublinear.borrow_mut().play().map(drop)?),
        || error(&sublinear.borrow().classifier(), data) == 0.0,
    )?);
    numbers.extend(machine(&Linear, data)?);
    Ok(numbers)
}

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Folder with mushrooms.svm.gz, banknote.csv.gz and chess_krvskp.csv.gz; without it the simulated
    /// data are alone
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

/// Returns a data set by its name.
fn load(name: &str, folder: &Path) -> Result<Dataset, Failure> {
    match name {
        "mushrooms" => read(folder, "mushrooms.svm.gz", None),
        "banknote-cubic" => cubic(&read(folder, "banknote.csv.gz", None)?),
        SIMULATED => simulated(),
        _ => {
            let chess = read(folder, "chess_krvskp.csv.gz", None)?;
            let standardizer = Standardizer::fit(chess.design(), None);
            let design = standardizer.center_and_scale(chess.design())?;
            Ok(chess.with_design(design)?)
        }
    }
}

pub(crate) fn run(
    Arguments { settings, data_dir }: &Arguments,
    folder: &Path,
) -> Result<Document, Failure> {
    let sets: Vec<(&str, Dataset)> = match data_dir {
        Some(data_dir) => {
            let set = |name: &'static str| Ok((name, load(name, data_dir)?));
            DATA.into_iter().map(set).collect::<Result<_, Failure>>()?
        }
        None => vec![(SIMULATED, simulated()?)],
    };
    let rows: Vec<String> = sets.iter().map(|(name, _)| (*name).to_owned()).collect();
    let results = settings.run(
        folder,
        "fol-separable",
        &format!("2 passes={MOST_PASSES} sublinear={MOST_SUBLINEAR_PASSES} lambda={LAMBDA}"),
        &rows,
        |row, seed| {
            let set = sets.iter().find(|(name, _)| *name == row);
            let (_, data) = set.ok_or("an unknown data set")?;
            trial(row, data, seed)
        },
    )?;
    let document = Document::new(
        "fol-separable",
        "Passes until every sample is right",
        finding(&sets, &results),
    )
    .text(about(settings));
    Ok(document.table(table(&sets, &results)).figure(figure(&sets, &results)))
}

fn about(settings: &Settings) -> String {
    format!(
        "The table has, under each method, the passes over the data (samples looked at, divided by m), and \
         beside them the seconds until a classifier is right on every sample. They are medians over {} trials; a trial is \
         looked at after every quarter of a pass and given up (-) after {MOST_PASSES} passes. For \
         *FOL, perceptron* and SGD the classifier is the present one of the learner, which only the \
         Rust type `Game` returns (`Game::learner`). *FOL, majority* is the ensemble that the command \
         and Python return, with their default rounds and outputs, until it is known to be right \
         (`Stop::Consistent`). A round of the sublinear \
         perceptron looks at one sample and at one feature of all samples; its passes count the \
         samples only, and it is stopped after {MOST_SUBLINEAR_PASSES}. For the SVM (`lambda \
         = {LAMBDA}`, gap 1e-3) a pass is as many kernel values as the matrix has, and data of \
         more than {MOST_MACHINE_ROWS} rows are left out; the chess data have a Gaussian kernel \
         with sigma = 1/7, for which only FOL and SGD by their present classifiers and the SVM take part.",
        settings.trials
    )
}

/// Returns in words how FOL compares with SGD, in medians of the passes.
fn finding(sets: &[(&str, Dataset)], results: &[Vec<Numbers>]) -> String {
    let of_set = |((name, _), trials): (&(&str, Dataset), &Vec<Numbers>)| {
        let [fol, majority, sgd] = [0, 2, 4].map(|at| of(trials, at));
        let ensemble = match majority.is_finite() {
            true => format!(" (its majority {majority:.2})"),
            false => String::new(),
        };
        format!("{name} {fol:.2}{ensemble} and {sgd:.2}")
    };
    let each: Vec<String> = sets.iter().zip(results).map(of_set).collect();
    format!(
        "Passes until the present classifier is right on every sample, of FOL and of SGD: {}.",
        each.join(", ")
    )
}

fn table(sets: &[(&str, Dataset)], results: &[Vec<Numbers>]) -> Table {
    let of_method = METHODS.iter().flat_map(|name| [(*name).to_owned(), "s".to_owned()]);
    let mut table = Table::new(["data", "m x p"].map(str::to_owned).into_iter().chain(of_method));
    for ((name, data), trials) in sets.iter().zip(results) {
        let size = format!("{} x {}", data.rows(), data.columns());
        let cell = |at: usize| match (of(trials, at), at % 2) {
            (value, _) if !value.is_finite() => "-".to_owned(),
            (value, 0) => format!("{value:.2}"),
            (value, _) => format!("{value:.3}"),
        };
        let first = [(*name).to_owned(), size].into_iter();
        table.push(first.chain((0..2 * METHODS.len()).map(cell)));
    }
    table
}

/// Returns the median of a number over trials.
fn of(trials: &[Numbers], at: usize) -> f64 {
    median(trials.iter().map(|trial| trial.0[at]))
}

/// Returns the picture of the passes of the methods except the SVM, which is the last.
fn figure(sets: &[(&str, Dataset)], results: &[Vec<Numbers>]) -> Figure {
    let series = METHODS.iter().enumerate().take(METHODS.len() - 1).map(|(k, name)| {
        let point = |((name, _), trials): (&(&str, Dataset), &Vec<Numbers>)| {
            let place = DATA.iter().position(|other| other == name)?;
            Some((place as f64, of(trials, 2 * k), 0.0))
        };
        let points = sets.iter().zip(results).filter_map(point);
        with_bars(*name, points.filter(|(_, passes, _)| passes.is_finite()), Style::Beside)
    });
    let passes = panel(
        "passes",
        "Passes until all samples are right, medians",
        [categories("data set", &DATA), Axis::log("passes over the data")],
        series.collect(),
    );
    Figure::new("fol-separable", vec![passes])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expansion_has_all_monomials_up_to_degree_three() {
        let rows = [vec![1.0, 4.0], vec![2.0, 1.0], vec![3.0, 1.0]];
        let data = dataset(&rows, vec![1.0, -1.0, 1.0]).expect("samples");
        let expanded = cubic(&data).expect("finite values");
        // x, y; xx, xy, yy; xxx, xxy, xyy, yyy.
        assert_eq!(expanded.columns(), 9);
        let mut row = Vec::new();
        expanded.design().sample(0).for_each(|_, value| row.push(value));
        let (x, y) = (row[0], row[1]);
        let expected = [x, x * x, x * x * x, x * x * y, x * y, x * y * y, y, y * y, y * y * y];
        row.sort_by(f64::total_cmp);
        let mut expected = expected.to_vec();
        expected.sort_by(f64::total_cmp);
        assert!(row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn effort_counts_passes_until_it_is_right_or_given_up() {
        let data = simulated().expect("samples");
        let steps = std::cell::Cell::new(0u64);
        let step = || {
            steps.set(steps.get() + 1);
            Ok(())
        };
        // 2000 samples, looked at after every 500 steps.
        let [passes, seconds] = effort(&data, 1.0, 3, step, || steps.get() > 1200).expect("effort");
        assert_eq!(passes, 0.75);
        assert!(seconds >= 0.0);
        let given_up = effort(&data, 1.0, 3, || Ok(()), || false).expect("effort");
        assert_eq!(given_up, GIVEN_UP);
    }

    #[test]
    fn the_perceptron_gets_simulated_data_right() {
        let data = simulated().expect("samples");
        let learner = Perceptron::new(data.columns());
        let [passes, _] =
            game(focused(&data).expect("samples"), learner, &data, 1).expect("a game");
        assert!(passes < MOST_PASSES as f64);
    }
}

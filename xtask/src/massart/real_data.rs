//! Learners on data sets whose labels adversaries flip.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::data::generate::{Adversary, MassartDistribution};
use margins::data::{Dataset, read, split};
use margins::losses::{LeakyRelu, Logistic};
use margins::massart::baselines::surrogate;
use margins::massart::cutting_planes::Method;
use margins::massart::{SphereSample, Target, learn_adaptively};
use margins::optim::method::Limits;
use margins::optim::{Lambda, Training};
use margins_experiments::figure::{Axis, Style, categories, panel, with_bars};
use margins_experiments::{Document, Figure, Mean, Numbers, Table};

use margins_report::page::chart::Chart;

use crate::{Failure, trials};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder with mushrooms.svm.gz, chess_krvskp.csv.gz, mnist5_train.svm.gz; what is not there is
    /// left out
    #[arg(long)]
    data_dir: PathBuf,
    /// The most rows of a data set, drawn at random
    #[arg(long, default_value_t = 5000)]
    rows: usize,
    /// Seeds of noise and splits
    #[arg(long, default_value_t = 3)]
    trials: usize,
    /// Threads, 0 for one a core; the results do not depend on them
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// The files of the data sets, and what they are called.
const SETS: [(&str, &str); 3] = [
    ("mushrooms.svm.gz", "mushrooms"),
    ("chess_krvskp.csv.gz", "chess"),
    ("mnist5_train.svm.gz", "fives of MNIST"),
];
const ETA: f64 = 0.3;

const ADVERSARIES: [(&str, Adversary); 3] =
    [("far", Adversary::FarAway), ("near", Adversary::NearBoundary), ("greedy", Adversary::Greedy)];

/// The first columns of the table: errors.
const NAMES: [&str; 4] = ["opt", "adaptive", "logistic", "LeakyReLU"];

/// A data set that is there.
struct Set {
    file: &'static str,
    title: &'static str,
    data: Dataset,
    /// The halfspace that the adversaries attack.
    normal: Vec<f64>,
}

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let mut sets = Vec::new();
    for (file, title) in SETS {
        let path = arguments.data_dir.join(file);
        if path.exists() {
            let data = read::dataset(&path, &read::ReadOptions::default())?;
            let size = arguments.rows.min(data.rows());
            let data = data.select(&split::balanced_subsample(data.labels(), size, 1)?);
            let normal = logistic(&data)?;
            sets.push(Set { file, title, data, normal });
        }
    }
    if sets.is_empty() {
        let folder = arguments.data_dir.display();
        let files = SETS.map(|(file, _)| file).join(", ");
        return Err(format!("{folder}: none of {files} is there").into());
    }
    let settings: Vec<(&Set, &str)> = sets
        .iter()
        .flat_map(|set| ADVERSARIES.iter().map(move |(adversary, _)| (set, *adversary)))
        .collect();
    let rows: Vec<String> =
        settings.iter().map(|(set, adversary)| format!("{}/{adversary}", set.file)).collect();
    let keys: Vec<trials::Key> =
        rows.iter().flat_map(|row| (0..arguments.trials).map(|k| (row.clone(), k))).collect();
    let path = folder.join("massart-real-data.journal");
    let about = format!("massart-real-data 2, at most {} rows", arguments.rows);
    let found = trials::run(&path, &about, &keys, arguments.threads, |(row, k)| {
        let (file, name) = row.split_once('/').ok_or("not a setting")?;
        let set = sets.iter().find(|set| set.file == file).ok_or("no such data")?;
        let adversary = ADVERSARIES.iter().find(|(other, _)| *other == name);
        let (_, adversary) = adversary.ok_or("no such adversary")?;
        trial(&set.data, &set.normal, adversary, *k as u64).map(|errors| Numbers(errors.to_vec()))
    })?;
    let about = format!(
        "The table has errors against the noisy labels, exact in the noise, on a third of the rows \
         that no learner has seen, for eta = {ETA}; they are means of {} trials (standard error). \
         The halfspace that the adversaries attack is a logistic fit to the clean labels. The greedy \
         adversary attacks the average of y x, and keeps the noise with which that errs most: it flips \
         no label where the average errs most without noise.",
        arguments.trials
    );
    let of_rows = found.chunks_exact(arguments.trials.max(1));
    let finding = finding(&settings, of_rows.clone());
    let (table, panels) = findings(&sets, of_rows)?;
    let document = Document::new("massart-real-data", "Flipped labels of data sets", finding)
        .text(about)
        .table(table);
    Ok(document.figure(Figure::new("massart-real-data", panels)))
}

/// Returns in words how the adaptive learner compares with the others, row after row, and where an
/// adversary drew no noise.
fn finding<'t>(settings: &[(&Set, &str)], of_rows: impl Iterator<Item = &'t [Numbers]>) -> String {
    let (mut below, mut without_noise) = ([0; 2], Vec::new());
    for ((set, adversary), trials) in settings.iter().zip(of_rows) {
        let column = |at: usize| Mean::of(trials.iter().map(|t| t.0[at])).mean;
        for (below, other) in below.iter_mut().zip([2, 3]) {
            *below += usize::from(column(1) < column(other));
        }
        // opt is the mean rate of the noise.
        without_noise.extend((column(0) == 0.0).then(|| format!("*{adversary}* on {}", set.title)));
    }
    let exceptions = match without_noise[..] {
        [] => "Every adversary draws noise on every data set.".to_owned(),
        _ => format!("No label is flipped by {}.", without_noise.join(", nor by ")),
    };
    format!(
        "The adaptive learner errs less than the logistic fit in {} of {} rows, and less than the \
         minimiser of the LeakyReLU loss in {}. {exceptions}",
        below[0],
        settings.len(),
        below[1]
    )
}

/// Returns the table and the pictures of what the trials have found, row after row.
fn findings<'t>(
    sets: &[Set],
    mut of_rows: impl Iterator<Item = &'t [Numbers]>,
) -> Result<(Table, Vec<Chart>), Failure> {
    let mut table =
        Table::new(["data", "rows", "adversary"].into_iter().chain(NAMES).chain(["its gap"]));
    let mut panels = Vec::new();
    for Set { title, data, .. } in sets {
        let mut points = vec![Vec::new(); NAMES.len()];
        for (place, (name, _)) in ADVERSARIES.iter().enumerate() {
            let trials = of_rows.next().ok_or("no trials")?;
            let mut cells = vec![(*title).to_owned(), data.rows().to_string(), (*name).to_owned()];
            for at in 0..5 {
                let Mean { mean, standard_error } = Mean::of(trials.iter().map(|t| t.0[at]));
                cells.push(format!("{mean:.3} ({standard_error:.3})"));
                if let Some(points) = points.get_mut(at) {
                    points.push((place as f64, mean, standard_error));
                }
            }
            table.push(cells);
        }
        panels.push(of_set(title, points));
    }
    Ok((table, panels))
}

/// Returns the picture of the errors on a data set, given by their points.
fn of_set(title: &str, points: Vec<Vec<(f64, f64, f64)>>) -> Chart {
    let pairs = NAMES.iter().zip(points);
    let series = pairs.map(|(name, points)| with_bars(*name, points, Style::Beside));
    let axes = [categories("adversary", &["far", "near", "greedy"]), Axis::new("error, share")];
    panel(title, format!("Errors against noisy labels, {title}"), axes, series.collect())
}

/// Returns the coefficients of a logistic fit without intercept.
fn logistic(data: &Dataset) -> Result<Vec<f64>, Failure> {
    let training = Training { intercept: false, ..Training::new(&Logistic) };
    let fits = training.path(data, &[Lambda::new(1e-4)?])?;
    Ok(fits.into_iter().next().ok_or("no fit")?.coef)
}

/// Returns opt, the errors of the learners, and how far the LeakyReLU risk may be from its least
/// value.
fn trial(
    data: &Dataset,
    normal: &[f64],
    adversary: &Adversary,
    seed: u64,
) -> Result<[f64; 5], Failure> {
    let clean = data.labels().signs();
    let rates = adversary.rates(data.design(), clean, normal, ETA)?;
    let noisy =
        MassartDistribution::new(data.design().clone(), None, clean.to_vec(), rates.clone())?;
    let (train, test) = split::hold_out(data.labels(), 1.0 / 3.0, seed)?;
    let part =
        |values: &[f64], rows: &[usize]| rows.iter().map(|&row| values[row]).collect::<Vec<_>>();
    let unseen = MassartDistribution::new(
        data.design().select(&test),
        None,
        part(clean, &test),
        part(&rates, &test),
    )?;
    let signs = noisy.flip(seed);
    let flipped = Dataset::new(
        data.design().select(&train),
        margins::data::Labels::from_signs(part(&signs, &train))?,
    )?;
    let sample = SphereSample::of(&flipped)?;
    let adaptive = learn_adaptively(Target::new(0.1, 0.05)?, &sample, seed, &Limits::default())?;
    let convex = surrogate::minimize(
        Method::AnalyticCentre,
        &LeakyRelu::new(ETA)?,
        1.0,
        &sample,
        1e-3,
        150,
        &Limits::default(),
    );
    Ok([
        unseen.opt(),
        unseen.linear_error(&adaptive.learned.classifier.coef)?,
        unseen.linear_error(&logistic(&flipped)?)?,
        unseen.linear_error(&convex.point)?,
        convex.gap,
    ])
}

//! Table 2: data sets of the UCI repository.
//!
//! Per trial two thirds of the rows, at random, are for training and the others for testing, as in
//! the source. Whether it scales features is not said. Here they are centred and scaled by the
//! means and standard deviations of the training rows, for both classifiers, as kernlab does for
//! the SVM.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::data::split::hold_out_plain;
use margins::data::{Dataset, Standardizer};
use margins_experiments::Document;
use rand_chacha::ChaCha8Rng;

use super::comparison::{Row, Settings, draw_seed};
use super::data_sets::{DATA_SETS, PUBLISHED_MACHINE, Published};
use super::stopping_rules;
use super::tuning::{FOLDS, Samples, Space, protocol};
use crate::Failure;

const TEST_SHARE: f64 = 1.0 / 3.0;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Trials of Banknote and Chess with the Gaussian kernel, which take long; 0 leaves them out
    #[arg(long, default_value_t = 100, value_parser = none_or_several)]
    slow_trials: u32,
    /// Trials of the published rule on Chess with the Gaussian kernel, each of which takes six minutes;
    /// 0 leaves the rule out
    #[arg(long, default_value_t = 10, value_parser = none_or_several)]
    slowest_trials: u32,
    /// Folder with the data sets as NAME.csv.gz
    #[arg(long)]
    data_dir: PathBuf,
}

/// The rows of which a trial takes long.
const SLOW: [&str; 2] = ["banknote-gaussian", SLOWEST];
/// The row of which a trial of the published rule takes longest: it has the rule in its first trials.
const SLOWEST: &str = "chess_krvskp-gaussian";

/// Reads a number of trials that has a standard error, or none.
fn none_or_several(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(1) => Err("one trial has no standard error; give 0 or at least 2".to_owned()),
        Ok(trials) => Ok(trials),
        Err(_) => Err("not a number of trials".to_owned()),
    }
}

/// Computes the table for the data sets that are there.
pub(crate) fn run(
    Arguments { settings, slow_trials, slowest_trials, data_dir }: &Arguments,
    folder: &Path,
) -> Result<Document, Failure> {
    let read: Vec<Option<Dataset>> =
        DATA_SETS.iter().map(|set| set.read(data_dir)).collect::<Result<_, _>>()?;
    let found = |at: usize| read[at].as_ref();
    let trials_of = |row: &Row| match SLOW.contains(&row.key().as_str()) {
        true => (*slow_trials as usize).min(settings.trials()),
        false => settings.trials(),
    };
    let with_rule =
        |row: &Row, number: usize| row.key() != SLOWEST || number < *slowest_trials as usize;
    let rows: Vec<Row> = (0..DATA_SETS.len())
        .filter(|&at| found(at).is_some())
        .flat_map(rows_of)
        .filter(|row| settings.takes(&row.key()) && trials_of(row) > 0)
        .collect();
    let missing = (0..DATA_SETS.len()).filter(|&at| found(at).is_none());
    let missing: Vec<&str> = missing.map(|at| DATA_SETS[at].title).collect();
    let arguments = format!(
        "lhs-table2 choices=5 seed={} data={:016x} {}",
        settings.seed,
        fingerprint(read.iter().flatten()),
        protocol()
    );
    let draw_row = |row: &Row, random: &mut ChaCha8Rng| {
        let data = found(row.stream as usize).ok_or("a row without data")?;
        draw(data, random)
    };
    let document = stopping_rules::run(
        "lhs-table2",
        &arguments,
        &rows,
        (&trials_of, &with_rule),
        settings,
        folder,
        draw_row,
    )?;
    Ok(introduction(settings, *slowest_trials, &missing).into_iter().fold(document, Document::text))
}

fn rows_of(at: usize) -> impl Iterator<Item = Row> {
    let set = &DATA_SETS[at];
    let Published { title, file, n, p, .. } = set;
    Space::BOTH.into_iter().map(move |space| Row {
        samples: (*file).to_owned(),
        title: format!("{title}, {n} x {p}"),
        stream: at as u32,
        space,
        published: set.published(space),
    })
}

/// Draws a random split, standardised. A split that leaves the training rows fewer samples of a
/// class than there are folds is drawn again.
fn draw(data: &Dataset, random: &mut ChaCha8Rng) -> Result<Samples, Failure> {
    const MOST_DRAWS: usize = 1000;
    for _ in 0..MOST_DRAWS {
        let (train, test) = hold_out_plain(data.rows(), TEST_SHARE, draw_seed(random))?;
        let train = data.select(&train);
        let positive = train.labels().count_positive();
        if positive.min(train.rows() - positive) >= FOLDS {
            let (train, test) = standardized(train, data.select(&test))?;
            return Ok(Samples { train, test, seed: draw_seed(random) });
        }
    }
    Err(format!("{MOST_DRAWS} random splits, and none has {FOLDS} samples a class to train on")
        .into())
}

pub(crate) fn standardized(train: Dataset, test: Dataset) -> Result<(Dataset, Dataset), Failure> {
    let standardizer = Standardizer::fit(train.design(), None);
    let scale = |data: Dataset| {
        let design = standardizer.center_and_scale(data.design())?;
        data.with_design(design)
    };
    Ok((scale(train)?, scale(test)?))
}

/// Returns the FNV-1a hash of all numbers.
pub(crate) fn fingerprint<'a>(sets: impl Iterator<Item = &'a Dataset>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut take = |number: f64| {
        for byte in number.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for data in sets {
        data.design().samples().for_each(|sample| sample.for_each(|_, value| take(value)));
        data.labels().signs().iter().for_each(|&sign| take(sign));
    }
    hash
}

fn introduction(settings: &Settings, slowest_trials: u32, missing: &[&str]) -> Vec<String> {
    let mut paragraphs = vec![format!(
        "The rows are the data sets of Kwon and Zou (2023), table 2, with the number of trials in the \
         table and seed {}. Each trial trains on two thirds of the rows, drawn without regard to \
         classes (drawn again if a class has fewer than {FOLDS} of them), and tests on the others. \
         Features are centred and scaled by the training rows; the source does not say what it did. \
         Its standard errors, except for Bupa, are close to binomial ones over all test samples.\n\n\
         Errors are in percent, with their standard error over the trials. *Certified* fits have a \
         relative duality gap of at most 1e-6. *Rule* is the stopping rule of the authors' program \
         (`--stop published`): a lambda ends when the sum of the squared changes of intercept and \
         coefficients in a step is below 1e-5, and the path after 10,000 iterations at all lambdas \
         together. Lambda has the \
         lowest {FOLDS}-fold cross-validated error among 100 from 1 to 1e-7, with the same folds for \
         all classifiers. Of several such lambdas *largest* takes the largest, *smallest* the \
         smallest, and *log-loss* the one with the lowest cross-validated log-loss, as `margins cv` \
         does; the SVM, which has no probabilities, takes the largest.\n\n\
         *Differs by* is ours minus published in standard errors of the difference; columns with a \
         minus are paired differences with their standard errors. *Best in hindsight* is the lambda \
         with the lowest mean error on the test rows. *Not certified* counts the lambdas at which a \
         fit of a fold is not, over all trials. Seconds are for {FOLDS} folds and the path on all \
         training rows, beside other work on the machine. *Seconds in the paper* are means of three \
         runs, tuning included, of the authors' R package and of kernlab on {PUBLISHED_MACHINE}; they \
         compare the two classifiers of the paper, not ours with them. The Gaussian kernel has the \
         automatic sigma of kernlab, computed from the training samples; the source does not say \
         which it had. The rule has {slowest_trials} trials on Chess with the Gaussian kernel, where \
         one takes about six minutes.",
        settings.seed
    )];
    if !missing.is_empty() {
        paragraphs.push(format!("These data sets were not available: {}.", missing.join(", ")));
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::{Arguments, run};
    use crate::leaky_hockey_stick::comparison::Settings;

    #[test]
    fn data_sets_are_read_and_missing_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let mut text: String = (1..7).map(|column| format!("x{column},")).collect();
        text += "label\n";
        for row in 0..345 {
            let cells: String =
                (1..7).map(|k| format!("{:.3},", f64::from(row * k).sin())).collect();
            text += &format!("{cells}{}\n", if row % 3 == 0 { 1 } else { -1 });
        }
        let write = |text: &str| std::fs::write(path.join("bupa.csv"), text).expect("a file");
        write(&text);
        let only = vec!["bupa-linear".to_owned()];
        let settings = Settings { trials: 2, threads: 1, seed: 1, only };
        let arguments =
            Arguments { settings, slow_trials: 2, slowest_trials: 2, data_dir: path.to_owned() };
        let table = run(&arguments, path).expect("a run").markdown("command");
        let table = table.replace('\n', " ");
        assert!(table.contains("not available: Arrhythmia, Australian, Banknote, Biodeg, Chess,"));
        assert!(table.contains("| Bupa, 345 x 6 | linear |"), "{table}");
        assert!(table.contains("| 0.06 | 18.35 |"), "the published seconds: {table}");

        // Other data of the same shape, and data of another.
        write(&text.replace("0.841", "0.842"));
        let other = run(&arguments, path).err().expect("a refusal").to_string();
        assert!(other.contains("the trials are those of"), "{other}");
        write(&text[..text.trim_end().rfind('\n').expect("lines") + 1]);
        let shape = run(&arguments, path).err().expect("a refusal").to_string();
        assert!(shape.ends_with("bupa.csv: 344 x 6, not 345 x 6 as published"), "{shape}");
    }
}

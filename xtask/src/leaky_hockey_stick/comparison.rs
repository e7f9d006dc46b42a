//! The leaky hockey stick classifier against the support vector machine, over many trials, as CSV
//! and Markdown beside what was published.

use std::path::Path;

use clap::Args;
use margins_experiments::figure::{Axis, Style, panel, with_bars};
use margins_experiments::trials::{self, Key};
use margins_experiments::{Cell, Document, Figure, Mean, Table, below_and_above};
use margins_report::page::chart::Chart;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::tuning::{FOLDS, MACHINE_STEPS, Samples, Space, Tested, Trial, compare};
use crate::Failure;

/// The options of a comparison.
#[derive(Args, Clone)]
pub(crate) struct Settings {
    /// Trials a row
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) trials: u32,
    /// Threads, 0 for one a core; the results do not depend on them
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only rows whose key starts with one of these, with commas between them
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

impl Settings {
    pub(crate) fn trials(&self) -> usize {
        self.trials as usize
    }

    pub(crate) fn takes(&self, key: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| key.starts_with(only.as_str()))
    }
}

/// Returns the difference of a mean to a published one in standard errors of the difference. An error
/// that is printed as 0.00 counts as 0.005, the most that it can be.
pub(super) fn distance(ours: Mean, published: Mean) -> f64 {
    const LEAST: f64 = 0.005;
    let standard_error = ours.standard_error.hypot(published.standard_error.max(LEAST));
    (ours.mean - published.mean) / standard_error
}

/// A row: samples to draw, and a space of functions.
pub(crate) struct Row {
    /// The key of the samples; that of the row has the space at its end.
    pub(crate) samples: String,
    /// The samples in words for the reader.
    pub(crate) title: String,
    /// The random stream that the samples come from: one for both spaces, so that they see the
    /// same.
    pub(crate) stream: u32,
    pub(crate) space: Space,
    /// The published errors of the leaky hockey stick classifier and the support vector machine.
    pub(crate) published: [Mean; 2],
}

impl Row {
    pub(crate) fn key(&self) -> String {
        format!("{}-{}", self.samples, self.space.name().to_lowercase())
    }
}

/// Returns the published numbers of a row, LHS before SVM, means before standard errors.
pub(crate) const fn published(numbers: [f64; 4]) -> [Mean; 2] {
    [
        Mean { mean: numbers[0], standard_error: numbers[1] },
        Mean { mean: numbers[2], standard_error: numbers[3] },
    ]
}

/// A table to be computed.
pub(crate) struct Comparison<'a> {
    /// Name of the experiment and its files.
    pub(crate) name: &'static str,
    /// All that the trials depend on, for the journal.
    pub(crate) arguments: String,
    pub(crate) rows: &'a [Row],
    /// The paragraphs above the table.
    pub(crate) introduction: Vec<String>,
}

impl Comparison<'_> {
    /// Runs the trials, of which `draw` makes the samples, with a journal in the folder, and returns
    /// the table.
    pub(crate) fn run(
        &self,
        settings: &Settings,
        folder: &Path,
        draw: impl Fn(&Row, &mut ChaCha8Rng) -> Result<Samples, Failure> + Sync,
    ) -> Result<Document, Failure> {
        if self.rows.is_empty() {
            return Err(format!("{}: no row begins with {:?}", self.name, settings.only).into());
        }
        let journal = folder.join(format!("{}.journal", self.name));
        let count = settings.trials();
        let keys: Vec<Key> = (self.rows.iter())
            .flat_map(|row| (0..count).map(move |number| (row.key(), number)))
            .collect();
        let trial = |(key, number): &Key| {
            let row = self.rows.iter().find(|row| row.key() == *key).ok_or("a row of no table")?;
            let mut random = stream(settings.seed, row.stream, *number);
            compare(&draw(row, &mut random)?, row.space)
        };
        let results = trials::run(&journal, &self.arguments, &keys, settings.threads, trial)?;
        let results: Vec<&[Trial]> = results.chunks_exact(count).collect();
        let title = "Table 1: errors on simulated examples";
        let document = Document::new(self.name, title, self.finding(&results))
            .csv(self.name, self.csv(&results))
            .figure(self.figure(&results));
        let paragraphs = self.introduction.iter().cloned().chain(legend());
        Ok(paragraphs.fold(document, Document::text).table(self.table(&results)))
    }

    /// Returns how close the published errors come out, and how the classifiers compare.
    fn finding(&self, results: &[&[Trial]]) -> String {
        const FAR: f64 = 3.0;
        let all = self.rows.len();
        let pairs = || self.rows.iter().zip(results);
        let far = |k: usize| {
            let distance = |row: &Row, trials| distance(mean_of(trials, k), row.published[k]);
            pairs().filter(|(row, trials)| distance(row, trials).abs() > FAR).count()
        };
        let [less, more] = below_and_above(pairs().map(|(_, trials)| difference(trials)));
        let lower = pairs().filter(|(_, trials)| difference(trials).mean < 0.0).count();
        let published =
            self.rows.iter().filter(|row| row.published[0].mean < row.published[1].mean);
        format!(
            "The leaky hockey stick classifier has a lower mean error than the support vector machine in \
             {lower} of {all} rows, as published in {}; by more than two paired standard errors it errs less \
             in {less} and more in {more}. More than {FAR} standard errors from the published errors are {} \
             entries of the leaky hockey stick and {} of the machine.",
            published.count(),
            far(0),
            far(1)
        )
    }

    /// Returns the picture: the errors along the number of samples, published and ours.
    fn figure(&self, results: &[&[Trial]]) -> Figure {
        let name = |row: &Row| row.title.split(", n = ").next().unwrap_or_default().to_owned();
        let mut panels: Vec<Chart> = Vec::new();
        for row in self.rows {
            let title = format!("{} space, {}", row.space.title(), name(row));
            if panels.iter().any(|panel| panel.title == title) {
                continue;
            }
            let same = || {
                let pairs = self.rows.iter().zip(results);
                pairs.filter(|(other, _)| other.space == row.space && name(other) == name(row))
            };
            let samples = |row: &Row| {
                row.title.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0)
            };
            let along = |words: &str, of: &dyn Fn(&Row, &[Trial]) -> Mean| {
                let points = same().map(|(row, trials)| (samples(row), of(row, trials)));
                let points = points.map(|(n, error)| (n, error.mean, error.standard_error));
                with_bars(words, points, Style::Bars)
            };
            let series = vec![
                along("LHS", &|_, trials| mean_of(trials, 0)),
                along("LHS, published", &|row, _| row.published[0]),
                along("SVM", &|_, trials| mean_of(trials, 1)),
                along("SVM, published", &|row, _| row.published[1]),
            ];
            let axes = [Axis::log("samples to train on"), Axis::new("test error, %")];
            panels.push(panel(&row.key(), title, axes, series));
        }
        Figure::new("lhs-table1-errors", panels)
    }

    fn csv(&self, results: &[&[Trial]]) -> String {
        let mut text = String::from(
            "row,classifier,trials,mean,standard_error,published_mean,published_standard_error,\
             difference_in_standard_errors,uncertified_lambdas,uncertified_classifiers\n",
        );
        for (row, trials) in self.rows.iter().zip(results) {
            for (k, classifier) in ["lhs", "svm"].into_iter().enumerate() {
                let (ours, theirs) = (mean_of(trials, k), row.published[k]);
                let [lambdas, classifiers] = uncertified(trials, k);
                text += &format!(
                    "{},{classifier},{},{},{},{},{},{},{lambdas},{classifiers}\n",
                    row.key(),
                    trials.len(),
                    ours.mean,
                    ours.standard_error,
                    theirs.mean,
                    theirs.standard_error,
                    distance(ours, theirs),
                );
            }
        }
        text
    }

    fn table(&self, results: &[&[Trial]]) -> Table {
        let mut table = Table::new([
            "samples",
            "space",
            "LHS",
            "published",
            "differs by",
            "SVM",
            "published",
            "differs by",
            "LHS - SVM",
            "published",
            "not certified: LHS",
            "SVM",
        ]);
        for (row, trials) in self.rows.iter().zip(results) {
            let mut cells: Vec<Cell> = vec![(&row.title).into(), row.space.name().into()];
            for (k, theirs) in row.published.into_iter().enumerate() {
                let ours = mean_of(trials, k);
                let difference = Cell::difference(distance(ours, theirs));
                cells.extend([ours.into(), theirs.into(), difference]);
            }
            let [lhs, svm] = row.published;
            let Mean { mean, standard_error } = difference(trials);
            cells.push(format!("{mean:+.2} ({standard_error:.2})").into());
            cells.push(format!("{:+.2}", lhs.mean - svm.mean).into());
            cells.extend((0..2).map(|k| {
                let [lambdas, classifiers] = uncertified(trials, k);
                Cell::from(format!("{lambdas} / {classifiers}"))
            }));
            table.push(cells);
        }
        table
    }
}

/// Returns the paragraphs that hold for every table.
fn legend() -> [String; 2] {
    [
        format!(
            "Errors are in percent, with their standard error over the trials. *Differs by* is ours \
             minus published in standard errors of the difference. The last but one pair of columns \
             is the difference of the two classifiers on the same samples, whose standard error is \
             paired. *Not certified* counts, over all trials, lambdas at which a fit of the \
             cross-validation did not reach its tolerance / tested classifiers that did not; of the \
             SVM, that is for its limit of {MACHINE_STEPS} steps a fit."
        ),
        format!(
            "Lambda is the one with the lowest {FOLDS}-fold cross-validated error (of several the \
             largest) among 100 from 1 to 1e-7, the grid of the authors' package, for both \
             classifiers and with the same folds. The Gaussian kernel has the automatic sigma of \
             kernlab, computed from the training samples; the source does not say which it had."
        ),
    ]
}

/// Returns the paired difference of the classifiers.
fn difference(trials: &[Trial]) -> Mean {
    Mean::percent(trials.iter().map(|trial| trial.lhs.error - trial.svm.error))
}

fn mean_of(trials: &[Trial], classifier: usize) -> Mean {
    Mean::percent(trials.iter().map(|trial| trial.both()[classifier].error))
}

/// Returns lambdas and tested classifiers without certificate.
fn uncertified(trials: &[Trial], classifier: usize) -> [usize; 2] {
    let tested = || trials.iter().map(|trial: &Trial| -> &Tested { trial.both()[classifier] });
    [
        tested().map(|tested| tested.uncertified).sum(),
        tested().filter(|tested| !tested.certified).count(),
    ]
}

/// Returns the generator of one trial: one seed, and a stream of its own.
pub(crate) fn stream(seed: u64, row: u32, trial: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((u64::from(row) << 32) | trial as u64);
    random
}

/// Returns a seed for a function that takes one.
pub(crate) fn draw_seed(random: &mut ChaCha8Rng) -> u64 {
    random.next_u64()
}

//! Consistency: the excess error of Gaussian kernel classifiers without intercept, problem (13) of the
//! source, along n, with both terms of lemma 4.
//!
//! Theorem 5 asks for `lambda_n -> 0` and `1/lambda_(n+1) - 1/lambda_n -> 0`. Both hold for
//! `c n^(-1/2)`, and the second one fails for `c/n`. The distribution is known, so that the excess error
//! and both terms are means over test points of functions of the log odds and the score, without the
//! noise of labels.

mod lemma_4;
mod page;
mod schedule;

use std::path::Path;

use clap::Args;
use margins::Registry;
use margins::data::generate::GaussianMixture;
use margins::data::{Dataset, Sample};
use margins::estimators::regularised::{Preparation, Prepared};
use margins::kernels::{PlannedPaths, Route, combine_all};
use margins::losses::LeakyHockeyStick;
use margins::nalgebra::DMatrix;
use margins::optim::{Lambda, Status, Training};
use margins_experiments::trials::{self, Key};
use margins_experiments::{Document, Numbers};
use rand_chacha::ChaCha8Rng;

use super::comparison::{Settings, draw_seed, stream};
use super::table_1::{SIMULATED, mixture};
use crate::Failure;
use lemma_4::{WIDTH, terms};
use page::Shown;
use schedule::{SCHEDULES, Schedule};

const NAME: &str = "lhs-consistency";
/// The file with all numbers; that of the picture has the name of the experiment.
const TERMS: &str = "lhs-consistency-terms";
const TEST_SAMPLES: usize = 10_000;
/// The number of the examples with the published Bayes error, the first ones.
const EXAMPLES: usize = 3;
/// Sizes of the training samples.
const SIZES: [usize; 9] = [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800];
/// The size of the largest samples that have all trials.
const FAST: usize = 1600;
/// The size of the sample that sigma of the kernel is taken from.
const FOR_SIGMA: usize = 1000;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Trials of samples above 1600, which take long
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    slow_trials: u32,
    /// Most training samples
    #[arg(long, default_value_t = 12_800)]
    largest: usize,
}

impl Arguments {
    fn trials(&self, n: usize) -> usize {
        let all = self.settings.trials();
        if n > FAST { all.min(self.slow_trials as usize) } else { all }
    }
}

/// Fits a sample at the lambda of every schedule, and returns the numbers of each.
fn trial(
    mixture: &GaussianMixture,
    kernel: &str,
    n: usize,
    random: &mut ChaCha8Rng,
) -> Result<Numbers, Failure> {
    let train = mixture.sample(n, draw_seed(random))?;
    let test = mixture.sample(TEST_SAMPLES, draw_seed(random))?;
    let registry = Registry::standard();
    let lambdas = SCHEDULES.map(|schedule| schedule.lambda(n));
    let path = lambdas.iter().map(|&lambda| Lambda::new(lambda)).collect::<Result<Vec<_>, _>>()?;
    let training = Training { intercept: false, ..Training::new(&LeakyHockeyStick) };
    let route = Route::of(&LeakyHockeyStick, training.options.solver)?;
    let planned = PlannedPaths::one(route, path.len());
    let preparation = Preparation { planned, ..Preparation::default() };
    let prepared = Prepared::for_kernel(kernel, &registry.kernels, &train, preparation)?;
    let fits = prepared.path(&training, &path)?;
    let coefs = DMatrix::from_fn(fits.len(), n, |k, i| fits[k].coef[i]);
    let kernel = registry.kernels.parse(kernel)?;
    let scores = combine_all(&*kernel, test.design(), train.design(), &coefs)?;
    let log_odds = log_odds(mixture, &test);
    let mut numbers = Vec::with_capacity(SCHEDULES.len() * WIDTH);
    for lambda in lambdas {
        let at =
            fits.iter().position(|fit| fit.lambda.get() == lambda).ok_or("a lambda is gone")?;
        let scores: Vec<f64> = scores.row(at).iter().copied().collect();
        numbers.push(f64::from(fits[at].report.status == Status::Converged));
        numbers.extend(terms(&log_odds, &scores)?);
    }
    Ok(Numbers(numbers))
}

fn log_odds(mixture: &GaussianMixture, data: &Dataset) -> Vec<f64> {
    let mut x = vec![0.0; mixture.columns()];
    let mut of = |sample: Sample<'_>| {
        x.fill(0.0);
        sample.for_each(|k, value| x[k] = value);
        mixture.log_density_ratio(&x)
    };
    data.design().samples().map(&mut of).collect()
}

/// An example with its centres and kernel.
struct Setting {
    title: &'static str,
    mixture: GaussianMixture,
    /// In percent.
    bayes_error: f64,
    kernel: String,
}

impl Setting {
    fn of(at: usize, seed: u64) -> Result<Self, Failure> {
        let (mixture, bayes_error) = mixture(&SIMULATED[at], seed, at)?;
        // A stream that no trial and no centres have.
        let mut random = stream(seed, u32::MAX - 1, at);
        let sample = mixture.sample(FOR_SIGMA, draw_seed(&mut random))?;
        let mut kernel = Registry::standard().kernels.parse("gaussian")?;
        kernel.adapt_to(sample.design(), None, draw_seed(&mut random))?;
        let kernel = kernel.specification();
        Ok(Setting { title: SIMULATED[at].title, mixture, bayes_error, kernel })
    }
}

/// Samples of one size from one example.
#[derive(Clone, Copy)]
struct Row {
    example: usize,
    /// The index of the size.
    size: usize,
}

impl Row {
    fn n(self) -> usize {
        SIZES[self.size]
    }

    fn key(self) -> String {
        format!("{}-{}", SIMULATED[self.example].key, self.n())
    }
}

/// Runs the trials and returns the document.
pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let settings = &arguments.settings;
    let rows: Vec<Row> = (0..EXAMPLES)
        .flat_map(|example| (0..SIZES.len()).map(move |size| Row { example, size }))
        .filter(|row| row.n() <= arguments.largest && settings.takes(&row.key()))
        .collect();
    if rows.is_empty() {
        let only = &settings.only;
        return Err(
            format!("{NAME}: no row up to {} begins with {only:?}", arguments.largest).into()
        );
    }
    let mut examples: [Option<Setting>; EXAMPLES] = [const { None }; EXAMPLES];
    for row in &rows {
        let setting = &mut examples[row.example];
        if setting.is_none() {
            *setting = Some(Setting::of(row.example, settings.seed)?);
        }
    }
    let setting = |row: &Row| examples[row.example].as_ref().ok_or("an example without centres");
    let keys: Vec<Key> = (rows.iter())
        .flat_map(|row| (0..arguments.trials(row.n())).map(move |number| (row.key(), number)))
        .collect();
    let lambdas = SCHEDULES.map(Schedule::name).join(",");
    let protocol = format!("{NAME} seed={} test={TEST_SAMPLES} lambdas={lambdas}", settings.seed);
    let journal = folder.join(format!("{NAME}.journal"));
    let results = trials::run(&journal, &protocol, &keys, settings.threads, |(key, number)| {
        let row = rows.iter().find(|row| row.key() == *key).ok_or("a row of no table")?;
        let Setting { mixture, kernel, .. } = setting(row)?;
        let number_of_row = (row.example * SIZES.len() + row.size) as u32;
        trial(mixture, kernel, row.n(), &mut stream(settings.seed, number_of_row, *number))
    })?;
    let (mut shown, mut rest) = (Vec::new(), &results[..]);
    for row in &rows {
        let (trials, others) = rest.split_at(arguments.trials(row.n()));
        shown.push(Shown { row: *row, setting: setting(row)?, trials });
        rest = others;
    }
    let title = "Consistency: errors along the number of samples";
    let examples: Vec<&Setting> = examples.iter().flatten().collect();
    Ok(Document::new(NAME, title, page::finding(&shown))
        .figure(page::figure(&shown))
        .csv(TERMS, page::csv(&shown))
        .text(page::introduction(&examples, settings.seed))
        .table(page::errors(&shown))
        .text(page::about_bounds())
        .table(page::bounds(&shown))
        .text(
            "Theorem 5 also asks that `-log(delta) g(delta)` tends to 0 with delta, where g is the \
             share of X with hardly any label noise. It does for mixtures of normal distributions, \
             because log odds grow linearly in x, but at a very small delta:",
        )
        .table(page::shares(&examples, settings.seed)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quick run: errors fall with n, are above 0, and all fits are certified.
    #[test]
    fn a_quick_run_finds_falling_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let only = vec!["example1-".to_owned()];
        let settings = Settings { trials: 3, threads: 1, seed: 1, only };
        let arguments = Arguments { settings, slow_trials: 2, largest: 200 };
        let document = run(&arguments, folder.path()).expect("a run");
        let page = document.markdown("command");
        document.write(folder.path(), "command").expect("files");
        let numbers = std::fs::read_to_string(folder.path().join(format!("{TERMS}.csv")));
        let numbers = numbers.expect("numbers");
        let excess = |row: &str| {
            let line = numbers.lines().find(|line| line.starts_with(row)).expect("a row");
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells[3..5], ["3", "3"], "{line}");
            cells[5].parse::<f64>().expect("an error")
        };
        let [small, large] = [50, 200].map(|n| excess(&format!("example1-{n},0.01 n^(-1/2),")));
        assert!(0.0 < large && large < small, "{small} {large}");
        assert!(page.contains("| example 1 | 200 | 0.01/n | 5.0e-5 | 100.00 | 300.00 |"), "{page}");
        let nothing = Arguments { largest: 40, ..arguments };
        let refusal = run(&nothing, folder.path()).err().expect("a refusal").to_string();
        assert!(refusal.contains("no row up to 40"), "{refusal}");
    }
}

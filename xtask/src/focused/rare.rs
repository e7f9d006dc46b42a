//! Typical and rare samples (section 3.2 of the paper): the error on each part against the number
//! of rare samples to learn from.

use std::path::Path;

use margins::boost::Ensemble;
use margins::data::Dataset;
use margins::data::generate::RareSamples;
use margins::losses::Logistic;
use margins::optim::online::{LinearClassifier, Perceptron};
use margins::optim::{Lambda, Objective, Options, fit};
use margins_experiments::figure::{Axis, Style, panel, with_bars};
use margins_experiments::{Document, Figure, Mean, Numbers, Table, below_and_above};

use super::{Settings, error, focused, played, uniform};
use crate::Failure;

pub(super) const TYPICAL: usize = 2000;
const RARE: [usize; 6] = [1, 2, 5, 10, 20, 50];
const TEST: usize = 2000;
const FEATURES: usize = RareSamples::FEATURES;
/// Ten passes.
const ROUNDS: u64 = 20_000;
pub(super) const OUTPUTS: usize = 100;
const LAMBDA: f64 = 1e-4;

/// Returns typical and rare samples to test with.
pub(super) fn tests(seed: u64) -> Result<[Dataset; 2], Failure> {
    let mut samples = RareSamples::new(seed, 2);
    Ok([samples.typical_and_rare(TEST, 0)?, samples.typical_and_rare(0, TEST)?])
}

const METHODS: [&str; 5] =
    ["FOL majority", "SGD majority", "FOL average", "SGD average", "logistic regression"];

fn trial(rare: usize, seed: u64) -> Result<Vec<f64>, Failure> {
    let train = RareSamples::new(seed, 1).typical_and_rare(TYPICAL, rare)?;
    let tests = tests(seed)?;
    let learner = || Perceptron::new(FEATURES);
    let game = played(focused(&train)?, learner(), &train, (ROUNDS, OUTPUTS), seed)?;
    let sgd = played(uniform(&train)?, learner(), &train, (ROUNDS, OUTPUTS), seed)?;
    let mean = |ensemble: &Ensemble<LinearClassifier>| {
        ensemble.mean_classifier().ok_or("an ensemble without members")
    };
    let objective = Objective::of(&Logistic, &train)?;
    let fit = fit(&objective, Lambda::new(LAMBDA)?, &Options::default())?;
    let logistic = LinearClassifier { intercept: fit.intercept, coef: fit.coef };
    let mut numbers = Vec::new();
    for ensemble in [game.ensemble(), sgd.ensemble()] {
        numbers.extend(tests.iter().map(|test| error(ensemble, test)));
    }
    for classifier in [mean(game.ensemble())?, mean(sgd.ensemble())?, logistic] {
        numbers.extend(tests.iter().map(|test| error(&classifier, test)));
    }
    Ok(numbers)
}

pub(crate) fn run(settings: &Settings, folder: &Path) -> Result<Document, Failure> {
    let rows: Vec<String> = RARE.iter().map(usize::to_string).collect();
    let results = settings.run(
        folder,
        "fol-rare",
        &format!("rounds={ROUNDS} outputs={OUTPUTS} lambda={LAMBDA} decisive=0.1 noise=0.02"),
        &rows,
        |row, seed| trial(row.parse()?, seed),
    )?;
    let of_method = METHODS.iter().flat_map(|name| [format!("{name}: typical"), "rare".to_owned()]);
    let mut table = Table::new(std::iter::once("rare samples".to_owned()).chain(of_method));
    for (row, trials) in rows.iter().zip(&results) {
        let cell = |at: usize| Mean::percent(trials.iter().map(|trial| trial.0[at])).to_string();
        table.push(std::iter::once(row.clone()).chain((0..2 * METHODS.len()).map(cell)));
    }
    let about = format!(
        "There are {TYPICAL} typical samples `y (1, 0, noise)` and a few rare ones `y (-1/2, 1/10, \
         noise)` of {FEATURES} features, with noise of standard deviation 0.02. Errors are in \
         percent on {TEST} new samples of each kind, with standard errors over {} trials. FOL and \
         SGD train the perceptron for {ROUNDS} rounds, with {OUTPUTS} outputs. Logistic regression \
         minimises the average loss with lambda = {LAMBDA}, certified.",
        settings.trials
    );
    let document = Document::new("fol-rare", "Errors on rare samples", finding(&results))
        .text(about)
        .table(table);
    Ok(document.figure(figure(&results)))
}

/// Returns in words how the majorities of FOL and SGD, and logistic regression, err on rare samples.
fn finding(results: &[Vec<Numbers>]) -> String {
    let mean = |trials: &[Numbers], at: usize| Mean::percent(trials.iter().map(|t| t.0[at])).mean;
    let of_row = |(row, trials): (&usize, &Vec<Numbers>)| {
        let [fol, sgd, logistic] = [1, 3, 9].map(|at| mean(trials, at));
        format!("{fol:.0} %, {sgd:.0} % and {logistic:.0} % with {row}")
    };
    let differences =
        results.iter().map(|trials| Mean::percent(trials.iter().map(|t| t.0[1] - t.0[3])));
    let [less, more] = below_and_above(differences);
    let each: Vec<String> = RARE.iter().zip(results).map(of_row).collect();
    format!(
        "Of new rare samples the majority of FOL, the majority of SGD and logistic regression get wrong: {} \
         rare samples among {TYPICAL}. By more than two paired standard errors FOL errs less than SGD in \
         {less} of {} rows, and more in {more}.",
        each.join("; "),
        RARE.len()
    )
}

/// Returns the picture of the errors on rare samples.
fn figure(results: &[Vec<Numbers>]) -> Figure {
    let series = METHODS.iter().enumerate().map(|(k, name)| {
        let of = |(row, trials): (&usize, &Vec<Numbers>)| {
            let errors = trials.iter().map(|trial| trial.0[2 * k + 1]);
            let Mean { mean, standard_error } = Mean::percent(errors);
            (*row as f64, mean, standard_error)
        };
        with_bars(*name, RARE.iter().zip(results).map(of), Style::Bars)
    });
    let rare = panel(
        "rare",
        "Error on rare samples",
        [Axis::log("rare samples to learn from"), Axis::new("test error, %")],
        series.collect(),
    );
    Figure::new("fol-rare", vec![rare])
}

#[cfg(test)]
mod tests {
    use super::*;
    use margins::optim::online::Scorer;

    #[test]
    fn typical_and_rare_samples_need_different_features() {
        let data = RareSamples::new(1, 1).typical_and_rare(300, 200).expect("samples");
        let feature = |at: usize| {
            let mut classifier = LinearClassifier::zero(FEATURES);
            classifier.coef[at] = 1.0;
            classifier
        };
        let right = |row: usize, at: usize| {
            data.labels().signs()[row] * feature(at).score(&data.design().sample(row)) > 0.0
        };
        assert!((0..300).all(|row| right(row, 0)));
        assert!((300..500).all(|row| !right(row, 0) && right(row, 1)));
    }
}

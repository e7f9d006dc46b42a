//! Outliers, without and with the remedies of section 4 of the paper.

use std::path::Path;

use margins::boost::{Fol, Game, Horizon, Slack, SlackKind, Stop, Subsample};
use margins::data::generate::RareSamples;
use margins::data::{Dataset, Labels};
use margins::optim::online::Perceptron;
use margins_experiments::figure::{Axis, Style, panel, with_bars};
use margins_experiments::{Document, Figure, Mean, Numbers, Table};
use rand::RngExt;

use super::rare::{OUTPUTS, TYPICAL, tests};
use super::{Settings, error, focused, generator, played, uniform};
use crate::Failure;

const ROUNDS: u64 = 100_000;
const RARE: usize = 200;
const OUTLIERS: [usize; 4] = [0, 2, 5, 10];

const METHODS: [&str; 6] = [
    "FOL",
    "FOL on a subsample",
    "additive slack, sum",
    "additive slack, Euclidean",
    "multiplicative slack",
    "SGD",
];

/// Returns data whose first samples, which are typical, have the wrong label.
fn with_outliers(outliers: usize, seed: u64) -> Result<Dataset, Failure> {
    let data = RareSamples::new(seed, 1).typical_and_rare(TYPICAL, RARE)?;
    let mut signs = data.labels().signs().to_vec();
    signs[..outliers].iter_mut().for_each(|sign| *sign = -*sign);
    Ok(Dataset::new(data.design().clone(), Labels::from_signs(signs)?)?)
}

/// Returns the errors on typical and rare samples of every method, then the shares of outliers
/// flagged by the three kinds of slack and the numbers of other samples flagged.
fn trial(outliers: usize, seed: u64) -> Result<Vec<f64>, Failure> {
    let train = with_outliers(outliers, seed)?;
    let tests = tests(seed)?;
    let features = train.columns();
    let learner = || Perceptron::new(features);
    let budget = (ROUNDS, OUTPUTS);
    let mut errors = Vec::new();
    let mut flagged = Vec::new();
    let fol = played(focused(&train)?, learner(), &train, budget, seed)?;
    errors.extend(tests.iter().map(|test| error(fol.ensemble(), test)));
    let plan = Subsample::new(train.rows(), outliers, RARE)?;
    let small = train.select(&plan.draw(generator(seed, 3).random()));
    let fol = played(focused(&small)?, learner(), &small, budget, seed)?;
    errors.extend(tests.iter().map(|test| error(fol.ensemble(), test)));
    for kind in [SlackKind::AdditiveSum, SlackKind::AdditiveEuclidean, SlackKind::Multiplicative] {
        let slack = Slack::new(kind, train.rows(), outliers.max(1) as f64, ROUNDS)?;
        let horizon = Horizon::new(budget.0, budget.1)?;
        let (design, labels) = (train.design(), train.labels());
        let game: Fol<'_, _> =
            Game::new(focused(&train)?, learner(), design, labels, horizon, seed)?;
        let mut game = game.with_slack(slack)?;
        game.run(Stop::Never)?;
        errors.extend(tests.iter().map(|test| error(game.ensemble(), test)));
        let rows = game.slack().map(Slack::outliers).unwrap_or_default();
        let found = rows.iter().filter(|&&row| row < outliers).count();
        flagged.extend([found as f64, (rows.len() - found) as f64]);
    }
    let sgd = played(uniform(&train)?, learner(), &train, budget, seed)?;
    errors.extend(tests.iter().map(|test| error(sgd.ensemble(), test)));
    errors.extend(flagged);
    Ok(errors)
}

pub(crate) fn run(settings: &Settings, folder: &Path) -> Result<Document, Failure> {
    let rows: Vec<String> = OUTLIERS.iter().map(usize::to_string).collect();
    let results = settings.run(
        folder,
        "fol-outliers",
        &format!("rounds={ROUNDS} outputs={OUTPUTS} rare={RARE}"),
        &rows,
        |row, seed| trial(row.parse()?, seed),
    )?;
    let header = ["outliers", "method", "typical", "rare", "outliers flagged", "others flagged"];
    let mut table = Table::new(header);
    for (row, trials) in rows.iter().zip(&results) {
        let mean = |at: usize| Mean::of(trials.iter().map(|trial| trial.0[at])).mean;
        for (k, name) in METHODS.iter().enumerate() {
            let cell =
                |at: usize| Mean::percent(trials.iter().map(|trial| trial.0[at])).to_string();
            let flags = match k {
                2..5 => {
                    let first = 2 * METHODS.len() + 2 * (k - 2);
                    [first, first + 1].map(|at| format!("{:.1}", mean(at)))
                }
                _ => [const { String::new() }; 2],
            };
            let errors = [row.clone(), (*name).to_owned(), cell(2 * k), cell(2 * k + 1)];
            table.push(errors.into_iter().chain(flags));
        }
    }
    let about = format!(
        "The samples are those of fol-rare, {TYPICAL} typical and {RARE} rare ones, and some \
         typical ones have the wrong label. Errors are in percent on new samples, with standard \
         errors over {} trials. The learner is the perceptron, for {ROUNDS} rounds, with a \
         majority of {OUTPUTS} outputs. Slack has the number of outliers as its budget (at least \
         1), and the subsample has the size that theorem 3 is best at.",
        settings.trials
    );
    let title = "Slack and sub-sampling against outliers";
    let document = Document::new("fol-outliers", title, finding(&results)).text(about).table(table);
    Ok(document.figure(figure(&results)))
}

/// Returns in words what each method does with the most outliers.
fn finding(results: &[Vec<Numbers>]) -> String {
    let Some((outliers, trials)) = OUTLIERS.iter().zip(results).next_back() else {
        return String::new();
    };
    let column = |at: usize| trials.iter().map(move |t| t.0[at]);
    let error = |at: usize| Mean::percent(column(at)).mean;
    let mean = |at: usize| Mean::of(column(at)).mean;
    let errors = METHODS
        .iter()
        .enumerate()
        .map(|(k, name)| format!("{name} {:.2} % and {:.2} %", error(2 * k), error(2 * k + 1)));
    let flags = METHODS.iter().enumerate().skip(2).take(3).map(|(k, name)| {
        let first = 2 * METHODS.len() + 2 * (k - 2);
        format!("{name} {:.1} and {:.1}", mean(first), mean(first + 1))
    });
    format!(
        "With {outliers} outliers the errors on typical and on rare samples are: {}. Outliers and other \
         samples that have slack in the end: {}.",
        errors.collect::<Vec<_>>().join("; "),
        flags.collect::<Vec<_>>().join("; ")
    )
}

/// Returns the picture of the errors along the outliers.
fn figure(results: &[Vec<Numbers>]) -> Figure {
    let of_part = |key, title: &str, part: usize| {
        let series = METHODS.iter().enumerate().map(|(k, name)| {
            let of = |(row, trials): (&usize, &Vec<Numbers>)| {
                let errors = trials.iter().map(|trial| trial.0[2 * k + part]);
                let Mean { mean, standard_error } = Mean::percent(errors);
                (*row as f64, mean, standard_error)
            };
            with_bars(*name, OUTLIERS.iter().zip(results).map(of), Style::Bars)
        });
        let axes = [Axis::new("outliers among the samples"), Axis::new("test error, %")];
        panel(key, title, axes, series.collect())
    };
    let panels = vec![of_part("typical", "Typical samples", 0), of_part("rare", "Rare samples", 1)];
    Figure::new("fol-outliers", panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_the_first_samples_with_the_other_label() {
        let (clean, turned) = (with_outliers(0, 7), with_outliers(5, 7));
        let (clean, turned) = (clean.expect("samples"), turned.expect("samples"));
        let pairs = clean.labels().signs().iter().zip(turned.labels().signs());
        let differ: Vec<usize> =
            pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(row, _)| row).collect();
        assert_eq!(differ, [0, 1, 2, 3, 4]);
        assert_eq!(clean.rows(), TYPICAL + RARE);
    }
}

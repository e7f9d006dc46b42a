//! A multilayer perceptron on MNIST, 5 against the rest, with few fives to learn from.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::boost::{Evaluation, Game, MultilayerPerceptron, SamplePlayer};
use margins::data::Dataset;
use margins::losses::{Logistic, ZeroOne};
use margins_experiments::figure::{Axis, Style, panel, with_bars};
use margins_experiments::{Document, Figure, Mean, Numbers, Table, below_and_above};
use rand::seq::SliceRandom;

use super::{Settings, error, focused, generator, played, read, uniform};
use crate::Failure;

const PIXELS: usize = 784;
const OTHERS: usize = 10_000;
const FIVES: [usize; 3] = [20, 50, 200];
const HIDDEN: usize = 32;
const STEP: f64 = 0.02;
const EPOCHS: u64 = 5;
const OUTPUTS: usize = 20;

/// Returns the mistakes in training, then the errors on fives and on others, of the last network;
/// then of the majority.
fn results<P: SamplePlayer>(
    player: P,
    train: &Dataset,
    [fives, others]: &[Dataset; 2],
    seed: u64,
) -> Result<Vec<f64>, Failure> {
    let learner = MultilayerPerceptron::new(train.columns(), &[HIDDEN], Logistic, STEP, seed)?;
    let rounds = EPOCHS * train.rows() as u64;
    let game: Game<'_, P, _> = played(player, learner, train, (rounds, OUTPUTS), seed)?;
    let (design, labels) = (train.design(), train.labels());
    let last = Evaluation::new(game.learner(), design, labels, &ZeroOne)?;
    let majority = Evaluation::new(game.ensemble(), design, labels, &ZeroOne)?;
    Ok(vec![
        last.mistakes() as f64,
        error(game.learner(), fives),
        error(game.learner(), others),
        majority.mistakes() as f64,
        error(game.ensemble(), fives),
        error(game.ensemble(), others),
    ])
}

/// Returns the rows of a class.
fn class(data: &Dataset, sign: f64) -> Vec<usize> {
    (0..data.rows()).filter(|&row| data.labels().signs()[row] == sign).collect()
}

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Folder with mnist5_train.svm.gz and mnist5_test.svm.gz
    #[arg(long)]
    data_dir: PathBuf,
}

fn table(rows: &[String], trials: &[Vec<Numbers>]) -> Table {
    let mut table = Table::new([
        "fives",
        "samples drawn",
        "classifier",
        "mistakes in training",
        "error on fives",
        "error on others",
    ]);
    for (row, trials) in rows.iter().zip(trials) {
        let of = |at: usize| trials.iter().map(move |trial: &Numbers| trial.0[at]);
        for (k, name) in ["focused", "uniformly"].into_iter().enumerate() {
            for (part, classifier) in ["last", "majority"].into_iter().enumerate() {
                let first = 6 * k + 3 * part;
                table.push([
                    row.clone(),
                    name.to_owned(),
                    classifier.to_owned(),
                    format!("{:.0}", super::median(of(first))),
                    Mean::percent(of(first + 1)).to_string(),
                    Mean::percent(of(first + 2)).to_string(),
                ]);
            }
        }
    }
    table
}

pub(crate) fn run(
    Arguments { settings, data_dir }: &Arguments,
    folder: &Path,
) -> Result<Document, Failure> {
    let all = read(data_dir, "mnist5_train.svm.gz", Some(PIXELS))?;
    let test = read(data_dir, "mnist5_test.svm.gz", Some(PIXELS))?;
    let tests = [test.select(&class(&test, 1.0)), test.select(&class(&test, -1.0))];
    let rows: Vec<String> = FIVES.iter().map(usize::to_string).collect();
    let trials = settings.run(
        folder,
        "fol-deep",
        &format!("others={OTHERS} hidden={HIDDEN} step={STEP} epochs={EPOCHS} outputs={OUTPUTS}"),
        &rows,
        |row, seed| {
            let mut random = generator(seed, 1);
            let mut taken = Vec::new();
            for (sign, count) in [(1.0, row.parse()?), (-1.0, OTHERS)] {
                let mut rows = class(&all, sign);
                rows.shuffle(&mut random);
                taken.extend_from_slice(&rows[..count]);
            }
            let train = all.select(&taken);
            let mut numbers = results(focused(&train)?, &train, &tests, seed)?;
            numbers.extend(results(uniform(&train)?, &train, &tests, seed)?);
            Ok(numbers)
        },
    )?;
    let about = format!(
        "The task is the 5 of MNIST against the rest: there are {OTHERS} other digits and a few \
         fives to learn from, {} fives and {} others to test with. The learner is a multilayer \
         perceptron with {HIDDEN} hidden units, the logistic loss, the step {STEP} and {EPOCHS} \
         epochs of rounds; the table has its last network, and the majority of {OUTPUTS}. Mistakes \
         in training are medians; errors are in percent, with standard errors over {} trials.",
        tests[0].rows(),
        tests[1].rows(),
        settings.trials
    );
    let finding = finding(&trials);
    let document = Document::new("fol-deep", "A deep learner on a rare digit", finding)
        .text(about)
        .table(table(&rows, &trials));
    Ok(document.figure(figure(&trials)))
}

/// Returns in words what focusing changes for the last network.
fn finding(trials: &[Vec<Numbers>]) -> String {
    let mean =
        |trials: &Vec<Numbers>, at: usize| Mean::percent(trials.iter().map(|t| t.0[at])).mean;
    let of_row = |(row, trials): (&usize, &Vec<Numbers>)| {
        let [fives, fives_uniform, others, others_uniform] =
            [1, 7, 2, 8].map(|at| mean(trials, at));
        format!(
            "{fives:.0} % against {fives_uniform:.0} % after {row} fives (of the others {others:.1} % against \
             {others_uniform:.1} %)"
        )
    };
    let differences =
        trials.iter().map(|trials| Mean::percent(trials.iter().map(|t| t.0[1] - t.0[7])));
    let [fewer, more] = below_and_above(differences);
    let each: Vec<String> = FIVES.iter().zip(trials).map(of_row).collect();
    format!(
        "Of new fives the last network misses, with focused learning and with uniform draws, {}. By more \
         than two paired standard errors focused learning misses fewer in {fewer} of {} rows, and more in \
         {more}.",
        each.join(", "),
        FIVES.len()
    )
}

/// Returns the picture of the error of the last network on fives.
fn figure(trials: &[Vec<Numbers>]) -> Figure {
    let series = [("focused", 1), ("uniform", 7)].map(|(name, at)| {
        let point = |(row, trials): (&usize, &Vec<Numbers>)| {
            let Mean { mean, standard_error } =
                Mean::percent(trials.iter().map(|trial| trial.0[at]));
            (*row as f64, mean, standard_error)
        };
        with_bars(name, FIVES.iter().zip(trials).map(point), Style::Bars)
    });
    let fives = panel(
        "fives",
        "Error of the last network on fives",
        [Axis::log("fives to learn from"), Axis::new("test error, %")],
        series.into(),
    );
    Figure::new("fol-deep", vec![fives])
}

#[cfg(test)]
mod tests {
    use super::super::dataset;
    use super::*;

    #[test]
    fn every_row_is_of_one_class() {
        let data = dataset(&[vec![1.0], vec![2.0], vec![3.0]], vec![1.0, -1.0, 1.0]);
        let data = data.expect("samples");
        assert_eq!((class(&data, 1.0), class(&data, -1.0)), (vec![0, 2], vec![1]));
    }
}

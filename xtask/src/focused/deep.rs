//! A multilayer perceptron on MNIST, 5 against the rest, with few fives to learn from.

use std::path::{Path, PathBuf};

use clap::Args;
use margins::boost::{Evaluation, Game, MultilayerPerceptron, SamplePlayer};
use margins::data::Dataset;
use margins::losses::{Logistic, ZeroOne};
use rand::seq::SliceRandom;

use super::{Numbers, Settings, error, focused, generator, percent, played, read, uniform};
use crate::Failure;
use crate::document::{Document, Table};
use crate::figure::{Axis, Figure, Panel, line};

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
        last.mistakes as f64,
        error(game.learner(), fives),
        error(game.learner(), others),
        majority.mistakes as f64,
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
                    percent(of(first + 1)),
                    percent(of(first + 2)),
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
    let document = Document::new("fol-deep", "A deep learner on a rare digit")
        .text(about)
        .table(table(&rows, &trials));
    Ok(document.figure(figure(&trials)))
}

/// Returns the picture of the error of the last network on fives.
fn figure(trials: &[Vec<Numbers>]) -> Figure {
    let series = [("focused", 1), ("uniform", 7)].map(|(name, at)| {
        let point = |(row, trials): (&usize, &Vec<Numbers>)| {
            let sum: f64 = trials.iter().map(|trial| trial.0[at]).sum();
            ((*row as f64).log10(), 100.0 * sum / trials.len() as f64)
        };
        line(name, FIVES.iter().zip(trials).map(point).collect())
    });
    let panel = Panel {
        key: "fives",
        title: "Error of the last network on fives".to_owned(),
        x: Axis { label: "log10 of fives to learn from", range: (1.2, 2.4) },
        y: Axis { label: "error, %", range: (-2.0, 102.0) },
        series: series.into(),
    };
    Figure { name: "fol-deep", panels: vec![panel] }
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

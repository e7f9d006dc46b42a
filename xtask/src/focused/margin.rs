//! Example 1 and section 2.4 of the paper: the numbers read until every sample is right, along the
//! margin gamma.

use std::path::Path;

use clap::Args;
use margins::boost::opponents::SublinearPerceptron;
use margins::boost::{Game, Horizon, SamplePlayer, Stop};
use margins::data::Dataset;
use margins::optim::online::Perceptron;
use margins_experiments::figure::{Axis, Points, Series, Style, panel, power};
use margins_experiments::{Document, Figure, Numbers, Table};

use super::{Settings, dataset, error, focused, generator, median, normal, uniform};
use crate::Failure;

const GAMMAS: [f64; 5] = [0.2, 0.1, 0.05, 0.02, 0.01];
/// The number m of samples, which are in pairs.
const SAMPLES: usize = 300;
/// The number d of features.
const FEATURES: usize = 6;
/// Rounds between two looks at whether a classifier is right, which are not counted.
const ROUNDS_A_LOOK: u64 = SAMPLES as u64 / 4;
/// Rounds at which a game is given up, in units of `m/gamma^2`.
const MOST_OF_GAMES: f64 = 4.0;
/// Rounds at which the sublinear perceptron is given up, in units of `1/gamma^2`. It starts with one
/// unit and begins again with twice as many rounds until its classifier is right.
const MOST_OF_SUBLINEAR: f64 = 128.0;

const METHODS: [&str; 4] = ["FOL", "FOL, majority", "SGD", "sublinear perceptron"];

/// Medians of the numbers read by each method, then those of the draws for a mistake of FOL and SGD.
type Medians = [f64; 6];

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// The smallest margin gamma, of 0.2, 0.1, 0.05, 0.02 and 0.01
    #[arg(long, default_value_t = GAMMAS[GAMMAS.len() - 1])]
    smallest: f64,
}

/// Returns samples of norm 1 whose margin is exactly gamma, and the direction w that has it.
///
/// With the labels multiplied in, the samples are `gamma w + r u` and `gamma w - r u` for directions u
/// orthogonal to w, `r^2 = 1 - gamma^2`. Their mean is `gamma w`, so that no direction has a smallest
/// margin above gamma.
fn draw(gamma: f64, seed: u64) -> Result<(Dataset, Vec<f64>), Failure> {
    let mut random = generator(seed, 10);
    let mut direction = |count: usize| {
        let point: Vec<f64> = (0..count).map(|_| normal(&mut random)).collect();
        let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        point.into_iter().map(|x| x / norm).collect::<Vec<f64>>()
    };
    // The reflection that makes every feature count: x - 2 <x, v> v.
    let v = direction(FEATURES);
    let reflected = |x: Vec<f64>| -> Vec<f64> {
        let product: f64 = x.iter().zip(&v).map(|(x, v)| x * v).sum();
        x.iter().zip(&v).map(|(x, v)| x - 2.0 * product * v).collect()
    };
    let across = (1.0 - gamma * gamma).sqrt();
    let (mut rows, mut signs) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES / 2 {
        let u = direction(FEATURES - 1);
        for sign in [1.0, -1.0] {
            // The label times `gamma w + label r u`, before the reflection.
            let x = std::iter::once(sign * gamma).chain(u.iter().map(|u| across * u));
            rows.push(reflected(x.collect()));
            signs.push(sign);
        }
    }
    let first = (0..FEATURES).map(|k| f64::from(u8::from(k == 0)));
    let w = reflected(first.collect());
    Ok((dataset(&rows, signs)?, w))
}

/// Returns the rounds until the learner of a game is right on every sample, infinite if it is given up, and
/// the draws for each mistake.
fn rounds(
    player: impl SamplePlayer,
    data: &Dataset,
    gamma: f64,
    seed: u64,
) -> Result<[f64; 2], Failure> {
    let most = (MOST_OF_GAMES * SAMPLES as f64 / (gamma * gamma)).ceil() as u64;
    let learner = Perceptron::new(FEATURES).without_intercept();
    let horizon = Horizon::new(most, 1)?;
    let mut game = Game::new(player, learner, data.design(), data.labels(), horizon, seed)?;
    while game.round() < most {
        game.run_until(game.round() + ROUNDS_A_LOOK, Stop::Never)?;
        if error(game.learner(), data) == 0.0 {
            let rounds = game.round() as f64;
            return Ok([rounds, rounds / game.ending().seen_loss]);
        }
    }
    Ok([f64::INFINITY; 2])
}

/// Returns the rounds until the majority of a game by theorem 1 is known to be right on every sample.
fn majority(data: &Dataset, gamma: f64, seed: u64) -> Result<f64, Failure> {
    let horizon = Horizon::classification(SAMPLES, 0.01, (gamma * gamma).recip())?;
    let learner = Perceptron::new(FEATURES).without_intercept();
    let player = focused(data)?;
    let mut game = Game::new(player, learner, data.design(), data.labels(), horizon, seed)?;
    let ending = game.run(Stop::Consistent)?;
    Ok(ending.consistent_at.map_or(f64::INFINITY, |round| round as f64))
}

/// Returns the fewest rounds, of a unit and its doubles, with which the sublinear perceptron is right on
/// every sample.
fn sublinear(data: &Dataset, gamma: f64, seed: u64) -> Result<f64, Failure> {
    let unit = (gamma * gamma).recip().ceil() as u64;
    let mut rounds = unit;
    while rounds as f64 <= MOST_OF_SUBLINEAR * unit as f64 {
        let mut game = SublinearPerceptron::new(data.design(), data.labels(), rounds, seed)?;
        while game.play()? {}
        if error(&game.classifier(), data) == 0.0 {
            return Ok(rounds as f64);
        }
        rounds *= 2;
    }
    Ok(f64::INFINITY)
}

/// Returns the numbers read until each method is right on every sample: the features of the samples
/// looked at, and of the sublinear perceptron one feature of all samples besides. The draws for each mistake
/// of FOL and SGD come after them.
fn trial(gamma: f64, seed: u64) -> Result<Vec<f64>, Failure> {
    let (data, _) = draw(gamma, seed)?;
    let (m, d) = (SAMPLES as f64, FEATURES as f64);
    let [focused, draws] = rounds(focused(&data)?, &data, gamma, seed)?;
    let [uniform, uniform_draws] = rounds(uniform(&data)?, &data, gamma, seed)?;
    let majority = d * majority(&data, gamma, seed)?;
    let sublinear = (m + d) * sublinear(&data, gamma, seed)?;
    Ok(vec![d * focused, majority, d * uniform, sublinear, draws, uniform_draws])
}

/// Returns the numbers that each method reads in theory, up to logarithms.
fn theory(gamma: f64) -> [f64; 4] {
    let (m, d, mistakes) = (SAMPLES as f64, FEATURES as f64, (gamma * gamma).recip());
    let focused = (m + mistakes) * d;
    [focused, focused, m * mistakes * d, (m + d) * mistakes]
}

pub(crate) fn run(
    Arguments { settings, smallest }: &Arguments,
    folder: &Path,
) -> Result<Document, Failure> {
    let gammas: Vec<f64> = GAMMAS.into_iter().filter(|gamma| gamma >= smallest).collect();
    if gammas.len() < 2 {
        let message =
            format!("--smallest {smallest}: must be at most {}, for two margins", GAMMAS[1]);
        return Err(message.into());
    }
    let rows: Vec<String> = gammas.iter().map(|gamma| format!("gamma={gamma}")).collect();
    let protocol = format!(
        "draws m={SAMPLES} d={FEATURES} most={MOST_OF_GAMES} sublinear={MOST_OF_SUBLINEAR} look={ROUNDS_A_LOOK}"
    );
    let results = settings.run(folder, "fol-margin", &protocol, &rows, |row, seed| {
        let at = rows.iter().position(|other| other == row).ok_or("an unknown row")?;
        trial(gammas[at], seed)
    })?;
    let of = |trials: &Vec<Numbers>| -> Medians {
        std::array::from_fn(|k| median(trials.iter().map(|trial| trial.0[k])))
    };
    let medians: Vec<Medians> = results.iter().map(of).collect();
    let document = Document::new(
        "fol-margin",
        "Numbers read until every sample is right, along the margin",
        finding(&gammas, &medians),
    )
    .text(about(settings));
    Ok(document.table(table(&gammas, &medians)).figure(figure(&gammas, &medians)))
}

fn about(settings: &Settings) -> String {
    format!(
        "The {SAMPLES} samples have {FEATURES} features, the norm 1 and the margin gamma, which no direction \
         exceeds. The table has the numbers that each method reads until its classifier is right on all \
         of them, medians over {} trials, and beside them the order of section 2.4 of the paper, which \
         leaves out constants and logarithms: (m + 1/gamma^2) d for focused online learning (FOL), \
         m d/gamma^2 for the perceptron on uniform draws (SGD), and (m + d)/gamma^2 for the sublinear \
         perceptron of Clarkson, Hazan and Woodruff. FOL and SGD read the d features of a sample in \
         each round, and are looked at after every {ROUNDS_A_LOOK} rounds by the present classifier of \
         the learner; *FOL, majority* is the ensemble of corollary 1 with the rounds of theorem 1, \
         until it is known to be right. A round of the sublinear perceptron reads one sample and one \
         feature of all samples; it plays 1/gamma^2 rounds, and begins again with twice as many until \
         it is right, of which the last attempt counts. A method is given up (-) after {MOST_OF_GAMES} \
         m/gamma^2 rounds, the sublinear perceptron after {MOST_OF_SUBLINEAR}/gamma^2.\n\n\
         The order of SGD has m draws for each mistake, as if one sample alone were wrong. Here a classifier \
         that leans away from the best direction is wrong on a sample of many pairs, so that a uniform draw \
         finds a mistake after the few draws of the last columns, and FOL can save hardly any. It saves \
         draws where few samples are wrong: [fol-gap](../experiments/fol-gap.md).",
        settings.trials
    )
}

/// Returns the points of a method that were not given up: x by a function of gamma, y the numbers read.
fn points(gammas: &[f64], medians: &[Medians], method: usize, x: impl Fn(f64) -> f64) -> Points {
    let points = gammas.iter().zip(medians).map(|(&gamma, numbers)| (x(gamma), numbers[method]));
    points.filter(|(_, numbers)| numbers.is_finite()).collect()
}

fn finding(gammas: &[f64], medians: &[Medians]) -> String {
    let of_method = |(method, name): (usize, &&str)| {
        let of_theory = points(gammas, medians, method, |gamma| theory(gamma)[method]);
        let of_margin = points(gammas, medians, method, f64::recip);
        match of_theory.len() {
            0 | 1 => format!("{name} is given up"),
            _ => format!(
                "{name} as the power {:.2} of its order, {:.2} of 1/gamma",
                power(&of_theory),
                power(&of_margin)
            ),
        }
    };
    let each: Vec<String> = METHODS.iter().enumerate().map(of_method).collect();
    format!("The numbers read grow: {}.", each.join("; "))
}

fn table(gammas: &[f64], medians: &[Medians]) -> Table {
    let header = METHODS.iter().flat_map(|name| [(*name).to_owned(), "order".to_owned()]);
    let last = ["FOL", "SGD"].map(|name| format!("draws a mistake, {name}"));
    let mut table = Table::new(std::iter::once("gamma".to_owned()).chain(header).chain(last));
    for (&gamma, numbers) in gammas.iter().zip(medians) {
        let cells = numbers.iter().zip(theory(gamma)).flat_map(|(&numbers, order)| {
            let read = if numbers.is_finite() { format!("{numbers:.0}") } else { "-".to_owned() };
            [read, format!("{order:.0}")]
        });
        let draws = numbers[METHODS.len()..].iter().map(|draws| format!("{draws:.1}"));
        table.push(std::iter::once(gamma.to_string()).chain(cells).chain(draws));
    }
    table
}

fn figure(gammas: &[f64], medians: &[Medians]) -> Figure {
    let lines = METHODS
        .iter()
        .enumerate()
        .map(|(method, name)| Series::line(*name, points(gammas, medians, method, f64::recip)));
    let guides = [0, 2, 3].into_iter().map(|method| {
        let orders = gammas.iter().map(|&gamma| (gamma.recip(), theory(gamma)[method]));
        let name = format!("order of {}", METHODS[method]);
        Series::new(name, orders.collect(), Style::Dashed).coloured(method)
    });
    let margins = panel(
        "margin",
        "Numbers read until all samples are right, medians",
        [Axis::log("1/gamma"), Axis::log("numbers read")],
        lines.chain(guides).collect(),
    );
    Figure::new("fol-margin", vec![margins])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The margin is gamma in the direction w, and the mean of the samples with their labels, whose norm no
    /// smallest margin exceeds, is `gamma w`.
    #[test]
    fn the_margin_is_exactly_gamma() {
        for gamma in [0.2, 0.01] {
            let (data, w) = draw(gamma, 3).expect("samples");
            let mut mean = vec![0.0; FEATURES];
            for (x, &y) in data.design().samples().zip(data.labels().signs()) {
                assert!((x.squared_norm() - 1.0).abs() < 1e-12);
                assert!((y * x.dot(&w) - gamma).abs() < 1e-12);
                x.add_to(y / SAMPLES as f64, &mut mean);
            }
            assert!(mean.iter().zip(&w).all(|(mean, w)| (mean - gamma * w).abs() < 1e-12));
        }
    }

    /// Every method ends before it is given up at a wide margin, the majority within the rounds of theorem
    /// 1, and the learner's losses keep to the bound of Novikoff.
    #[test]
    fn every_method_is_right_at_a_wide_margin() {
        let gamma = 0.2;
        let (data, _) = draw(gamma, 1).expect("samples");
        let numbers = trial(gamma, 1).expect("numbers");
        assert!(numbers[..3].iter().all(|numbers| numbers.is_finite()), "{numbers:?}");
        let horizon = Horizon::classification(SAMPLES, 0.01, 25.0).expect("a horizon");
        assert!(numbers[1] <= FEATURES as f64 * horizon.rounds() as f64);
        let learner = Perceptron::new(FEATURES).without_intercept();
        let player = focused(&data).expect("samples");
        let game = super::super::played(player, learner, &data, (5000, 1), 1).expect("a game");
        assert!(game.ending().seen_loss > 0.0 && game.ending().seen_loss <= 25.0 + 1e-9);
    }

    #[test]
    fn orders_are_those_of_section_2_4() {
        let (m, d) = (SAMPLES as f64, FEATURES as f64);
        let [focused, _, uniform, sublinear] = theory(0.1);
        let expected = [(m + 100.0) * d, 100.0 * m * d, 100.0 * (m + d)];
        for (found, expected) in [focused, uniform, sublinear].into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-12);
        }
        let medians = [0.2, 0.1].map(|gamma: f64| {
            let [a, b, c, d] = theory(gamma).map(|order| 3.0 * order);
            [a, b, c, d, 1.0, 1.0]
        });
        assert_eq!(
            finding(&[0.2, 0.1], &medians).matches("as the power 1.00 of its order").count(),
            4
        );
    }
}

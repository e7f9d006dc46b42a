//! The distribution of section 3.1 of the paper over a grid of alpha and epsilon: the rounds until
//! the learner is right on all of it.

use std::path::Path;

use margins::boost::{Game, Horizon, SamplePlayer};
use margins::data::Dataset;
use margins::data::generate::RareSamples;
use margins::optim::online::{Perceptron, Scorer};
use margins_experiments::figure::{Axis, Points, Series, Style, panel, power};
use margins_experiments::{Document, Figure, Numbers, Table};

use super::{Settings, focused, median, uniform};
use crate::Failure;

const ALPHAS: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
const EPSILONS: [f64; 4] = [0.3, 0.1, 0.03, 0.01];

/// `m = 2 ln(4/delta)/epsilon`, with which a consistent classifier is right everywhere (lemma 1).
const DELTA: f64 = 0.01;
const MOST_ROUNDS: u64 = 1 << 32;

/// Draws as many samples as lemma 1 asks for.
fn draw(alpha: f64, epsilon: f64, seed: u64) -> Result<Dataset, Failure> {
    let m = (2.0 * (4.0 / DELTA).ln() / epsilon).ceil() as usize;
    Ok(RareSamples::new(seed, 1).gap(m, alpha, epsilon)?)
}

/// Returns the rounds until the learner is right on the first four samples, which are all that
/// there are.
fn rounds(player: impl SamplePlayer, data: &Dataset, seed: u64) -> Result<f64, Failure> {
    let learner = Perceptron::new(2).without_intercept();
    let horizon = Horizon::new(MOST_ROUNDS, 1)?;
    let mut game = Game::new(player, learner, data.design(), data.labels(), horizon, seed)?;
    let signs = data.labels().signs();
    let right = |learner: &Perceptron| {
        (0..4).all(|row| signs[row] * learner.score(&data.design().sample(row)) > 0.0)
    };
    while !right(game.learner()) && game.play()? {}
    Ok(game.round() as f64)
}

fn key(alpha: f64, epsilon: f64) -> String {
    format!("alpha={alpha},epsilon={epsilon}")
}

pub(crate) fn run(settings: &Settings, folder: &Path) -> Result<Document, Failure> {
    let grid: Vec<(f64, f64)> = EPSILONS
        .into_iter()
        .flat_map(|epsilon| ALPHAS.into_iter().map(move |alpha| (alpha, epsilon)))
        .collect();
    let rows: Vec<String> = grid.iter().map(|&(alpha, epsilon)| key(alpha, epsilon)).collect();
    let results =
        settings.run(folder, "fol-gap", &format!("delta={DELTA}"), &rows, |row, seed| {
            let at = rows.iter().position(|other| other == row).ok_or("an unknown row")?;
            let data = draw(grid[at].0, grid[at].1, seed)?;
            let sgd = rounds(uniform(&data)?, &data, seed)?;
            Ok(vec![rounds(focused(&data)?, &data, seed)?, sgd])
        })?;
    let of = |trials: &[Numbers], at: usize| median(trials.iter().map(|trial| trial.0[at]));
    let medians: Vec<[f64; 2]> =
        results.iter().map(|trials| [of(trials, 0), of(trials, 1)]).collect();

    let header = ["epsilon", "alpha", "FOL", "SGD", "1/epsilon + 1/alpha", "1/(alpha epsilon)"];
    let mut table = Table::new(header);
    for (&(alpha, epsilon), [fol, sgd]) in grid.iter().zip(&medians) {
        let (sum, product) = (1.0 / epsilon + 1.0 / alpha, 1.0 / (alpha * epsilon));
        let counts = [*fol, *sgd, sum, product].map(|count| format!("{count:.0}"));
        table.push([epsilon.to_string(), alpha.to_string()].into_iter().chain(counts));
    }
    let about = format!(
        "The table counts the rounds until the perceptron is right on the whole distribution of \
         section 3.1 of the paper, medians over {} trials on samples of size 2 ln(400)/epsilon. \
         SGD is the same learner on samples drawn uniformly.",
        settings.trials
    );
    let slopes = slopes(&grid, &medians);
    let beside = |slope: f64| match slope {
        0.95..1.05 => format!("as the power {slope:.2}, as in theory,"),
        ..1.0 => format!("as the power {slope:.2}, below the 1 of theory,"),
        _ => format!("as the power {slope:.2}, above the 1 of theory,"),
    };
    let finding = format!(
        "The rounds of SGD grow {} of 1/(alpha epsilon), and the rounds of FOL {} of 1/epsilon + \
         1/alpha. The largest ratio of the rounds is {:.0}.",
        beside(slopes[0].3),
        beside(slopes[1].3),
        medians.iter().map(|[fol, sgd]| sgd / fol).fold(0.0, f64::max)
    );
    let document = Document::new("fol-gap", "Rounds until a rare sample is right", finding)
        .text(about)
        .table(table)
        .text(
            "This table has the slopes of the logarithm of the rounds, by least squares. In theory \
         all are 1 (for FOL up to logarithms of m). The two lines for alpha or epsilon alone \
         are for the ends of the grid where the other term is smaller:",
        );
    let mut table = Table::new(["rounds", "in", "over", "slope"]);
    for (rounds, of, over, slope) in slopes {
        table.push([rounds.to_owned(), of.to_owned(), over, format!("{slope:.2}")]);
    }
    Ok(document.table(table).figure(figure(&grid, &medians)))
}

/// Returns the slopes in the terms of the theory: of which rounds, in which term, over what.
fn slopes(
    grid: &[(f64, f64)],
    medians: &[[f64; 2]],
) -> [(&'static str, &'static str, String, f64); 4] {
    let select = |of_alpha: Option<f64>, of_epsilon: Option<f64>| {
        let all = grid.iter().zip(medians);
        all.filter(move |((alpha, epsilon), _)| {
            of_alpha.is_none_or(|a| a == *alpha) && of_epsilon.is_none_or(|e| e == *epsilon)
        })
    };
    let in_epsilon = |alpha: f64, at: usize| -> Points {
        select(Some(alpha), None).map(|(p, m)| (1.0 / p.1, m[at])).collect()
    };
    let in_alpha = |epsilon: f64, at: usize, least: f64| -> Points {
        let points = select(None, Some(epsilon)).map(|(p, m)| (1.0 / p.0, m[at]));
        points.filter(|(x, _)| *x >= least).collect()
    };
    let product: Points =
        grid.iter().zip(medians).map(|(p, m)| (1.0 / (p.0 * p.1), m[1])).collect();
    let sum: Points =
        grid.iter().zip(medians).map(|(p, m)| (1.0 / p.0 + 1.0 / p.1, m[0])).collect();
    let (first, last) = (ALPHAS[0], EPSILONS[0]);
    let small = format!("epsilon = {last}, alpha <= 0.001");
    [
        ("SGD", "1/(alpha epsilon)", "the grid".to_owned(), power(&product)),
        ("FOL", "1/epsilon + 1/alpha", "the grid".to_owned(), power(&sum)),
        ("FOL", "1/epsilon", format!("alpha = {first}"), power(&in_epsilon(first, 0))),
        ("FOL", "1/alpha", small, power(&in_alpha(last, 0, 999.0))),
    ]
}

fn figure(grid: &[(f64, f64)], medians: &[[f64; 2]]) -> Figure {
    let of_epsilon = |epsilon: f64| {
        let of = |at: usize| -> Points {
            let all = grid.iter().zip(medians).filter(|((_, e), _)| *e == epsilon);
            all.map(|((alpha, _), m)| (1.0 / alpha, m[at])).collect()
        };
        let theory = |f: fn(f64, f64) -> f64| -> Points {
            ALPHAS.iter().map(|&alpha| (1.0 / alpha, f(alpha, epsilon))).collect()
        };
        let guide = |name: &str, points| Series::new(name, points, Style::Dashed);
        panel(
            if epsilon == EPSILONS[0] { "frequent" } else { "rare" },
            format!("Rounds until all samples are right, epsilon = {epsilon}"),
            [Axis::log("1/alpha"), Axis::log("rounds")],
            vec![
                Series::line("FOL", of(0)),
                Series::line("SGD", of(1)),
                guide("1/epsilon + 1/alpha", theory(|a, e| 1.0 / a + 1.0 / e)).coloured(0),
                guide("1/(alpha epsilon)", theory(|a, e| 1.0 / (a * e))).coloured(1),
            ],
        )
    };
    Figure::new("fol-gap", vec![of_epsilon(EPSILONS[0]), of_epsilon(EPSILONS[3])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_samples_are_all_that_there_are() {
        let (alpha, epsilon) = (0.01, 0.1);
        let data = draw(alpha, epsilon, 3).expect("samples");
        assert_eq!(data.rows(), 120);
        let values = |row: usize| {
            let mut values = Vec::new();
            data.design().sample(row).for_each(|_, value| values.push(value));
            (values, data.labels().signs()[row])
        };
        let kinds: Vec<_> = (0..4).map(values).collect();
        assert!((4..120).all(|row| kinds.contains(&values(row))));
        let rare = (0..120).filter(|&row| kinds[..2].contains(&values(row))).count();
        // Two, and 116 draws of probability 0.1, within four standard deviations.
        assert!((rare as f64 - 13.6).abs() <= 13.0, "{rare}");
    }

    #[test]
    fn a_power_law_has_its_exponent_for_a_slope() {
        let points: Points = [1.0, 3.0, 20.0].map(|x: f64| (x, 5.0 * x.powf(-1.5))).into();
        assert!((power(&points) + 1.5).abs() < 1e-12);
    }

    /// Lemma 2 on a part of the grid: the rounds of uniform draws grow as `1/(alpha epsilon)`, medians of
    /// seven trials, within 0.15 of the power 1.
    #[test]
    fn uniform_rounds_grow_as_in_theory() {
        let grid = [(0.1, 0.3), (0.03, 0.3), (0.01, 0.3), (0.03, 0.1), (0.01, 0.1)];
        let of = |alpha: f64, epsilon: f64, seed: u64| {
            let data = draw(alpha, epsilon, seed).expect("samples");
            rounds(uniform(&data).expect("samples"), &data, seed).expect("rounds")
        };
        let point = |&(alpha, epsilon): &(f64, f64)| {
            (1.0 / (alpha * epsilon), median((1..8).map(|seed| of(alpha, epsilon, seed))))
        };
        let slope = power(&grid.iter().map(point).collect::<Points>());
        assert!((slope - 1.0).abs() < 0.15, "{slope}");
    }

    #[test]
    fn focused_rounds_are_fewer_than_uniform_ones_at_the_far_corner() {
        let data = draw(1e-3, 0.01, 1).expect("samples");
        let focused = rounds(focused(&data).expect("samples"), &data, 1).expect("rounds");
        let uniform = rounds(uniform(&data).expect("samples"), &data, 1).expect("rounds");
        assert!(3.0 * focused < uniform, "{focused} {uniform}");
    }
}

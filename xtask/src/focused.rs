//! Experiments on *Minimizing the maximal loss* (Shalev-Shwartz and Wexler 2016).

pub(crate) mod deep;
pub(crate) mod gap;
pub(crate) mod outliers;
pub(crate) mod rare;
pub(crate) mod separable;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use margins::boost::{FocusedPlayer, Game, Horizon, SamplePlayer, Stop, UniformPlayer};
use margins::data::read::{self, ReadOptions};
use margins::data::{Dataset, Design, Labels};
use margins::optim::online::{OnlineLearner, Scorer};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Failure;
use crate::trials::{self, Key};

/// The options of an experiment.
#[derive(Args, Clone)]
pub(crate) struct Settings {
    /// Trials a row
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trials: u32,
    /// Threads, 0 for one a core; nothing but times depends on them
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The results of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers(pub(crate) Vec<f64>);

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(" "))
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("'{word}' is not a number"));
        text.split_whitespace().map(number).collect::<Result<_, _>>().map(Numbers)
    }
}

impl Settings {
    /// Returns the results of all trials, those of a row together. The protocol is what they depend
    /// on beside the seed.
    fn run(
        &self,
        folder: &Path,
        name: &str,
        protocol: &str,
        rows: &[String],
        trial: impl Fn(&str, u64) -> Result<Vec<f64>, Failure> + Sync,
    ) -> Result<Vec<Vec<Numbers>>, Failure> {
        let keys: Vec<Key> = rows
            .iter()
            .flat_map(|row| (0..self.trials as usize).map(move |trial| (row.clone(), trial)))
            .collect();
        let journal = folder.join(format!("{name}.journal"));
        let arguments = format!("{name} seed={} {protocol}", self.seed);
        let results = trials::run(&journal, &arguments, &keys, self.threads, |(row, number)| {
            // Every trial has a seed of its own, the same for all rows.
            let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(*number as u64);
            trial(row, seed).map(Numbers)
        })?;
        Ok(results.chunks(self.trials as usize).map(<[Numbers]>::to_vec).collect())
    }
}

/// Returns the middle value, or the mean of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

/// Returns mean and standard error, in percent.
fn percent(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    format!("{:.2} ({:.2})", 100.0 * mean, 100.0 * (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// Returns the share of samples that a classifier gets wrong.
fn error(scorer: &impl Scorer, data: &Dataset) -> f64 {
    let wrong = |(x, &y): (_, &f64)| (scorer.score(&x) > 0.0) != (y > 0.0);
    let wrong = data.design().samples().zip(data.labels().signs()).filter(|&pair| wrong(pair));
    wrong.count() as f64 / data.rows() as f64
}

/// Returns a game over that many rounds, played to its end.
fn played<'a, P: SamplePlayer, L: OnlineLearner>(
    player: P,
    learner: L,
    data: &'a Dataset,
    (rounds, outputs): (u64, usize),
    seed: u64,
) -> Result<Game<'a, P, L>, Failure> {
    let horizon = Horizon::new(rounds, outputs)?;
    let mut game = Game::new(player, learner, data.design(), data.labels(), horizon, seed)?;
    game.run(Stop::Never)?;
    Ok(game)
}

fn focused(data: &Dataset) -> Result<FocusedPlayer, Failure> {
    Ok(FocusedPlayer::new(data.rows())?)
}

fn uniform(data: &Dataset) -> Result<UniformPlayer, Failure> {
    Ok(UniformPlayer::new(data.rows())?)
}

fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

fn dataset(rows: &[Vec<f64>], signs: Vec<f64>) -> Result<Dataset, Failure> {
    Ok(Dataset::new(Design::from_rows(rows)?, Labels::from_signs(signs)?)?)
}

/// Returns a data set of a folder, with a number of columns if its file does not say.
fn read(folder: &Path, name: &str, columns: Option<usize>) -> Result<Dataset, Failure> {
    let options = ReadOptions { columns, ..ReadOptions::default() };
    Ok(read::dataset(folder.join(name), &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_by_definition() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        // What was given up is beyond every number.
        assert_eq!(median([f64::INFINITY, 1.0, 2.0].into_iter()), 2.0);
        // Mean 0.2, standard deviation 0.1, three values.
        assert_eq!(percent([0.1, 0.2, 0.3].into_iter()), "20.00 (5.77)");
    }

    #[test]
    fn numbers_are_read_back() {
        let numbers = Numbers(vec![0.1, f64::INFINITY, -3.0]);
        assert_eq!(numbers.to_string().parse(), Ok(numbers));
        assert_eq!("1 x".parse::<Numbers>(), Err("'x' is not a number".to_owned()));
    }
}

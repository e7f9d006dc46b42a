//! Experiments on *Minimizing the maximal loss* (Shalev-Shwartz and Wexler 2016).

pub(crate) mod deep;
pub(crate) mod gap;
pub(crate) mod margin;
pub(crate) mod outliers;
pub(crate) mod rare;
pub(crate) mod separable;

use std::path::Path;

use clap::Args;
use margins::boost::{FocusedPlayer, Game, Horizon, SamplePlayer, Stop, UniformPlayer};
use margins::data::read::{self, ReadOptions};
use margins::data::{Dataset, Design, Labels};
use margins::optim::online::{OnlineLearner, Scorer};
use margins_experiments::{Numbers, Trials};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Failure;

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
        let trials = Trials {
            name,
            protocol,
            seed: self.seed,
            per_row: self.trials as usize,
            threads: self.threads,
        };
        trials.run(folder, rows, |row, seed| trial(row, seed).map(Numbers))
    }
}

/// Returns the middle value, or the mean of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
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
    fn medians_are_by_definition() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        // What was given up is beyond every number.
        assert_eq!(median([f64::INFINITY, 1.0, 2.0].into_iter()), 2.0);
    }
}

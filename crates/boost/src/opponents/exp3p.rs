//! The bandit EXP3.P.1 as the player of a game, for comparison with the focused player.

use margins_losses::OutOfRange;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::player::check_loss;
use crate::{Error, SamplePlayer};

/// EXP3.P.1 as the player: an exploring bandit whose every round is a pass over all m weights.
///
/// Epoch r has `2^r` rounds of EXP3.P with `delta_r = delta/((r + 1)(r + 2))`, `alpha = 2 sqrt(ln(m
/// T/delta_r))` and `gamma = min(3/5, 2 sqrt(3 m ln m/(5 T)))`; it starts at the least r with
/// `delta_r >= m T exp(-m T)`.
///
/// Source: Auer, Cesa-Bianchi, Freund and Schapire (2002), section 6.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State")]
pub struct Exp3P1 {
    delta: f64,
    epoch: u32,
    /// The number of rounds left in the epoch.
    left: u64,
    gamma: f64,
    alpha: f64,
    /// The logarithms of the weights.
    logarithms: Vec<f64>,
    probabilities: Vec<f64>,
}

/// An [`Exp3P1`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    delta: f64,
    epoch: u32,
    left: u64,
    gamma: f64,
    alpha: f64,
    logarithms: Vec<f64>,
    probabilities: Vec<f64>,
}

impl TryFrom<State> for Exp3P1 {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        /// The rounds of an epoch beyond it would not be counted.
        const LAST_EPOCH: u32 = 62;
        let State { delta, epoch, left, gamma, alpha, logarithms, probabilities } = state;
        Error::check_len("probabilities", logarithms.len(), probabilities.len())?;
        if epoch > LAST_EPOCH {
            let (parameter, requirement) = ("the epoch", "at most 62");
            return Err(OutOfRange { parameter, value: f64::from(epoch), requirement }.into());
        }
        let mut player = Exp3P1::new(logarithms.len(), delta)?;
        player.begin(epoch);
        if !(1..=player.left).contains(&left) {
            let (parameter, value) = ("the number of rounds left", left as f64);
            let requirement = "from 1 to the rounds of the epoch";
            return Err(OutOfRange { parameter, value, requirement }.into());
        }
        for (parameter, value, expected) in
            [("gamma", gamma, player.gamma), ("alpha", alpha, player.alpha)]
        {
            // Logarithms may differ by a bit from one system to another.
            OutOfRange::check(parameter, value, "that of the epoch", |value| {
                (value - expected).abs() <= 1e-12 * expected
            })?;
        }
        for (&logarithm, &p) in logarithms.iter().zip(&probabilities) {
            OutOfRange::check("the logarithm of a weight", logarithm, "finite", |_| true)?;
            OutOfRange::check("a probability", p, "greater than 0 and at most 1", |p| {
                0.0 < p && p <= 1.0
            })?;
        }
        Ok(Exp3P1 { delta, epoch, left, gamma, alpha, logarithms, probabilities })
    }
}

impl Exp3P1 {
    /// Returns a player over `rows` samples; its regret bound holds with probability `1 - delta`.
    ///
    /// # Errors
    /// No samples, or `delta` not in (0, 1).
    pub fn new(rows: usize, delta: f64) -> Result<Self, Error> {
        if rows == 0 {
            return Err(Error::NoWeights);
        }
        OutOfRange::check("delta", delta, "between 0 and 1", |delta| 0.0 < delta && delta < 1.0)?;
        let first = |r: &u32| {
            let trials = rows as f64 * f64::from(*r).exp2();
            delta_of(delta, *r) >= trials * (-trials).exp()
        };
        let epoch = (0..64).find(first).unwrap_or(0);
        let mut player = Exp3P1 {
            delta,
            epoch,
            left: 0,
            gamma: 0.0,
            alpha: 0.0,
            logarithms: vec![0.0; rows],
            probabilities: vec![1.0 / rows as f64; rows],
        };
        player.begin(epoch);
        Ok(player)
    }

    fn begin(&mut self, epoch: u32) {
        let (m, rounds) = (self.logarithms.len() as f64, f64::from(epoch).exp2());
        self.epoch = epoch;
        self.left = 1 << epoch;
        self.alpha = 2.0 * (m * rounds / delta_of(self.delta, epoch)).ln().sqrt();
        self.gamma = (2.0 * (0.6 * m * m.ln() / rounds).sqrt()).min(0.6);
        // All weights are the same, so that their common value does not matter.
        self.logarithms.fill(0.0);
        self.probabilities.fill(1.0 / m);
    }

    /// Returns `p_i`.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn probability(&self, row: usize) -> f64 {
        self.probabilities[row]
    }
}

fn delta_of(delta: f64, epoch: u32) -> f64 {
    let r = f64::from(epoch);
    delta / ((r + 1.0) * (r + 2.0))
}

impl SamplePlayer for Exp3P1 {
    fn rows(&self) -> usize {
        self.logarithms.len()
    }

    fn draw(&mut self, random: &mut ChaCha8Rng) -> usize {
        let mut point: f64 = random.random();
        for (row, probability) in self.probabilities.iter().enumerate() {
            point -= probability;
            if point < 0.0 {
                return row;
            }
        }
        self.rows() - 1
    }

    fn observe(&mut self, row: usize, loss: f64) -> Result<(), Error> {
        let loss = check_loss(loss)?;
        let (m, rounds) = (self.rows() as f64, f64::from(self.epoch).exp2());
        let (rate, bonus) = (self.gamma / (3.0 * m), self.alpha / (m * rounds).sqrt());
        self.logarithms[row] += rate * loss / self.probabilities[row];
        for (logarithm, probability) in self.logarithms.iter_mut().zip(&self.probabilities) {
            *logarithm += rate * bonus / probability;
        }
        let largest = self.logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.logarithms.iter().map(|logarithm| (logarithm - largest).exp()).sum();
        for (logarithm, probability) in self.logarithms.iter().zip(&mut self.probabilities) {
            *probability =
                (1.0 - self.gamma) * (logarithm - largest).exp() / total + self.gamma / m;
        }
        self.left -= 1;
        if self.left == 0 {
            self.begin(self.epoch + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn it_finds_the_sample_with_the_loss() {
        let mut player = Exp3P1::new(10, 0.1).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        // The last epoch that fits has 2^14 rounds: long enough for its gamma of 0.06.
        let (mut late, rounds) = (0.0, 1 << 15);
        for t in 0..rounds {
            let row = player.draw(&mut random);
            let total: f64 = player.probabilities.iter().sum();
            assert!((total - 1.0).abs() < 1e-12);
            late += f64::from(u8::from(t >= rounds - 5000 && row == 3));
            player.observe(row, if row == 3 { 1.0 } else { 0.0 }).unwrap();
        }
        assert!(late > 3500.0, "{late}");
        assert!(player.observe(0, 1.5).is_err() && player.observe(0, f64::NAN).is_err());
    }

    /// EXP3.P.1 as published: `w_i = exp((alpha gamma/3) sqrt(T/K))` at first,
    /// `p_i = (1 - gamma) w_i/sum w + gamma/K`, and after a reward x of arm j
    /// `w_i <- w_i exp((gamma/(3K)) (x [i = j]/p_i + alpha/(p_i sqrt(K T))))`, over the epochs from the
    /// least r with `delta_r >= K T exp(-K T)`, `T = 2^r`.
    #[test]
    fn the_update_is_the_published_one() {
        let (k, delta) = (6_usize, 0.05);
        let arms = k as f64;
        let mut player = Exp3P1::new(k, delta).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let delta_of = |r: i32| delta / f64::from((r + 1) * (r + 2));
        let enough = |r: &i32| {
            let trials = arms * 2.0_f64.powi(*r);
            delta_of(*r) >= trials * (-trials).exp()
        };
        let first = (0..).find(enough).unwrap();
        for r in first..first + 9 {
            let t = 2.0_f64.powi(r);
            let alpha = 2.0 * (arms * t / delta_of(r)).ln().sqrt();
            let gamma = f64::min(0.6, 2.0 * (3.0 * arms * arms.ln() / (5.0 * t)).sqrt());
            let mut w = vec![(alpha * gamma / 3.0 * (t / arms).sqrt()).exp(); k];
            for round in 0..1_usize << r {
                let total: f64 = w.iter().sum();
                let p: Vec<f64> =
                    w.iter().map(|w| (1.0 - gamma) * w / total + gamma / arms).collect();
                for (row, p) in p.iter().enumerate() {
                    assert!((player.probability(row) - p).abs() < 1e-10, "{r} {round} {row}");
                }
                let row = player.draw(&mut random);
                let reward = [0.0, 0.3, 1.0][(row + round) % 3];
                player.observe(row, reward).unwrap();
                for (i, (w, p)) in w.iter_mut().zip(&p).enumerate() {
                    let estimate = if i == row { reward / p } else { 0.0 };
                    *w *=
                        (gamma / (3.0 * arms) * (estimate + alpha / (p * (arms * t).sqrt()))).exp();
                }
            }
        }
    }
}

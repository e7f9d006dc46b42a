//! The player of a game, who draws the samples: the trait, the focused player and the uniform one.

use margins_losses::OutOfRange;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{Error, SampleTree};

/// A player who decides which sample the learner meets next: the maximising player of `min_w max_p
/// sum_i p_i l(w, x_i, y_i)`.
///
/// [`FocusedPlayer`] makes the game focused online learning, [`UniformPlayer`] stochastic
/// gradient descent, [`Exp3P1`](crate::opponents::Exp3P1) that of Auer et al.
pub trait SamplePlayer {
    /// Returns the number of samples m.
    fn rows(&self) -> usize;

    /// Draws a sample, a number below m.
    fn draw(&mut self, random: &mut ChaCha8Rng) -> usize;

    /// Learns what the loss, in [0, 1], of the sample last drawn was.
    ///
    /// # Errors
    /// A loss that is not in [0, 1]; the player is then as it was before.
    fn observe(&mut self, row: usize, loss: f64) -> Result<(), Error>;
}

/// Returns the loss if it is in [0, 1], or the error that names it.
pub(crate) fn check_loss(loss: f64) -> Result<f64, Error> {
    let unit = |loss: f64| (0.0..=1.0).contains(&loss);
    Ok(OutOfRange::check("the loss of a sample", loss, "from 0 to 1", unit)?)
}

/// A player who draws every sample with the same probability, regardless of the losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformPlayer {
    rows: usize,
}

impl UniformPlayer {
    /// Returns a player over `rows` samples.
    ///
    /// # Errors
    /// No samples.
    pub fn new(rows: usize) -> Result<Self, Error> {
        if rows == 0 { Err(Error::NoWeights) } else { Ok(UniformPlayer { rows }) }
    }
}

impl SamplePlayer for UniformPlayer {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&mut self, random: &mut ChaCha8Rng) -> usize {
        random.random_range(0..self.rows)
    }

    fn observe(&mut self, _row: usize, loss: f64) -> Result<(), Error> {
        check_loss(loss).map(drop)
    }
}

/// The focused player: `p = q/2 + 1/(2m)`, with `q` in proportion to weights that are multiplied by
/// `exp(eta l/p_i)`, `eta = 1/(2m)`, when sample i has the loss `l`. A round takes `O(log m)`.
///
/// The exponent is from 0 to 1, because `p_i >= 1/(2m)`.
///
/// Source: Shalev-Shwartz and Wexler (2016), section 2.3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FocusedPlayer {
    tree: SampleTree,
}

impl FocusedPlayer {
    /// Returns a player over `rows` samples, all of the same weight.
    ///
    /// # Errors
    /// No samples.
    pub fn new(rows: usize) -> Result<Self, Error> {
        Ok(FocusedPlayer { tree: SampleTree::uniform(rows)? })
    }

    /// Returns `p_i`, the probability that sample i is drawn next.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn probability(&self, row: usize) -> f64 {
        0.5 * self.tree.probability(row) + 0.5 / self.tree.len() as f64
    }

    /// Returns `ln w_i`, the logarithm of the weight: `1/(2m)` times the sum of `l/p_i` over the draws
    /// of sample i.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn log_weight(&self, row: usize) -> f64 {
        self.tree.log_weight(row)
    }

    /// Returns an upper bound on the mean loss of sample i over the `draws` draws so far, under the
    /// classifiers of their time: `4 m (ln w_i + ln(m/delta))/draws`, at most 1.
    ///
    /// With probability `1 - delta` the bounds of all samples hold at once, and after every draw, by
    /// Ville's inequality; nothing is assumed of the learner. Source: the proof of theorem 1 in
    /// `docs/boost.md`.
    ///
    /// # Errors
    /// `delta` not in (0, 1).
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn loss_bound(&self, row: usize, draws: u64, delta: f64) -> Result<f64, Error> {
        let share = |delta: f64| 0.0 < delta && delta < 1.0;
        OutOfRange::check("delta", delta, "between 0 and 1", share)?;
        let m = self.tree.len() as f64;
        let sum = 4.0 * m * (self.log_weight(row) + (m / delta).ln());
        Ok(if draws == 0 { 1.0 } else { (sum / draws as f64).min(1.0) })
    }

    /// Multiplies the weight of a sample by `exp(eta l/p)`, p its probability when it was drawn.
    pub(crate) fn raise(&mut self, row: usize, loss: f64, p: f64) -> Result<(), Error> {
        let eta = 0.5 / self.tree.len() as f64;
        self.tree.multiply(row, (eta * loss / p).exp())
    }
}

impl SamplePlayer for FocusedPlayer {
    fn rows(&self) -> usize {
        self.tree.len()
    }

    fn draw(&mut self, random: &mut ChaCha8Rng) -> usize {
        if random.random() {
            random.random_range(0..self.tree.len())
        } else {
            self.tree.draw(random)
        }
    }

    fn observe(&mut self, row: usize, loss: f64) -> Result<(), Error> {
        if check_loss(loss)? > 0.0 {
            self.raise(row, loss, self.probability(row))?;
        }
        Ok(())
    }
}

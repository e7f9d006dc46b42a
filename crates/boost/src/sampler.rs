//! The draws of focused online learning alone, for a learner that is not an
//! [`OnlineLearner`](margins_optim::online::OnlineLearner): a network, or a program in another
//! language.

use margins_losses::OutOfRange;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{Error, FocusedPlayer, SamplePlayer};

/// Draws batches of samples as the focused player does, for any online learner.
///
/// [`draw`](Self::draw) returns samples drawn with probabilities `p_i = q_i/2 + 1/(2m)`, q in
/// proportion to weights that are 1 at first. The caller computes their losses, clipped to [0, 1],
/// before it learns from them, and [`observe`](Self::observe) multiplies the weight of each drawn
/// sample by `exp(eta l/p_i)`, `eta = 1/(2m)`. The probabilities stay the same within a batch, so
/// that every draw is unbiased given the past: `E[l/p_i [i drawn]] = l_i`.
///
/// It is written and read with serde, also between a draw and its losses, and then continues to the
/// same bits. A draw and its loss take `O(log m)`.
///
/// Source: the oracle access of FOL to a learner, Shalev-Shwartz and Wexler (2016), section 2.3. The
/// paper draws one sample at a time, which is a batch of 1.
///
/// ```
/// use margins_boost::FocusedSampler;
///
/// // Sample 3 stays wrong: it is drawn ever more often, up to about every second time.
/// let mut sampler = FocusedSampler::new(10, 1)?;
/// for _ in 0..300 {
///     let drawn = sampler.draw(8)?;
///     let losses: Vec<f64> = drawn.iter().map(|&row| f64::from(row == 3)).collect();
///     sampler.observe(&losses)?;
/// }
/// assert!(sampler.probability(3) > 0.5 && sampler.probability(4) > 0.049);
/// # Ok::<(), margins_boost::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct FocusedSampler {
    player: FocusedPlayer,
    random: ChaCha8Rng,
    /// The samples drawn whose losses are not known yet.
    pending: Vec<usize>,
    draws: u64,
}

/// A [`FocusedSampler`] as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    player: FocusedPlayer,
    random: ChaCha8Rng,
    pending: Vec<usize>,
    draws: u64,
}

impl From<FocusedSampler> for State {
    fn from(sampler: FocusedSampler) -> Self {
        let FocusedSampler { player, random, pending, draws } = sampler;
        State { player, random, pending, draws }
    }
}

impl TryFrom<State> for FocusedSampler {
    type Error = Error;

    fn try_from(state: State) -> Result<Self, Error> {
        let State { player, random, pending, draws } = state;
        if let Some(&row) = pending.iter().find(|&&row| row >= player.rows()) {
            let (what, expected) = ("samples of a drawn one", player.rows());
            return Err(Error::Shape { what, expected, found: row.saturating_add(1) });
        }
        Ok(FocusedSampler { player, random, pending, draws })
    }
}

impl FocusedSampler {
    /// Returns a sampler over `rows` samples, all of the same probability at first.
    ///
    /// # Errors
    /// No samples.
    pub fn new(rows: usize, seed: u64) -> Result<Self, Error> {
        Ok(FocusedSampler {
            player: FocusedPlayer::new(rows)?,
            random: ChaCha8Rng::seed_from_u64(seed),
            pending: Vec::new(),
            draws: 0,
        })
    }

    /// Draws a batch of samples with repetition, numbers from 0 to m - 1.
    ///
    /// # Errors
    /// An empty batch, one that does not fit in 4 GiB of memory, or losses of the last batch that
    /// were not [observed](Self::observe) yet.
    pub fn draw(&mut self, batch: usize) -> Result<&[usize], Error> {
        if !self.pending.is_empty() {
            return Err(Error::NotObserved(self.pending.len()));
        }
        let positive = |batch: f64| batch >= 1.0;
        OutOfRange::check("the batch", batch as f64, "at least 1", positive)?;
        let what = || format!("a batch of {batch}");
        Error::check_memory(batch as f64, "draw smaller batches", what)?;
        let FocusedSampler { player, random, pending, .. } = self;
        pending.extend((0..batch).map(|_| player.draw(random)));
        Ok(pending)
    }

    /// Takes the losses, in [0, 1], of the samples drawn last, in their order: under the classifier
    /// before it learned from any of them.
    ///
    /// # Errors
    /// Another number of losses than of samples drawn, or a loss that is not in [0, 1]; the sampler
    /// is then as it was before.
    pub fn observe(&mut self, losses: &[f64]) -> Result<(), Error> {
        Error::check_len("losses of the samples drawn", self.pending.len(), losses.len())?;
        for (at, (&row, &loss)) in self.pending.iter().zip(losses).enumerate() {
            if !(0.0..=1.0).contains(&loss) {
                return Err(Error::ObservedLoss { at, row, loss });
            }
        }
        let p: Vec<f64> = self.pending.iter().map(|&row| self.player.probability(row)).collect();
        for ((&row, &loss), p) in self.pending.iter().zip(losses).zip(p) {
            if loss > 0.0 {
                self.player.raise(row, loss, p)?;
            }
        }
        self.draws += losses.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Returns `p_i`, the probability that sample i is drawn next.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn probability(&self, row: usize) -> f64 {
        self.player.probability(row)
    }

    /// Returns the probabilities of all samples, of sum 1.
    pub fn probabilities(&self) -> Vec<f64> {
        (0..self.rows()).map(|row| self.probability(row)).collect()
    }

    /// Returns `ln w_i`, the logarithm of the weight ([`FocusedPlayer::log_weight`]).
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn log_weight(&self, row: usize) -> f64 {
        self.player.log_weight(row)
    }

    /// Returns an upper bound on the mean loss of sample i over the draws so far, by
    /// [`FocusedPlayer::loss_bound`]. It holds for batches of any size, as every draw is unbiased.
    ///
    /// # Errors
    /// `delta` not in (0, 1).
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn loss_bound(&self, row: usize, delta: f64) -> Result<f64, Error> {
        self.player.loss_bound(row, self.draws, delta)
    }

    /// Returns the number of samples m.
    pub fn rows(&self) -> usize {
        self.player.rows()
    }

    /// Returns the number of draws whose losses were observed.
    pub fn draws(&self) -> u64 {
        self.draws
    }
}

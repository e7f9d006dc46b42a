//! The end of a game of focused online learning.

use serde::Serialize;

use crate::Error;
use crate::points::quantiles;

/// The end of a game of focused online learning, with the losses of its ensemble.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Game {
    /// The number of rounds.
    pub rounds: u64,
    /// The most rounds.
    pub most_rounds: u64,
    /// The round by which the ensemble was known to be right on all samples learned from, if it was.
    pub consistent_at: Option<u64>,
    /// The largest loss.
    pub max_loss: f64,
    /// The mean loss.
    pub mean_loss: f64,
    /// The number of samples on the wrong side.
    pub mistakes: usize,
    /// The losses at the quantiles 0, 0.005, ..., 1.
    pub losses: Vec<f64>,
}

impl Game {
    /// Returns the end of a game after so many rounds of at most so many, with the loss of every sample.
    ///
    /// # Errors
    /// [`Error::Data`]: a loss that is no number.
    pub fn new(
        rounds: u64,
        most_rounds: u64,
        consistent_at: Option<u64>,
        losses: &[f64],
        mistakes: usize,
    ) -> Result<Self, Error> {
        Ok(Game {
            rounds,
            most_rounds,
            consistent_at,
            max_loss: losses.iter().copied().fold(0.0, f64::max),
            mean_loss: losses.iter().sum::<f64>() / losses.len() as f64,
            mistakes,
            losses: quantiles(losses, None)?,
        })
    }
}

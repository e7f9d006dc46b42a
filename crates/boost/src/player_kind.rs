//! A player that is chosen when the program runs; apart from the trait, because the players of other
//! methods implement that.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::opponents::Exp3P1;
use crate::{Error, FocusedPlayer, SamplePlayer, UniformPlayer};

/// The name of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlayerKind {
    /// [`FocusedPlayer`], for which theorem 1 holds.
    #[default]
    Focused,
    /// [`UniformPlayer`]: stochastic gradient descent, which makes the mean loss small.
    Uniform,
    /// [`Exp3P1`]: the player of Auer et al., whose rounds take a pass over the samples.
    Exp3P,
}

impl PlayerKind {
    /// All of them, with their names.
    pub const NAMED: [(&'static str, PlayerKind); 3] = [
        ("focused", PlayerKind::Focused),
        ("uniform", PlayerKind::Uniform),
        ("exp3p", PlayerKind::Exp3P),
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }

    /// Returns the player of a name.
    pub fn named(name: &str) -> Option<PlayerKind> {
        Self::NAMED.into_iter().find(|(own, _)| *own == name).map(|(_, player)| player)
    }
}

/// One of the players, chosen when the program runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Player {
    /// The focused player.
    Focused(FocusedPlayer),
    /// The uniform player.
    Uniform(UniformPlayer),
    /// The player of Auer et al.
    Exp3P(Exp3P1),
}

impl Player {
    /// Returns a player over `rows` samples. The regret bound of [`PlayerKind::Exp3P`] holds with
    /// probability `1 - delta`; the other players do not use delta.
    ///
    /// # Errors
    /// No samples, or for `Exp3P` a delta not in (0, 1).
    pub fn new(kind: PlayerKind, rows: usize, delta: f64) -> Result<Self, Error> {
        Ok(match kind {
            PlayerKind::Focused => Player::Focused(FocusedPlayer::new(rows)?),
            PlayerKind::Uniform => Player::Uniform(UniformPlayer::new(rows)?),
            PlayerKind::Exp3P => Player::Exp3P(Exp3P1::new(rows, delta)?),
        })
    }
}

impl SamplePlayer for Player {
    fn rows(&self) -> usize {
        match self {
            Player::Focused(player) => player.rows(),
            Player::Uniform(player) => player.rows(),
            Player::Exp3P(player) => player.rows(),
        }
    }

    fn draw(&mut self, random: &mut ChaCha8Rng) -> usize {
        match self {
            Player::Focused(player) => player.draw(random),
            Player::Uniform(player) => player.draw(random),
            Player::Exp3P(player) => player.draw(random),
        }
    }

    fn observe(&mut self, row: usize, loss: f64) -> Result<(), Error> {
        match self {
            Player::Focused(player) => player.observe(row, loss),
            Player::Uniform(player) => player.observe(row, loss),
            Player::Exp3P(player) => player.observe(row, loss),
        }
    }
}

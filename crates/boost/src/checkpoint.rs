use margins_data::{Design, Labels};
use margins_optim::online::OnlineLearner;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::consistency::ConsistencyCheck;
use crate::{Ensemble, Error, SamplePlayer, Schedule, Slack};

/// A game between two rounds, without its data and its loss.
///
/// To go on with it is the same as never to have stopped:
/// [`Game::resume`](crate::Game::resume).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "P: Serialize, L: Serialize, L::Snapshot: Serialize",
        deserialize = "P: Deserialize<'de>, L: Deserialize<'de>, L::Snapshot: Deserialize<'de>"
    )
)]
pub struct Checkpoint<P, L: OnlineLearner> {
    pub(crate) data: Fingerprint,
    pub(crate) loss: String,
    pub(crate) schedule: Schedule,
    /// The rounds before which classifiers are taken, ascending.
    pub(crate) outputs: Vec<u64>,
    pub(crate) random: ChaCha8Rng,
    pub(crate) player: P,
    pub(crate) learner: L,
    pub(crate) slack: Option<Slack>,
    /// Rounds played.
    pub(crate) round: u64,
    pub(crate) seen_loss: f64,
    pub(crate) ensemble: Ensemble<L::Snapshot>,
    pub(crate) check: ConsistencyCheck,
    pub(crate) consistent_at: Option<u64>,
}

impl<P: SamplePlayer, L: OnlineLearner> Checkpoint<P, L> {
    /// Whether it is of these data and this loss and its parts fit together.
    pub(crate) fn check(&self, data: &Fingerprint, loss: &str) -> Result<(), Error> {
        let differs = |what, expected: &dyn ToString, found: &dyn ToString| {
            Err(Error::Checkpoint {
                what,
                expected: expected.to_string(),
                found: found.to_string(),
            })
        };
        if self.data != *data {
            return differs("data", &self.data, data);
        }
        if self.loss != loss {
            return differs("loss", &self.loss, &loss);
        }
        Error::check_len("samples of the player", data.rows, self.player.rows())?;
        Error::check_len("samples of the check", data.rows, self.check.rows())?;
        if let Some(slack) = &self.slack {
            Error::check_len("slack variables", data.rows, slack.rows())?;
        }
        Error::check_len("outputs", self.schedule.outputs(), self.outputs.len())?;
        let taken = self.outputs.partition_point(|&output| output < self.round);
        Error::check_len("classifiers", taken, self.ensemble.members().len())
    }
}

/// Enough of the data to know them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fingerprint {
    rows: usize,
    columns: usize,
    hash: u64,
}

impl Fingerprint {
    /// FNV-1a over all stored columns, values and signs, a word at a time.
    pub(crate) fn new(design: &Design, labels: &Labels) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut take =
            |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        for (x, sign) in design.samples().zip(labels.signs()) {
            x.for_each(|column, value| {
                take(column as u64);
                take(value.to_bits());
            });
            take(sign.to_bits());
        }
        Fingerprint { rows: design.rows(), columns: design.columns(), hash }
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}, hash {:016x}", self.rows, self.columns, self.hash)
    }
}

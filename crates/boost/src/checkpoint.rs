//! The state of a game between two rounds, which can be stored and resumed.

use margins_data::{Design, Labels};
use margins_optim::online::Scorer;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::consistency::ConsistencyCheck;
use crate::{Ensemble, Error, Horizon, SamplePlayer, Slack};

/// A game between two rounds, without its data and its loss: of the player `P`, the learner `L` and
/// its classifiers `S`.
///
/// [`Game::resume`](crate::Game::resume) continues it as if it had never stopped. It is
/// written and read with serde if its parts are. A learner that holds a function, its kernel or its
/// loss, is [mapped](Self::map) to one without it before and back afterwards.
///
/// ```
/// use margins_boost::{
///     Checkpoint, FocusedPlayer, Fol, Game, KernelExpansion, KernelPerceptron, Horizon, Stop,
/// };
/// use margins_data::{Design, Labels, Sample};
/// use margins_losses::ZeroOne;
///
/// let design = Design::from_rows(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])?;
/// let labels = Labels::from_signs(vec![-1.0, -1.0, 1.0, 1.0])?;
/// let kernel = |x: &Sample<'_>, z: &Sample<'_>| (-2.0 * x.squared_distance(z)).exp();
/// let (player, learner) = (FocusedPlayer::new(4)?, KernelPerceptron::new(kernel, 4, 1)?);
/// let mut game = Fol::new(player, learner, &design, &labels, Horizon::new(100, 9)?, 1)?;
/// game.run_until(30, Stop::Never)?;
/// let stored = game.checkpoint().clone().map(|l| l.map_kernel(drop), |c| c.map_kernel(drop));
/// let text = serde_json::to_string(&stored)?;
///
/// type Stored = Checkpoint<FocusedPlayer, KernelPerceptron<()>, KernelExpansion<()>>;
/// let stored: Stored = serde_json::from_str(&text)?;
/// let stored = stored.map(|l| l.map_kernel(|()| kernel), |c| c.map_kernel(|()| kernel));
/// let mut resumed = Game::resume(stored, &design, &labels, &ZeroOne)?;
/// assert_eq!(resumed.run(Stop::Never)?, game.run(Stop::Never)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint<P, L, S> {
    pub(crate) data: Fingerprint,
    pub(crate) loss: String,
    #[serde(rename = "schedule")]
    pub(crate) horizon: Horizon,
    /// The rounds before which classifiers are taken, ascending.
    pub(crate) outputs: Vec<u64>,
    pub(crate) random: ChaCha8Rng,
    pub(crate) player: P,
    pub(crate) learner: L,
    pub(crate) slack: Option<Slack>,
    /// The weights of the samples, from 0 to 1; `None` if all are 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weights: Option<Vec<f64>>,
    /// The number of rounds played.
    pub(crate) round: u64,
    pub(crate) seen_loss: f64,
    pub(crate) ensemble: Ensemble<S>,
    pub(crate) check: ConsistencyCheck,
    pub(crate) consistent_at: Option<u64>,
}

impl<P, L, S> Checkpoint<P, L, S> {
    /// Returns the checkpoint with the learner and its classifiers in another form.
    pub fn map<M, R>(
        self,
        learner: impl FnOnce(L) -> M,
        classifier: impl FnMut(S) -> R,
    ) -> Checkpoint<P, M, R> {
        Checkpoint {
            data: self.data,
            loss: self.loss,
            horizon: self.horizon,
            outputs: self.outputs,
            random: self.random,
            player: self.player,
            learner: learner(self.learner),
            slack: self.slack,
            weights: self.weights,
            round: self.round,
            seen_loss: self.seen_loss,
            ensemble: self.ensemble.map(classifier),
            check: self.check,
            consistent_at: self.consistent_at,
        }
    }
}

impl<P: SamplePlayer, L: Scorer, S: Scorer> Checkpoint<P, L, S> {
    /// Refuses a checkpoint of other data or another loss, or of parts that do not fit together.
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
        if let Some(weights) = &self.weights {
            check_weights(weights, data.rows)?;
        }
        if self.round > self.horizon.rounds() {
            return differs("number of rounds", &self.round, &self.horizon.rounds());
        }
        if !self.check.fits(self.ensemble.members().len()) {
            return differs("check of the ensemble", &"another member", &"a member of it");
        }
        let columns = data.columns;
        Error::check_len(
            "features of the learner",
            columns,
            self.learner.columns().unwrap_or(columns),
        )?;
        for classifier in self.ensemble.members() {
            let found = classifier.columns().unwrap_or(columns);
            Error::check_len("features of a classifier", columns, found)?;
        }
        Error::check_len("outputs", self.horizon.outputs(), self.outputs.len())?;
        let taken = self.outputs.partition_point(|&output| output < self.round);
        Error::check_len("classifiers", taken, self.ensemble.members().len())
    }
}

/// Refuses another number of weights than of samples, and weights that are not from 0 to 1.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<(), Error> {
    Error::check_len("weights", rows, weights.len())?;
    match weights.iter().position(|weight| !(0.0..=1.0).contains(weight)) {
        Some(at) => Err(Error::GameWeight { at, value: weights[at] }),
        None => Ok(()),
    }
}

/// A fingerprint of the data, to know them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fingerprint {
    rows: usize,
    columns: usize,
    hash: u64,
}

impl Fingerprint {
    /// Returns the FNV-1a hash over all stored columns, values and signs, a word at a time.
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

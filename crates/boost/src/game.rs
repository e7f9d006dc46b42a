//! The game between a player who draws samples and an online learner.

use margins_data::{Design, Labels};
use margins_losses::{MarginLoss, ZeroOne};
use margins_optim::online::OnlineLearner;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::checkpoint::{Checkpoint, Fingerprint, check_weights};
use crate::consistency::{ConsistencyCheck, Goal};
use crate::evaluation::clipped;
use crate::{Combination, Ensemble, Error, FocusedPlayer, Horizon, SamplePlayer, Slack};

/// Focused online learning (FOL): the game with the focused player.
///
/// The game finds an ensemble with a small loss on *every* sample, where uniform sampling makes the
/// mean small.
///
/// ```
/// use margins_boost::{Fol, FocusedPlayer, Horizon, Stop};
/// use margins_data::{Design, Labels};
/// use margins_optim::online::{Perceptron, Scorer};
///
/// let design = Design::from_rows(&[[1.0, 0.1], [-1.0, 0.2], [0.5, -0.9]])?;
/// let labels = Labels::from_signs(vec![1.0, -1.0, 1.0])?;
/// let horizon = Horizon::classification(3, 0.01, 20.0)?;
/// let player = FocusedPlayer::new(3)?;
/// let mut game = Fol::new(player, Perceptron::new(2), &design, &labels, horizon, 1)?;
/// let ending = game.run(Stop::Consistent)?;
/// assert!(ending.consistent_at.is_some());
/// assert!(game.ensemble().score(&design.sample(2)) > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: Shalev-Shwartz and Wexler (2016), section 2.3.
pub type Fol<'a, L> = Game<'a, FocusedPlayer, L>;

/// The game between a player who draws samples and an online learner.
///
/// Round t: the player draws a sample, its loss `min(1, max(0, L(y f(x))))` under the learner's
/// present classifier goes to the player, the learner takes a step on the sample. The classifiers
/// before k rounds, drawn beforehand, make the ensemble, so that only those are ever kept.
#[derive(Clone)]
pub struct Game<'a, P, L: OnlineLearner> {
    design: &'a Design,
    signs: &'a [f64],
    loss: &'a dyn MarginLoss,
    state: Checkpoint<P, L, L::Snapshot>,
}

/// The rule by which a game ends before its last round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// The game stops after its last round, as in theorem 1.
    Never,
    /// The game stops as soon as the ensemble is known to be right on every sample. The check visits
    /// two samples for every one that a new member comes for, never all of them in one round.
    Consistent,
    /// The game stops as soon as the ensemble is known to be right on every sample, with a loss,
    /// clipped to [0, 1], of at most this. The check is that of [`Consistent`](Self::Consistent).
    LossAtMost(f64),
    /// The game stops as soon as the learner's present classifier, which is then its result, is right
    /// on every sample, with a loss, clipped to [0, 1], of at most this. It is checked once in m
    /// rounds and after the last one, and the check ends at the first sample that is wrong.
    LearnerLossAtMost(f64),
}

/// The end of a game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GameOutcome {
    /// The number of rounds played.
    pub rounds: u64,
    /// The round by which the ensemble was known to reach the goal of [`Stop`]; `None` if it never
    /// was.
    pub consistent_at: Option<u64>,
    /// The sum of the losses that were seen.
    pub seen_loss: f64,
}

/// The seeds of the two uses of randomness, so that the outputs do not depend on the draws.
const SAMPLES: u64 = 0;
const OUTPUTS: u64 = 1;

impl<'a, P: SamplePlayer, L: OnlineLearner> Game<'a, P, L> {
    /// Returns a game before its first round, with the 0-1 loss and a majority vote.
    ///
    /// # Errors
    /// Labels or a player of another number of samples.
    pub fn new(
        player: P,
        learner: L,
        design: &'a Design,
        labels: &'a Labels,
        horizon: Horizon,
        seed: u64,
    ) -> Result<Self, Error> {
        Error::check_len("labels", design.rows(), labels.len())?;
        Error::check_len("samples of the player", design.rows(), player.rows())?;
        let columns = design.columns();
        Error::check_len("features of the learner", columns, learner.columns().unwrap_or(columns))?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(OUTPUTS);
        let outputs = horizon.draw_outputs(&mut random);
        random.set_stream(SAMPLES);
        random.set_word_pos(0);
        let state = Checkpoint {
            data: Fingerprint::new(design, labels),
            loss: ZeroOne.specification(),
            horizon,
            outputs,
            random,
            player,
            learner,
            slack: None,
            weights: None,
            round: 0,
            seen_loss: 0.0,
            ensemble: Ensemble::new(Combination::Majority, Vec::new()),
            check: ConsistencyCheck::new(design.rows()),
            consistent_at: None,
        };
        Ok(Game { design, signs: labels.signs(), loss: &ZeroOne, state })
    }

    /// Plays with another loss, clipped to [0, 1]: the hinge loss becomes the ramp.
    #[must_use]
    pub fn with_loss(mut self, loss: &'a dyn MarginLoss) -> Self {
        self.state.loss = loss.specification();
        self.loss = loss;
        self
    }

    /// Plays with another combination of the outputs.
    #[must_use]
    pub fn with_combination(mut self, combination: Combination) -> Self {
        self.state.ensemble = self.state.ensemble.combined(combination);
        self.state.check = ConsistencyCheck::new(self.design.rows());
        self
    }

    /// Plays with slack for outliers (section 4.2).
    ///
    /// # Errors
    /// Slack of another number of samples.
    pub fn with_slack(mut self, slack: Slack) -> Result<Self, Error> {
        Error::check_len("slack variables", self.design.rows(), slack.rows())?;
        self.state.slack = Some(slack);
        Ok(self)
    }

    /// Plays with the losses `v_i l_i` for weights v_i from 0 to 1, such as those of samples divided by
    /// the largest one. As these losses are in [0, 1] too, theorem 1 holds for them as it is, and the
    /// learner's bound B is one for them. The learner takes no step on a sample of weight 0. A game that
    /// stops at a loss of at most epsilon does not ask a sample with `v_i <= epsilon` to be right, unless
    /// epsilon is 1.
    ///
    /// ```
    /// use margins_boost::{Fol, FocusedPlayer, Horizon, Stop};
    /// use margins_data::{Design, Labels};
    /// use margins_optim::online::{Perceptron, Scorer};
    ///
    /// // The last row contradicts the first one, and weighs less.
    /// let design = Design::from_rows(&[[1.0, 0.1], [-1.0, 0.2], [1.0, 0.1]])?;
    /// let labels = Labels::from_signs(vec![1.0, -1.0, -1.0])?;
    /// let (player, horizon) = (FocusedPlayer::new(3)?, Horizon::new(2000, 99)?);
    /// let game = Fol::new(player, Perceptron::new(2), &design, &labels, horizon, 1)?;
    /// let mut game = game.with_weights(vec![1.0, 1.0, 0.0])?;
    /// assert!(game.run(Stop::LossAtMost(0.49))?.consistent_at.is_some());
    /// assert!(game.ensemble().score(&design.sample(0)) > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another number of weights than of samples; [`Error::GameWeight`].
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check_weights(&weights, self.design.rows())?;
        self.state.weights = Some(weights);
        Ok(self)
    }

    /// Continues from a checkpoint, as if the game had not been interrupted.
    ///
    /// # Errors
    /// A checkpoint of other data or another loss, or one that contradicts itself.
    pub fn resume(
        checkpoint: Checkpoint<P, L, L::Snapshot>,
        design: &'a Design,
        labels: &'a Labels,
        loss: &'a dyn MarginLoss,
    ) -> Result<Self, Error> {
        Error::check_len("labels", design.rows(), labels.len())?;
        checkpoint.check(&Fingerprint::new(design, labels), &loss.specification())?;
        Ok(Game { design, signs: labels.signs(), loss, state: checkpoint })
    }

    /// Returns all that the rest of the game depends on.
    pub fn checkpoint(&self) -> &Checkpoint<P, L, L::Snapshot> {
        &self.state
    }

    /// Plays a round; whether there was one left.
    ///
    /// # Errors
    /// An error of the learner at a sample, or a loss that is no number; only the random numbers
    /// are then not as before.
    pub fn play(&mut self) -> Result<bool, Error> {
        if self.is_played() {
            return Ok(false);
        }
        let state = &mut self.state;
        let row = state.player.draw(&mut state.random);
        let (x, y) = (self.design.sample(row), self.signs[row]);
        let weight = state.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let loss = weight * clipped(self.loss, row, y, state.learner.score(&x))?;
        let (loss, excused) = match &state.slack {
            None => (loss, false),
            Some(slack) => slack.excuse(row, loss),
        };
        let output = (state.outputs.get(state.ensemble.members().len()) == Some(&state.round))
            .then(|| state.learner.snapshot());
        if !excused && weight > 0.0 {
            state.learner.step(&x, y)?;
        }
        state.player.observe(row, loss)?;
        if let Some(slack) = &mut state.slack {
            slack.observe(row, loss);
        }
        if let Some(snapshot) = output {
            while state.outputs.get(state.ensemble.members().len()) == Some(&state.round) {
                state.ensemble.push(snapshot.clone());
            }
        }
        state.seen_loss += loss;
        state.round += 1;
        Ok(true)
    }

    /// Plays to the end.
    ///
    /// # Errors
    /// The errors of [`play`](Self::play).
    pub fn run(&mut self, stop: Stop) -> Result<GameOutcome, Error> {
        self.run_until(self.state.horizon.rounds(), stop)
    }

    /// Plays until so many rounds are over, or to the end.
    ///
    /// # Errors
    /// The errors of [`play`](Self::play).
    pub fn run_until(&mut self, rounds: u64, stop: Stop) -> Result<GameOutcome, Error> {
        let visits = self.visits();
        let epsilon = match stop {
            Stop::Never | Stop::LearnerLossAtMost(_) => None,
            Stop::Consistent => Some(1.0),
            Stop::LossAtMost(epsilon) => Some(epsilon),
        };
        let (design, signs, loss) = (self.design, self.signs, self.loss);
        while self.state.round < rounds && self.state.consistent_at.is_none() && self.play()? {
            let state = &mut self.state;
            if let Some(epsilon) = epsilon {
                let weights = state.weights.as_deref();
                let goal = Goal { design, signs, loss, weights, epsilon };
                if state.check.advance(&state.ensemble, &goal, visits) {
                    state.consistent_at = Some(state.round);
                }
            }
            if let Stop::LearnerLossAtMost(epsilon) = stop
                && (self.state.round.is_multiple_of(signs.len() as u64) || self.is_played())
                && self.learner_reaches(epsilon)
            {
                self.state.consistent_at = Some(self.state.round);
            }
        }
        Ok(self.ending())
    }

    /// Returns true after the last round.
    fn is_played(&self) -> bool {
        self.state.round == self.state.horizon.rounds()
    }

    /// Returns true if the learner is right on every sample, with a loss of at most epsilon.
    fn learner_reaches(&self, epsilon: f64) -> bool {
        let (design, signs, loss) = (self.design, self.signs, self.loss);
        let goal = Goal { design, signs, loss, weights: self.state.weights.as_deref(), epsilon };
        let score = |row: usize| self.state.learner.score(&design.sample(row));
        (0..signs.len()).all(|row| goal.spares(row) || goal.is_reached(row, score(row)))
    }

    /// Samples to look after in a round: twice m for every new member.
    fn visits(&self) -> usize {
        let horizon = &self.state.horizon;
        let a_member = horizon.rounds() as f64 / horizon.outputs() as f64;
        (2.0 * self.signs.len() as f64 / a_member).ceil() as usize
    }

    /// Returns the end of the game as it is now.
    pub fn ending(&self) -> GameOutcome {
        let Checkpoint { round, consistent_at, seen_loss, .. } = self.state;
        GameOutcome { rounds: round, consistent_at, seen_loss }
    }

    /// Returns the learner as it is now.
    pub fn learner(&self) -> &L {
        &self.state.learner
    }

    /// Returns the player as it is now.
    pub fn player(&self) -> &P {
        &self.state.player
    }

    /// Returns the slack variables, if there are any.
    pub fn slack(&self) -> Option<&Slack> {
        self.state.slack.as_ref()
    }

    /// Returns the outputs so far: of all k, once the last round is over.
    pub fn ensemble(&self) -> &Ensemble<L::Snapshot> {
        &self.state.ensemble
    }

    /// Returns the number of rounds played.
    pub fn round(&self) -> u64 {
        self.state.round
    }
}

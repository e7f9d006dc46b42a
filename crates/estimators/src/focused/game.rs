//! Runs one game, or two: rounds, limits and checkpoints.

use std::time::{Duration, Instant};

use margins_boost::{
    Checkpoint, Ensemble, Evaluation, Game, GameOutcome, KernelPerceptron, KeslerPerceptron,
    MultilayerPerceptron, Player, Slack, SlackKind, StumpWinnow, kesler_sample,
};
use margins_data::metrics::HeldOutError;
use margins_data::{Dataset, Sample};
use margins_kernels::Kernel;
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::{
    Adaptive, AveragedPerceptron, Experts, LinearClassifier, OnlineGradient, OnlineLearner,
    PassiveAggressive, Perceptron,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::committee::Committee;
use super::game_file::{GameFile, State};
use super::learner::FocusedLearner;
use super::output;
use super::plurality;
use super::settings::{EnsembleSettings, Guarantee, SlackBudget};
use super::weights::weighted;
use crate::Error;

/// A game before its learner is made.
pub(super) struct Table<'a> {
    pub(super) settings: &'a EnsembleSettings,
    /// The samples that are learned from.
    pub(super) data: &'a Dataset,
    /// All samples, which the ensemble is judged on.
    pub(super) all: &'a Dataset,
    /// The samples on which one of the classifiers is chosen, if it is.
    pub(super) held_out: Option<&'a Dataset>,
    /// The number of classes that one game is played on, whose samples have their class.
    pub(super) classes: Option<usize>,
    /// The factors that the features of the samples were multiplied with, if they were.
    pub(super) scales: Option<Vec<f64>>,
    pub(super) guarantee: Guarantee,
    pub(super) limits: Limits<'a>,
    pub(super) file: GameFile<'a>,
}

/// The end of a game.
pub(super) struct Outcome {
    pub(super) ending: GameOutcome,
    /// The most steps of the games played.
    pub(super) most: u64,
    /// The limit that ended the game, if one did.
    pub(super) stopped: Option<Status>,
    pub(super) evaluation: Evaluation,
    /// What the losses seen say of the learner.
    pub(super) seen: SeenLosses,
    /// The choice of one classifier, if it was made.
    pub(super) validation: Option<HeldOutError>,
    /// The classifiers together.
    pub(super) ensemble: Committee,
    /// The slack of the game.
    pub(super) slack: Option<SlackBudget>,
    /// The flagged rows, from 0.
    pub(super) outliers: Option<Vec<usize>>,
    /// The learner.
    pub(super) learner: String,
    /// The specification of the kernel of the learner.
    pub(super) kernel: Option<String>,
    /// The state of the game, if there is a file.
    state: Option<State>,
}

/// What the losses that were seen say of the learner, the evidence of theorem 1. Of two games it is of
/// the one whose classifiers come out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenLosses {
    /// The mean loss of the samples drawn, under the classifiers of their time.
    pub mean: f64,
    /// A bound, with probability `1 - delta`, on the mean loss of every sample over the steps of the
    /// game: the largest [`loss_bound`](margins_boost::FocusedPlayer::loss_bound) of the samples
    /// learned from. It assumes nothing of learner and samples. `None` with slack, and of another
    /// player than the focused one.
    pub bound: Option<f64>,
}

/// What a game begins with.
#[derive(Default)]
struct Opening {
    slack: Option<SlackBudget>,
    /// The state that the game resumes from.
    saved: Option<State>,
    /// The steps of the game before this one.
    steps_before: u64,
    /// The state of the game before this one, if there is a file.
    before: Option<State>,
}

impl Outcome {
    /// Returns the number of samples with a loss above epsilon.
    fn above(&self, epsilon: f64) -> usize {
        self.evaluation.losses.iter().filter(|&&loss| loss > epsilon).count()
    }
}

/// A checkpoint of a game with the learner `L`.
type Live<L> = Checkpoint<Player, L, <L as OnlineLearner>::Snapshot>;

/// The longest time of which the work of a game may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// The number of steps between checks of the clock and the limits.
const STEPS_A_LOOK: u64 = 64;

impl Table<'_> {
    /// Plays with the learner of the settings.
    ///
    /// A game that had time enough and left some losses above epsilon is followed by one with slack for
    /// them; the one that leaves fewer is returned. A file has the state of both.
    pub(super) fn play(&self) -> Result<Outcome, Error> {
        let mut saved = self.file.read()?.into_iter();
        let learner = &self.settings.learner;
        let (slack, state) = (self.settings.slack(), saved.next());
        let opening = Opening { slack, saved: state, ..Opening::default() };
        let first = self.play_game(learner, opening)?;
        let wrong = first.above(self.settings.epsilon);
        if wrong == 0 || !self.is_lost(&first.ending) {
            return Ok(first);
        }
        let played = first.ending.rounds;
        let opening = Opening {
            slack: Some(SlackBudget { kind: SlackKind::AdditiveSum, budget: wrong as f64 }),
            saved: saved.next(),
            steps_before: played,
            before: first.state.clone(),
        };
        let other = self.classes.is_none().then(|| learner.against_noise());
        let second = self.play_game(other.as_ref().unwrap_or(learner), opening)?;
        let rounds = played + second.ending.rounds;
        let seen_loss = first.ending.seen_loss + second.ending.seen_loss;
        let mut better = if second.above(self.settings.epsilon) < wrong {
            let consistent_at = second.ending.consistent_at.map(|round| played + round);
            Outcome { ending: GameOutcome { consistent_at, ..second.ending }, ..second }
        } else {
            Outcome { stopped: second.stopped, ..first }
        };
        better.ending = GameOutcome { rounds, seen_loss, ..better.ending };
        better.most += self.guarantee.horizon.rounds();
        Ok(better)
    }

    /// Plays one game.
    fn play_game(&self, learner: &FocusedLearner, opening: Opening) -> Result<Outcome, Error> {
        let (p, intercept) = (self.data.columns(), self.settings.intercept);
        if let Some(classes) = self.classes {
            let kesler = KeslerPerceptron::new(p - 1, classes);
            let kesler = if intercept { kesler } else { kesler.without_intercept() };
            let keep = |ensemble: &Ensemble<_>| Committee::Joint(ensemble.clone());
            let outcome = self.play_with(kesler, opening, |state| state, |state| state, keep)?;
            return Ok(Outcome { learner: learner.to_string(), ..outcome });
        }
        let outcome = match learner {
            FocusedLearner::Perceptron => self.play_linear(
                match intercept {
                    true => Perceptron::new(p),
                    false => Perceptron::new(p).without_intercept(),
                },
                opening,
            ),
            FocusedLearner::AveragedPerceptron => self.play_linear(
                match intercept {
                    true => AveragedPerceptron::new(p),
                    false => AveragedPerceptron::new(p).without_intercept(),
                },
                opening,
            ),
            FocusedLearner::PassiveAggressive(how) => {
                let learner = PassiveAggressive::new(p, *how)?;
                let learner = if intercept { learner } else { learner.without_intercept() };
                self.play_linear(learner, opening)
            }
            FocusedLearner::OnlineGradient { schedule, radius, lambda, loss } => {
                let mut learner = OnlineGradient::new(&**loss, p, *schedule)?;
                if let Some(radius) = radius {
                    learner = learner.projected(*radius)?;
                }
                if let Some(lambda) = lambda {
                    learner = learner.penalized(*lambda);
                }
                let loss = &**loss;
                self.play_with(
                    if intercept { learner } else { learner.without_intercept() },
                    opening,
                    |state| state.map(|learner| learner.map_loss(drop), |classifier| classifier),
                    |state| {
                        state.map(|learner| learner.map_loss(|()| loss), |classifier| classifier)
                    },
                    |ensemble| Committee::Linear(ensemble.clone()),
                )
            }
            FocusedLearner::Adaptive { loss } => {
                let loss = &**loss;
                let learner = Adaptive::new(loss, p, Experts::All);
                self.play_with(
                    if intercept { learner } else { learner.without_intercept() },
                    opening,
                    |state| state.map(|learner| learner.map_loss(drop), |classifier| classifier),
                    |state| {
                        state.map(|learner| learner.map_loss(|()| loss), |classifier| classifier)
                    },
                    |ensemble| Committee::Linear(ensemble.clone()),
                )
            }
            FocusedLearner::Stump { thresholds, eta } => self.play_with(
                StumpWinnow::new(self.data.design(), *thresholds, *eta)?,
                opening,
                |state| state,
                |state| state,
                |ensemble| Committee::Stumps(ensemble.clone()),
            ),
            FocusedLearner::KernelPerceptron { kernel, registry, budget } => {
                let mut kernel = registry.parse(kernel)?;
                kernel.adapt_to(self.data.design(), None, self.settings.seed)?;
                // Refuses samples for which the kernel is not defined; the learner reads values alone.
                margins_kernel_functions::diagonal(&*kernel, self.data.design())?;
                self.play_kernel(&*kernel, *budget, opening)
            }
            FocusedLearner::MultilayerPerceptron { hidden, step, loss } => {
                let loss = &**loss;
                self.play_with(
                    MultilayerPerceptron::new(p, hidden, loss, *step, self.settings.seed)?,
                    opening,
                    |state| state.map(|learner| learner.map_loss(drop), |network| network),
                    |state| state.map(|learner| learner.map_loss(|()| loss), |network| network),
                    |ensemble| Committee::Networks {
                        scales: self.scales.clone(),
                        networks: ensemble.clone(),
                    },
                )
            }
        }?;
        Ok(Outcome { learner: learner.to_string(), ..outcome })
    }

    /// Plays with a perceptron in the function space of a kernel.
    fn play_kernel(
        &self,
        kernel: &dyn Kernel,
        budget: usize,
        opening: Opening,
    ) -> Result<Outcome, Error> {
        let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
        let specification = kernel.specification();
        let outcome = self.play_with(
            KernelPerceptron::new(value, budget, self.settings.seed)?,
            opening,
            |state| state.map(|l| l.map_kernel(drop), |c| c.map_kernel(drop)),
            |state| state.map(|l| l.map_kernel(|()| value), |c| c.map_kernel(|()| value)),
            |ensemble| {
                let members = ensemble.members().iter();
                let members = members.map(|c| c.clone().map_kernel(drop)).collect();
                let sections = Ensemble::new(ensemble.combination(), members);
                let scales = self.scales.clone();
                Committee::Kernel { kernel: specification.clone(), scales, sections }
            },
        )?;
        Ok(Outcome { kernel: Some(specification.clone()), ..outcome })
    }

    /// Plays with a learner that holds no function.
    fn play_linear<L>(&self, learner: L, opening: Opening) -> Result<Outcome, Error>
    where
        L: OnlineLearner<Snapshot = LinearClassifier> + Clone + Serialize + DeserializeOwned,
    {
        self.play_with(
            learner,
            opening,
            |state| state,
            |state| state,
            |ensemble| Committee::Linear(ensemble.clone()),
        )
    }

    /// Plays with a learner; `hold` takes the functions out of it for a file, `back` puts them in
    /// again; `keep` makes the ensemble of the fit.
    fn play_with<L, M, R>(
        &self,
        learner: L,
        Opening { slack, saved, steps_before, before }: Opening,
        hold: impl Fn(Live<L>) -> Checkpoint<Player, M, R>,
        back: impl Fn(Checkpoint<Player, M, R>) -> Live<L>,
        keep: impl Fn(&Ensemble<L::Snapshot>) -> Committee,
    ) -> Result<Outcome, Error>
    where
        L: OnlineLearner + Clone,
        M: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let mut game = match self.file.decoded(saved)? {
            Some(state) => {
                let (design, labels) = (self.data.design(), self.data.labels());
                Game::resume(back(state), design, labels, &*self.settings.loss)?
            }
            None => self.start(learner, slack)?,
        };
        let state =
            |game: &Game<'_, Player, L>| self.file.encoded(|| hold(game.checkpoint().clone()));
        let stopped = self.run(&mut game, steps_before, |game| {
            let states: Vec<State> = before.iter().cloned().chain(state(game)?).collect();
            self.file.write(&states)
        })?;
        let outcome = self.judge(&game, stopped, slack, keep)?;
        Ok(Outcome { state: state(&game)?, ..outcome })
    }

    /// Plays a game to its end, or to a limit, which is returned; `before` steps were played in an
    /// earlier game. A game that is over, as in a file that was resumed, writes nothing.
    fn run<L: OnlineLearner>(
        &self,
        game: &mut Game<'_, Player, L>,
        before: u64,
        write: impl Fn(&Game<'_, Player, L>) -> Result<(), Error>,
    ) -> Result<Option<Status>, Error> {
        if self.is_over(&game.ending()) {
            return Ok(None);
        }
        let most = self.file.pause_at.saturating_sub(before);
        let mut written = Instant::now();
        let stopped = loop {
            let next = most.min(game.round().saturating_add(STEPS_A_LOOK));
            let ending = game.run_until(next, self.settings.stop())?;
            if self.is_over(&ending) {
                break None;
            }
            if ending.rounds >= most {
                break Some(Status::Paused);
            }
            if let Some(status) = self.limits.reached() {
                break Some(status);
            }
            if written.elapsed() >= BETWEEN_CHECKPOINTS {
                write(game)?;
                written = Instant::now();
            }
        };
        write(game)?;
        if stopped == Some(Status::Interrupted) {
            return Err(margins_boost::Error::Interrupted.into());
        }
        Ok(stopped)
    }

    /// Judges the ensemble of a game on all samples.
    fn judge<L: OnlineLearner>(
        &self,
        game: &Game<'_, Player, L>,
        stopped: Option<Status>,
        slack: Option<SlackBudget>,
        keep: impl Fn(&Ensemble<L::Snapshot>) -> Committee,
    ) -> Result<Outcome, Error> {
        let (design, labels) = (self.all.design(), self.all.labels());
        let (output, taken) = (self.settings.output, game.ensemble().members());
        let mut validation = None;
        // A game that ended before the first classifier was taken has that of now alone.
        let early = stopped.is_some() && taken.is_empty();
        let single = if let Some(held_out) = self.held_out {
            let candidates = taken.iter().cloned().chain([game.learner().snapshot()]).collect();
            let delta = self.settings.delta;
            let (chosen, choice) = output::validated(candidates, held_out, delta, &self.limits)?;
            validation = Some(choice);
            Some(chosen)
        } else {
            (output.is_single() || early).then(|| game.learner().snapshot())
        };
        let single = single.map(|classifier| Ensemble::new(output.combination(), vec![classifier]));
        let ensemble = single.as_ref().unwrap_or(game.ensemble());
        let loss = &*self.settings.loss;
        let kept = keep(ensemble);
        let evaluation = match kept.joint() {
            Some(joint) => {
                let samples = design.samples().map(|x| kesler_sample(&x));
                plurality::evaluation(joint, samples, &self.limits)?
            }
            None => Evaluation::within(ensemble, design, labels, loss, &self.limits)?,
        };
        Ok(Outcome {
            ending: game.ending(),
            most: self.guarantee.horizon.rounds(),
            stopped,
            evaluation: weighted(evaluation, self.all)?,
            seen: self.seen(game),
            validation,
            ensemble: kept,
            slack,
            outliers: game.slack().map(Slack::outliers),
            learner: String::new(),
            kernel: None,
            state: None,
        })
    }

    /// Returns what the losses of a game say of its learner.
    fn seen<L: OnlineLearner>(&self, game: &Game<'_, Player, L>) -> SeenLosses {
        let (rounds, delta) = (game.round(), self.settings.delta);
        let bound = match game.player() {
            Player::Focused(player) if game.slack().is_none() => {
                let rows = 0..self.data.rows();
                rows.map(|row| player.loss_bound(row, rounds, delta).ok())
                    .try_fold(0.0, |most, bound| Some(f64::max(most, bound?)))
            }
            _ => None,
        };
        SeenLosses { mean: game.ending().seen_loss / rounds.max(1) as f64, bound }
    }

    /// Returns true if a game has reached its goal or the most steps.
    fn is_over(&self, ending: &GameOutcome) -> bool {
        ending.consistent_at.is_some() || ending.rounds == self.guarantee.horizon.rounds()
    }

    /// Returns true if a game ended after all its steps and is followed by one with slack.
    fn is_lost(&self, ending: &GameOutcome) -> bool {
        let lost = ending.consistent_at.is_none() && self.is_over(ending);
        lost && self.settings.plays_again(&self.guarantee)
    }

    /// Returns the game before its first round.
    fn start<L: OnlineLearner>(
        &self,
        learner: L,
        slack: Option<SlackBudget>,
    ) -> Result<Game<'_, Player, L>, Error> {
        let (design, labels) = (self.data.design(), self.data.labels());
        let EnsembleSettings { player, delta, seed, .. } = *self.settings;
        let player = Player::new(player, design.rows(), delta)?;
        let game = Game::new(player, learner, design, labels, self.guarantee.horizon, seed)?;
        let game = game.with_loss(&*self.settings.loss);
        let mut game = game.with_combination(self.settings.output.combination());
        if let Some(weights) = self.data.weights() {
            // A product may exceed 1 by rounding.
            game = game.with_weights(weights.iter().map(|weight| weight.min(1.0)).collect())?;
        }
        let Some(SlackBudget { kind, budget }) = slack else { return Ok(game) };
        let slack = Slack::new(kind, design.rows(), budget, self.guarantee.horizon.rounds())?;
        Ok(game.with_slack(slack)?)
    }
}

//! Runs a game with one learner: rounds, limits and checkpoints.

use std::time::{Duration, Instant};

use margins_boost::KernelPerceptron;
use margins_boost::{
    Checkpoint, Evaluation, FocusedPlayer, Fol, Game, GameOutcome, Horizon, MultilayerPerceptron,
    Slack, SlackKind, Stop, StumpWinnow,
};
use margins_data::Dataset;
use margins_data::Sample;
use margins_kernels::Kernel;
use margins_losses::MarginLoss;
use margins_optim::online::stochastic::Schedule;
use margins_optim::online::{
    AveragedPerceptron, LinearClassifier, OnlineGradient, OnlineLearner, PassiveAggressive,
    Perceptron,
};
use margins_optim::solve::Limits;
use margins_optim::{Lambda, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::committee::Committee;
use super::learner::FocusedLearner;
use super::settings::{EnsembleSettings, SlackBudget};
use crate::Error;
#[cfg(feature = "serde")]
use crate::checkpoint::CheckpointFile;

/// A game before its learner is made.
pub(super) struct Table<'a> {
    pub(super) settings: &'a EnsembleSettings,
    /// The samples that are learned from.
    pub(super) data: &'a Dataset,
    /// All samples, which the ensemble is judged on.
    pub(super) all: &'a Dataset,
    /// The factors that the features of the samples were multiplied with, if they were.
    pub(super) scales: Option<Vec<f64>>,
    pub(super) horizon: Horizon,
    pub(super) limits: Limits<'a>,
    #[cfg(feature = "serde")]
    pub(super) file: Option<CheckpointFile<'a>>,
    pub(super) pause_at: u64,
}

/// The end of a game.
pub(super) struct Outcome {
    pub(super) ending: GameOutcome,
    /// The most steps of the games played.
    pub(super) most: u64,
    /// The limit that ended the game, if one did.
    pub(super) stopped: Option<Status>,
    pub(super) evaluation: Evaluation,
    /// The classifiers together.
    pub(super) ensemble: Committee,
    /// The slack of the game.
    pub(super) slack: Option<SlackBudget>,
    /// The flagged rows, from 0.
    pub(super) outliers: Option<Vec<usize>>,
    /// The specification of the kernel of the learner.
    pub(super) kernel: Option<String>,
}

impl Outcome {
    /// Returns the number of samples with a loss above epsilon.
    fn above(&self, epsilon: f64) -> usize {
        self.evaluation.losses.iter().filter(|&&loss| loss > epsilon).count()
    }
}

/// A checkpoint of a game with the learner `L`.
type Live<L> = Checkpoint<FocusedPlayer, L, <L as OnlineLearner>::Snapshot>;

/// The longest time of which the work of a game may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// The number of steps between checks of the clock and the limits.
const STEPS_A_LOOK: u64 = 64;

impl Table<'_> {
    /// Plays the game with the learner of the settings.
    pub(super) fn play(&self) -> Result<Outcome, Error> {
        let (p, intercept) = (self.data.columns(), self.settings.intercept);
        match &self.settings.learner {
            FocusedLearner::Perceptron => self.play_linear(match intercept {
                true => Perceptron::new(p),
                false => Perceptron::new(p).without_intercept(),
            }),
            FocusedLearner::AveragedPerceptron => self.play_linear(match intercept {
                true => AveragedPerceptron::new(p),
                false => AveragedPerceptron::new(p).without_intercept(),
            }),
            FocusedLearner::PassiveAggressive(how) => {
                let learner = PassiveAggressive::new(p, *how)?;
                self.play_linear(if intercept { learner } else { learner.without_intercept() })
            }
            FocusedLearner::OnlineGradient { schedule, radius, lambda, loss } => {
                self.play_gradient(&**loss, *schedule, *radius, *lambda)
            }
            FocusedLearner::Stump { thresholds, eta } => {
                let learner = StumpWinnow::new(self.data.design(), *thresholds, *eta)?;
                self.play_with(
                    learner,
                    |state| state,
                    |state| state,
                    |ensemble| Committee::Stumps(ensemble.clone()),
                )
            }
            FocusedLearner::KernelPerceptron { kernel, registry, budget } => {
                let mut kernel = registry.parse(kernel)?;
                kernel.adapt_to(self.data.design(), None, self.settings.seed)?;
                self.play_kernel(&*kernel, *budget)
            }
            FocusedLearner::MultilayerPerceptron { hidden, step, loss } => {
                let loss = &**loss;
                self.play_with(
                    MultilayerPerceptron::new(p, hidden, loss, *step, self.settings.seed)?,
                    |state| state.map(|learner| learner.map_loss(drop), |network| network),
                    |state| state.map(|learner| learner.map_loss(|()| loss), |network| network),
                    |ensemble| Committee::Networks {
                        scales: self.scales.clone(),
                        networks: ensemble.clone(),
                    },
                )
            }
        }
    }

    /// Plays with projected gradient steps.
    fn play_gradient(
        &self,
        loss: &dyn MarginLoss,
        schedule: Schedule,
        radius: Option<f64>,
        lambda: Option<Lambda>,
    ) -> Result<Outcome, Error> {
        let mut learner = OnlineGradient::new(loss, self.data.columns(), schedule)?;
        if let Some(radius) = radius {
            learner = learner.projected(radius)?;
        }
        if let Some(lambda) = lambda {
            learner = learner.penalized(lambda);
        }
        self.play_with(
            if self.settings.intercept { learner } else { learner.without_intercept() },
            |state| state.map(|learner| learner.map_loss(drop), |classifier| classifier),
            |state| state.map(|learner| learner.map_loss(|()| loss), |classifier| classifier),
            |ensemble| Committee::Linear(ensemble.clone()),
        )
    }

    /// Plays with a perceptron in the function space of a kernel.
    fn play_kernel(&self, kernel: &dyn Kernel, budget: usize) -> Result<Outcome, Error> {
        let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
        let specification = kernel.specification();
        let outcome = self.play_with(
            KernelPerceptron::new(value, budget, self.settings.seed)?,
            |state| state.map(|l| l.map_kernel(drop), |c| c.map_kernel(drop)),
            |state| state.map(|l| l.map_kernel(|()| value), |c| c.map_kernel(|()| value)),
            |ensemble| {
                let members = ensemble.members().iter();
                let members = members.map(|c| c.clone().map_kernel(drop)).collect();
                let sections = margins_boost::Ensemble::new(ensemble.combination(), members);
                let scales = self.scales.clone();
                Committee::Kernel { kernel: specification.clone(), scales, sections }
            },
        )?;
        Ok(Outcome { kernel: Some(specification.clone()), ..outcome })
    }

    /// Plays with a learner that holds no function.
    fn play_linear<L>(&self, learner: L) -> Result<Outcome, Error>
    where
        L: OnlineLearner<Snapshot = LinearClassifier> + Clone + Serialize + DeserializeOwned,
    {
        self.play_with(
            learner,
            |state| state,
            |state| state,
            |ensemble| Committee::Linear(ensemble.clone()),
        )
    }

    /// Plays with a learner; `hold` takes the functions out of it for a file, `back` puts them in
    /// again; `keep` makes the ensemble of the fit.
    ///
    /// A game that had time enough and left some losses above epsilon is followed by one with slack for
    /// them; the one that leaves fewer is returned. A file has the state of both.
    fn play_with<L, M, R>(
        &self,
        learner: L,
        hold: impl Fn(Live<L>) -> Checkpoint<FocusedPlayer, M, R>,
        back: impl Fn(Checkpoint<FocusedPlayer, M, R>) -> Live<L>,
        keep: impl Fn(&margins_boost::Ensemble<L::Snapshot>) -> Committee,
    ) -> Result<Outcome, Error>
    where
        L: OnlineLearner + Clone,
        M: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let begin = |learner, state: Option<Checkpoint<FocusedPlayer, M, R>>, slack| match state {
            Some(state) => {
                let (design, labels) = (self.data.design(), self.data.labels());
                Ok(Game::resume(back(state), design, labels, &*self.settings.loss)?)
            }
            None => self.start(learner, slack),
        };
        let mut saved = self.read::<Vec<_>>()?.unwrap_or_default().into_iter();
        let mut game = begin(learner.clone(), saved.next(), self.settings.slack())?;
        let state = |game: &Fol<'_, L>| hold(game.checkpoint().clone());
        let stopped = self.run(&mut game, 0, |game| self.write(|| [state(game)]))?;
        let first = self.judge(&game, stopped, self.settings.slack(), &keep)?;
        let wrong = first.above(self.settings.epsilon);
        if wrong == 0 || !self.is_lost(&first.ending)? {
            return Ok(first);
        }
        let slack = Some(SlackBudget { kind: SlackKind::AdditiveSum, budget: wrong as f64 });
        let mut again = begin(learner, saved.next(), slack)?;
        let played = first.ending.rounds;
        let stopped =
            self.run(&mut again, played, |again| self.write(|| [state(&game), state(again)]))?;
        let second = self.judge(&again, stopped, slack, &keep)?;
        let rounds = played + second.ending.rounds;
        let seen_loss = first.ending.seen_loss + second.ending.seen_loss;
        let mut better = if second.above(self.settings.epsilon) < wrong {
            let consistent_at = second.ending.consistent_at.map(|round| played + round);
            Outcome { ending: GameOutcome { consistent_at, ..second.ending }, ..second }
        } else {
            Outcome { stopped: second.stopped, ..first }
        };
        better.ending = GameOutcome { rounds, seen_loss, ..better.ending };
        better.most += self.horizon.rounds();
        Ok(better)
    }

    /// Plays a game to its end, or to a limit, which is returned; `before` steps were played in an
    /// earlier game. A game that is over, as in a file that was resumed, writes nothing.
    fn run<L: OnlineLearner>(
        &self,
        game: &mut Fol<'_, L>,
        before: u64,
        write: impl Fn(&Fol<'_, L>) -> Result<(), Error>,
    ) -> Result<Option<Status>, Error> {
        if self.is_over(&game.ending()) {
            return Ok(None);
        }
        let most = self.pause_at.saturating_sub(before);
        let mut written = Instant::now();
        let stopped = loop {
            let next = most.min(game.round().saturating_add(STEPS_A_LOOK));
            let ending = game.run_until(next, Stop::LossAtMost(self.settings.epsilon))?;
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
        game: &Fol<'_, L>,
        stopped: Option<Status>,
        slack: Option<SlackBudget>,
        keep: impl Fn(&margins_boost::Ensemble<L::Snapshot>) -> Committee,
    ) -> Result<Outcome, Error> {
        let (design, labels) = (self.all.design(), self.all.labels());
        let alone;
        let ensemble = if stopped.is_some() && game.ensemble().members().is_empty() {
            // The game ended before the first classifier was taken: that of now stands for it.
            let members = vec![game.learner().snapshot()];
            alone = margins_boost::Ensemble::new(self.settings.combination, members);
            &alone
        } else {
            game.ensemble()
        };
        let loss = &*self.settings.loss;
        Ok(Outcome {
            ending: game.ending(),
            most: self.horizon.rounds(),
            stopped,
            evaluation: Evaluation::within(ensemble, design, labels, loss, &self.limits)?,
            ensemble: keep(ensemble),
            slack,
            outliers: game.slack().map(Slack::outliers),
            kernel: None,
        })
    }

    /// Returns true if a game has reached its goal or the most steps.
    fn is_over(&self, ending: &GameOutcome) -> bool {
        ending.consistent_at.is_some() || ending.rounds == self.horizon.rounds()
    }

    /// Returns true if a game ended after all its steps and is followed by one with slack.
    fn is_lost(&self, ending: &GameOutcome) -> Result<bool, Error> {
        let lost = ending.consistent_at.is_none() && self.is_over(ending);
        Ok(lost && self.settings.plays_again(&self.horizon, self.data.rows())?)
    }

    /// Returns the game before its first round.
    fn start<L: OnlineLearner>(
        &self,
        learner: L,
        slack: Option<SlackBudget>,
    ) -> Result<Fol<'_, L>, Error> {
        let (design, labels) = (self.data.design(), self.data.labels());
        let player = FocusedPlayer::new(design.rows())?;
        let game = Fol::new(player, learner, design, labels, self.horizon, self.settings.seed)?;
        let game = game.with_loss(&*self.settings.loss);
        let game = game.with_combination(self.settings.combination);
        let Some(SlackBudget { kind, budget }) = slack else { return Ok(game) };
        let slack = Slack::new(kind, design.rows(), budget, self.horizon.rounds())?;
        Ok(game.with_slack(slack)?)
    }

    /// Returns the states of the games in the file, if there is one.
    #[cfg(feature = "serde")]
    fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        self.file.as_ref().map_or(Ok(None), CheckpointFile::read)
    }

    /// Writes the states of the games to the file, if there is one.
    #[cfg(feature = "serde")]
    fn write<T: Serialize>(&self, games: impl FnOnce() -> T) -> Result<(), Error> {
        self.file.as_ref().map_or(Ok(()), |file| file.write(&games()))
    }

    /// Returns no state: there are no files without the feature `serde`.
    #[cfg(not(feature = "serde"))]
    fn read<T>(&self) -> Result<Option<T>, Error> {
        Ok(None)
    }

    /// Writes nothing: there are no files without the feature `serde`.
    #[cfg(not(feature = "serde"))]
    fn write<T>(&self, _: impl FnOnce() -> T) -> Result<(), Error> {
        Ok(())
    }
}

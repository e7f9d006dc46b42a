//! Games of focused online learning, whatever their learner.

use std::time::{Duration, Instant};

use margins::Registry;
use margins::boost::{
    Checkpoint, Combination, Ending, Ensemble, Evaluation, FocusedPlayer, Fol, Game, Horizon,
    KernelPerceptron, MultilayerPerceptron, Slack, SlackKind, Stop, StumpWinnow,
};
use margins::data::{Dataset, Sample};
use margins::losses::MarginLoss;
use margins::optim::online::{
    AveragedPerceptron, LinearClassifier, OnlineGradient, OnlineLearner, PassiveAggressive,
    Perceptron,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checkpoint_file::CheckpointFile;
use super::learner::Learner;
use crate::failure::Failure;

/// The setting of a game, its learner apart.
pub(super) struct Setting<'a> {
    /// The data that are learnt from.
    pub(super) data: &'a Dataset,
    /// All data.
    pub(super) all: &'a Dataset,
    pub(super) loss: &'a dyn MarginLoss,
    pub(super) horizon: Horizon,
    pub(super) combination: Combination,
    pub(super) slack: Option<(SlackKind, f64)>,
    pub(super) seed: u64,
    pub(super) file: Option<CheckpointFile<'a>>,
    pub(super) pause_at: u64,
}

/// The end of a game.
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) evaluation: Evaluation,
    pub(super) members: usize,
    /// The average of the classifiers, if they are linear.
    pub(super) classifier: Option<LinearClassifier>,
    /// The rows flagged, from 0.
    pub(super) outliers: Option<Vec<usize>>,
    /// The specification of the kernel of the learner.
    pub(super) kernel: Option<String>,
}

/// A checkpoint of a game with the learner `L`.
type Live<L> = Checkpoint<FocusedPlayer, L, <L as OnlineLearner>::Snapshot>;

/// The time of which the work may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// The number of steps between looks at the clock.
const STEPS_A_LOOK: u64 = 10_000;

impl Setting<'_> {
    /// Plays a game, or goes on with it; `hold` takes the functions out of the learner for a file, `back` puts them in again.
    fn play<L, M, R>(
        &self,
        learner: L,
        hold: impl Fn(Live<L>) -> Checkpoint<FocusedPlayer, M, R>,
        back: impl Fn(Checkpoint<FocusedPlayer, M, R>) -> Live<L>,
        collapse: impl Fn(&Ensemble<L::Snapshot>) -> Option<LinearClassifier>,
    ) -> Result<Outcome, Failure>
    where
        L: OnlineLearner + Clone,
        M: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let mut game = match self.file.as_ref().map(CheckpointFile::read).transpose()?.flatten() {
            Some(state) => {
                let (design, labels) = (self.data.design(), self.data.labels());
                Game::resume(back(state), design, labels, self.loss).map_err(Failure::job)?
            }
            None => self.start(learner)?,
        };
        let write = |game: &Fol<'_, L>| match &self.file {
            Some(file) => file.write(&hold(game.checkpoint().clone())),
            None => Ok(()),
        };
        let mut written = Instant::now();
        let ending = loop {
            let next = self.pause_at.min(game.round().saturating_add(STEPS_A_LOOK));
            let ending = game.run_until(next, Stop::Consistent).map_err(Failure::job)?;
            if ending.consistent_at.is_some()
                || ending.rounds >= self.pause_at.min(self.horizon.rounds())
            {
                break ending;
            }
            if written.elapsed() >= BETWEEN_CHECKPOINTS {
                write(&game)?;
                written = Instant::now();
            }
        };
        write(&game)?;
        let (design, labels) = (self.all.design(), self.all.labels());
        let evaluation = Evaluation::new(game.ensemble(), design, labels, self.loss);
        Ok(Outcome {
            ending,
            evaluation: evaluation.map_err(Failure::job)?,
            members: game.ensemble().members().len(),
            classifier: match self.combination {
                Combination::Average => collapse(game.ensemble()),
                Combination::Majority => None,
            },
            outliers: game.slack().map(Slack::outliers),
            kernel: None,
        })
    }

    fn start<L: OnlineLearner>(&self, learner: L) -> Result<Fol<'_, L>, Failure> {
        let (design, labels) = (self.data.design(), self.data.labels());
        let player = FocusedPlayer::new(design.rows()).map_err(Failure::job)?;
        let game = Fol::new(player, learner, design, labels, self.horizon, self.seed);
        let game = game.map_err(Failure::job)?;
        let game = game.with_loss(self.loss).with_combination(self.combination);
        let Some((kind, budget)) = self.slack else { return Ok(game) };
        let slack = Slack::new(kind, design.rows(), budget, self.horizon.rounds());
        game.with_slack(slack.map_err(Failure::usage)?).map_err(Failure::job)
    }

    /// Plays a game of a learner that holds no function.
    fn play_linear<L>(&self, learner: L) -> Result<Outcome, Failure>
    where
        L: OnlineLearner<Snapshot = LinearClassifier> + Clone + Serialize + DeserializeOwned,
    {
        self.play(learner, |state| state, |state| state, Ensemble::mean_classifier)
    }

    /// Plays a game of the learner.
    pub(super) fn play_with(
        &self,
        learner: Learner,
        kernel: Option<&str>,
        has_intercept: bool,
        registry: &Registry,
    ) -> Result<Outcome, Failure> {
        let (design, p) = (self.data.design(), self.data.columns());
        match learner {
            Learner::Perceptron => self.play_linear(match has_intercept {
                true => Perceptron::new(p),
                false => Perceptron::new(p).without_intercept(),
            }),
            Learner::AveragedPerceptron => self.play_linear(match has_intercept {
                true => AveragedPerceptron::new(p),
                false => AveragedPerceptron::new(p).without_intercept(),
            }),
            Learner::PassiveAggressive(how) => {
                let learner = PassiveAggressive::new(p, how).map_err(Failure::usage)?;
                self.play_linear(if has_intercept { learner } else { learner.without_intercept() })
            }
            Learner::OnlineGradient { schedule, radius, lambda, loss } => {
                let loss = &*loss;
                let mut learner = OnlineGradient::new(loss, p, schedule).map_err(Failure::usage)?;
                if let Some(radius) = radius {
                    learner = learner.projected(radius).map_err(Failure::usage)?;
                }
                if let Some(lambda) = lambda {
                    learner = learner.penalized(lambda);
                }
                if !has_intercept {
                    learner = learner.without_intercept();
                }
                self.play(
                    learner,
                    |state| state.map(|learner| learner.map_loss(drop), |classifier| classifier),
                    |state| {
                        state.map(|learner| learner.map_loss(|()| loss), |classifier| classifier)
                    },
                    Ensemble::mean_classifier,
                )
            }
            Learner::Stump { thresholds, eta } => {
                let learner = StumpWinnow::new(design, thresholds, eta).map_err(Failure::usage)?;
                self.play(learner, |state| state, |state| state, |_| None)
            }
            Learner::KernelPerceptron { budget } => {
                let specification = kernel.unwrap_or_default();
                let kernel = registry.kernels.parse_for(specification, design, self.seed);
                let kernel = kernel.map_err(Failure::usage)?;
                let kernel = &*kernel;
                let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
                let learner = KernelPerceptron::new(value, budget, self.seed);
                let outcome = self.play(
                    learner.map_err(Failure::usage)?,
                    |state| state.map(|l| l.map_kernel(drop), |c| c.map_kernel(drop)),
                    |state| state.map(|l| l.map_kernel(|()| value), |c| c.map_kernel(|()| value)),
                    |_| None,
                )?;
                Ok(Outcome { kernel: Some(kernel.specification()), ..outcome })
            }
            Learner::MultilayerPerceptron { hidden, step, loss } => {
                let loss = &*loss;
                let learner = MultilayerPerceptron::new(p, &hidden, loss, step, self.seed);
                self.play(
                    learner.map_err(Failure::usage)?,
                    |state| state.map(|learner| learner.map_loss(drop), |network| network),
                    |state| state.map(|learner| learner.map_loss(|()| loss), |network| network),
                    |_| None,
                )
            }
        }
    }
}

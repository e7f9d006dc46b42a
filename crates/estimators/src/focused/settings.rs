//! The settings of games.

#[cfg(feature = "serde")]
use std::collections::BTreeMap;
#[cfg(feature = "serde")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use margins_boost::{Combination, Horizon, SlackKind, Subsample};
#[cfg(feature = "serde")]
use margins_data::Dataset;
use margins_losses::{MarginLoss, ZeroOne};

use super::learner::FocusedLearner;
use crate::Error;
#[cfg(feature = "serde")]
use crate::checkpoint::digest_of;
use crate::regularised::IterationObserver;

/// The settings of a game of focused online learning.
///
/// The default is a perceptron with an intercept, the 0-1 loss, a majority vote, and as many steps and
/// classifiers as theorem 1 asks for with a learner that makes as many mistakes as there are
/// samples. The game ends as soon as the ensemble is right on every sample with a loss of at most
/// [`epsilon`](Self::epsilon). Weights of samples do not count: every sample does.
#[derive(Debug, Clone)]
pub struct EnsembleSettings {
    /// The loss, which is clipped to [0, 1]: the hinge loss becomes the ramp.
    pub loss: Arc<dyn MarginLoss>,
    /// The largest loss of a sample at which the game ends, between 0 and 1.
    pub epsilon: f64,
    /// True to scale features to mean 0 and deviation 1 first, sparse ones to deviation 1. The
    /// model is one of the features as given.
    pub standardize: bool,
    /// The online learner.
    pub learner: FocusedLearner,
    /// True for an intercept of linear learners.
    pub intercept: bool,
    /// The most steps of a game.
    pub max_steps: Option<u64>,
    /// The number of classifiers in the ensemble, taken before random steps.
    pub outputs: Option<usize>,
    /// The way in which they make one: by default the majority, which is right on every sample
    /// wherever theorem 1 holds (corollary 1).
    pub combination: Combination,
    /// The slack for outliers.
    pub slack: SlackRule,
    /// The number of outliers that are likely not among the samples learned from, a random part of
    /// all.
    pub subsample: Option<Subsampling>,
    /// The seed of the player, the outputs, the part of the samples and the learner.
    pub seed: u64,
    /// The time after which no more steps are taken, and the ensemble so far is judged.
    pub time_limit: Option<Duration>,
    /// The function that is called every so many steps, and may end the game, of which then only
    /// the checkpoint is left.
    pub iterations: IterationObserver<()>,
    /// The file of the state of the game.
    #[cfg(feature = "serde")]
    pub checkpoint: Option<Checkpointing>,
}

/// Which slack outliers may take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SlackRule {
    /// No slack at first. If some losses exceed epsilon after the steps of theorem 1, a second game is
    /// played with slack ([`SlackKind::AdditiveSum`]) for as many outliers as there are such samples,
    /// and the ensemble with fewer of them is returned. [`FocusedLearner::Adaptive`] on the logistic
    /// loss plays it instead of the perceptron, which never settles on such samples. With
    /// a subsample there is no second game.
    #[default]
    Automatic,
    /// No slack.
    Off,
    /// Slack from the first step.
    Budget(SlackBudget),
}

/// The slack that outliers may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlackBudget {
    /// The effect of slack on a loss.
    pub kind: SlackKind,
    /// The most slack of all samples together.
    pub budget: f64,
}

/// The size of the random part of the samples that a game is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subsampling {
    /// The number of outliers, which are likely not in it.
    pub outliers: usize,
    /// The number of rare samples, of which enough are likely in it.
    pub rare: usize,
}

/// The file to which the state of a game is written, regularly and at the end; if it exists already,
/// the game resumes from it.
#[cfg(feature = "serde")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointing {
    /// The file.
    pub path: PathBuf,
    /// The step after which the game ends, to be resumed later.
    pub pause_at: Option<u64>,
}

impl Default for EnsembleSettings {
    fn default() -> Self {
        EnsembleSettings {
            loss: Arc::new(ZeroOne),
            epsilon: 0.49,
            standardize: false,
            learner: FocusedLearner::Perceptron,
            intercept: true,
            max_steps: None,
            outputs: None,
            combination: Combination::Majority,
            slack: SlackRule::Automatic,
            subsample: None,
            seed: 1,
            time_limit: None,
            iterations: IterationObserver::default(),
            #[cfg(feature = "serde")]
            checkpoint: None,
        }
    }
}

/// Theorem 1 may fail with this probability.
const DELTA: f64 = 0.01;

impl EnsembleSettings {
    /// Returns true if a model holds the ensemble: of linear learners and kernels, not of stumps and
    /// networks.
    pub fn makes_model(&self) -> bool {
        self.learner.makes_model()
    }

    /// Refuses settings that the game cannot use; [`fit`](Self::fit) does so too.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: no intercept of a learner that is not linear, slack for the
    /// outliers that a part of the samples is to leave out. [`Error::Setting`]: an epsilon that is
    /// not between 0 and 1, or that no majority reaches with the loss.
    pub fn check(&self) -> Result<(), Error> {
        if !self.intercept && !self.learner.is_linear() {
            return Err(Error::contradiction(
                "no intercept".to_owned(),
                format!("the learner {}", self.learner),
                "only linear learners have an intercept to leave out",
            ));
        }
        if self.slack().is_some() && self.subsample.is_some() {
            return Err(Error::contradiction(
                "slack".to_owned(),
                "a subsample".to_owned(),
                "outliers get slack or are left out",
            ));
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err(Error::setting("epsilon", &self.epsilon, "between 0 and 1"));
        }
        self.mean_loss().map(drop)
    }

    /// Returns the mean loss of the classifiers with which their combination reaches epsilon.
    fn mean_loss(&self) -> Result<f64, Error> {
        let (loss, epsilon) = (&*self.loss, self.epsilon);
        Horizon::mean_loss_for(self.combination, loss, epsilon).ok_or_else(|| {
            let unanimous = loss.value(1.0);
            let name = loss.specification();
            let requirement = format!(
                "more than {unanimous:.4}, the loss '{name}' of a unanimous vote; an average has no such limit"
            );
            Error::setting("epsilon", &epsilon, requirement)
        })
    }

    /// Returns the rows to learn from, if they are not all.
    pub(super) fn chosen_rows(&self, rows: usize) -> Result<Option<Vec<usize>>, Error> {
        let Some(Subsampling { outliers, rare }) = self.subsample else { return Ok(None) };
        Ok(Some(Subsample::new(rows, outliers, rare)?.draw(self.seed)))
    }

    /// Returns the slack of the first game.
    pub(super) fn slack(&self) -> Option<SlackBudget> {
        match self.slack {
            SlackRule::Budget(budget) => Some(budget),
            SlackRule::Automatic | SlackRule::Off => None,
        }
    }

    /// Returns the steps and classifiers of theorem 1 for `rows` samples.
    fn theory(&self, rows: usize) -> Result<Horizon, Error> {
        Ok(Horizon::theorem_1(rows, self.mean_loss()?, DELTA, rows as f64)?)
    }

    /// Returns true if a game with this horizon that does not reach epsilon is followed by one with
    /// slack: one that had the steps of theorem 1, so that time was not what it lacked.
    pub(super) fn plays_again(&self, horizon: &Horizon, rows: usize) -> Result<bool, Error> {
        let automatic = self.slack == SlackRule::Automatic && self.subsample.is_none();
        Ok(automatic && horizon.rounds() >= self.theory(rows)?.rounds())
    }

    /// Returns steps and classifiers of a game over `rows` samples.
    pub(super) fn horizon(&self, rows: usize) -> Result<Horizon, Error> {
        let theory = self.theory(rows)?;
        let steps = self.max_steps.unwrap_or(theory.rounds());
        Ok(Horizon::new(steps, self.outputs.unwrap_or(theory.outputs()))?)
    }

    /// Returns the settings that make the game, in words: a file of another game is refused by
    /// them.
    #[cfg(feature = "serde")]
    pub(super) fn describe(&self, data: &Dataset, horizon: &Horizon) -> BTreeMap<String, String> {
        let kernel = match &self.learner {
            FocusedLearner::KernelPerceptron { kernel, .. } => kernel.clone(),
            _ => String::new(),
        };
        let part =
            self.subsample.map(|Subsampling { outliers, rare }| format!("{outliers},{rare}"));
        let settings = [
            ("data", digest_of(data)),
            ("learner", self.learner.to_string()),
            ("kernel", kernel),
            ("intercept", self.intercept.to_string()),
            ("epsilon", self.epsilon.to_string()),
            ("standardize", self.standardize.to_string()),
            ("combination", format!("{:?}", self.combination).to_lowercase()),
            ("slack", self.slack.to_string()),
            ("subsample", part.unwrap_or_default()),
            ("max-steps", horizon.rounds().to_string()),
            ("outputs", horizon.outputs().to_string()),
            ("seed", self.seed.to_string()),
        ];
        settings.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

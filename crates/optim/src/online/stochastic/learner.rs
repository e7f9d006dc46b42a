//! The learner of a run: one enum over the stochastic methods.

use margins_data::Sample;
use margins_losses::MarginLoss;

use crate::Error;
use crate::online::{Adaptive, LinearClassifier, OnlineGradient, OnlineLearner, Scorer};

/// The learner of a stochastic method.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StochasticLearner<L> {
    /// Steps of the lengths of a schedule.
    Gradient(OnlineGradient<L>),
    /// Adaptive steps and coin betting.
    Adaptive(Adaptive<L>),
}

impl<L> StochasticLearner<L> {
    /// Returns the learner with its loss in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_loss<M>(self, form: impl FnOnce(L) -> M) -> StochasticLearner<M> {
        match self {
            StochasticLearner::Gradient(learner) => {
                StochasticLearner::Gradient(learner.map_loss(form))
            }
            StochasticLearner::Adaptive(learner) => {
                StochasticLearner::Adaptive(learner.map_loss(form))
            }
        }
    }
}

impl<L: MarginLoss> StochasticLearner<L> {
    /// Returns true if both learn in the same way, whatever their losses and what they have learned: by
    /// the same steps, with the same penalty, intercept, projection and mean.
    pub fn has_settings_of<M: MarginLoss>(&self, other: &StochasticLearner<M>) -> bool {
        match (self, other) {
            (StochasticLearner::Gradient(one), StochasticLearner::Gradient(other)) => {
                one.has_settings_of(other)
            }
            (StochasticLearner::Adaptive(one), StochasticLearner::Adaptive(other)) => {
                one.has_settings_of(other)
            }
            _ => false,
        }
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        match self {
            StochasticLearner::Gradient(learner) => learner.steps(),
            StochasticLearner::Adaptive(learner) => learner.steps(),
        }
    }

    /// Continues with another loss, and with all steps of the schedule multiplied by a factor.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the factor makes a step 0 or no finite number. [`Error::Rescaling`]:
    /// the learner has no schedule.
    pub fn with_loss<M: MarginLoss>(
        self,
        loss: M,
        step_factor: f64,
    ) -> Result<StochasticLearner<M>, Error> {
        match self {
            StochasticLearner::Gradient(learner) => {
                learner.with_loss(loss, step_factor).map(StochasticLearner::Gradient)
            }
            StochasticLearner::Adaptive(_) => {
                Err(Error::Rescaling("adaptive steps have no schedule to divide".to_owned()))
            }
        }
    }
}

impl<L: MarginLoss> Scorer for StochasticLearner<L> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        match self {
            StochasticLearner::Gradient(learner) => learner.score(x),
            StochasticLearner::Adaptive(learner) => learner.score(x),
        }
    }

    fn columns(&self) -> Option<usize> {
        match self {
            StochasticLearner::Gradient(learner) => learner.columns(),
            StochasticLearner::Adaptive(learner) => learner.columns(),
        }
    }
}

impl<L: MarginLoss> OnlineLearner for StochasticLearner<L> {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        match self {
            StochasticLearner::Gradient(learner) => learner.step(x, y),
            StochasticLearner::Adaptive(learner) => learner.step(x, y),
        }
    }

    fn snapshot(&self) -> LinearClassifier {
        match self {
            StochasticLearner::Gradient(learner) => learner.snapshot(),
            StochasticLearner::Adaptive(learner) => learner.snapshot(),
        }
    }
}

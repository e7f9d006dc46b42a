//! The learner of a run: one enum over the stochastic methods.

use margins_data::Sample;
use margins_losses::MarginLoss;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::online::{Adaptive, LinearClassifier, OnlineGradient, OnlineLearner, Scorer};

/// The learner of a stochastic method.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
pub enum Learner<L> {
    /// Steps of the lengths of a schedule.
    Gradient(OnlineGradient<L>),
    /// Adaptive steps and coin betting.
    Adaptive(Adaptive<L>),
}

impl<L> Learner<L> {
    /// Returns the learner with its loss in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_loss<M>(self, form: impl FnOnce(L) -> M) -> Learner<M> {
        match self {
            Learner::Gradient(learner) => Learner::Gradient(learner.map_loss(form)),
            Learner::Adaptive(learner) => Learner::Adaptive(learner.map_loss(form)),
        }
    }
}

impl<L: MarginLoss> Learner<L> {
    /// Returns true if both learn in the same way, whatever their losses and what they have learnt: by
    /// the same steps, with the same penalty, intercept, projection and mean.
    pub fn has_settings_of<M: MarginLoss>(&self, other: &Learner<M>) -> bool {
        match (self, other) {
            (Learner::Gradient(one), Learner::Gradient(other)) => one.has_settings_of(other),
            (Learner::Adaptive(one), Learner::Adaptive(other)) => one.has_settings_of(other),
            _ => false,
        }
    }

    /// Returns the number of steps so far.
    pub fn steps(&self) -> u64 {
        match self {
            Learner::Gradient(learner) => learner.steps(),
            Learner::Adaptive(learner) => learner.steps(),
        }
    }

    /// Goes on with another loss, and with all steps of the schedule multiplied by a factor.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the factor makes a step 0 or no finite number. [`Error::Rescaling`]:
    /// the learner has no schedule.
    pub fn with_loss<M: MarginLoss>(self, loss: M, step_factor: f64) -> Result<Learner<M>, Error> {
        match self {
            Learner::Gradient(learner) => {
                learner.with_loss(loss, step_factor).map(Learner::Gradient)
            }
            Learner::Adaptive(_) => {
                Err(Error::Rescaling("adaptive steps have no schedule to divide".to_owned()))
            }
        }
    }
}

impl<L: MarginLoss> Scorer for Learner<L> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        match self {
            Learner::Gradient(learner) => learner.score(x),
            Learner::Adaptive(learner) => learner.score(x),
        }
    }

    fn columns(&self) -> Option<usize> {
        match self {
            Learner::Gradient(learner) => learner.columns(),
            Learner::Adaptive(learner) => learner.columns(),
        }
    }
}

impl<L: MarginLoss> OnlineLearner for Learner<L> {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        match self {
            Learner::Gradient(learner) => learner.step(x, y),
            Learner::Adaptive(learner) => learner.step(x, y),
        }
    }

    fn snapshot(&self) -> LinearClassifier {
        match self {
            Learner::Gradient(learner) => learner.snapshot(),
            Learner::Adaptive(learner) => learner.snapshot(),
        }
    }
}

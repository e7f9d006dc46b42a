use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;
use margins_model::{Model, TrainingSummary};
use margins_optim::online::stochastic::{self, Batches};
use margins_optim::online::{OnlineLearner, Scorer};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::{Error, linear_model};

/// Stochastic gradient on chunks of samples as they come, in bounded memory.
///
/// ```
/// use margins_data::Design;
/// use margins_estimators::stream::Settings;
/// use margins_optim::Lambda;
///
/// let mut learner = Settings::new(Lambda::new(0.01)?).learner(1)?;
/// for _ in 0..3 {
///     learner.take(&Design::from_rows(&[[1.0], [-1.0]])?, &[1.0, -1.0], None)?;
/// }
/// assert_eq!(learner.rows(), 6);
/// let model = learner.model(("no", "yes"), None)?;
/// assert!(model.members()[0].coef[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Learner {
    settings: Settings,
    batches: Batches,
    gradient: stochastic::Learner<Arc<dyn MarginLoss>>,
    rows: u64,
}

/// What bytes of states say that they are.
#[cfg(feature = "serde")]
const KIND: &str = "the state of a stream";

/// All that a learner knows between two chunks but its settings.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct State {
    rows: u64,
    batches: Batches,
    gradient: stochastic::Learner<()>,
}

impl State {
    /// Returns the state after the last step of a fit to so many rows, in batches of so many.
    pub(super) fn new(rows: usize, batch: usize, gradient: stochastic::Learner<()>) -> Self {
        State { rows: rows as u64, batches: Batches::new(batch), gradient }
    }

    /// Returns the state as bytes with a checksum.
    ///
    /// # Errors
    /// [`Error::Model`]: a state that cannot be written.
    #[cfg(feature = "serde")]
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(margins_model::to_checked_bytes(KIND, self)?)
    }

    /// Returns the state of the bytes that [`to_bytes`](Self::to_bytes) has made.
    ///
    /// # Errors
    /// [`Error::Model`]: bytes that were altered, or are of something else.
    #[cfg(feature = "serde")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(margins_model::from_checked_bytes(KIND, bytes)?)
    }

    /// Returns the number of rows taken; those of a fit count once, however many its epochs.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl Settings {
    /// Returns a learner of samples of so many features, before the first of them. The epochs, the
    /// sampling and the history are for [`fit`](Self::fit) alone.
    ///
    /// # Errors
    /// [`gradient`](Self::gradient) says which settings are refused. [`Error::Contradiction`]: a
    /// setting that is for data in memory alone.
    pub fn learner(&self, features: usize) -> Result<Learner, Error> {
        self.check_chunks()?;
        let gradient = self.gradient()?;
        // Nothing of the settings for streams depends on the number of steps.
        let (loss, batches) = (Arc::clone(&self.loss), Batches::new(gradient.batch));
        let gradient = gradient.learner(loss, features, self.lambda, self.intercept, 0)?;
        Ok(Learner { settings: self.clone(), batches, gradient, rows: 0 })
    }

    /// Returns the learner that goes on from the [state](Learner::state) of another or of a
    /// [fit](Self::fit), for the same settings and features.
    ///
    /// # Errors
    /// [`learner`](Self::learner) says which settings are refused. [`Error::State`]: a state of other
    /// features, or of settings other than these.
    pub fn resumed(&self, features: usize, state: State) -> Result<Learner, Error> {
        let fresh = self.learner(features)?;
        let State { rows, batches, gradient } = state;
        let gradient = gradient.map_loss(|()| Arc::clone(&self.loss));
        let found = gradient.snapshot().coef.len();
        if found != features {
            return Err(Error::State(format!("it has {found} features, not {features}")));
        }
        if !batches.fit(features) {
            return Err(Error::State(format!("a sample that waits has not {features} features")));
        }
        let same_batches = batches.size() == fresh.batches.size();
        if !(same_batches && gradient.has_settings_of(&fresh.gradient)) {
            let reason =
                "its steps, lambda, intercept, batch, ball or mean are not those of the settings";
            return Err(Error::State(reason.to_owned()));
        }
        Ok(Learner { gradient, batches, rows, ..fresh })
    }
}

impl Learner {
    /// Takes the steps of a chunk of samples, in their order. A sample of weight 0 takes no part.
    /// The samples of an incomplete batch at the end wait for the next chunk, so that the batches do
    /// not depend on the chunks; [`model`](Self::model) counts them in.
    ///
    /// # Errors
    /// [`Error::Optim`]: steps that diverge, with step and row; a weight that is negative or not
    /// finite, before any step.
    ///
    /// # Panics
    /// If the samples have another number of features than the learner, or there is not one sign or
    /// weight a sample.
    pub fn take(
        &mut self,
        design: &Design,
        signs: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<(), Error> {
        self.take_and_show(design, signs, weights, |_, _| ())
    }

    /// Takes the steps of a chunk of samples as [`take`](Self::take) does, and shows each sample that
    /// takes part, by its place in the chunk, with its score before the step of its batch.
    ///
    /// # Errors
    /// The errors of [`take`](Self::take).
    ///
    /// # Panics
    /// The panics of [`take`](Self::take).
    pub fn take_and_show(
        &mut self,
        design: &Design,
        signs: &[f64],
        weights: Option<&[f64]>,
        show: impl FnMut(usize, f64),
    ) -> Result<(), Error> {
        let is_wrong = |c: &f64| !(c.is_finite() && *c >= 0.0);
        let weights_given = weights.unwrap_or_default();
        if let Some(row) = weights_given.iter().position(is_wrong) {
            return Err(margins_optim::Error::Weight { row, value: weights_given[row] }.into());
        }
        let (batches, before) = (&mut self.batches, self.rows);
        stochastic::pass(&mut self.gradient, design, signs, weights, batches, before, show)?;
        self.rows += signs.len() as u64;
        Ok(())
    }

    /// Takes the step of the samples that wait for the rest of their batch, as the end of a stream
    /// does.
    ///
    /// # Errors
    /// [`Error::Optim`]: a step that diverges, with step and row.
    pub fn finish(&mut self) -> Result<(), Error> {
        Ok(self.batches.finish(&mut self.gradient)?)
    }

    /// Returns the scores of samples under the present iterate.
    pub fn scores(&self, design: &Design) -> Vec<f64> {
        design.samples().map(|x| self.gradient.score(&x)).collect()
    }

    /// Returns the number of rows taken, as [`State::rows`] counts them.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u64 {
        self.gradient.steps()
    }

    /// Returns the classifier of the two classes, the negative and the positive one. Samples that
    /// wait for the rest of their batch count as a smaller batch.
    ///
    /// # Errors
    /// [`Error::Optim`]: the step of the smaller batch diverges.
    /// [`Error::Model`]: coefficients that are not finite, or another number of names than of
    /// features.
    pub fn model(
        &self,
        classes: (&str, &str),
        feature_names: Option<Vec<String>>,
    ) -> Result<Model, Error> {
        let Settings { loss, lambda, .. } = &self.settings;
        let training = TrainingSummary::uncertified(self.rows as usize);
        let mut whole = self.clone();
        whole.finish()?;
        let classifier = whole.gradient.snapshot();
        Ok(linear_model(&**loss, Some(*lambda), classes, feature_names, training, &classifier)?)
    }

    /// Returns the state from which a learner [goes on](Settings::resumed) later.
    pub fn state(&self) -> State {
        let gradient = self.gradient.clone().map_loss(drop);
        State { rows: self.rows, batches: self.batches.clone(), gradient }
    }
}

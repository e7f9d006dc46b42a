//! The learner of a stream, chunk by chunk, with its state.

use std::sync::Arc;

use margins_data::{ClassLabels, Classes, Design, Labels, parallel};
use margins_losses::MarginLoss;
use margins_model::{Model, Scheme, TrainingSummary};
use margins_optim::online::OnlineLearner;
use margins_optim::online::stochastic::{self, Batches};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::progressive_loss::ProgressiveLoss;
use super::settings::StreamSettings;
use crate::Error;
use crate::linear_model::linear_model_of_classes;
use crate::regularised::{bytes_of_members, check_members};

/// Stochastic gradient on chunks of samples as they come, in bounded memory: of two classes, or
/// one-versus-rest of several.
///
/// ```
/// use margins_data::{Classes, Design};
/// use margins_estimators::stream::StreamSettings;
/// use margins_optim::Lambda;
///
/// let classes = ["ham", "spam", "advert"].map(str::to_owned);
/// let mut learner = StreamSettings::new(Lambda::new(0.01)?).learner(&classes, 2)?;
/// for _ in 0..3 {
///     let labels = Classes::from_indices(vec![0, 1], classes.to_vec())?;
///     learner.take(&Design::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?, &labels, None)?;
/// }
/// assert_eq!(learner.rows(), 6);
/// let model = learner.model(None)?;
/// assert!(model.members()[0].coef[0] > 0.0 && model.members()[1].coef[0] < 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamLearner {
    settings: StreamSettings,
    classes: Vec<String>,
    scheme: Scheme,
    members: Vec<Member<Arc<dyn MarginLoss>>>,
    rows: u64,
    progressive_loss: ProgressiveLoss,
}

/// The learner of one member of the scheme.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
struct Member<L> {
    batches: Batches,
    gradient: stochastic::StochasticLearner<L>,
}

/// The kind of the bytes of states.
#[cfg(feature = "serde")]
const KIND: &str = "the state of a stream";

/// The state of a learner between two chunks, without its settings and the names of its classes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct State {
    rows: u64,
    progressive_loss: ProgressiveLoss,
    members: Vec<Member<()>>,
}

impl State {
    /// Returns the state after the last step of the fits of all members to this number of rows, in
    /// batches of this size.
    pub(super) fn new(
        rows: usize,
        batch: usize,
        members: Vec<stochastic::StochasticLearner<()>>,
    ) -> Self {
        let member = |gradient| Member { batches: Batches::new(batch), gradient };
        let progressive_loss = ProgressiveLoss::default();
        let members = members.into_iter().map(member).collect();
        State { rows: rows as u64, progressive_loss, members }
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

/// Returns the scheme for so many classes, with the number of its members.
///
/// # Errors
/// [`Error::Setting`]: fewer than two classes. [`Error::Members`]: more members than fit in memory.
pub(super) fn scheme_for(classes: usize, features: usize) -> Result<(Scheme, usize), Error> {
    let scheme = if classes == 2 { Scheme::Binary } else { Scheme::OneVersusRest };
    let Some(members) = scheme.scores(classes) else {
        return Err(Error::setting("the number of classes", &classes, "at least 2"));
    };
    check_members(scheme, classes, bytes_of_members(scheme, classes, features, 1))?;
    Ok((scheme, members))
}

/// Returns the class that a member separates from the rest: its own, or the second of two.
pub(super) fn positive_class(classes: usize, member: usize) -> usize {
    if classes == 2 { 1 } else { member }
}

/// Returns the labels that a member learns.
pub(super) fn side(labels: &Classes, member: usize) -> Labels {
    labels.against_rest(positive_class(labels.names().len(), member))
}

impl StreamSettings {
    /// Returns a learner of samples of these classes, with this many features, before the first of them.
    /// The epochs, the sampling and the history are for [`fit`](Self::fit) alone.
    ///
    /// # Errors
    /// [`gradient`](Self::gradient) says which settings are refused. [`Error::Contradiction`]: a
    /// setting that is for data in memory alone. [`Error::Setting`]: fewer than two classes.
    /// [`Error::Members`]: more classes than fit in memory.
    pub fn learner(&self, classes: &[String], features: usize) -> Result<StreamLearner, Error> {
        self.check_chunks()?;
        let gradient = self.gradient()?;
        let (scheme, members) = scheme_for(classes.len(), features)?;
        let member = || {
            let loss = Arc::clone(&self.loss);
            // Nothing of the settings for streams depends on the number of steps.
            let learner = gradient.learner(loss, features, self.lambda, self.intercept, 0)?;
            Ok(Member { batches: Batches::new(gradient.batch), gradient: learner })
        };
        let members = (0..members).map(|_| member()).collect::<Result<_, Error>>()?;
        let classes = classes.to_vec();
        let progressive_loss = ProgressiveLoss::default();
        Ok(StreamLearner {
            settings: self.clone(),
            classes,
            scheme,
            members,
            rows: 0,
            progressive_loss,
        })
    }

    /// Returns the learner that continues from the [state](StreamLearner::state) of another or of a
    /// [fit](Self::fit), for the same settings, classes and features.
    ///
    /// # Errors
    /// [`learner`](Self::learner) says which settings are refused. [`Error::State`]: a state of other
    /// features, of another number of classes, or of settings other than these.
    pub fn resumed(
        &self,
        classes: &[String],
        features: usize,
        state: State,
    ) -> Result<StreamLearner, Error> {
        let fresh = self.learner(classes, features)?;
        let State { rows, progressive_loss, members } = state;
        if members.len() != fresh.members.len() {
            let (found, count) = (members.len(), classes.len());
            return Err(Error::State(format!(
                "it has {found} members, not those of {count} classes"
            )));
        }
        let resume = |(member, fresh): (Member<()>, &Member<_>)| {
            let Member { batches, gradient } = member;
            let gradient = gradient.map_loss(|()| Arc::clone(&self.loss));
            let resumed = Member { batches, gradient };
            resumed.check_like(fresh, features).map(|()| resumed)
        };
        let members = members.into_iter().zip(&fresh.members).map(resume);
        let members = members.collect::<Result<_, _>>().map_err(Error::State)?;
        Ok(StreamLearner { members, rows, progressive_loss, ..fresh })
    }
}

impl Member<Arc<dyn MarginLoss>> {
    /// Refuses a member that was read where a fresh one of these settings is another.
    fn check_like(&self, fresh: &Self, features: usize) -> Result<(), String> {
        let found = self.gradient.snapshot().coef.len();
        if found != features {
            return Err(format!("it has {found} features, not {features}"));
        }
        if !self.batches.fit(features) {
            return Err(format!("a sample of the next batch does not have {features} features"));
        }
        let same_batches = self.batches.size() == fresh.batches.size();
        if !(same_batches && self.gradient.has_settings_of(&fresh.gradient)) {
            let reason =
                "its steps, lambda, intercept, batch, ball or mean are not those of the settings";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}

impl StreamLearner {
    /// Takes the steps of a chunk of samples, in their order. A sample of weight 0 takes no part.
    /// The samples of an incomplete batch at the end wait for the next chunk, so that the batches do
    /// not depend on the chunks; [`model`](Self::model) counts them in.
    ///
    /// # Errors
    /// [`Error::Optim`]: steps that diverge, with step and row; a weight that is negative or not
    /// finite, before any step.
    ///
    /// # Panics
    /// If the samples have another number of features than the learner, the labels another number of
    /// classes, or there is not one label or weight per sample.
    pub fn take(
        &mut self,
        design: &Design,
        labels: &impl ClassLabels,
        weights: Option<&[f64]>,
    ) -> Result<(), Error> {
        self.take_and_show(design, labels, weights, |_, _| ())
    }

    /// Takes the steps of a chunk of samples as [`take`](Self::take) does, and then shows each sample
    /// that takes part, by its place in the chunk, with the scores of the members before the step of its
    /// batch.
    ///
    /// # Errors
    /// The errors of [`take`](Self::take).
    ///
    /// # Panics
    /// The panics of [`take`](Self::take).
    pub fn take_and_show(
        &mut self,
        design: &Design,
        labels: &impl ClassLabels,
        weights: Option<&[f64]>,
        mut show: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        assert_eq!(labels.names().len(), self.classes.len(), "the classes of the learner");
        let is_wrong = |c: &f64| !(c.is_finite() && *c >= 0.0);
        let weights_given = weights.unwrap_or_default();
        if let Some(row) = weights_given.iter().position(is_wrong) {
            return Err(margins_optim::Error::Weight { row, value: weights_given[row] }.into());
        }
        let (labels, before) = (Classes::from(labels), self.rows);
        let with_scores = |member| (member, Vec::with_capacity(design.rows()));
        let mut turns: Vec<_> = self.members.iter_mut().map(with_scores).collect();
        parallel::try_for_each_chunk(&mut turns, 1, |k, turn| {
            let (Member { batches, gradient }, shown) = &mut turn[0];
            let (side, show) = (side(&labels, k), |row, score| shown.push((row, score)));
            stochastic::pass(gradient, design, side.signs(), weights, batches, before, show)
        })?;
        let has_step = self.settings.given_step().is_some();
        let mut scores = vec![0.0; turns.len()];
        for at in 0..turns[0].1.len() {
            let row = turns[0].1[at].0;
            for (k, (score, (_, shown))) in scores.iter_mut().zip(&turns).enumerate() {
                *score = shown[at].1;
                if has_step {
                    let is_positive = labels.index(row) == positive_class(self.classes.len(), k);
                    let margin = if is_positive { *score } else { -*score };
                    let weight = weights.map_or(1.0, |weights| weights[row]);
                    self.progressive_loss.add(self.settings.loss.value(margin), weight);
                }
            }
            show(row, &scores);
        }
        self.rows += design.rows() as u64;
        Ok(())
    }

    /// Takes the step of the samples that wait for the rest of their batch, as the end of a stream
    /// does.
    ///
    /// # Errors
    /// [`Error::Optim`]: a step that diverges, with step and row.
    pub fn finish(&mut self) -> Result<(), Error> {
        let finish = |member: &mut Member<_>| member.batches.finish(&mut member.gradient);
        Ok(self.members.iter_mut().try_for_each(finish)?)
    }

    /// Returns the names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the number of rows taken, as [`State::rows`] counts them.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of steps that each member has taken.
    pub fn steps(&self) -> u64 {
        self.members[0].gradient.steps()
    }

    /// Returns the length of the first step if the settings give it and it may be too long: the mean loss
    /// of the rows, each before its step, is above twice the loss at w = 0.
    ///
    /// ```
    /// use margins_data::{Classes, Design};
    /// use margins_estimators::stream::{StepSchedule, StreamMethod, StreamSettings};
    /// use margins_optim::Lambda;
    ///
    /// let classes = ["ham", "spam"].map(str::to_owned);
    /// let learned = |first| {
    ///     let schedule = StepSchedule::Constant;
    ///     let method = StreamMethod::Gradient { schedule, first: Some(first) };
    ///     let settings = StreamSettings { method, ..StreamSettings::new(Lambda::new(0.01)?) };
    ///     let mut learner = settings.learner(&classes, 1)?;
    ///     let labels = Classes::from_indices(vec![0, 1, 1, 0, 1, 0], classes.to_vec())?;
    ///     let rows = [[-1.0], [2.0], [1.0], [-2.0], [0.5], [1.0]];
    ///     learner.take(&Design::from_rows(&rows)?, &labels, None)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(learner.too_long_step())
    /// };
    /// assert_eq!((learned(0.1)?, learned(1e6)?), (None, Some(1e6)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn too_long_step(&self) -> Option<f64> {
        let step = self.settings.given_step()?;
        self.progressive_loss.has_grown(&*self.settings.loss).then_some(step)
    }

    /// Returns the classifier. Samples that wait for the rest of their batch count as a smaller batch.
    ///
    /// # Errors
    /// [`Error::Optim`]: the step of the smaller batch diverges.
    /// [`Error::Model`]: coefficients that are not finite, two classes of one name, or another number of
    /// names than of features.
    pub fn model(&self, feature_names: Option<Vec<String>>) -> Result<Model, Error> {
        let StreamSettings { loss, lambda, .. } = &self.settings;
        let training = TrainingSummary::uncertified(self.rows as usize);
        let mut whole = self.clone();
        whole.finish()?;
        let members = whole.members.iter().map(|m| (m.gradient.snapshot(), training.clone()));
        let (classes, members) = ((self.classes.clone(), self.scheme), members.collect());
        Ok(linear_model_of_classes(&**loss, Some(*lambda), classes, feature_names, members)?)
    }

    /// Returns the state from which a learner [continues](StreamSettings::resumed) later.
    pub fn state(&self) -> State {
        let of_member = |member: &Member<Arc<dyn MarginLoss>>| Member {
            batches: member.batches.clone(),
            gradient: member.gradient.clone().map_loss(drop),
        };
        let (rows, progressive_loss) = (self.rows, self.progressive_loss);
        State { rows, progressive_loss, members: self.members.iter().map(of_member).collect() }
    }
}

//! Halfspaces learned from samples that come in chunks, each of which is read once.

use margins_data::Design;
use margins_data::read::Stream;
use margins_massart::{OnePass, OnePassState, Problem};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Source};
use super::features::FeatureScaling;
use super::{FittedHalfspace, HalfspaceMethod, HalfspaceSettings, RowScaling};
use crate::Error;

/// Algorithm 1 on chunks of samples as they come, in bounded memory: [`OnePass`] with an intercept.
///
/// ```
/// use margins_data::Design;
/// use margins_estimators::massart::{HalfspaceMethod, HalfspaceSettings};
/// use margins_massart::Problem;
///
/// let settings = HalfspaceSettings::new(HalfspaceMethod::gradient(Problem::new(0.1, 0.2)?));
/// let mut learner = settings.learner(2)?;
/// for _ in 0..10 {
///     learner.take(&Design::from_rows(&[[1.0, 0.3], [-1.0, 0.3]])?, &[1.0, -1.0])?;
/// }
/// let fitted = learner.fitted(("no", "yes"), None)?;
/// assert_eq!((fitted.rows, fitted.selection.held_out), (20, 4));
/// assert!(fitted.model.members()[0].coef[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HalfspaceLearner {
    /// The settings that the steps depend on, in words.
    settings: String,
    problem: Problem,
    features: FeatureScaling,
    learner: OnePass,
    rows: usize,
    positives: usize,
}

/// The kind of the bytes of states.
#[cfg(feature = "serde")]
const KIND: &str = "the state of a halfspace";

/// The state of a [`HalfspaceLearner`] between two chunks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct HalfspaceState {
    settings: String,
    learner: OnePassState,
    rows: usize,
    positives: usize,
}

impl HalfspaceState {
    /// Returns the number of rows taken.
    pub fn rows(&self) -> usize {
        self.rows
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
}

impl HalfspaceSettings {
    /// Returns a learner of chunks of samples with this many features, before the first of them. The
    /// time limit is for fits alone.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: a method or a scaling that needs all rows at once.
    pub fn learner(&self, columns: usize) -> Result<HalfspaceLearner, Error> {
        let refuse = |one: &str, reason| {
            Err(Error::contradiction(one.to_owned(), "a stream".to_owned(), reason))
        };
        if self.standardize {
            return refuse("standardisation", "means and deviations need all rows");
        }
        if self.scaling == Some(RowScaling::Largest) {
            return refuse("a division by the largest norm", "it is the largest of all rows");
        }
        let HalfspaceMethod::Gradient { problem, plan } = self.method else {
            return refuse("a learner of several passes", "it needs all rows at once");
        };
        let features = self.features(false, None);
        let columns = columns + usize::from(self.intercept);
        let learner = OnePass::new(&problem, plan, columns, self.seed)?;
        let settings =
            format!("{:?}, intercept {}, seed {}", self.method, self.intercept, self.seed);
        Ok(HalfspaceLearner { settings, problem, features, learner, rows: 0, positives: 0 })
    }

    /// Returns the learner that continues from the [state](HalfspaceLearner::state) of another, for
    /// the same settings and features.
    ///
    /// # Errors
    /// The errors of [`learner`](Self::learner). [`Error::State`]: a state of other settings or
    /// features.
    pub fn resumed(
        &self,
        columns: usize,
        state: HalfspaceState,
    ) -> Result<HalfspaceLearner, Error> {
        let fresh = self.learner(columns)?;
        let HalfspaceState { settings, learner, rows, positives } = state;
        if settings != fresh.settings {
            let reason = "its noise rate, margin, target, plan, intercept or seed are not those of the settings";
            return Err(Error::State(reason.to_owned()));
        }
        let learner =
            fresh.learner.resumed(learner).map_err(|error| Error::State(error.to_string()))?;
        Ok(HalfspaceLearner { learner, rows, positives, ..fresh })
    }

    /// Learns a halfspace from a stream, which is read once and no further than is needed.
    ///
    /// # Errors
    /// The errors of [`learner`](Self::learner). [`Error::Contradiction`]: rows with weights,
    /// because one pass counts every row once. [`Error::Data`]: a row that cannot be read.
    /// [`Error::EmptyStream`]: there are no rows. [`Error::Massart`]: a row that cannot be scaled, or
    /// too few rows.
    pub fn fit_stream(&self, stream: &mut Stream<'_>) -> Result<FittedHalfspace, Error> {
        let mut learner = self.learner(stream.columns())?;
        let limits = self.iterations.limits(self.time_limit);
        let (mut classes, mut stopped) = (None, None);
        while !learner.is_complete()
            && stopped.is_none()
            && let Some(chunk) = stream.next_chunk()?
        {
            if chunk.weights.is_some() {
                return Err(Error::contradiction(
                    "the weights of rows".to_owned(),
                    "a stream".to_owned(),
                    "one pass counts every row once: read the rows into memory, where they are drawn by weight",
                ));
            }
            learner.take(&chunk.design, chunk.labels.signs())?;
            let (negative, positive) =
                (chunk.labels.negative_class(), chunk.labels.positive_class());
            classes = Some((negative.to_owned(), positive.to_owned()));
            stopped = limits.reached();
        }
        let (negative, positive) = classes.ok_or(Error::EmptyStream)?;
        let names = stream.feature_names().map(<[String]>::to_vec);
        let fitted = learner.fitted((&negative, &positive), names)?;
        Ok(FittedHalfspace { status: stopped.unwrap_or(fitted.status), ..fitted })
    }
}

impl HalfspaceLearner {
    /// Returns true if no more samples are needed.
    pub fn is_complete(&self) -> bool {
        self.learner.is_complete()
    }

    /// Returns the number of rows held out so far, of which a halfspace needs one.
    pub fn held_out(&self) -> usize {
        self.learner.held_out()
    }

    /// Takes the samples of a chunk, each with its sign, in their order. The halfspace does not depend
    /// on how samples are divided into chunks.
    ///
    /// # Errors
    /// [`Error::Massart`]: another number of features, a sign that is neither +1 nor -1, or a row
    /// that cannot be scaled; the samples before it have been taken.
    pub fn take(&mut self, design: &Design, signs: &[f64]) -> Result<(), Error> {
        let features = self.features.of(design)?;
        self.learner.take(&features, signs)?;
        self.rows += design.rows();
        self.positives += signs.iter().filter(|&&sign| sign > 0.0).count();
        Ok(())
    }

    /// Returns the halfspace of the samples so far, with the names of the negative and the positive
    /// class and of the features.
    ///
    /// # Errors
    /// [`Error::Massart`]: fewer than five samples, so that none is [held out](Self::held_out).
    pub fn fitted(
        &self,
        classes: (&str, &str),
        feature_names: Option<Vec<String>>,
    ) -> Result<FittedHalfspace, Error> {
        let answer = Answer::by_gradient(self.problem, self.learner.clone().finish()?);
        let share = self.positives as f64 / self.rows as f64;
        let baseline = share.min(1.0 - share);
        let source = Source { classes, feature_names, rows: self.rows, baseline, divisor: None };
        answer.fitted(&self.features, source)
    }

    /// Returns the state from which a learner [continues](HalfspaceSettings::resumed) later.
    pub fn state(&self) -> HalfspaceState {
        HalfspaceState {
            settings: self.settings.clone(),
            learner: self.learner.state(),
            rows: self.rows,
            positives: self.positives,
        }
    }
}

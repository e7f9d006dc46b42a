//! Games of focused online learning.

mod classes;

use margins::data::digits::{self, percent};
use margins::data::metrics::HeldOutError;
use margins::data::{ClassLabels, Dataset};
use margins::estimators::focused::Guarantee;
use serde::Serialize;

use super::Lines;
use super::classes::ClassesDocument;
use super::data::{ClassDocument, DataDocument, size};
use super::table::number;
pub(crate) use classes::{GameDocument, GamesDocument};

/// The end of a game.
#[derive(Serialize)]
pub(crate) struct FocusedDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: GameData<'a>,
    pub(crate) loss: String,
    pub(crate) learner: &'a str,
    /// Null unless the learner has a kernel.
    pub(crate) kernel: Option<&'a str>,
    /// The largest loss at which the game ends.
    pub(crate) epsilon: f64,
    /// True if the features were standardised.
    pub(crate) standardize: bool,
    /// The name of the output: `majority`, `average`, `last` or `validated`.
    pub(crate) combination: &'static str,
    pub(crate) player: &'static str,
    /// Null unless the classifier was chosen on rows held out.
    pub(crate) validation: Option<ValidationDocument>,
    pub(crate) theorem: TheoremDocument,
    /// The mean of the losses that the player saw.
    pub(crate) seen_loss: f64,
    /// A bound on the mean loss of every row over the steps; null with slack and for another player
    /// than the focused one.
    pub(crate) loss_bound: Option<f64>,
    /// The number of classifiers in the ensemble.
    pub(crate) members: usize,
    /// The number of samples learned from.
    pub(crate) samples: usize,
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    pub(crate) max_steps: u64,
    /// True if the game ended by epsilon or by the most steps, and not by a pause or the clock.
    pub(crate) finished: bool,
    /// The name of the status.
    pub(crate) status: &'static str,
    /// True if the ensemble is right on every row.
    pub(crate) consistent: bool,
    /// The step by which it was known to be right on every sample learned from, with a loss of at most
    /// epsilon; null if it never was.
    pub(crate) steps_to_consistency: Option<u64>,
    pub(crate) max_loss: f64,
    pub(crate) mean_loss: f64,
    pub(crate) mistakes: usize,
    /// The share of the rows that the ensemble gets wrong, by weight.
    pub(crate) training_error: f64,
    /// The share of the rows that always predicting the larger class gets wrong.
    pub(crate) baseline_error: f64,
    /// The losses, one per row.
    pub(crate) losses: &'a [f64],
    /// The slack of the game; null without slack.
    pub(crate) slack: Option<String>,
    /// The rows flagged, from 1, the largest slack first; null without slack.
    pub(crate) outliers: Option<Vec<usize>>,
    /// Null unless the ensemble is one linear classifier.
    pub(crate) intercept: Option<f64>,
    /// Null unless the ensemble is one linear classifier.
    pub(crate) coef: Option<&'a [f64]>,
}

/// The data of a game.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum GameData<'a> {
    Two(DataDocument),
    Several(ClassesDocument<'a>),
}

impl From<DataDocument> for GameData<'_> {
    fn from(data: DataDocument) -> Self {
        GameData::Two(data)
    }
}

impl<'a> From<ClassesDocument<'a>> for GameData<'a> {
    fn from(data: ClassesDocument<'a>) -> Self {
        GameData::Several(data)
    }
}

/// The choice of a classifier on rows held out.
#[derive(Serialize)]
pub(crate) struct ValidationDocument {
    rows: usize,
    candidates: usize,
    error: f64,
    error_bound: f64,
}

impl ValidationDocument {
    pub(crate) fn new(choice: HeldOutError) -> Self {
        let HeldOutError { rows, candidates, error, bound: error_bound } = choice;
        ValidationDocument { rows, candidates, error, error_bound }
    }
}

/// Theorem 1 for the game.
#[derive(Serialize)]
pub(crate) struct TheoremDocument {
    delta: f64,
    /// The bound on the sum of the learner's losses.
    mistakes: f64,
    /// The steps and classifiers of the theorem.
    steps: u64,
    outputs: usize,
    /// The most steps and the classifiers of the game.
    #[serde(skip)]
    played: (u64, usize),
    /// The probability of failure with the most steps and the classifiers of the game; null where the
    /// theorem says nothing.
    failure: Option<f64>,
    /// The probability of failure of the subsample, by theorem 3; null without one.
    subsample_failure: Option<f64>,
}

impl TheoremDocument {
    pub(crate) fn new(guarantee: &Guarantee) -> Self {
        let Guarantee { theory, horizon, .. } = guarantee;
        TheoremDocument {
            delta: guarantee.delta,
            mistakes: guarantee.mistakes,
            steps: theory.rounds(),
            outputs: theory.outputs(),
            played: (horizon.rounds(), horizon.outputs()),
            failure: guarantee.failure,
            subsample_failure: guarantee.of_subsample,
        }
    }

    /// Returns true if the theorem holds for the game with its most steps and its classifiers.
    fn holds(&self) -> bool {
        self.failure.is_some_and(|failure| failure <= self.delta)
    }

    /// Returns the lines on the probabilities of failure.
    fn lines(&self) -> Lines {
        let (delta, mistakes) = (self.delta, number(self.mistakes));
        let TheoremDocument { steps, outputs, .. } = self;
        let mut lines = Lines::new();
        if let Some(failure) = self.failure {
            let theorem = format!(
                "{steps} steps, {outputs} classifiers; failure probability {delta} assuming at most \
                 {mistakes} mistakes"
            );
            lines.push(("theorem 1", theorem));
            if self.played != (*steps, *outputs) {
                let (steps, outputs) = self.played;
                let failure = number(failure);
                let here =
                    format!("at most {failure} with {steps} steps and {outputs} classifiers");
                lines.push(("failure", here));
            }
        }
        lines.extend(self.subsample_failure.map(|failure| {
            let failure = number(failure);
            let what =
                format!("has an outlier or too few rare rows with probability {failure} at most");
            ("subsample", what)
        }));
        lines
    }
}

impl FocusedDocument<'_> {
    pub(crate) fn lines<Y: ClassLabels>(&self, name: &str, data: &Dataset<Y>) -> Lines {
        let learned_from_all =
            self.samples == data.rows() && self.theorem.subsample_failure.is_none();
        let consistent = match (self.consistent, self.steps_to_consistency) {
            (true, Some(steps)) => format!("yes, after {steps} steps"),
            (true, None) => "yes".to_owned(),
            (false, Some(steps)) if learned_from_all => {
                format!("no, but every row that is not spared, after {steps} steps")
            }
            (false, _) => "no".to_owned(),
        };
        let ensemble = match (self.combination, &self.validation) {
            ("last", _) => "last classifier of the learner".to_owned(),
            (_, Some(choice)) => format!("one classifier of {}", choice.candidates),
            ("majority", None) if matches!(self.data, GameData::Several(_)) => {
                format!("plurality of {}", self.members)
            }
            (combination, None) => format!("{combination} of {}", self.members),
        };
        let mut lines = vec![size(name, data.rows(), data.columns())];
        if let GameData::Several(data) = &self.data {
            lines.push(("classes", ClassDocument::line(&data.classes)));
        }
        lines.extend([
            ("loss", format!("{}, clipped to [0, 1]", self.loss)),
            ("learner", self.learner.to_owned()),
        ]);
        lines.extend(self.kernel.map(|kernel| ("kernel", digits::specification(kernel))));
        if self.samples != data.rows() {
            lines.push(("learned from", format!("{} samples", self.samples)));
        }
        lines.extend([
            ("steps", format!("{} of at most {}", self.steps, self.max_steps)),
            ("status", self.status.to_owned()),
            ("ensemble", ensemble),
            ("consistent", consistent),
            (
                "maximal loss",
                match self.max_loss > self.epsilon {
                    true => format!("{}, above epsilon {}", number(self.max_loss), self.epsilon),
                    false => number(self.max_loss),
                },
            ),
            ("mean loss", number(self.mean_loss)),
            ("training error", {
                let error = percent(self.training_error);
                format!("{error} %, {} of {}", self.mistakes, data.rows())
            }),
        ]);
        lines.extend(self.evidence());
        lines.extend(self.theorem.lines());
        lines.extend(self.slack.clone().map(|slack| ("slack", slack)));
        if let Some(outliers) = &self.outliers {
            const MOST: usize = 10;
            let first: Vec<String> = outliers.iter().take(MOST).map(usize::to_string).collect();
            let more = if outliers.len() > MOST { ", ..." } else { "" };
            let rows = format!("{} flagged: {}{more}", outliers.len(), first.join(", "));
            let rows = if outliers.is_empty() { "none flagged".to_owned() } else { rows };
            lines.push(("outliers", rows));
        }
        if let (Some(intercept), Some(coef)) = (self.intercept, self.coef) {
            lines.push(("intercept", number(intercept)));
            lines.push(("coefficients", coef.len().to_string()));
        }
        lines
    }

    /// Returns the lines on the choice of a classifier and on the losses seen.
    fn evidence(&self) -> Lines {
        let mut lines = Lines::new();
        lines.extend(self.validation.as_ref().map(|choice| {
            let ValidationDocument { rows, error, error_bound, .. } = choice;
            let (error, bound) = (percent(*error), percent(*error_bound));
            let sure = 1.0 - self.theorem.delta;
            let what = format!(
                "{error} % of {rows} rows held out; of new rows at most {bound} % with probability {sure}"
            );
            ("validation error", what)
        }));
        lines.extend(self.loss_bound.filter(|&bound| bound < 1.0).map(|bound| {
            let (bound, sure) = (number(bound), 1.0 - self.theorem.delta);
            let what = format!("{bound} in the mean over the steps, every row, probability {sure}");
            ("loss bound", what)
        }));
        lines
    }
}

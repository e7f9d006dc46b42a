//! Games of focused online learning.

use margins::boost::Combination;
use margins::data::Dataset;
use margins::data::digits::{self, percent};
use serde::Serialize;

use super::Lines;
use super::data::{DataDocument, size};
use super::table::number;

/// The end of a game.
#[derive(Serialize)]
pub(crate) struct FocusedDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: DataDocument,
    pub(crate) loss: String,
    pub(crate) learner: &'a str,
    /// Null unless the learner has a kernel.
    pub(crate) kernel: Option<&'a str>,
    /// The largest loss at which the game ends.
    pub(crate) epsilon: f64,
    /// True if the features were standardised.
    pub(crate) standardize: bool,
    pub(crate) combination: Combination,
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

impl FocusedDocument<'_> {
    pub(crate) fn lines(&self, name: &str, data: &Dataset) -> Lines {
        let consistent = match (self.consistent, self.steps_to_consistency) {
            (true, Some(steps)) => format!("yes, after {steps} steps"),
            (true, None) => "yes".to_owned(),
            (false, _) => "no".to_owned(),
        };
        let combination = match self.combination {
            Combination::Majority => "majority",
            Combination::Average => "average",
        };
        let mut lines = vec![
            size(name, data.rows(), data.columns()),
            ("loss", format!("{}, clipped to [0, 1]", self.loss)),
            ("learner", self.learner.to_owned()),
        ];
        lines.extend(self.kernel.map(|kernel| ("kernel", digits::specification(kernel))));
        if self.samples != data.rows() {
            lines.push(("learned from", format!("{} samples", self.samples)));
        }
        lines.extend([
            ("steps", format!("{} of at most {}", self.steps, self.max_steps)),
            ("status", self.status.to_owned()),
            ("ensemble", format!("{combination} of {}", self.members)),
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
                let error = percent(self.mistakes as f64 / data.rows() as f64);
                format!("{error} %, {} of {}", self.mistakes, data.rows())
            }),
        ]);
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
}

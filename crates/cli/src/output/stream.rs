//! Fits to streams.

use serde::Serialize;

use super::Lines;
use super::data::size;
use super::table::{number, percent};
use super::training::TrainingDocument;

/// A fit to a stream.
#[derive(Serialize)]
pub(crate) struct StreamDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) columns: usize,
    pub(crate) negative_class: &'a str,
    pub(crate) positive_class: &'a str,
    pub(crate) training: TrainingDocument,
    pub(crate) lambda: f64,
    pub(crate) steps: u64,
    /// Share of the rows that the classifier before their buffer got wrong, by weight.
    pub(crate) progressive_error: f64,
    pub(crate) intercept: f64,
    pub(crate) coef: &'a [f64],
}

impl StreamDocument<'_> {
    pub(crate) fn lines(&self) -> Lines {
        let (positive, negative) = (self.positive_class, self.negative_class);
        vec![
            size(&self.file, self.rows as usize, self.columns),
            ("classes", format!("'{positive}' positive, '{negative}' negative")),
            ("loss", self.training.loss.clone()),
            ("lambda", number(self.lambda)),
            ("steps", self.steps.to_string()),
            ("progressive error", format!("{} %", percent(self.progressive_error))),
            ("intercept", number(self.intercept)),
            ("coefficients", self.coef.len().to_string()),
        ]
    }
}

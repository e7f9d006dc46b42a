//! Predictions with their measures.

use std::path::Path;

use margins::data::Counted;
use margins::data::digits::{self, percent, with_error};
use serde::Serialize;

use super::Lines;

/// Predictions by a model of one member.
#[derive(Serialize)]
pub(crate) struct PredictionDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) model: String,
    pub(crate) data: String,
    pub(crate) rows: usize,
    /// The ends of the scores that stand for even odds and nothing more; null without probabilities
    /// of the loss.
    pub(crate) undecided_scores: Option<[f64; 2]>,
    /// Null where no row has a label that is a class of the model.
    pub(crate) metrics: Option<Metrics>,
    pub(crate) predictions: Vec<Prediction<'a>>,
}

/// The prediction of a sample.
#[derive(Serialize)]
pub(crate) struct Prediction<'a> {
    pub(crate) score: f64,
    pub(crate) label: &'a str,
    /// Null where neither the loss nor the model has probabilities.
    pub(crate) probability: Option<f64>,
}

/// Measures of predictions; null where a measure needs both classes or probabilities.
#[derive(Serialize)]
pub(crate) struct Metrics {
    /// The number of rows measured, whose label is a class of the model.
    pub(crate) rows: usize,
    pub(crate) error: f64,
    pub(crate) standard_error: f64,
    pub(crate) balanced_error: Option<f64>,
    pub(crate) auc: Option<f64>,
    pub(crate) log_loss: Option<f64>,
    pub(crate) brier: Option<f64>,
}

/// Predictions by a model of several members.
#[derive(Serialize)]
pub(crate) struct ClassPredictionDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) model: String,
    pub(crate) data: String,
    pub(crate) rows: usize,
    pub(crate) scheme: String,
    pub(crate) classes: &'a [String],
    /// Null where no row has a label that is a class of the model.
    pub(crate) metrics: Option<ClassMetrics>,
    pub(crate) predictions: Vec<ClassPrediction<'a>>,
}

/// The prediction of a sample by several members.
#[derive(Serialize)]
pub(crate) struct ClassPrediction<'a> {
    pub(crate) label: &'a str,
    /// The scores, one per member in the order of the scheme.
    pub(crate) scores: Vec<f64>,
    /// The probabilities, one per class; null where neither the loss nor the model has probabilities.
    pub(crate) probabilities: Option<Vec<f64>>,
}

/// A measure of the predictions of several members.
#[derive(Serialize)]
pub(crate) struct ClassMetrics {
    /// The number of rows measured, whose label is a class of the model.
    pub(crate) rows: usize,
    pub(crate) error: f64,
    pub(crate) standard_error: f64,
}

/// Returns the lines on predictions in a file.
pub(crate) fn describe(path: &Path, rows: usize, metrics: Option<&Metrics>) -> Lines {
    let mut lines =
        vec![("predictions", format!("{} in {}", Counted(rows, "row"), path.display()))];
    let Some(metrics) = metrics else { return lines };
    lines.extend(measured_line(metrics.rows, rows));
    lines.push(error_line(metrics.error, metrics.standard_error));
    if let Some(balanced) = metrics.balanced_error {
        lines.push(("balanced error", format!("{} %", percent(balanced))));
    }
    let others =
        [("AUC", metrics.auc), ("log-loss", metrics.log_loss), ("Brier score", metrics.brier)];
    lines.extend(others.into_iter().filter_map(|(k, v)| v.map(|v| (k, digits::number(v, 4)))));
    lines
}

/// Returns the lines on predictions of several members in a file.
pub(crate) fn describe_classes(path: &Path, rows: usize, metrics: Option<&ClassMetrics>) -> Lines {
    let mut lines =
        vec![("predictions", format!("{} in {}", Counted(rows, "row"), path.display()))];
    let Some(metrics) = metrics else { return lines };
    lines.extend(measured_line(metrics.rows, rows));
    lines.push(error_line(metrics.error, metrics.standard_error));
    lines
}

/// Returns the line on the rows measured, unless they are all rows.
fn measured_line(measured: usize, rows: usize) -> Option<(&'static str, String)> {
    (measured < rows).then(|| ("measured", format!("{measured} of {}", Counted(rows, "row"))))
}

fn error_line(error: f64, standard_error: f64) -> (&'static str, String) {
    ("error", with_error(100.0 * error, 100.0 * standard_error, " %"))
}

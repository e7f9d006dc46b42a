//! Predictions with their measures.

use std::io::Write;
use std::path::Path;

use margins::{Model, Scheme};
use serde::Serialize;

use super::Lines;
use super::table::{number, percent};

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
    /// Null where the data have no labels.
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
    /// Null where the data have no labels, or one that is no class of the model.
    pub(crate) metrics: Option<ClassMetrics>,
    pub(crate) predictions: Vec<ClassPrediction<'a>>,
}

/// The prediction of a sample by several members.
#[derive(Serialize)]
pub(crate) struct ClassPrediction<'a> {
    pub(crate) label: &'a str,
    /// The scores, one a member in the order of the scheme.
    pub(crate) scores: Vec<f64>,
    /// The probabilities, one a class; null where neither the loss nor the model has probabilities.
    pub(crate) probabilities: Option<Vec<f64>>,
}

/// A measure of the predictions of several members.
#[derive(Serialize)]
pub(crate) struct ClassMetrics {
    pub(crate) error: f64,
    pub(crate) standard_error: f64,
}

/// Writes a row a sample: the label, the scores under the names of the members, the probabilities
/// under those of the classes.
pub(crate) fn write_classes_csv(
    out: &mut dyn Write,
    model: &Model,
    predictions: &[ClassPrediction],
) -> std::io::Result<()> {
    let classes = model.classes();
    let members: Vec<String> = match model.scheme() {
        Scheme::OneVersusOne => Scheme::pairs(classes.len())
            .map(|(i, j)| format!("{} against {}", classes[j], classes[i]))
            .collect(),
        _ => classes.to_vec(),
    };
    let with_probabilities =
        predictions.iter().any(|prediction| prediction.probabilities.is_some());
    let probabilities = if with_probabilities { classes } else { &[] };
    let mut csv = csv::Writer::from_writer(out);
    let scores = members.iter().map(|name| format!("score {name}"));
    let header = scores.chain(probabilities.iter().map(|name| format!("probability {name}")));
    csv.write_record(std::iter::once("label".to_owned()).chain(header)).map_err(io_error)?;
    for prediction in predictions {
        let numbers = prediction.scores.iter().chain(prediction.probabilities.iter().flatten());
        let cells = numbers.map(|number| format!("{number:?}"));
        let label = std::iter::once(prediction.label.to_owned());
        csv.write_record(label.chain(cells)).map_err(io_error)?;
    }
    csv.flush()
}

/// Writes a row a sample: score, label and, where there are some, probability.
pub(crate) fn write_csv(out: &mut dyn Write, predictions: &[Prediction]) -> std::io::Result<()> {
    let with_probability = predictions.iter().any(|prediction| prediction.probability.is_some());
    let mut csv = csv::Writer::from_writer(out);
    let mut header = vec!["score", "label"];
    if with_probability {
        header.push("probability");
    }
    csv.write_record(&header).map_err(io_error)?;
    for prediction in predictions {
        let mut record = vec![format!("{:?}", prediction.score), prediction.label.to_owned()];
        if with_probability {
            record.push(prediction.probability.map(|p| format!("{p:?}")).unwrap_or_default());
        }
        csv.write_record(&record).map_err(io_error)?;
    }
    csv.flush()
}

/// Returns the error of the writer below, by which a closed pipe is known.
fn io_error(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// Returns the lines on predictions in a file.
pub(crate) fn describe(path: &Path, rows: usize, metrics: Option<&Metrics>) -> Lines {
    let mut lines = vec![("predictions", format!("{rows} rows in {}", path.display()))];
    let Some(metrics) = metrics else { return lines };
    lines.push(error_line(metrics.error, metrics.standard_error));
    if let Some(balanced) = metrics.balanced_error {
        lines.push(("balanced error", format!("{} %", percent(balanced))));
    }
    let others =
        [("AUC", metrics.auc), ("log-loss", metrics.log_loss), ("Brier score", metrics.brier)];
    lines.extend(others.into_iter().filter_map(|(k, v)| v.map(|v| (k, number(v)))));
    lines
}

/// Returns the lines on predictions of several members in a file.
pub(crate) fn describe_classes(path: &Path, rows: usize, metrics: Option<&ClassMetrics>) -> Lines {
    let mut lines = vec![("predictions", format!("{rows} rows in {}", path.display()))];
    lines.extend(metrics.map(|metrics| error_line(metrics.error, metrics.standard_error)));
    lines
}

fn error_line(error: f64, standard_error: f64) -> (&'static str, String) {
    ("error", format!("{} % +- {}", percent(error), percent(standard_error)))
}

//! The command that applies a model.

use std::io::Write;
use std::path::Path;

use margins::data::metrics;
use margins::losses::MarginLoss;
use margins::{Model, Registry};
use serde::Serialize;

use crate::args::{OutputFormat, PredictArguments};
use crate::document::VERSION;
use crate::table::{facts, number, percent};
use crate::{Failure, emit, keep_input};

#[derive(Serialize)]
struct PredictionDocument<'a> {
    format: &'static str,
    version: u32,
    model: String,
    data: &'a str,
    rows: usize,
    /// The ends of the scores that stand for even odds and nothing more; null without probabilities.
    undecided_scores: Option<[f64; 2]>,
    /// Null where the data have no labels.
    metrics: Option<Metrics>,
    predictions: Vec<Prediction<'a>>,
}

#[derive(Serialize)]
struct Prediction<'a> {
    score: f64,
    label: &'a str,
    /// Null where the loss has no probabilities.
    probability: Option<f64>,
}

/// How good predictions are; null where a measure needs both classes or probabilities.
#[derive(Serialize)]
struct Metrics {
    error: f64,
    standard_error: f64,
    balanced_error: Option<f64>,
    auc: Option<f64>,
    log_loss: Option<f64>,
    brier: Option<f64>,
}

pub(crate) fn predict(registry: &Registry, arguments: &PredictArguments) -> Result<(), Failure> {
    for input in [arguments.model.as_path(), Path::new(&arguments.data.data)] {
        keep_input(arguments.out.as_deref(), input)?;
    }
    let model = Model::load(&arguments.model, registry).map_err(Failure::job)?;
    let loss = registry.losses.parse(model.loss()).map_err(Failure::job)?;
    let data = arguments.data.features(model.columns())?;
    let name = &arguments.data.data;
    let refuse = |error| Failure::job(format!("{name}: {error}"));
    model.accept(data.design.columns(), data.feature_names.as_deref()).map_err(refuse)?;
    let scores = model.decision_function(&data.design, registry).map_err(refuse)?;
    let predictions: Vec<Prediction> = scores
        .iter()
        .map(|&score| Prediction {
            score,
            label: &model.classes()[model.decide(&[score])],
            probability: loss.probability(score),
        })
        .collect();
    let metrics = data.labels.as_ref().and_then(|labels| measure(&model, &*loss, &scores, labels));
    match arguments.format {
        OutputFormat::Json => {
            let document = PredictionDocument {
                format: "margins-predictions",
                version: VERSION,
                model: arguments.model.display().to_string(),
                data: name,
                rows: scores.len(),
                undecided_scores: loss
                    .undecided_scores()
                    .map(|scores| [scores.lower, scores.upper]),
                metrics,
                predictions,
            };
            emit(arguments.out.as_deref(), |out| {
                serde_json::to_writer(&mut *out, &document)?;
                writeln!(out)
            })
        }
        OutputFormat::Table => {
            emit(arguments.out.as_deref(), |out| write_csv(out, &predictions))?;
            match &arguments.out {
                Some(path) => summarize(path, scores.len(), metrics.as_ref()),
                None => Ok(()),
            }
        }
    }
}

/// Measures of the scores, if every label of the data is a class of the model.
fn measure(
    model: &Model,
    loss: &dyn MarginLoss,
    scores: &[f64],
    labels: &[String],
) -> Option<Metrics> {
    if let Some(unknown) = labels.iter().find(|label| model.class_of(label).is_none()) {
        eprintln!(
            "warning: the predictions are not measured, for the label '{unknown}' of the data is no class \
             of the model ('{}')",
            model.classes().join("', '")
        );
        return None;
    }
    let sign = |class| if class == 1 { 1.0 } else { -1.0 };
    let signs: Vec<f64> =
        labels.iter().filter_map(|label| model.class_of(label)).map(sign).collect();
    let error = match metrics::error_rate(scores, &signs, None) {
        Ok(error) => error,
        Err(error) => {
            eprintln!("warning: the predictions are not measured: {error}");
            return None;
        }
    };
    let probabilities: Option<Vec<f64>> =
        scores.iter().map(|&score| loss.probability(score)).collect();
    let of_probabilities = |measure: fn(&[f64], &[f64]) -> Result<f64, margins::data::Error>| {
        probabilities.as_ref().and_then(|probabilities| measure(probabilities, &signs).ok())
    };
    Some(Metrics {
        error: error.rate,
        standard_error: error.standard_error,
        balanced_error: metrics::balanced_error(scores, &signs).ok(),
        auc: metrics::auc(scores, &signs).ok(),
        log_loss: of_probabilities(metrics::log_loss),
        brier: of_probabilities(metrics::brier),
    })
}

fn write_csv(out: &mut dyn Write, predictions: &[Prediction]) -> std::io::Result<()> {
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

/// The error of the writer below, by which a closed pipe is known.
fn io_error(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

fn summarize(path: &Path, rows: usize, metrics: Option<&Metrics>) -> Result<(), Failure> {
    emit(None, |out| {
        let mut lines = vec![("predictions", format!("{rows} rows in {}", path.display()))];
        if let Some(metrics) = metrics {
            let error = percent(metrics.error);
            lines.push(("error", format!("{error} % +- {}", percent(metrics.standard_error))));
            if let Some(balanced) = metrics.balanced_error {
                lines.push(("balanced error", format!("{} %", percent(balanced))));
            }
            let others = [
                ("AUC", metrics.auc),
                ("log-loss", metrics.log_loss),
                ("Brier score", metrics.brier),
            ];
            lines.extend(others.into_iter().filter_map(|(k, v)| v.map(|v| (k, number(v)))));
        }
        facts(out, &lines)
    })
}

//! The command that applies a model.

use std::io::Write;
use std::path::Path;

use margins::data::read::Unlabelled;
use margins::data::{Listed, metrics};
use margins::{Classifier, Model, Registry, Scheme};
use serde::Serialize;

use crate::Failure;
use crate::args::PredictArguments;
use crate::choices::OutputFormat;
use crate::document::VERSION;
use crate::files::{emit, input, is_standard, keep_apart, output};
use crate::job::write_json;
use crate::table::{facts, number, percent};

impl PredictArguments {
    /// The file of the predictions; `None` for standard output, which they have to themselves.
    fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| !is_standard(path))
    }
}

#[derive(Serialize)]
struct PredictionDocument<'a> {
    format: &'static str,
    version: u32,
    model: String,
    data: &'a str,
    rows: usize,
    /// The ends of the scores that stand for even odds and nothing more; null without probabilities of the loss.
    undecided_scores: Option<[f64; 2]>,
    /// Null where the data have no labels.
    metrics: Option<Metrics>,
    predictions: Vec<Prediction<'a>>,
}

#[derive(Serialize)]
struct Prediction<'a> {
    score: f64,
    label: &'a str,
    /// Null where neither the loss nor the model has probabilities.
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
    keep_apart([
        Some(input("--model", &arguments.model)),
        Some(input("--data", &arguments.data.data)),
        output("--out", arguments.out.as_deref()),
    ])?;
    if let Some(class) = &arguments.data.positive {
        return Err(Failure::usage(format!(
            "--positive {class} is not for predict: the model says which class is positive, leave the option out"
        )));
    }
    let model = Model::load(&arguments.model, registry).map_err(Failure::job)?;
    let loss = registry.losses.parse(model.loss()).map_err(Failure::job)?;
    let data = arguments.data.features(model.columns())?;
    let name = &arguments.data.data;
    let refuse = |error| Failure::job(format!("{name}: {error}"));
    model.accept(data.design.columns(), data.feature_names.as_deref()).map_err(refuse)?;
    if model.members().len() > 1 {
        return predict_classes(registry, arguments, model, &data);
    }
    let scores = model.decision_function(&data.design, registry).map_err(refuse)?;
    let member = &model.members()[0];
    let probability = |&score: &f64| member.probability(&*loss, score);
    let probabilities: Option<Vec<f64>> = scores.iter().map(probability).collect();
    let probabilities = probabilities.as_deref();
    let predictions: Vec<Prediction> = scores
        .iter()
        .enumerate()
        .map(|(row, &score)| Prediction {
            score,
            label: &model.classes()[model.decide(&[score])],
            probability: probabilities.map(|probabilities| probabilities[row]),
        })
        .collect();
    let metrics = measure(&model, &scores, probabilities, &data);
    let undecided = if member.platt.is_none() { loss.undecided_scores() } else { None };
    match arguments.format {
        OutputFormat::Json => {
            let document = PredictionDocument {
                format: "margins-predictions",
                version: VERSION,
                model: arguments.model.display().to_string(),
                data: name,
                rows: scores.len(),
                undecided_scores: undecided.map(|scores| [scores.lower, scores.upper]),
                metrics,
                predictions,
            };
            emit(arguments.out.as_deref(), |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            emit(arguments.out.as_deref(), |out| write_csv(out, &predictions))?;
            match arguments.file() {
                Some(path) => summarize(path, scores.len(), metrics.as_ref()),
                None => Ok(()),
            }
        }
    }
}

#[derive(Serialize)]
struct ClassPredictionDocument<'a> {
    format: &'static str,
    version: u32,
    model: String,
    data: &'a str,
    rows: usize,
    scheme: String,
    classes: &'a [String],
    /// Null where the data have no labels, or one that is no class of the model.
    metrics: Option<ClassMetrics>,
    predictions: Vec<ClassPrediction<'a>>,
}

#[derive(Serialize)]
struct ClassPrediction<'a> {
    label: &'a str,
    /// One a member, in the order of the scheme.
    scores: Vec<f64>,
    /// One a class; null where neither the loss nor the model has probabilities.
    probabilities: Option<Vec<f64>>,
}

#[derive(Serialize)]
struct ClassMetrics {
    error: f64,
    standard_error: f64,
}

/// Applies a model of several members.
fn predict_classes(
    registry: &Registry,
    arguments: &PredictArguments,
    model: Model,
    data: &Unlabelled,
) -> Result<(), Failure> {
    let name = &arguments.data.data;
    let refuse = |error| Failure::job(format!("{name}: {error}"));
    let classifier = Classifier::from_model(model, registry)?;
    let model = classifier.model();
    let scores = classifier.decision_function(&data.design).map_err(refuse)?;
    let probabilities = match classifier.predict_proba(&data.design) {
        Ok(probabilities) => Some(probabilities),
        Err(margins::Error::Model(margins::model::Error::NoProbabilities(_))) => None,
        Err(error) => return Err(refuse(error)),
    };
    let predictions: Vec<ClassPrediction> = (0..scores.nrows())
        .map(|row| {
            let scores: Vec<f64> = scores.row(row).iter().copied().collect();
            let probabilities = probabilities.as_ref();
            ClassPrediction {
                label: &model.classes()[model.decide(&scores)],
                scores,
                probabilities: probabilities.map(|p| p.row(row).iter().copied().collect()),
            }
        })
        .collect();
    let metrics = measure_classes(model, &predictions, data);
    match arguments.format {
        OutputFormat::Json => {
            let document = ClassPredictionDocument {
                format: "margins-multiclass-predictions",
                version: VERSION,
                model: arguments.model.display().to_string(),
                data: name,
                rows: predictions.len(),
                scheme: model.scheme().to_string(),
                classes: model.classes(),
                metrics,
                predictions,
            };
            emit(arguments.out.as_deref(), |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            emit(arguments.out.as_deref(), |out| write_classes_csv(out, model, &predictions))?;
            let Some(path) = arguments.file() else { return Ok(()) };
            let rows = format!("{} rows in {}", predictions.len(), path.display());
            let mut lines = vec![("predictions", rows)];
            lines.extend(metrics.map(|metrics| {
                let (error, se) = (percent(metrics.error), percent(metrics.standard_error));
                ("error", format!("{error} % +- {se}"))
            }));
            emit(None, |out| facts(out, &lines))
        }
    }
}

/// The error by the weights of the data, if every label is a class of the model.
fn measure_classes(
    model: &Model,
    predictions: &[ClassPrediction],
    data: &Unlabelled,
) -> Option<ClassMetrics> {
    let classes = known_classes(model, data.labels.as_ref()?)?;
    let wrong = |(prediction, class): (&ClassPrediction, &usize)| {
        model.class_of(prediction.label) != Some(*class)
    };
    let mistakes: Vec<bool> = predictions.iter().zip(&classes).map(wrong).collect();
    let error = measured(metrics::mistake_rate(&mistakes, data.weights.as_deref()))?;
    Some(ClassMetrics { error: error.rate, standard_error: error.standard_error })
}

/// A row a sample: the label, the scores under the names of the members, the probabilities under those of the classes.
fn write_classes_csv(
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

/// The class of every label; `None`, with a warning, if one is no class of the model.
fn known_classes(model: &Model, labels: &[String]) -> Option<Vec<usize>> {
    let classes = labels.iter().map(|label| model.class_of(label).ok_or(label));
    match classes.collect() {
        Ok(classes) => Some(classes),
        Err(unknown) => {
            eprintln!(
                "warning: the predictions are not measured, for the label {} of the data is no class of the model ({})",
                Listed(&[unknown]),
                Listed(model.classes())
            );
            None
        }
    }
}

/// A measure of predictions; `None`, with a warning, where there is none.
fn measured<T>(measure: Result<T, margins::data::Error>) -> Option<T> {
    let warn = |error| eprintln!("warning: the predictions are not measured: {error}");
    measure.map_err(warn).ok()
}

/// Measures of the scores by the weights of the data, if every label is a class of the model.
fn measure(
    model: &Model,
    scores: &[f64],
    probabilities: Option<&[f64]>,
    data: &Unlabelled,
) -> Option<Metrics> {
    type Measure = fn(&[f64], &[f64], Option<&[f64]>) -> Result<f64, margins::data::Error>;
    let classes = known_classes(model, data.labels.as_ref()?)?;
    let signs: Vec<f64> =
        classes.into_iter().map(|class| if class == 1 { 1.0 } else { -1.0 }).collect();
    let weights = data.weights.as_deref();
    let error = measured(metrics::error_rate(scores, &signs, weights))?;
    let of_probabilities = |measure: Measure| {
        probabilities.and_then(|probabilities| measure(probabilities, &signs, weights).ok())
    };
    Some(Metrics {
        error: error.rate,
        standard_error: error.standard_error,
        balanced_error: metrics::balanced_error(scores, &signs, weights).ok(),
        auc: metrics::auc(scores, &signs, weights).ok(),
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

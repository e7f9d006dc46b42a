//! The command that applies a model.

use std::path::Path;

use margins::data::read::Unlabelled;
use margins::data::{Listed, metrics};
use margins::{Classifier, Model, Registry};

use crate::arguments::predict::PredictArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::warn;
use crate::output::files::{emit, input, inputs, is_standard, keep_apart, output};
use crate::output::predictions::{
    ClassMetrics, ClassPrediction, ClassPredictionDocument, Metrics, Prediction,
    PredictionDocument, describe, describe_classes, write_classes_csv, write_csv,
};
use crate::output::table::facts;
use crate::output::{VERSION, write_json};
use crate::source::read_model;

/// Returns the file of the predictions; `None` for standard output, which they have to themselves.
fn file(arguments: &PredictArguments) -> Option<&Path> {
    arguments.out().filter(|path| !is_standard(path))
}

pub(super) fn predict(registry: &Registry, arguments: &PredictArguments) -> Result<(), Failure> {
    keep_apart(
        inputs("--data", arguments.file.files())
            .chain([Some(input("--model", &arguments.model)), output("--out", arguments.out())]),
    )?;
    let (_, model) = read_model(&arguments.model, registry)?;
    let loss = registry.losses.parse(model.loss()).map_err(Failure::job)?;
    let data = arguments.source().features(&model)?;
    let name = arguments.file.name();
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
    match arguments.output.format {
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
            emit(arguments.out(), |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            emit(arguments.out(), |out| write_csv(out, &predictions))?;
            match file(arguments) {
                Some(path) => {
                    let lines = describe(path, scores.len(), metrics.as_ref());
                    emit(None, |out| facts(out, &lines))
                }
                None => Ok(()),
            }
        }
    }
}

/// Applies a model of several members.
fn predict_classes(
    registry: &Registry,
    arguments: &PredictArguments,
    model: Model,
    data: &Unlabelled,
) -> Result<(), Failure> {
    let name = arguments.file.name();
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
    match arguments.output.format {
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
            emit(arguments.out(), |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            emit(arguments.out(), |out| write_classes_csv(out, model, &predictions))?;
            let Some(path) = file(arguments) else { return Ok(()) };
            let lines = describe_classes(path, predictions.len(), metrics.as_ref());
            emit(None, |out| facts(out, &lines))
        }
    }
}

/// Returns the error by the weights of the data, if every label is a class of the model.
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

/// Returns the class of every label; `None`, with a warning, if one is no class of the model.
fn known_classes(model: &Model, labels: &[String]) -> Option<Vec<usize>> {
    let classes = labels.iter().map(|label| model.class_of(label).ok_or(label));
    match classes.collect() {
        Ok(classes) => Some(classes),
        Err(unknown) => {
            warn(format!(
                "the predictions are not measured, for the label {} of the data is no class of the model ({})",
                Listed(&[unknown]),
                Listed(model.classes())
            ));
            None
        }
    }
}

/// Returns a measure of predictions; `None`, with a warning, where there is none.
fn measured<T>(measure: Result<T, margins::data::Error>) -> Option<T> {
    let warn =
        |error: margins::data::Error| warn(format!("the predictions are not measured: {error}"));
    measure.map_err(warn).ok()
}

/// Returns measures of the scores by the weights of the data, if every label is a class of the
/// model.
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

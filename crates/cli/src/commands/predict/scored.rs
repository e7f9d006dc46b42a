//! Scores, classes and probabilities of rows.

use margins::data::read::{RowLabels, Unlabelled};
use margins::data::{Counted, Design, Listed, metrics};
use margins::losses::MarginLoss;
use margins::model::Error;
use margins::{Model, Registry};

use super::decision::Decision;
use crate::messages::warn;
use crate::output::predictions::{ClassMetrics, ClassPrediction, Metrics, Prediction};

/// Computes predictions from rows.
pub(super) struct Scorer<'a> {
    pub(super) model: &'a Model,
    pub(super) loss: &'a dyn MarginLoss,
    pub(super) registry: &'a Registry,
    pub(super) decision: Decision,
}

/// The predictions of rows, with the labels and weights that the rows have.
#[derive(Default)]
pub(super) struct Scored {
    /// The class decided, counted from 0.
    pub(super) classes: Vec<usize>,
    /// The scores, row by row.
    pub(super) scores: Vec<f64>,
    /// The probabilities, row by row, if there are any: that of the positive class where the model has
    /// one score, else one per class.
    pub(super) probabilities: Option<Vec<f64>>,
    labels: Option<RowLabels>,
    weights: Option<Vec<f64>>,
}

/// Gives an error of a row its number in the file.
pub(super) fn shifted(error: Error, before: usize) -> Error {
    match error {
        Error::Score { row, score } => Error::Score { row: before + row, score },
        other => other,
    }
}

impl Scorer<'_> {
    /// Returns the predictions of rows.
    pub(super) fn score(&self, mut data: Unlabelled) -> Result<Scored, Error> {
        let (labels, weights) = (data.labels.take(), data.weights.take());
        self.model.accept(data.design.columns(), data.feature_names.as_deref())?;
        match self.scored(&data.design) {
            Ok(scored) => Ok(Scored { labels, weights, ..scored }),
            Err(Error::Score { row, score }) => Err(Error::Score { row: data.row_of(row), score }),
            Err(error) => Err(error),
        }
    }

    /// Returns the predictions of samples without labels and weights.
    fn scored(&self, design: &Design) -> Result<Scored, Error> {
        let model = self.model;
        let scores: Vec<f64> = model.scores(design, self.registry)?.data.into();
        if model.scores_per_sample() == 1 {
            let probability = |&score: &f64| model.probability(self.loss, score);
            let probabilities: Option<Vec<f64>> = scores.iter().map(probability).collect();
            let decide = |(row, &score): (usize, &f64)| {
                let probability = probabilities.as_ref().map(|probabilities| probabilities[row]);
                self.decision.class(model, score, probability)
            };
            let classes = scores.iter().enumerate().map(decide).collect();
            return Ok(Scored { classes, scores, probabilities, ..Scored::default() });
        }
        let probabilities = match self.probabilities(&scores) {
            Ok(probabilities) => Some(probabilities),
            Err(Error::NoProbabilities(_)) => None,
            Err(error) => return Err(error),
        };
        let of_rows = scores.chunks_exact(model.scores_per_sample());
        let classes = of_rows.map(|scores| model.decide(scores)).collect();
        Ok(Scored { classes, scores, probabilities, ..Scored::default() })
    }

    /// Returns the probabilities of all classes for the samples with these scores, row by row.
    fn probabilities(&self, scores: &[f64]) -> Result<Vec<f64>, Error> {
        let (members, classes) = (self.model.scores_per_sample(), self.model.classes().len());
        let mut all = vec![0.0; scores.len() / members * classes];
        let rows = scores.chunks_exact(members).zip(all.chunks_exact_mut(classes));
        for (scores, out) in rows {
            self.model.sample_probabilities(scores, self.loss, out)?;
        }
        Ok(all)
    }
}

impl Scored {
    pub(super) fn rows(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// Takes the rows that follow, of which only the classes are kept: all that measures of several classes
    /// need.
    pub(super) fn append_classes(&mut self, next: Scored) {
        self.append(Scored { scores: Vec::new(), probabilities: None, ..next });
    }

    /// Takes the rows that follow.
    pub(super) fn append(&mut self, next: Scored) {
        if self.classes.is_empty() {
            *self = next;
            return;
        }
        fn extend<T>(all: &mut Option<Vec<T>>, next: Option<Vec<T>>) {
            if let (Some(all), Some(next)) = (all, next) {
                all.extend(next);
            }
        }
        self.classes.extend(next.classes);
        self.scores.extend(next.scores);
        extend(&mut self.probabilities, next.probabilities);
        if let (Some(all), Some(next)) = (&mut self.labels, next.labels) {
            all.append(&next);
        }
        extend(&mut self.weights, next.weights);
    }

    /// Returns the predictions of a model of one score, row by row.
    pub(super) fn predictions<'m>(&self, model: &'m Model) -> Vec<Prediction<'m>> {
        let prediction = |(row, &class): (usize, &usize)| Prediction {
            score: self.scores[row],
            label: &model.classes()[class],
            probability: self.probabilities.as_ref().map(|probabilities| probabilities[row]),
        };
        self.classes.iter().enumerate().map(prediction).collect()
    }

    /// Returns the predictions of a model of several scores, row by row.
    pub(super) fn class_predictions<'m>(&self, model: &'m Model) -> Vec<ClassPrediction<'m>> {
        let row_of = |values: &[f64], row: usize, width: usize| {
            values[row * width..(row + 1) * width].to_vec()
        };
        let (members, classes) = (model.scores_per_sample(), model.classes().len());
        let prediction = |(row, &class): (usize, &usize)| ClassPrediction {
            label: &model.classes()[class],
            scores: row_of(&self.scores, row, members),
            probabilities: self.probabilities.as_ref().map(|all| row_of(all, row, classes)),
        };
        self.classes.iter().enumerate().map(prediction).collect()
    }

    /// Returns measures by the weights of the data, of the rows whose label is a class of the model.
    pub(super) fn measure(&self, model: &Model) -> Option<Metrics> {
        type Measure = fn(&[f64], &[f64], Option<&[f64]>) -> Result<f64, margins::data::Error>;
        let sign = |class: usize| if class == 1 { 1.0 } else { -1.0 };
        let Known { rows, classes } = self.known(model)?;
        let signs: Vec<f64> = classes.iter().map(|&class| sign(class)).collect();
        let decided: Vec<f64> = rows.iter().map(|&row| sign(self.classes[row])).collect();
        let of = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let (scores, weights) = (of(&self.scores), self.weights.as_ref().map(of));
        let (probabilities, weights) = (self.probabilities.as_ref().map(of), weights.as_deref());
        let error = measured(metrics::error_rate(&decided, &signs, weights))?;
        let of_probabilities =
            |measure: Measure| measure(probabilities.as_ref()?, &signs, weights).ok();
        Some(Metrics {
            rows: rows.len(),
            error: error.rate,
            standard_error: error.standard_error,
            balanced_error: metrics::balanced_error(&decided, &signs, weights).ok(),
            auc: metrics::auc(&scores, &signs, weights).ok(),
            log_loss: of_probabilities(metrics::log_loss),
            brier: of_probabilities(metrics::brier),
        })
    }

    /// Returns the error by the weights of the data, of the rows whose label is a class of the model.
    pub(super) fn measure_classes(&self, model: &Model) -> Option<ClassMetrics> {
        let Known { rows, classes } = self.known(model)?;
        let mistakes: Vec<bool> =
            rows.iter().zip(&classes).map(|(&row, &class)| self.classes[row] != class).collect();
        let of = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let weights = self.weights.as_ref().map(of);
        let error = measured(metrics::mistake_rate(&mistakes, weights.as_deref()))?;
        let (rate, standard_error) = (error.rate, error.standard_error);
        Some(ClassMetrics { rows: rows.len(), error: rate, standard_error })
    }

    /// Returns the rows whose label is a class of the model, with a warning about the others; `None`
    /// if no row has such a label.
    fn known(&self, model: &Model) -> Option<Known> {
        let labels = self.labels.as_ref()?;
        let classes: Vec<Option<usize>> =
            labels.names().iter().map(|label| model.class_of(label)).collect();
        let known = labels.indices().enumerate();
        let known = known.filter_map(|(row, label)| Some((row, classes[label]?)));
        let (rows, of_rows): (Vec<usize>, Vec<usize>) = known.unzip();
        if rows.len() < labels.len() {
            let names = labels.names().iter().zip(&classes);
            let unknown: Vec<&String> =
                names.filter_map(|(name, class)| class.is_none().then_some(name)).collect();
            warn(format_args!(
                "{} of {} are not measured: their labels ({}) are not classes of the model ({})",
                labels.len() - rows.len(),
                Counted(labels.len(), "row"),
                Listed(&unknown),
                Listed(model.classes())
            ));
        }
        (!rows.is_empty()).then_some(Known { rows, classes: of_rows })
    }
}

/// The rows whose label is a class of the model, with the index of each class.
struct Known {
    rows: Vec<usize>,
    classes: Vec<usize>,
}

/// Returns a measure of predictions; `None`, with a warning, if it is not defined.
fn measured<T>(measure: Result<T, margins::data::Error>) -> Option<T> {
    let reason = |error: margins::data::Error| {
        warn(format!("the predictions are not measured: {error}"));
    };
    measure.map_err(reason).ok()
}

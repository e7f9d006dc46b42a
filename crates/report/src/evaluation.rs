use margins_calibration::probability::{Binning, Reliability};
use margins_data::metrics::{
    Area, ErrorRate, MarginStatistics, Ranking, brier, log_loss, mistake_rate,
};
use margins_losses::MarginLoss;
use margins_model::Model;
use nalgebra::DMatrix;
use serde::Serialize;

use crate::Error;
use crate::data::Labelled;

/// The most points that a curve is kept with.
const MOST_POINTS: usize = 201;
/// The samples of the smallest margins that are listed.
const HARDEST: usize = 10;
/// The bins of a reliability diagram.
const BINS: usize = 10;

/// What a model makes of labelled samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The name of the data.
    pub data: String,
    /// The share of mistakes, by weight.
    pub error: Measured,
    /// The decisions of each class.
    pub confusion: Confusion,
    /// The margins at the quantiles 0, 0.005, ..., 1; empty for several classes.
    pub margins: Vec<f64>,
    /// The ROC curve, share of false positives first; `None` for several classes, or if the samples
    /// have one class.
    pub roc: Option<Curve>,
    /// The precision-recall curve, recall first, with the average precision as its area.
    pub precision_recall: Option<Curve>,
    /// The probabilities beside what was seen; `None` for several classes, or without
    /// probabilities.
    pub reliability: Option<ReliabilityDiagram>,
    /// The samples of the smallest margins, the smallest first; empty for several classes.
    pub hardest: Vec<HardSample>,
}

/// A number with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// The weight of the samples of each class that was decided for each: their number, where none has
/// a weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// A row a true class, in it a weight a decision.
    pub weights: Vec<Vec<f64>>,
}

/// A curve over thresholds, with the area under it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Points of the curve, at most 201.
    pub points: Vec<(f64, f64)>,
    /// The area under the whole curve.
    pub area: Measured,
}

/// Predicted probabilities beside the frequencies seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReliabilityDiagram {
    /// Bins of nearly equal count.
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error.
    pub calibration_error: f64,
    /// Its expected value, and its standard deviation, if the probabilities are calibrated.
    pub if_calibrated: Measured,
    /// The mean of -log of the probability of the true class, by weight.
    pub log_loss: f64,
    /// The Brier score, by weight.
    pub brier: f64,
}

/// A bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The number of samples.
    pub count: usize,
    /// The mean predicted probability.
    pub mean_probability: f64,
    /// The share of the positive class, with the standard error of a share.
    pub observed: Measured,
}

/// A sample on which the model errs most, or is least sure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardSample {
    /// The row of the data, from 1.
    pub row: usize,
    /// The class that the data say.
    pub label: String,
    /// The score of the model.
    pub score: f64,
    /// The margin: the score for the class that the data say.
    pub margin: f64,
    /// The probability of the positive class, if there are probabilities.
    pub probability: Option<f64>,
}

impl From<Area> for Measured {
    fn from(area: Area) -> Self {
        Measured { value: area.value, standard_error: area.standard_error }
    }
}

impl From<ErrorRate> for Measured {
    fn from(error: ErrorRate) -> Self {
        Measured { value: error.rate, standard_error: error.standard_error }
    }
}

impl Evaluation {
    /// Evaluates a model from its scores, a row a sample and a column a member.
    pub(crate) fn new(
        sample: &Labelled<'_>,
        model: &Model,
        loss: &dyn MarginLoss,
        scores: &DMatrix<f64>,
    ) -> Result<Self, Error> {
        let decide = |row: usize| -> usize {
            model.decide(&scores.row(row).iter().copied().collect::<Vec<f64>>())
        };
        let decided: Vec<usize> = (0..scores.nrows()).map(decide).collect();
        let mistakes: Vec<bool> =
            decided.iter().zip(&sample.classes).map(|(decided, class)| decided != class).collect();
        let mut evaluation = Evaluation {
            data: sample.name.to_owned(),
            error: mistake_rate(&mistakes, sample.weights)?.into(),
            confusion: Confusion::new(model.classes(), sample, &decided),
            margins: Vec::new(),
            roc: None,
            precision_recall: None,
            reliability: None,
            hardest: Vec::new(),
        };
        if let [member] = model.members() {
            let scores = scores.as_slice();
            let probabilities: Option<Vec<f64>> =
                scores.iter().map(|&score| member.probability(loss, score)).collect();
            evaluation.of_two_classes(sample, model, scores, probabilities.as_deref())?;
        }
        Ok(evaluation)
    }

    /// Adds what the scores of two classes say.
    fn of_two_classes(
        &mut self,
        sample: &Labelled<'_>,
        model: &Model,
        scores: &[f64],
        probabilities: Option<&[f64]>,
    ) -> Result<(), Error> {
        let (signs, weights) = (sample.signs(), sample.weights);
        let shares: Vec<f64> = (0..MOST_POINTS).map(share).collect();
        self.margins = MarginStatistics::new(scores, &signs, weights)?.quantiles(&shares)?;
        if let Ok(ranking) = Ranking::new(scores, &signs, weights) {
            self.roc = Some(Curve {
                points: thinned(&ranking.roc_curve()),
                area: ranking.roc_area().into(),
            });
            self.precision_recall = Some(Curve {
                points: thinned(&ranking.precision_recall_curve()),
                area: ranking.average_precision().into(),
            });
        }
        if let Some(probabilities) = probabilities {
            self.reliability = Some(ReliabilityDiagram::new(probabilities, &signs, weights)?);
        }
        let mut order: Vec<usize> = (0..scores.len()).collect();
        let margin = |i: usize| scores[i] * signs[i];
        order.sort_by(|&i, &j| margin(i).total_cmp(&margin(j)));
        let hard = |&i: &usize| HardSample {
            row: i + 1,
            label: model.classes()[sample.classes[i]].clone(),
            score: scores[i],
            margin: margin(i),
            probability: probabilities.map(|probabilities| probabilities[i]),
        };
        self.hardest = order.iter().take(HARDEST).map(hard).collect();
        Ok(())
    }

    /// Returns the margins with the share of samples at or below them.
    pub(crate) fn margin_distribution(&self) -> impl Iterator<Item = (f64, f64)> {
        self.margins.iter().enumerate().map(|(k, &margin)| (margin, share(k)))
    }
}

/// Returns the share of the k-th of the most points.
fn share(k: usize) -> f64 {
    k as f64 / (MOST_POINTS - 1) as f64
}

/// Returns the ends of a curve and points between them, evenly by their number.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    (0..MOST_POINTS).map(|k| points[k * (points.len() - 1) / (MOST_POINTS - 1)]).collect()
}

impl Confusion {
    fn new(classes: &[String], sample: &Labelled<'_>, decided: &[usize]) -> Self {
        let mut weights = vec![vec![0.0; classes.len()]; classes.len()];
        for (row, (&class, &decided)) in sample.classes.iter().zip(decided).enumerate() {
            weights[class][decided] += sample.weights.map_or(1.0, |weights| weights[row]);
        }
        Confusion { classes: classes.to_vec(), weights }
    }
}

impl ReliabilityDiagram {
    fn new(probabilities: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        let reliability = Reliability::new(probabilities, signs, Binning::EqualCount(BINS))?;
        let error = reliability.expected_calibration_error();
        let bins = reliability.bins().iter().map(|bin| {
            let observed = bin.observed_frequency;
            let variance = observed * (1.0 - observed) / bin.count as f64;
            ReliabilityBin {
                count: bin.count,
                mean_probability: bin.mean_probability,
                observed: Measured { value: observed, standard_error: variance.sqrt() },
            }
        });
        Ok(ReliabilityDiagram {
            bins: bins.collect(),
            calibration_error: error.value,
            if_calibrated: Measured {
                value: error.expected_if_calibrated,
                standard_error: error.standard_error_if_calibrated,
            },
            log_loss: log_loss(probabilities, signs, weights)?,
            brier: brier(probabilities, signs, weights)?,
        })
    }
}

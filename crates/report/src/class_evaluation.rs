//! The evaluation of a model on one class against the rest.

use margins_calibration::probability::{Binning, Reliability};
use margins_data::metrics::{Ranking, brier, log_loss};
use serde::Serialize;

use crate::Error;
use crate::measured::Measured;
use crate::points::{quantiles, thinned};

/// The bins of a reliability diagram.
const BINS: usize = 10;

/// The evaluation of a model on one class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassEvaluation {
    /// The name of the class.
    pub class: String,
    /// The margins of the samples of the class at the quantiles 0, 0.005, ..., 1; empty if there are
    /// none.
    pub margins: Vec<f64>,
    /// The ROC curve, share of false positives first; `None` if all samples or none are of the
    /// class, and of the negative class of two, which is the positive one turned round.
    pub roc: Option<Curve>,
    /// The precision-recall curve, recall first, with the average precision as its area; `None`
    /// where there is no ROC curve.
    pub precision_recall: Option<Curve>,
    /// The probabilities beside what was seen; `None` without probabilities, and of the negative
    /// class of two.
    pub reliability: Option<ReliabilityDiagram>,
}

/// A curve over thresholds, with the area under it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Points of the curve, at most 201.
    pub points: Vec<(f64, f64)>,
    /// The area under the whole curve.
    pub area: Measured,
}

/// Predicted probabilities beside the frequencies seen, both by weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReliabilityDiagram {
    /// Bins of nearly equal weight.
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error.
    pub calibration_error: f64,
    /// The expected value and the standard deviation of the calibration error if the probabilities
    /// are calibrated.
    pub if_calibrated: Measured,
    /// The mean of -log of the probability of what was seen.
    pub log_loss: f64,
    /// The Brier score.
    pub brier: f64,
}

/// A bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The number of samples.
    pub count: usize,
    /// The mean predicted probability.
    pub mean_probability: f64,
    /// The share of the class, with the standard error of a share.
    pub observed: Measured,
}

/// The samples as one class sees them: +1 for its own, -1 for the rest.
pub(crate) struct Side<'a> {
    pub(crate) signs: &'a [f64],
    pub(crate) weights: Option<&'a [f64]>,
    /// The scores of the class.
    pub(crate) scores: &'a [f64],
    /// The margins of all samples.
    pub(crate) margins: &'a [f64],
    /// The probabilities of the class, if there are any.
    pub(crate) probabilities: Option<&'a [f64]>,
}

impl ClassEvaluation {
    /// Returns the margins of the samples of a class.
    pub(crate) fn new(class: &str, side: &Side<'_>) -> Result<Self, Error> {
        let own = |row: &usize| side.signs[*row] > 0.0;
        let rows: Vec<usize> = (0..side.signs.len()).filter(own).collect();
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        Ok(ClassEvaluation {
            class: class.to_owned(),
            margins: quantiles(&of(side.margins), side.weights.map(of).as_deref())?,
            roc: None,
            precision_recall: None,
            reliability: None,
        })
    }

    /// Adds what compares the class with the rest.
    pub(crate) fn against_the_rest(mut self, side: &Side<'_>) -> Result<Self, Error> {
        let Side { signs, weights, scores, probabilities, .. } = *side;
        if let Ok(ranking) = Ranking::new(scores, signs, weights) {
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
            self.reliability = Some(ReliabilityDiagram::new(probabilities, signs, weights)?);
        }
        Ok(self)
    }
}

impl ReliabilityDiagram {
    fn new(probabilities: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        let binning = Binning::EqualCount(BINS);
        let reliability = Reliability::new(probabilities, signs, weights, binning)?;
        let error = reliability.expected_calibration_error();
        let bins = reliability.bins().iter().map(|bin| {
            let observed = bin.observed_frequency;
            let variance = observed * (1.0 - observed) / bin.effective_count;
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

//! Judges held-out samples of two classes by their scores.

use margins_data::metrics::{Judged, Measure, is_mistake};
use margins_data::{ClassLabels, Dataset};
use margins_losses::MarginLoss;

use super::held_out::Measured;
use crate::Training;

/// Samples of two classes that are held out, to be judged by their scores.
pub(super) struct Judge<'a, L: MarginLoss + ?Sized> {
    loss: &'a L,
    measure: Measure,
    signs: Vec<f64>,
    classes: Vec<usize>,
    weights: Option<Vec<f64>>,
}

impl<'a, L: MarginLoss + ?Sized> Judge<'a, L> {
    pub(super) fn new(training: &Training<'a, L>, data: &Dataset, rows: &[usize]) -> Self {
        Judge {
            loss: training.loss,
            measure: training.measure,
            signs: rows.iter().map(|&i| data.labels().signs()[i]).collect(),
            classes: rows.iter().map(|&i| data.labels().index(i)).collect(),
            weights: data.weights().map(|weights| rows.iter().map(|&i| weights[i]).collect()),
        }
    }

    /// Returns true for every sample that its score misclassifies, and the values of the measures.
    pub(super) fn judge(&self, scores: &[f64]) -> (Vec<bool>, Measured) {
        let wrong: Vec<bool> =
            scores.iter().zip(&self.signs).map(|(&score, &sign)| is_mistake(score, sign)).collect();
        let of_both = |&score: &f64| self.loss.probability(score).map(|p| [1.0 - p, p]);
        let probabilities: Option<Vec<[f64; 2]>> = scores.iter().map(of_both).collect();
        let judged = Judged {
            count: 2,
            classes: &self.classes,
            wrong: &wrong,
            scores: Some(scores),
            probabilities: probabilities.as_deref().map(<[[f64; 2]]>::as_flattened),
            weights: self.weights.as_deref(),
        };
        let measured = Measured::of(&judged, self.measure);
        (wrong, measured)
    }
}

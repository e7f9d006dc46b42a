//! Losses and errors by the weights of samples.

use margins_boost::Evaluation;
use margins_data::{ClassLabels, Dataset};

use crate::Error;

/// Returns the evaluation with the losses of a game on data with weights.
pub(super) fn weighted<Y: ClassLabels>(
    evaluation: Evaluation,
    data: &Dataset<Y>,
) -> Result<Evaluation, Error> {
    match data.weights() {
        Some(weights) => Ok(evaluation.weighted(weights)?),
        None => Ok(evaluation),
    }
}

/// Returns the share of the weight of all rows that some rows have, 0 without weight.
pub(super) fn share_of(rows: &[usize], weights: Option<&[f64]>, all: usize) -> f64 {
    let Some(weights) = weights else { return rows.len() as f64 / all as f64 };
    let total: f64 = weights.iter().sum();
    if total == 0.0 { 0.0 } else { rows.iter().map(|&row| weights[row]).sum::<f64>() / total }
}

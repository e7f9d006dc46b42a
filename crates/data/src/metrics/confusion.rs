//! Decisions by true class.

use super::weights::Weights;
use super::{check_scores, is_mistake};
use crate::Error;

/// The weight of each class that was decided for each: the number of samples, where none has a
/// weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Confusion {
    /// The weight of the positives that are decided positive.
    pub true_positives: f64,
    /// The weight of the negatives that are decided positive.
    pub false_positives: f64,
    /// The weight of the negatives that are decided negative.
    pub true_negatives: f64,
    /// The weight of the positives that are decided negative.
    pub false_negatives: f64,
}

impl Confusion {
    /// Returns the share of the positives that are decided positive; NaN without positives.
    pub fn sensitivity(&self) -> f64 {
        share(self.true_positives, self.false_negatives)
    }

    /// Returns the share of the negatives that are decided negative; NaN without negatives.
    pub fn specificity(&self) -> f64 {
        share(self.true_negatives, self.false_positives)
    }

    /// Returns the share of the positive decisions that are right; NaN without positive decisions.
    pub fn precision(&self) -> f64 {
        share(self.true_positives, self.false_positives)
    }
}

fn share(part: f64, rest: f64) -> f64 {
    part / (part + rest)
}

/// Sums the weights of decisions by true class.
///
/// # Errors
/// See the [module](super).
pub fn confusion(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<Confusion, Error> {
    check_scores(scores, signs)?;
    let weights = Weights::of(weights, signs.len())?;
    let counts = relative_confusion(scores, signs, &weights);
    let whole = |count: f64| count * weights.scale();
    Ok(Confusion {
        true_positives: whole(counts.true_positives),
        false_positives: whole(counts.false_positives),
        true_negatives: whole(counts.true_negatives),
        false_negatives: whole(counts.false_negatives),
    })
}

/// Sums the weights, relative to their scale, of decisions by true class.
pub(super) fn relative_confusion(
    scores: &[f64],
    signs: &[f64],
    weights: &Weights<'_>,
) -> Confusion {
    let mut counts = Confusion::default();
    for (i, (&f, &y)) in scores.iter().zip(signs).enumerate() {
        *match (is_mistake(f, y), y > 0.0) {
            (false, true) => &mut counts.true_positives,
            (true, false) => &mut counts.false_positives,
            (false, false) => &mut counts.true_negatives,
            (true, true) => &mut counts.false_negatives,
        } += weights.relative(i);
    }
    counts
}

//! Curves over thresholds (ROC and precision-recall) and the areas under them.

use super::{Weights, check_both_classes, check_scores};
use crate::Error;

/// Samples in the order of their scores, and what this order says of their classes.
///
/// A threshold t decides for +1 where a score is at least t. Samples of equal scores are decided
/// alike.
///
/// ```
/// use margins_data::metrics::Ranking;
///
/// let ranking = Ranking::new(&[0.1, 0.4, 0.35, 0.8], &[-1.0, -1.0, 1.0, 1.0], None)?;
/// assert_eq!(ranking.roc_area().value, 0.75);
/// assert!((ranking.average_precision().value - 5.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The thresholds, largest first.
    steps: Vec<Step>,
    /// The weights of the samples that count: the step, true for +1, the weight.
    samples: Vec<(usize, bool, f64)>,
    positives: f64,
    negatives: f64,
}

/// The weights at one score, and down to it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    positive: f64,
    negative: f64,
    true_positives: f64,
    false_positives: f64,
}

/// An area under a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The area.
    pub value: f64,
    /// The standard error by the infinitesimal jackknife, `sqrt(sum_i c_i^2 (dA/dc_i)^2)` for
    /// weights c_i. Of the ROC curve it is DeLong's, with the variances of placements divided by
    /// the numbers of samples.
    pub standard_error: f64,
}

impl Step {
    fn precision(&self) -> f64 {
        self.true_positives / (self.true_positives + self.false_positives)
    }
}

impl Ranking {
    /// Returns the ranking of samples by their scores. O(n log n).
    ///
    /// # Errors
    /// See the [module](super); also weight in one class only.
    pub fn new(scores: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        check_scores(scores, signs)?;
        let weights = Weights::of(weights, signs.len())?;
        check_both_classes(signs, &weights)?;
        let mut order: Vec<usize> = (0..scores.len()).filter(|&i| weights.counts(i)).collect();
        order.sort_unstable_by(|&i, &j| scores[j].total_cmp(&scores[i]));
        let mut ranking = Ranking {
            steps: Vec::new(),
            samples: Vec::with_capacity(order.len()),
            positives: 0.0,
            negatives: 0.0,
        };
        // Zeros of both signs are a tie.
        for tied in order.chunk_by(|&i, &j| scores[i] == scores[j]) {
            let (mut positive, mut negative) = (0.0, 0.0);
            for &i in tied {
                let (is_positive, weight) = (signs[i] > 0.0, weights.relative(i));
                *if is_positive { &mut positive } else { &mut negative } += weight;
                ranking.samples.push((ranking.steps.len(), is_positive, weight));
            }
            ranking.positives += positive;
            ranking.negatives += negative;
            let (true_positives, false_positives) = (ranking.positives, ranking.negatives);
            ranking.steps.push(Step { positive, negative, true_positives, false_positives });
        }
        Ok(ranking)
    }

    /// Returns the ROC curve: at every threshold the share of -1 that is decided +1 with the share
    /// of +1 that is, from (0, 0) to (1, 1).
    pub fn roc_curve(&self) -> Vec<(f64, f64)> {
        let share =
            |s: &Step| (s.false_positives / self.negatives, s.true_positives / self.positives);
        [(0.0, 0.0)].into_iter().chain(self.steps.iter().map(share)).collect()
    }

    /// Returns the precision-recall curve: at every threshold the share of +1 that is decided +1
    /// with the share of +1 among these decisions, largest threshold first.
    pub fn precision_recall_curve(&self) -> Vec<(f64, f64)> {
        self.steps.iter().map(|s| (s.true_positives / self.positives, s.precision())).collect()
    }

    /// Returns the area under the ROC curve: the probability that a random positive has a larger
    /// score than a random negative, both drawn by weight, ties counted half.
    pub fn roc_area(&self) -> Area {
        let below = |s: &Step| self.negatives - s.false_positives + 0.5 * s.negative;
        let above = |s: &Step| s.true_positives - 0.5 * s.positive;
        let in_order: f64 = self.steps.iter().map(|s| s.positive * below(s)).sum();
        let value = in_order / (self.negatives * self.positives);
        self.area(value, |step, is_positive| {
            let step = &self.steps[step];
            if is_positive {
                (below(step) / self.negatives - value) / self.positives
            } else {
                (above(step) / self.positives - value) / self.negatives
            }
        })
    }

    /// Returns the average precision: the mean over the positives, by weight, of the precision at
    /// the threshold of their score. It is the area under the precision-recall curve as steps.
    pub fn average_precision(&self) -> Area {
        let sum: f64 = self.steps.iter().map(|s| s.positive * s.precision()).sum();
        let value = sum / self.positives;
        // What one more positive, or negative, changes in the precisions from a step on.
        let mut changes = vec![(0.0, 0.0); self.steps.len()];
        let (mut by_positive, mut by_negative) = (0.0, 0.0);
        for (change, s) in changes.iter_mut().zip(&self.steps).rev() {
            let squared = (s.true_positives + s.false_positives).powi(2);
            by_positive += s.positive * s.false_positives / squared;
            by_negative -= s.positive * s.true_positives / squared;
            *change = (by_positive, by_negative);
        }
        self.area(value, |step, is_positive| {
            let own = if is_positive { self.steps[step].precision() - value } else { 0.0 };
            let (positive, negative) = changes[step];
            (own + if is_positive { positive } else { negative }) / self.positives
        })
    }

    /// Returns an area by its derivative in the weight of a sample, given by its step and class.
    fn area(&self, value: f64, derivative: impl Fn(usize, bool) -> f64) -> Area {
        let square = |&(step, is_positive, weight): &(usize, bool, f64)| {
            (weight * derivative(step, is_positive)).powi(2)
        };
        let variance: f64 = self.samples.iter().map(square).sum();
        Area { value, standard_error: variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Average precision by its definition: for every positive all samples are counted.
    fn by_pairs(scores: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
        let all = 0..scores.len();
        let weight = |keep: &dyn Fn(usize) -> bool| -> f64 {
            all.clone().filter(|&j| keep(j)).map(|j| weights[j]).sum()
        };
        let positives = weight(&|j| signs[j] > 0.0);
        let precision = |i: usize| {
            weight(&|j| scores[j] >= scores[i] && signs[j] > 0.0)
                / weight(&|j| scores[j] >= scores[i])
        };
        let of_positives = all.clone().filter(|&i| signs[i] > 0.0);
        of_positives.map(|i| weights[i] * precision(i)).sum::<f64>() / positives
    }

    /// The root of the sum of `(c_i dA/dc_i)^2` by central differences.
    fn jackknife(weights: &[f64], area: impl Fn(&[f64]) -> f64) -> f64 {
        const STEP: f64 = 1e-5;
        let term = |i: usize| {
            let at = |factor: f64| {
                let mut moved = weights.to_vec();
                moved[i] *= factor;
                area(&moved)
            };
            ((at(1.0 + STEP) - at(1.0 - STEP)) / (2.0 * STEP)).powi(2)
        };
        (0..weights.len()).map(term).sum::<f64>().sqrt()
    }

    proptest! {
        #[test]
        fn areas_are_their_definitions(
            samples in proptest::collection::vec((-4i8..4, any::<bool>(), 0.5..2.0f64), 0..30),
        ) {
            let mut scores = vec![0.0, -0.0];
            let mut signs = vec![1.0, -1.0];
            let mut weights = vec![1.0, 1.5];
            for (score, positive, weight) in samples {
                scores.push(f64::from(score) / 2.0);
                signs.push(if positive { 1.0 } else { -1.0 });
                weights.push(weight);
            }
            let ranking = |weights: &[f64]| Ranking::new(&scores, &signs, Some(weights)).unwrap();
            let precision = ranking(&weights).average_precision();
            prop_assert!((precision.value - by_pairs(&scores, &signs, &weights)).abs() < 1e-13);
            let numeric = jackknife(&weights, |c| by_pairs(&scores, &signs, c));
            prop_assert!((precision.standard_error - numeric).abs() < 1e-8);
            let area = ranking(&weights).roc_area();
            let numeric = jackknife(&weights, |c| ranking(c).roc_area().value);
            prop_assert!((area.standard_error - numeric).abs() < 1e-8);
            // The area between the corners of the curve, by trapezes.
            let curve = ranking(&weights).roc_curve();
            let trapezes: f64 =
                curve.windows(2).map(|p| (p[1].0 - p[0].0) * (p[1].1 + p[0].1) / 2.0).sum();
            prop_assert!((area.value - trapezes).abs() < 1e-13);
        }
    }
}

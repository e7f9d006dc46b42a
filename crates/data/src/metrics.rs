//! Measures of the predictions of a classifier on labelled samples, over its scores or probabilities and
//! the true signs.
//!
//! A score decides for +1 where it is > 0, else for -1. Every measure takes sample weights c_i,
//! those of the data set: a sample of weight k counts as k samples do, one of weight 0 as none, and
//! `None` weighs every sample 1. Weights of classes do not count: they say what a fit is to care
//! about, not how often it errs. Every function refuses slices of different or zero length, signs
//! other than +1 and -1, scores that are not finite, probabilities outside \[0, 1\], weights that
//! are negative or not finite, and weights that are all zero.

pub mod binomial;
mod confusion;
mod held_out;
mod margins;
mod measure;
mod ranking;
mod weights;

use crate::Error;
use crate::error::{check_entries, check_len, check_signs};

use confusion::relative_confusion;
pub use confusion::{Confusion, confusion};
pub use held_out::{HeldOutError, effective_size, equal_weights, error_bound};
pub use margins::MarginStatistics;
pub use measure::{Judged, Measure};
pub use ranking::{Area, Ranking};
use weights::Weights;

/// A mean loss with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorRate {
    /// The mean.
    pub rate: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
}

/// A count of mistakes by weight, for every error of this project, be it of training, held-out or
/// streamed samples.
///
/// ```
/// use margins_data::metrics::MistakeTally;
///
/// let mut tally = MistakeTally::default();
/// tally.add(true, 1.0);
/// tally.add(false, 3.0);
/// assert_eq!(tally.rate(), Some(0.25));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MistakeTally {
    mistakes: f64,
    total: f64,
}

impl MistakeTally {
    /// Counts a sample of this weight as a mistake or as correct.
    pub fn add(&mut self, is_mistake: bool, weight: f64) {
        self.total += weight;
        if is_mistake {
            self.mistakes += weight;
        }
    }

    /// Returns the weight of all samples.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns the share of the mistakes, `sum_i c_i e_i / sum_i c_i` with e_i = 1 for a mistake;
    /// `None` without weight.
    pub fn rate(&self) -> Option<f64> {
        (self.total > 0.0).then(|| self.mistakes / self.total)
    }
}

/// Returns true if a score decides for the other class than the sign says: it decides for +1 where
/// it is > 0, else for -1.
pub fn is_mistake(score: f64, sign: f64) -> bool {
    (score > 0.0) != (sign > 0.0)
}

/// Returns the mean of losses by weight, r = sum_i c_i e_i / sum_i c_i, and its standard error
/// sqrt(sum_i c_i^2 (e_i - r)^2) / sum_i c_i. The standard error takes samples for independent, so
/// that one sample of weight 2 has less information than two samples.
///
/// ```
/// use margins_data::metrics::mean_loss;
///
/// assert_eq!(mean_loss(&[4.0, 0.0], Some(&[1.0, 3.0]))?.rate, 1.0);
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn mean_loss(losses: &[f64], weights: Option<&[f64]>) -> Result<ErrorRate, Error> {
    if losses.is_empty() {
        return Err(Error::Empty("rows"));
    }
    let weights = Weights::of(weights, losses.len())?;
    let total: f64 = (0..losses.len()).map(|i| weights.relative(i)).sum();
    let mean = |(i, loss): (usize, &f64)| weights.relative(i) * loss;
    let rate = losses.iter().enumerate().map(mean).sum::<f64>() / total;
    let deviation = |(i, loss): (usize, &f64)| (weights.relative(i) * (loss - rate)).powi(2);
    let spread: f64 = losses.iter().enumerate().map(deviation).sum();
    Ok(ErrorRate { rate, standard_error: spread.sqrt() / total })
}

/// Returns the share of mistakes by weight: the [`mean_loss`] with the loss 1 of a mistake and 0 of
/// any other sample, whose standard error is sqrt(r (1 - r) / n) without weights.
///
/// ```
/// use margins_data::metrics::mistake_rate;
///
/// assert_eq!(mistake_rate(&[true, false], Some(&[1.0, 3.0]))?.rate, 0.25);
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// See the [module](self).
pub fn mistake_rate(mistakes: &[bool], weights: Option<&[f64]>) -> Result<ErrorRate, Error> {
    let losses: Vec<f64> = mistakes.iter().map(|&wrong| f64::from(u8::from(wrong))).collect();
    mean_loss(&losses, weights)
}

/// Returns the share of misclassified samples by weight: the [`mistake_rate`] of their decisions.
///
/// # Errors
/// See the [module](self).
pub fn error_rate(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<ErrorRate, Error> {
    check_scores(scores, signs)?;
    let mistakes: Vec<bool> = scores.iter().zip(signs).map(|(&f, &y)| is_mistake(f, y)).collect();
    mistake_rate(&mistakes, weights)
}

/// Returns the mean of the error rates of the two classes.
///
/// # Errors
/// See the [module](self); also weight in one class only.
pub fn balanced_error(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<f64, Error> {
    check_scores(scores, signs)?;
    let weights = Weights::of(weights, signs.len())?;
    check_both_classes(signs, &weights)?;
    let counts = relative_confusion(scores, signs, &weights);
    Ok((2.0 - counts.sensitivity() - counts.specificity()) / 2.0)
}

/// Returns the area under the ROC curve: the probability that a random positive has a larger score
/// than a random negative, both drawn by weight, ties counted half. O(n log n).
///
/// # Errors
/// See the [module](self); also weight in one class only.
pub fn auc(scores: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<f64, Error> {
    Ok(Ranking::new(scores, signs, weights)?.roc_area().value)
}

/// Returns the mean of -log of the probability given to the true class. Probabilities, of the
/// positive class, are first clipped to \[eps, 1 - eps\] with eps = 2.2e-16, so that a certain
/// mistake costs 36 and not infinity.
///
/// # Errors
/// See the [module](self).
pub fn log_loss(
    probabilities: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<f64, Error> {
    mean_cost(probabilities, signs, weights, |q, y| {
        let q = q.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        if y > 0.0 { -q.ln() } else { -(-q).ln_1p() }
    })
}

/// Returns the Brier score: the mean of (q_i - 1\[y_i = +1\])^2 for probabilities q_i of the
/// positive class.
///
/// # Errors
/// See the [module](self).
pub fn brier(probabilities: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<f64, Error> {
    mean_cost(probabilities, signs, weights, |q, y| (q - f64::from(u8::from(y > 0.0))).powi(2))
}

fn mean_cost(
    probabilities: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
    cost: impl Fn(f64, f64) -> f64,
) -> Result<f64, Error> {
    check_probabilities(probabilities, signs)?;
    let weights = Weights::of(weights, signs.len())?;
    Ok(weights.mean(probabilities.iter().zip(signs).map(|(&q, &y)| cost(q, y))))
}

fn check_signs_of(n: usize, signs: &[f64]) -> Result<(), Error> {
    check_len("signs, one a score", n, signs.len())?;
    if n == 0 {
        return Err(Error::Empty("rows"));
    }
    check_signs(signs)
}

fn check_scores(scores: &[f64], signs: &[f64]) -> Result<(), Error> {
    check_signs_of(scores.len(), signs)?;
    check_entries("score", scores, "finite", f64::is_finite)
}

fn check_probabilities(probabilities: &[f64], signs: &[f64]) -> Result<(), Error> {
    check_signs_of(probabilities.len(), signs)?;
    check_entries("probability", probabilities, "from 0 to 1", |q| (0.0..=1.0).contains(&q))
}

fn check_both_classes(signs: &[f64], weights: &Weights<'_>) -> Result<(), Error> {
    let counted: Vec<f64> =
        signs.iter().enumerate().filter(|(i, _)| weights.counts(*i)).map(|(_, y)| *y).collect();
    match counted.first() {
        Some(&first) if counted.iter().all(|&y| y == first) => {
            Err(Error::OneClass { class: first.to_string(), rows: counted.len() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn auc_is_its_definition(
            samples in proptest::collection::vec((-4i8..4, any::<bool>()), 0..40),
        ) {
            // Both classes, and a tie of 0 and -0.
            let mut scores = vec![0.0, -0.0];
            let mut signs = vec![1.0, -1.0];
            for (score, positive) in samples {
                scores.push(f64::from(score) / 2.0);
                signs.push(if positive { 1.0 } else { -1.0 });
            }
            let (mut sum, mut pairs) = (0.0, 0.0);
            for i in (0..signs.len()).filter(|&i| signs[i] > 0.0) {
                for j in (0..signs.len()).filter(|&j| signs[j] < 0.0) {
                    pairs += 1.0;
                    sum += if scores[i] > scores[j] { 1.0 } else { 0.0 };
                    sum += if scores[i] == scores[j] { 0.5 } else { 0.0 };
                }
            }
            prop_assert!((auc(&scores, &signs, None).unwrap() - sum / pairs).abs() < 1e-14);
        }
    }

    #[test]
    fn errors_by_hand() {
        let (scores, signs) = ([1.0, -1.0, 0.0, 2.0, 3.0], [1.0, 1.0, -1.0, -1.0, 1.0]);
        let plain = error_rate(&scores, &signs, None).unwrap();
        assert!((plain.rate - 0.4).abs() < 1e-15);
        assert!((plain.standard_error - (0.4 * 0.6 / 5.0f64).sqrt()).abs() < 1e-15);
        let weights = [1.0, 2.0, 1.0, 0.0, 1.0];
        let weighted = error_rate(&scores, &signs, Some(&weights)).unwrap();
        assert!((weighted.rate - 0.4).abs() < 1e-15);
        let squares = 3.0 * 0.4f64.powi(2) + (2.0 * 0.6f64).powi(2);
        assert!((weighted.standard_error - squares.sqrt() / 5.0).abs() < 1e-15);
        let huge = weights.map(|c| c * 2f64.powi(1022));
        assert_eq!(error_rate(&scores, &signs, Some(&huge)).unwrap(), weighted);

        let counts = confusion(&scores, &signs, None).unwrap();
        assert_eq!((counts.true_positives, counts.false_positives), (2.0, 1.0));
        assert_eq!((counts.true_negatives, counts.false_negatives), (1.0, 1.0));
        assert!((counts.precision() - 2.0 / 3.0).abs() < 1e-15);
        let balanced = balanced_error(&scores, &signs, None).unwrap();
        assert!((balanced - (1.0 / 3.0 + 0.5) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn probabilities_by_hand() {
        let (probabilities, signs) = ([0.8, 0.5, 0.0], [1.0, -1.0, -1.0]);
        let loss = log_loss(&probabilities, &signs, None).unwrap();
        assert!((loss - (-(0.8f64.ln()) - 0.5f64.ln()) / 3.0).abs() < 1e-15);
        assert!((brier(&probabilities, &signs, None).unwrap() - (0.04 + 0.25) / 3.0).abs() < 1e-15);
        let certain =
            [log_loss(&[0.0], &[1.0], None).unwrap(), log_loss(&[1.0], &[-1.0], None).unwrap()];
        assert!(certain.iter().all(|loss| (36.0..36.1).contains(loss)), "{certain:?}");
    }

    #[test]
    fn margins_by_hand() {
        let margins =
            MarginStatistics::new(&[1.0, -2.0, 3.0, 6.0], &[1.0, -1.0, 1.0, -1.0], None).unwrap();
        // -6, 1, 2, 3
        assert_eq!((margins.mean, margins.minimum()), (0.0, -6.0));
        assert!((margins.variance - 12.5).abs() < 1e-12);
        assert!((margins.skewness - (-180.0 / 4.0) / 12.5f64.powf(1.5)).abs() < 1e-12);
        assert_eq!(margins.quantiles(&[0.0, 0.5, 1.0]).unwrap(), [-6.0, 1.5, 3.0]);
        assert_eq!((margins.fraction_below(1.0), margins.fraction_below(4.0)), (0.25, 1.0));
        let equal = MarginStatistics::new(&[2.0, 2.0], &[1.0, 1.0], None).unwrap();
        assert_eq!((equal.variance, equal.skewness), (0.0, 0.0));
    }

    #[test]
    fn refusals() {
        let margins = MarginStatistics::new(&[1.0], &[1.0], None).unwrap();
        insta::assert_snapshot!(
            [
                error_rate(&[1.0], &[1.0, -1.0], None).unwrap_err().to_string(),
                error_rate(&[], &[], None).unwrap_err().to_string(),
                error_rate(&[1.0, f64::NAN], &[1.0, -1.0], None).unwrap_err().to_string(),
                error_rate(&[1.0], &[0.0], None).unwrap_err().to_string(),
                error_rate(&[1.0], &[1.0], Some(&[-1.0])).unwrap_err().to_string(),
                error_rate(&[1.0], &[1.0], Some(&[0.0])).unwrap_err().to_string(),
                auc(&[1.0, 2.0], &[1.0, 1.0], None).unwrap_err().to_string(),
                balanced_error(&[1.0, 2.0], &[-1.0, -1.0], None).unwrap_err().to_string(),
                log_loss(&[1.5], &[1.0], None).unwrap_err().to_string(),
                brier(&[f64::NAN], &[1.0], None).unwrap_err().to_string(),
                margins.quantiles(&[0.5, 1.5]).unwrap_err().to_string(),
            ]
            .join("\n")
        );
    }
}

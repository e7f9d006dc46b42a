//! What a classifier makes of labelled samples: measures over its scores or probabilities and the
//! true signs.
//!
//! A score decides for +1 where it is > 0, else for -1. Every function refuses slices of different
//! or zero length, signs other than +1 and -1, scores that are not finite, and probabilities
//! outside \[0, 1\].

use crate::Error;
use crate::error::{check_entries, check_len, check_signs, check_weights};

/// A mean loss with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorRate {
    /// The mean.
    pub rate: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Fraction of misclassified samples, r = sum_i c_i e_i / sum_i c_i with e_i = 1 for a mistake, and
/// its standard error sqrt(sum_i c_i^2 (e_i - r)^2) / sum_i c_i, which is sqrt(r (1 - r) / n)
/// without weights.
///
/// # Errors
/// See the [module](self); also a weight that is negative or not finite, or all weights zero.
pub fn error_rate(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<ErrorRate, Error> {
    check_scores(scores, signs)?;
    let ones;
    let weights = match weights {
        Some(weights) => weights,
        None => {
            ones = vec![1.0; signs.len()];
            &ones
        }
    };
    check_len("weights, one a score", scores.len(), weights.len())?;
    check_weights(weights)?;
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Err(Error::parameter("the sum of weights", 0, "positive"));
    }
    // Relative to the largest weight sums and squares cannot overflow.
    let terms = || {
        let mistakes = scores.iter().zip(signs).map(|(&f, &y)| f64::from(u8::from(decide(f) != y)));
        weights.iter().map(|c| c / largest).zip(mistakes)
    };
    let total: f64 = terms().map(|(c, _)| c).sum();
    let rate = terms().map(|(c, e)| c * e).sum::<f64>() / total;
    let spread: f64 = terms().map(|(c, e)| (c * (e - rate)).powi(2)).sum();
    Ok(ErrorRate { rate, standard_error: spread.sqrt() / total })
}

/// Mean of the error rates of the two classes.
///
/// # Errors
/// See the [module](self); also only one class.
pub fn balanced_error(scores: &[f64], signs: &[f64]) -> Result<f64, Error> {
    let counts = confusion(scores, signs)?;
    check_both_classes(signs)?;
    Ok((2.0 - counts.sensitivity() - counts.specificity()) / 2.0)
}

/// How often each class was taken for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Positive, and decided so.
    pub true_positives: usize,
    /// Negative, but decided positive.
    pub false_positives: usize,
    /// Negative, and decided so.
    pub true_negatives: usize,
    /// Positive, but decided negative.
    pub false_negatives: usize,
}

impl Confusion {
    /// Fraction of the positives that are decided so; NaN without positives.
    pub fn sensitivity(&self) -> f64 {
        fraction(self.true_positives, self.false_negatives)
    }

    /// Fraction of the negatives that are decided so; NaN without negatives.
    pub fn specificity(&self) -> f64 {
        fraction(self.true_negatives, self.false_positives)
    }

    /// Fraction of the positive decisions that are right; NaN without positive decisions.
    pub fn precision(&self) -> f64 {
        fraction(self.true_positives, self.false_positives)
    }
}

fn fraction(part: usize, rest: usize) -> f64 {
    part as f64 / (part + rest) as f64
}

/// Counts decisions by true class.
///
/// # Errors
/// See the [module](self).
pub fn confusion(scores: &[f64], signs: &[f64]) -> Result<Confusion, Error> {
    check_scores(scores, signs)?;
    let mut counts = Confusion::default();
    for (&f, &y) in scores.iter().zip(signs) {
        *match (decide(f) > 0.0, y > 0.0) {
            (true, true) => &mut counts.true_positives,
            (true, false) => &mut counts.false_positives,
            (false, false) => &mut counts.true_negatives,
            (false, true) => &mut counts.false_negatives,
        } += 1;
    }
    Ok(counts)
}

/// Area under the ROC curve: the probability that a random positive has a larger score than a
/// random negative, ties counted half. O(n log n).
///
/// # Errors
/// See the [module](self); also only one class.
pub fn auc(scores: &[f64], signs: &[f64]) -> Result<f64, Error> {
    check_scores(scores, signs)?;
    check_both_classes(signs)?;
    let mut pairs: Vec<(f64, f64)> = scores.iter().copied().zip(signs.iter().copied()).collect();
    pairs.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    // Twice the number of pairs in order, exact in integers. Zeros of both signs are a tie.
    let (mut below, mut positives, mut in_order) = (0u128, 0u128, 0u128);
    for tied in pairs.chunk_by(|(a, _), (b, _)| a == b) {
        let positive = tied.iter().filter(|&&(_, y)| y > 0.0).count() as u128;
        let negative = tied.len() as u128 - positive;
        in_order += positive * (2 * below + negative);
        below += negative;
        positives += positive;
    }
    Ok(in_order as f64 / (2 * below * positives) as f64)
}

/// Mean of -log of the probability given to the true class. Probabilities, of the positive class,
/// are first clipped to \[eps, 1 - eps\] with eps = 2.2e-16, so that a certain mistake costs 36 and
/// not infinity.
///
/// # Errors
/// See the [module](self).
pub fn log_loss(probabilities: &[f64], signs: &[f64]) -> Result<f64, Error> {
    check_probabilities(probabilities, signs)?;
    let cost = |(&q, &y): (&f64, &f64)| {
        let q = q.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        if y > 0.0 { -q.ln() } else { -(-q).ln_1p() }
    };
    Ok(probabilities.iter().zip(signs).map(cost).sum::<f64>() / signs.len() as f64)
}

/// Brier score: mean of (q_i - 1\[y_i = +1\])^2 for probabilities q_i of the positive class.
///
/// # Errors
/// See the [module](self).
pub fn brier(probabilities: &[f64], signs: &[f64]) -> Result<f64, Error> {
    check_probabilities(probabilities, signs)?;
    let cost = |(&q, &y): (&f64, &f64)| (q - f64::from(u8::from(y > 0.0))).powi(2);
    Ok(probabilities.iter().zip(signs).map(cost).sum::<f64>() / signs.len() as f64)
}

/// The distribution of the margins y_i f(x_i).
#[derive(Debug, Clone, PartialEq)]
pub struct MarginStatistics {
    /// Mean m.
    pub mean: f64,
    /// Mean of (u - m)^2.
    pub variance: f64,
    /// Mean of (u - m)^3, over the variance to the power 3/2; 0 if all margins are equal.
    pub skewness: f64,
    /// Ascending, not empty.
    margins: Vec<f64>,
}

impl MarginStatistics {
    /// From scores and signs.
    ///
    /// # Errors
    /// See the [module](self).
    pub fn new(scores: &[f64], signs: &[f64]) -> Result<Self, Error> {
        check_scores(scores, signs)?;
        let mut margins: Vec<f64> = scores.iter().zip(signs).map(|(f, y)| f * y).collect();
        margins.sort_unstable_by(f64::total_cmp);
        // Moments of the margins relative to the largest magnitude, which powers do not overflow.
        let magnitude = margins.iter().fold(0.0f64, |largest, u| largest.max(u.abs()));
        let scale = if magnitude > 0.0 { magnitude } else { 1.0 };
        let n = margins.len() as f64;
        let mean = margins.iter().map(|u| u / scale).sum::<f64>() / n;
        let moment = |k| margins.iter().map(|u| (u / scale - mean).powi(k)).sum::<f64>() / n;
        let variance = moment(2);
        let skewness = if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 };
        let (mean, variance) = (mean * scale, variance * scale * scale);
        Ok(MarginStatistics { mean, variance, skewness, margins })
    }

    /// The smallest margin.
    pub fn minimum(&self) -> f64 {
        self.margins[0]
    }

    /// The quantiles at the given levels, linear between order statistics: level 0 is the minimum,
    /// 0.5 the median, 1 the maximum.
    ///
    /// # Errors
    /// A level outside \[0, 1\].
    pub fn quantiles(&self, levels: &[f64]) -> Result<Vec<f64>, Error> {
        let quantile = |&level: &f64| {
            if !(0.0..=1.0).contains(&level) {
                return Err(Error::parameter("a quantile level", level, "from 0 to 1"));
            }
            let position = level * (self.margins.len() - 1) as f64;
            let (below, above) = (position.floor() as usize, position.ceil() as usize);
            let share = position - position.floor();
            Ok((1.0 - share) * self.margins[below] + share * self.margins[above])
        };
        levels.iter().map(quantile).collect()
    }

    /// Fraction of the margins that are < `level`.
    pub fn fraction_below(&self, level: f64) -> f64 {
        let below = self.margins.partition_point(|&u| u < level);
        below as f64 / self.margins.len() as f64
    }
}

fn decide(score: f64) -> f64 {
    if score > 0.0 { 1.0 } else { -1.0 }
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

fn check_both_classes(signs: &[f64]) -> Result<(), Error> {
    match signs.first() {
        Some(&first) if signs.iter().all(|&y| y == first) => {
            Err(Error::OneClass { class: first.to_string(), rows: signs.len() })
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
            prop_assert!((auc(&scores, &signs).unwrap() - sum / pairs).abs() < 1e-14);
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
        let huge = weights.map(|c| c * 8e307);
        assert_eq!(error_rate(&scores, &signs, Some(&huge)).unwrap(), weighted);

        let counts = confusion(&scores, &signs).unwrap();
        assert_eq!((counts.true_positives, counts.false_positives), (2, 1));
        assert_eq!((counts.true_negatives, counts.false_negatives), (1, 1));
        assert!((counts.precision() - 2.0 / 3.0).abs() < 1e-15);
        let balanced = balanced_error(&scores, &signs).unwrap();
        assert!((balanced - (1.0 / 3.0 + 0.5) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn probabilities_by_hand() {
        let (probabilities, signs) = ([0.8, 0.5, 0.0], [1.0, -1.0, -1.0]);
        let loss = log_loss(&probabilities, &signs).unwrap();
        assert!((loss - (-(0.8f64.ln()) - 0.5f64.ln()) / 3.0).abs() < 1e-15);
        assert!((brier(&probabilities, &signs).unwrap() - (0.04 + 0.25) / 3.0).abs() < 1e-15);
        let certain = [log_loss(&[0.0], &[1.0]).unwrap(), log_loss(&[1.0], &[-1.0]).unwrap()];
        assert!(certain.iter().all(|loss| (36.0..36.1).contains(loss)), "{certain:?}");
    }

    #[test]
    fn margins_by_hand() {
        let margins =
            MarginStatistics::new(&[1.0, -2.0, 3.0, 6.0], &[1.0, -1.0, 1.0, -1.0]).unwrap();
        // -6, 1, 2, 3
        assert_eq!((margins.mean, margins.minimum()), (0.0, -6.0));
        assert!((margins.variance - 12.5).abs() < 1e-12);
        assert!((margins.skewness - (-180.0 / 4.0) / 12.5f64.powf(1.5)).abs() < 1e-12);
        assert_eq!(margins.quantiles(&[0.0, 0.5, 1.0]).unwrap(), [-6.0, 1.5, 3.0]);
        assert_eq!((margins.fraction_below(1.0), margins.fraction_below(4.0)), (0.25, 1.0));
        let equal = MarginStatistics::new(&[2.0, 2.0], &[1.0, 1.0]).unwrap();
        assert_eq!((equal.variance, equal.skewness), (0.0, 0.0));
    }

    #[test]
    fn refusals() {
        let margins = MarginStatistics::new(&[1.0], &[1.0]).unwrap();
        insta::assert_snapshot!(
            [
                error_rate(&[1.0], &[1.0, -1.0], None).unwrap_err().to_string(),
                error_rate(&[], &[], None).unwrap_err().to_string(),
                error_rate(&[1.0, f64::NAN], &[1.0, -1.0], None).unwrap_err().to_string(),
                error_rate(&[1.0], &[0.0], None).unwrap_err().to_string(),
                error_rate(&[1.0], &[1.0], Some(&[-1.0])).unwrap_err().to_string(),
                error_rate(&[1.0], &[1.0], Some(&[0.0])).unwrap_err().to_string(),
                auc(&[1.0, 2.0], &[1.0, 1.0]).unwrap_err().to_string(),
                balanced_error(&[1.0, 2.0], &[-1.0, -1.0]).unwrap_err().to_string(),
                log_loss(&[1.5], &[1.0]).unwrap_err().to_string(),
                brier(&[f64::NAN], &[1.0]).unwrap_err().to_string(),
                margins.quantiles(&[0.5, 1.5]).unwrap_err().to_string(),
            ]
            .join("\n")
        );
    }
}

//! Reliability diagrams, calibration errors and the decomposition of the Brier score.

use std::f64::consts::FRAC_2_PI;

use super::{check_signs, outcome, relative_weights};
use crate::Error;
use margins_losses::OutOfRange;

/// The rule by which probabilities are gathered into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binning {
    /// The bins are a number of intervals of \[0, 1\] of equal width, closed on the left; intervals
    /// without samples are left out.
    EqualWidth(usize),
    /// The bins are a number of bins of nearly equal weight, which is the count where none has a
    /// weight, ascending; equal probabilities stay together, in the bin of the first of them, so
    /// that there may be fewer bins.
    EqualCount(usize),
}

/// A bin, with at least one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The number of samples.
    pub count: usize,
    /// The square of the sum of the weights over the sum of their squares: the number of equal
    /// samples that say as much. It is the count where none has a weight.
    pub effective_count: f64,
    /// The mean of the probabilities of the samples, by weight.
    pub mean_probability: f64,
    /// The fraction of +1 among the samples, by weight.
    pub observed_frequency: f64,
}

/// The expected calibration error of a binning, `sum_b n_b/n |observed_b - mean probability_b|`
/// with sums of weights for counts, and how large it would be for calibrated probabilities by chance
/// alone.
///
/// Under the hypothesis that outcome i is +1 with probability p_i independently, n times the term
/// of a bin is |S - E S|, S a sum of independent Bernoulli variables times the weights c_i. Its
/// second moment is `sum c_i^2 p_i (1 - p_i)`. Its mean is exact for the hypothesis, by the
/// distribution of S, where the samples of the bin have the same weight and the expected number of
/// +1 or of -1 is at most 30; elsewhere it is sqrt(2/pi) standard deviations, as for a normal
/// variable. Bins are independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationError {
    /// The error.
    pub value: f64,
    /// The expected value of the error if the probabilities are calibrated.
    pub expected_if_calibrated: f64,
    /// The standard deviation of the error if the probabilities are calibrated.
    pub standard_error_if_calibrated: f64,
}

/// The decomposition of the mean of `(p_i - 1[y_i = +1])^2` by weight, with sums of weights for
/// counts:
///
/// `score = reliability - resolution + uncertainty + within_bin_variance - within_bin_covariance`.
///
/// Source: Murphy 1973; the last two terms, which are zero if the probabilities of a bin are equal,
/// Stephenson, Coelho and Jolliffe 2008.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrierDecomposition {
    /// The Brier score, computed directly.
    pub score: f64,
    /// The mean `sum_b n_b/n (mean probability_b - observed_b)^2`: 0 is best.
    pub reliability: f64,
    /// The mean `sum_b n_b/n (observed_b - observed)^2`: large is good.
    pub resolution: f64,
    /// The product `observed (1 - observed)`, of all samples.
    pub uncertainty: f64,
    /// The mean `1/n sum (p_i - mean probability_b)^2`.
    pub within_bin_variance: f64,
    /// The mean `2/n sum (p_i - mean probability_b) (1[y_i = +1] - observed_b)`.
    pub within_bin_covariance: f64,
}

/// Predicted probabilities of +1 beside observed frequencies, bin by bin: a reliability diagram and
/// its summaries.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    bins: Vec<Bin>,
    expected_calibration_error: CalibrationError,
    brier: BrierDecomposition,
}

impl Reliability {
    /// Returns the bins of probabilities of +1 and the signs that were seen, +1 or -1, in time O(n
    /// log n), with weights >= 0 (1 if none are given); a sample of weight zero is left out.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Empty`]: the slices are of different or zero length, or no
    /// weight is positive. [`Error::Entry`]: a probability is outside \[0, 1\], a sign is not +1 or
    /// -1, or a weight is negative or not finite. [`Error::Parameter`]: there are no bins.
    pub fn new(
        probabilities: &[f64],
        signs: &[f64],
        weights: Option<&[f64]>,
        binning: Binning,
    ) -> Result<Self, Error> {
        check_signs(probabilities.len(), signs)?;
        let valid = |p: f64| (0.0..=1.0).contains(&p);
        Error::check_entries("probability", probabilities, "from 0 to 1", valid)?;
        let weights = relative_weights(weights, probabilities.len())?;
        let (Binning::EqualWidth(bins) | Binning::EqualCount(bins)) = binning;
        OutOfRange::check("number of bins", bins as f64, "at least 1", |bins| bins >= 1.0)?;

        let mut samples: Vec<Sample> = probabilities
            .iter()
            .zip(signs)
            .zip(weights)
            .map(|((&probability, &y), weight)| Sample { probability, outcome: outcome(y), weight })
            .filter(|sample| sample.weight > 0.0)
            .collect();
        if samples.is_empty() {
            return Err(Error::Empty("positive weights"));
        }
        samples.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        let groups = match binning {
            Binning::EqualWidth(bins) => equal_width(&samples, bins),
            Binning::EqualCount(bins) => equal_count(&samples, bins),
        };
        Ok(Reliability {
            bins: groups.iter().map(|group| Bin::of(group)).collect(),
            expected_calibration_error: calibration_error(&groups, weight_of(&samples)),
            brier: brier(&groups, &samples),
        })
    }

    /// Returns the bins, ascending in probability, none empty.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// Returns the expected calibration error, and what chance alone would make it.
    pub fn expected_calibration_error(&self) -> CalibrationError {
        self.expected_calibration_error
    }

    /// Returns the Brier score by its parts.
    pub fn brier(&self) -> BrierDecomposition {
        self.brier
    }
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    probability: f64,
    outcome: f64,
    /// Relative to the largest.
    weight: f64,
}

fn weight_of(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.weight).sum()
}

impl Bin {
    fn of(samples: &[Sample]) -> Self {
        let total = weight_of(samples);
        let mean = |value: fn(&Sample) -> f64| {
            samples.iter().map(|sample| sample.weight * value(sample)).sum::<f64>() / total
        };
        let squares: f64 = samples.iter().map(|sample| sample.weight * sample.weight).sum();
        Bin {
            count: samples.len(),
            effective_count: total * total / squares,
            mean_probability: mean(|sample| sample.probability),
            observed_frequency: mean(|sample| sample.outcome),
        }
    }
}

/// Returns the bins of equal width of samples in order.
fn equal_width(samples: &[Sample], bins: usize) -> Vec<&[Sample]> {
    let bin = |sample: &Sample| ((sample.probability * bins as f64) as usize).min(bins - 1);
    samples.chunk_by(|a, b| bin(a) == bin(b)).collect()
}

/// Returns the bins of equal weight of samples in order.
fn equal_count(samples: &[Sample], bins: usize) -> Vec<&[Sample]> {
    let total = weight_of(samples);
    let bin = |before: f64| (before * bins as f64 / total) as u128;
    let mut groups = Vec::new();
    let (mut start, mut end) = (0, 0);
    let (mut before_start, mut before_end) = (0.0, 0.0);
    for tied in samples.chunk_by(|a, b| a.probability == b.probability) {
        if bin(before_end) != bin(before_start) {
            groups.push(&samples[start..end]);
            (start, before_start) = (end, before_end);
        }
        end += tied.len();
        before_end += weight_of(tied);
    }
    groups.push(&samples[start..end]);
    groups
}

fn calibration_error(groups: &[&[Sample]], total: f64) -> CalibrationError {
    let (mut value, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for group in groups {
        let excess: f64 = group.iter().map(|s| s.weight * (s.outcome - s.probability)).sum();
        let second_moment: f64 =
            group.iter().map(|s| s.weight * s.weight * s.probability * (1.0 - s.probability)).sum();
        let mean = mean_absolute_deviation(group, second_moment);
        value += excess.abs();
        expected += mean;
        variance += (second_moment - mean * mean).max(0.0);
    }
    CalibrationError {
        value: value / total,
        expected_if_calibrated: expected / total,
        standard_error_if_calibrated: variance.sqrt() / total,
    }
}

/// Returns E |S - E S| for the weight S of outcomes +1, each drawn with its probability.
fn mean_absolute_deviation(samples: &[Sample], variance: f64) -> f64 {
    const EXACT_UP_TO: f64 = 30.0;
    let positives: f64 = samples.iter().map(|sample| sample.probability).sum();
    let negatives: f64 = samples.iter().map(|sample| 1.0 - sample.probability).sum();
    let weight = samples[0].weight;
    let alike = samples.iter().all(|sample| sample.weight == weight);
    if !alike || positives.min(negatives) > EXACT_UP_TO {
        (FRAC_2_PI * variance).sqrt()
    } else if positives <= negatives {
        weight * exact_deviation(samples.iter().map(|sample| sample.probability), positives)
    } else {
        weight * exact_deviation(samples.iter().map(|sample| 1.0 - sample.probability), negatives)
    }
}

/// Returns `E |S - m| = 2 sum_{k <= m} (m - k) P(S = k)` for a sum of Bernoulli variables of mean
/// m.
fn exact_deviation(probabilities: impl Iterator<Item = f64>, mean: f64) -> f64 {
    // P(S = k) up to the mean, one variable after the other.
    let mut distribution = vec![0.0; mean as usize + 1];
    distribution[0] = 1.0;
    for p in probabilities {
        for k in (1..distribution.len()).rev() {
            distribution[k] += p * (distribution[k - 1] - distribution[k]);
        }
        distribution[0] *= 1.0 - p;
    }
    let shortfalls = distribution.iter().enumerate().map(|(k, mass)| (mean - k as f64) * mass);
    2.0 * shortfalls.sum::<f64>()
}

fn brier(groups: &[&[Sample]], samples: &[Sample]) -> BrierDecomposition {
    let n = weight_of(samples);
    let all = Bin::of(samples);
    let squares = samples.iter().map(|s| s.weight * (s.probability - s.outcome).powi(2));
    let mut parts = BrierDecomposition {
        score: squares.sum::<f64>() / n,
        reliability: 0.0,
        resolution: 0.0,
        uncertainty: all.observed_frequency * (1.0 - all.observed_frequency),
        within_bin_variance: 0.0,
        within_bin_covariance: 0.0,
    };
    for group in groups {
        let bin = Bin::of(group);
        let share = weight_of(group) / n;
        parts.reliability += share * (bin.mean_probability - bin.observed_frequency).powi(2);
        parts.resolution += share * (bin.observed_frequency - all.observed_frequency).powi(2);
        for sample in *group {
            let deviation = sample.probability - bin.mean_probability;
            parts.within_bin_variance += sample.weight * deviation * deviation / n;
            let excess = sample.outcome - bin.observed_frequency;
            parts.within_bin_covariance += sample.weight * 2.0 * deviation * excess / n;
        }
    }
    parts
}

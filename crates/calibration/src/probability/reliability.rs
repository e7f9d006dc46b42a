use std::f64::consts::FRAC_2_PI;

use super::{check_signs, outcome};
use crate::Error;
use margins_losses::OutOfRange;

/// The rule by which probabilities are gathered into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binning {
    /// A number of intervals of \[0, 1\] of equal width, closed on the left; those without samples
    /// are left out.
    EqualWidth(usize),
    /// A number of bins of nearly equal count, ascending; equal probabilities stay together, in the
    /// bin of the first of them, so that there may be fewer bins.
    EqualCount(usize),
}

/// A bin, with at least one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// The number of samples.
    pub count: usize,
    /// The mean of the probabilities of the samples.
    pub mean_probability: f64,
    /// The fraction of +1 among the samples.
    pub observed_frequency: f64,
}

/// The expected calibration error of a binning, `sum_b n_b/n |observed_b - mean probability_b|`,
/// and how large it would be for calibrated probabilities by chance alone.
///
/// Under the hypothesis that outcome i is +1 with probability p_i independently, n times the term
/// of a bin is |S - E S|, S a sum of independent Bernoulli variables. Its second moment is
/// `sum p_i (1 - p_i)`. Its mean is exact for the hypothesis, by the distribution of S, where the
/// expected number of +1 or of -1 is at most 30; elsewhere it is sqrt(2/pi) standard deviations, as
/// for a normal variable. Bins are independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationError {
    /// The error.
    pub value: f64,
    /// The expected value of the error if the probabilities are calibrated.
    pub expected_if_calibrated: f64,
    /// The standard deviation of the error if the probabilities are calibrated.
    pub standard_error_if_calibrated: f64,
}

/// The mean of (p_i - 1\[y_i = +1\])^2 taken apart:
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
    /// Gathers probabilities of +1 and the signs that were seen, +1 or -1. O(n log n).
    ///
    /// # Errors
    /// Slices of different or zero length, a probability outside \[0, 1\], another sign, no bins.
    pub fn new(probabilities: &[f64], signs: &[f64], binning: Binning) -> Result<Self, Error> {
        check_signs(probabilities.len(), signs)?;
        let valid = |p: f64| (0.0..=1.0).contains(&p);
        Error::check_entries("probability", probabilities, "from 0 to 1", valid)?;
        let (Binning::EqualWidth(bins) | Binning::EqualCount(bins)) = binning;
        OutOfRange::check("number of bins", bins as f64, "at least 1", |bins| bins >= 1.0)?;

        let mut samples: Vec<Sample> = probabilities
            .iter()
            .zip(signs)
            .map(|(&probability, &y)| Sample { probability, outcome: outcome(y) })
            .collect();
        samples.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        let groups = match binning {
            Binning::EqualWidth(bins) => equal_width(&samples, bins),
            Binning::EqualCount(bins) => equal_count(&samples, bins),
        };
        Ok(Reliability {
            bins: groups.iter().map(|group| Bin::of(group)).collect(),
            expected_calibration_error: calibration_error(&groups, samples.len()),
            brier: brier(&groups, &samples),
        })
    }

    /// Returns the bins, ascending in probability, none empty.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// Returns the expected calibration error with what chance alone would make it.
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
}

impl Bin {
    fn of(samples: &[Sample]) -> Self {
        let mean = |value: fn(&Sample) -> f64| {
            samples.iter().map(value).sum::<f64>() / samples.len() as f64
        };
        Bin {
            count: samples.len(),
            mean_probability: mean(|sample| sample.probability),
            observed_frequency: mean(|sample| sample.outcome),
        }
    }
}

/// Returns the bins of samples in order.
fn equal_width(samples: &[Sample], bins: usize) -> Vec<&[Sample]> {
    let bin = |sample: &Sample| ((sample.probability * bins as f64) as usize).min(bins - 1);
    samples.chunk_by(|a, b| bin(a) == bin(b)).collect()
}

/// Returns the bins of samples in order.
fn equal_count(samples: &[Sample], bins: usize) -> Vec<&[Sample]> {
    let bin = |rank: usize| rank as u128 * bins as u128 / samples.len() as u128;
    let mut groups = Vec::new();
    let (mut start, mut end) = (0, 0);
    for tied in samples.chunk_by(|a, b| a.probability == b.probability) {
        if bin(end) != bin(start) {
            groups.push(&samples[start..end]);
            start = end;
        }
        end += tied.len();
    }
    groups.push(&samples[start..end]);
    groups
}

fn calibration_error(groups: &[&[Sample]], n: usize) -> CalibrationError {
    let (mut value, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for group in groups {
        let excess: f64 = group.iter().map(|sample| sample.outcome - sample.probability).sum();
        let second_moment: f64 =
            group.iter().map(|sample| sample.probability * (1.0 - sample.probability)).sum();
        let mean = mean_absolute_deviation(group, second_moment);
        value += excess.abs();
        expected += mean;
        variance += (second_moment - mean * mean).max(0.0);
    }
    let n = n as f64;
    CalibrationError {
        value: value / n,
        expected_if_calibrated: expected / n,
        standard_error_if_calibrated: variance.sqrt() / n,
    }
}

/// Returns E |S - E S| for the number S of outcomes +1, each by its probability.
fn mean_absolute_deviation(samples: &[Sample], variance: f64) -> f64 {
    const EXACT_UP_TO: f64 = 30.0;
    let positives: f64 = samples.iter().map(|sample| sample.probability).sum();
    let negatives: f64 = samples.iter().map(|sample| 1.0 - sample.probability).sum();
    if positives.min(negatives) > EXACT_UP_TO {
        (FRAC_2_PI * variance).sqrt()
    } else if positives <= negatives {
        exact_deviation(samples.iter().map(|sample| sample.probability), positives)
    } else {
        exact_deviation(samples.iter().map(|sample| 1.0 - sample.probability), negatives)
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
    let n = samples.len() as f64;
    let all = Bin::of(samples);
    let mut parts = BrierDecomposition {
        score: samples.iter().map(|s| (s.probability - s.outcome).powi(2)).sum::<f64>() / n,
        reliability: 0.0,
        resolution: 0.0,
        uncertainty: all.observed_frequency * (1.0 - all.observed_frequency),
        within_bin_variance: 0.0,
        within_bin_covariance: 0.0,
    };
    for group in groups {
        let bin = Bin::of(group);
        let share = bin.count as f64 / n;
        parts.reliability += share * (bin.mean_probability - bin.observed_frequency).powi(2);
        parts.resolution += share * (bin.observed_frequency - all.observed_frequency).powi(2);
        for sample in *group {
            let deviation = sample.probability - bin.mean_probability;
            parts.within_bin_variance += deviation * deviation / n;
            parts.within_bin_covariance +=
                2.0 * deviation * (sample.outcome - bin.observed_frequency) / n;
        }
    }
    parts
}

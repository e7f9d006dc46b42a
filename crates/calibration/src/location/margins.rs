//! The location of margins at the scale of the loss that they were fitted by.

use super::interval::half_width_at;
use super::{variance_bound, weighted_roots};
use crate::Error;
use margins_losses::{MarginLoss, OutOfRange, SpecialCase};

/// The probability with which the interval may fail, and the bound on the variance in it.
const DELTA: f64 = 0.05;

/// The seed of the pairs of margins that the bound on the variance is estimated from.
const SEED: u64 = 1;

/// The location of margins `u_i = y_i f(x_i)` beside the level gamma that margin pursuit aims at.
///
/// The minimum of the margin-pursuit loss puts the estimate at the scale of the loss near gamma if the
/// functions allow it, and farther away if they do not.
///
/// The interval at the scale s is that of [`confidence_interval_at`], with a bound on the variance that
/// is estimated from the same margins.
///
/// Source: Holland, *Classification using margin pursuit* (2019), remarks 1 and 7, equation (6).
///
/// [`confidence_interval_at`]: super::confidence_interval_at
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MarginLocation {
    /// The level gamma of the loss.
    pub gamma: f64,
    /// The scale s of the loss.
    pub scale: f64,
    /// The root t of `sum c_i psi((t - u_i)/s) = 0`, c the weights, or the middle of its roots.
    pub estimate: f64,
    /// True if the estimate is within gamma/10 of gamma.
    pub attained: bool,
    /// The [bound](variance_bound) on the variance of the margins that the interval has, estimated; `None`
    /// if it cannot be estimated, and where weights differ: few heavy margins say too little about it.
    pub variance_bound: Option<f64>,
    /// The interval of confidence 95 % for the mean of the distribution of margins, if its variance is at
    /// most `variance_bound`; `None` without that bound, if the scale is too small for it, and for too few
    /// margins.
    ///
    /// It holds for margins of a classifier that does not depend on them (remark 7), as those of new
    /// samples: a fit makes the margins of its own samples larger than those of others.
    pub interval: Option<[f64; 2]>,
    /// The mean m of the margins, by weight.
    pub mean: f64,
    /// The mean of `(u - m)^2`.
    pub variance: f64,
    /// The mean of `(u - m)^3`, over the variance to the power 3/2; 0 if all margins are equal.
    pub skewness: f64,
}

impl MarginLocation {
    /// Returns the location of margins with these weights, by default 1; samples of weight 0 do not
    /// count.
    ///
    /// ```
    /// use margins_calibration::location::MarginLocation;
    ///
    /// // The rays of the proof of remark 1: a small scale reaches gamma, a large one the mean.
    /// let margins = [1.0, 1.0, -1.0];
    /// let small = MarginLocation::new(&margins, None, 1.0, 0.01)?;
    /// assert!(small.attained && (small.estimate - 0.9951).abs() < 1e-4);
    /// let large = MarginLocation::new(&margins, None, 1.0, 100.0)?;
    /// assert!(!large.attained && (large.estimate - large.mean).abs() < 1e-4);
    /// # Ok::<(), margins_calibration::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::NotFinite`]: there are no margins that count, or one is not finite.
    /// [`Error::Length`]: there is not one weight per margin. [`Error::Entry`]: a weight is negative or
    /// not finite. [`Error::Parameter`]: gamma or the scale is not positive and finite.
    pub fn new(
        margins: &[f64],
        weights: Option<&[f64]>,
        gamma: f64,
        scale: f64,
    ) -> Result<Self, Error> {
        Error::check_sample("margins", margins)?;
        for (name, value) in [("gamma", gamma), ("scale", scale)] {
            OutOfRange::check(name, value, "positive and finite", |x| x > 0.0)?;
        }
        let pairs = pairs(margins, weights)?;
        let roots = weighted_roots(&pairs.iter().copied(), middle_by_weight(&pairs), scale);
        let estimate = roots.estimate();
        let [mean, variance, skewness] = moments(&pairs);
        let attained = (estimate - gamma).abs() <= gamma / 10.0;
        let are_equal = pairs.iter().all(|(_, c)| *c == 1.0);
        let counted: Vec<f64> = pairs.iter().map(|(u, _)| *u).collect();
        let bound = || variance_bound(&counted, DELTA, SEED).ok();
        let variance_bound = are_equal.then(bound).flatten();
        let half_width =
            variance_bound.and_then(|v| half_width_at(scale, v, counted.len(), DELTA).1);
        let interval = half_width.map(|half| [estimate - half, estimate + half]);
        Ok(MarginLocation {
            gamma,
            scale,
            estimate,
            attained,
            variance_bound,
            interval,
            mean,
            variance,
            skewness,
        })
    }

    /// Returns the location of margins at the gamma and the scale of a loss; `None` for a loss that aims at
    /// no level.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn of_loss(
        loss: &dyn MarginLoss,
        margins: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Option<Self>, Error> {
        match loss.special_case() {
            Some(SpecialCase::MarginPursuit { gamma, scale }) => {
                MarginLocation::new(margins, weights, gamma, scale).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Returns the margins that count, each with its weight relative to the largest.
fn pairs(margins: &[f64], weights: Option<&[f64]>) -> Result<Vec<(f64, f64)>, Error> {
    let Some(weights) = weights else { return Ok(margins.iter().map(|&u| (u, 1.0)).collect()) };
    Error::check_length("weights", margins.len(), weights.len())?;
    let valid = |c: f64| c >= 0.0 && c.is_finite();
    Error::check_entries("weight", weights, "at least 0 and finite", valid)?;
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Err(Error::Empty("margins of positive weight"));
    }
    let pairs = margins.iter().copied().zip(weights.iter().map(|c| c / largest));
    Ok(pairs.filter(|(_, c)| *c > 0.0).collect())
}

/// Returns the two middle values by weight, of at least one value. They are equal, unless the values up
/// to the first have half of the weight, to rounding.
fn middle_by_weight(pairs: &[(f64, f64)]) -> (f64, f64) {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * sorted.iter().map(|(_, c)| c).sum::<f64>();
    let rounding = f64::EPSILON * half * sorted.len() as f64;
    let mut weight = 0.0;
    let reaches_half = |&(_, c): &(f64, f64)| {
        weight += c;
        weight >= half - rounding
    };
    let first = sorted.iter().position(reaches_half).unwrap_or(0);
    let second = if weight <= half + rounding { first + 1 } else { first };
    (sorted[first].0, sorted[second].0)
}

/// Returns mean, variance and skewness, of values relative to the largest, so that no power overflows.
fn moments(pairs: &[(f64, f64)]) -> [f64; 3] {
    let largest = pairs.iter().map(|(u, _)| u.abs()).fold(0.0, f64::max);
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let total: f64 = pairs.iter().map(|(_, c)| c).sum();
    let mean_of = |term: &dyn Fn(f64) -> f64| -> f64 {
        pairs.iter().map(|(u, c)| c * term(u / unit)).sum::<f64>() / total
    };
    let mean = mean_of(&|u| u);
    let variance = mean_of(&|u| (u - mean).powi(2));
    let third = mean_of(&|u| (u - mean).powi(3));
    let skewness = if variance > 0.0 { third / variance.powf(1.5) } else { 0.0 };
    [mean * unit, variance * unit * unit, skewness]
}

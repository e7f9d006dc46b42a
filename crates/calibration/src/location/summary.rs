//! All that this module says about one sample.

use super::{
    Location, MedianOfMeans, Stability, blocks_of_confidence, catoni_location, confidence_interval,
    confidence_interval_at, distance_from_mean, median_of_means, middle, range_after_changes,
    stability_bound, variance_bound,
};
use crate::{Error, scale};

/// Settings of [`summarize`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocationSettings {
    /// The scale s; by default [`error_minimizing`](crate::scale::error_minimizing) for the bound on the variance.
    pub scale: Option<f64>,
    /// A bound on the variance of the distribution, without which there is no interval; the scale then
    /// follows from the estimate of [`variance_bound`].
    pub variance_bound: Option<f64>,
    /// The probability with which an interval may fail.
    pub delta: f64,
    /// The number of values that may change.
    pub changes: usize,
    /// The seed of the order in which blocks take the values.
    pub seed: u64,
}

impl Default for LocationSettings {
    fn default() -> Self {
        LocationSettings { scale: None, variance_bound: None, delta: 0.05, changes: 1, seed: 1 }
    }
}

/// The location of a sample, with its guarantees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocationSummary {
    /// The roots of the estimating equation.
    pub location: Location,
    /// The scale that they were found at.
    pub scale: f64,
    /// The bound on the variance, given or estimated; `None` if the scale is given and no bound can be
    /// estimated, as for one value.
    pub variance_bound: Option<f64>,
    /// The half width of the interval for the mean of the distribution; `None` unless a bound on the
    /// variance is given, the sample long enough and the scale large enough.
    pub half_width: Option<f64>,
    /// The half width as published, if a bound on the variance is given.
    pub published_half_width: Option<f64>,
    /// The mean of the sample.
    pub mean: f64,
    /// The median of the sample, the middle of the two middle values if n is even.
    pub median: f64,
    /// The bound on the distance between the estimate and the mean of the sample.
    pub distance_from_mean: f64,
    /// The bound on the shift when one value changes (proposition 4).
    pub stability: Stability,
    /// Where the estimate stays when as many values change as may; `None` for half of them or more.
    pub after_changes: Option<Location>,
    /// The median of means in as many blocks as the confidence needs, at most n.
    pub median_of_means: MedianOfMeans,
    /// The half width of its interval for the mean of the distribution; `None` unless a bound on the
    /// variance is given, and the sample has as many values as the confidence needs blocks.
    pub median_of_means_half_width: Option<f64>,
}

impl LocationSummary {
    /// Returns the interval for the mean of the distribution, if there is one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let estimate = self.location.estimate();
        self.half_width.map(|half| (estimate - half, estimate + half))
    }
}

/// Returns the location of a sample, with its guarantees.
///
/// Each interval holds the mean of the distribution with probability 1 - delta, if the bound on its
/// variance is right. A bound that is estimated from the same sample gives none: whatever the sample, a
/// rare value that it lacks may move the mean anywhere (Bahadur and Savage, *The nonexistence of certain
/// statistical procedures in nonparametric problems*, 1956).
///
/// ```
/// use margins_calibration::location::{LocationSettings, summarize};
///
/// let sample: Vec<f64> = (0..200).map(|i| f64::from(i % 10)).chain([1e6]).collect();
/// let settings = LocationSettings { variance_bound: Some(9.0), ..LocationSettings::default() };
/// let found = summarize(&sample, &settings)?;
/// assert!(found.mean > 4000.0);
/// let (lower, upper) = found.interval().expect("the sample is long enough");
/// assert!(lower < 4.5 && 4.5 < upper && upper < 5.5);
/// assert_eq!(summarize(&sample, &LocationSettings::default())?.interval(), None);
/// # Ok::<(), margins_calibration::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: the sample is empty or has a value that is not finite.
/// [`Error::Parameter`]: a setting is out of range. [`Error::NoVariance`]: neither the scale nor a bound
/// on the variance is given, and none can be estimated.
pub fn summarize(sample: &[f64], settings: &LocationSettings) -> Result<LocationSummary, Error> {
    Error::check_sample("sample", sample)?;
    let LocationSettings { delta, changes, seed, .. } = *settings;
    scale::check_delta(delta)?;
    let n = sample.len();
    let given = settings.variance_bound;
    let variance = given.map_or_else(|| variance_bound(sample, delta, seed), Ok);
    let interval = match (settings.scale, given) {
        (Some(scale), Some(v)) => Some(confidence_interval_at(sample, scale, v, delta)?),
        (None, Some(v)) => Some(confidence_interval(sample, v, delta)?),
        (_, None) => None,
    };
    let scale = match (settings.scale, &variance) {
        (Some(scale), _) => scale,
        (None, Ok(v)) => scale::error_minimizing(n, *v, delta)?,
        (None, Err(Error::Parameter(reason))) => return Err(Error::NoVariance(*reason)),
        (None, Err(error)) => return Err(error.clone()),
    };
    let (below, above) = middle(sample);
    let blocks = blocks_of_confidence(delta)?;
    let median_of_means = median_of_means(sample, blocks.min(n), seed)?;
    Ok(LocationSummary {
        location: catoni_location(sample, scale)?,
        scale,
        variance_bound: variance.ok(),
        half_width: interval.and_then(|interval| interval.half_width),
        published_half_width: interval.map(|interval| interval.published_half_width),
        mean: sample.iter().map(|x| x / n as f64).sum(),
        median: f64::midpoint(below, above),
        distance_from_mean: distance_from_mean(sample, scale)?,
        stability: stability_bound(sample, scale)?,
        after_changes: range_after_changes(sample, scale, changes)?,
        median_of_means,
        median_of_means_half_width: given
            .filter(|_| blocks <= n)
            .map(|v| median_of_means.half_width(v)),
    })
}

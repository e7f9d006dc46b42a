//! Intervals for the mean of the distribution that a sample was drawn from.

use super::{Location, catoni_location};
use crate::{Error, scale};

/// An interval for the mean of the distribution that a sample was drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    /// The roots of the estimating equation.
    pub location: Location,
    /// The scale that they were found at.
    pub scale: f64,
    /// The largest distance between the mean and a root, with probability at least 1 - delta; `None`
    /// where the argument for it fails: the scale is too small or the sample too short.
    pub half_width: Option<f64>,
    /// The half width as published: by lemma 6 from [`confidence_interval`], by (6) from
    /// [`confidence_interval_at`].
    pub published_half_width: f64,
}

impl ConfidenceInterval {
    /// Returns the half width on either side of the estimate, if there is a guarantee for it.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let estimate = self.location.estimate();
        self.half_width.map(|half| (estimate - half, estimate + half))
    }
}

/// Returns a confidence interval for the mean of a distribution of variance at most
/// `variance_bound`, of which `sample` has n independent draws; no other moment need exist.
///
/// With L = log(2/delta), at the scale `s^2 = n v/(2 L)`, the half width is
///
/// `sqrt(2 v L/n) * 2/(1 + sqrt(1 - 4 L/n))` for `n > 4 L`.
///
/// Lemma 6 of the source states it without the second factor and for every n. For n = 1 the
/// estimate is the one value and Chebyshev's inequality is sharp, so that the lemma asks
/// `1/(2 L) <= delta`, which fails at delta = 0.05; and the inequality that it is derived from has
/// its minimum in s at twice its half width. Catoni's argument keeps the factor: because
/// `-log(1 - u + u^2/2) <= psi(u) <= log(1 + u + u^2/2)`, the sum at m + d is, with probability at
/// least 1 - delta/2, of the sign that makes every root smaller once `d > (v + d^2)/(2 s) + L s/n`,
/// whose smaller solution is the half width; likewise below.
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: the sample is empty or has a value that is not finite.
/// [`Error::Parameter`]: the variance bound is not positive and finite, or delta is outside (0, 1).
pub fn confidence_interval(
    sample: &[f64],
    variance_bound: f64,
    delta: f64,
) -> Result<ConfidenceInterval, Error> {
    Error::check_sample("sample", sample)?;
    let scale = scale::error_minimizing(sample.len(), variance_bound, delta)?;
    let location = catoni_location(sample, scale)?;
    let share = scale::log_two_over(delta) / sample.len() as f64;
    let published_half_width = (2.0 * share).sqrt() * variance_bound.sqrt();
    let half_width = (4.0 * share < 1.0)
        .then(|| published_half_width * 2.0 / (1.0 + (1.0 - 4.0 * share).sqrt()));
    Ok(ConfidenceInterval { location, scale, half_width, published_half_width })
}

/// Returns a confidence interval for the same mean at a given scale s > 0 (equation 6).
///
/// With L = log(2/delta), the inequality at [`confidence_interval`] has for any s the smaller solution
///
/// `(v/s + 2 L s/n)/(1 + sqrt(1 - v/s^2 - 2 L/n))` for `v/s^2 + 2 L/n < 1`.
///
/// The source states the numerator alone, for every s and n; it is at least the half width wherever
/// there is one. Its first term bounds the bias of the estimate: under the rule
/// [`scale::bias_bounded`] it is `gamma/k`.
///
/// # Errors
/// The errors of [`confidence_interval`]; [`Error::Parameter`]: the scale is not positive and finite.
pub fn confidence_interval_at(
    sample: &[f64],
    scale: f64,
    variance_bound: f64,
    delta: f64,
) -> Result<ConfidenceInterval, Error> {
    let location = catoni_location(sample, scale)?;
    scale::check_positive("variance", variance_bound)?;
    scale::check_delta(delta)?;
    let (published_half_width, half_width) =
        half_width_at(scale, variance_bound, sample.len(), delta);
    Ok(ConfidenceInterval { location, scale, half_width, published_half_width })
}

/// Returns the published half width at a scale, and the proven one if there is one, of a sample of this
/// size.
pub(super) fn half_width_at(
    scale: f64,
    variance_bound: f64,
    values: usize,
    delta: f64,
) -> (f64, Option<f64>) {
    let share = 2.0 * scale::log_two_over(delta) / values as f64;
    let spread = variance_bound.sqrt() / scale;
    let published = scale * (spread * spread + share);
    let rest = 1.0 - spread * spread - share;
    (published, (rest > 0.0).then(|| published / (1.0 + rest.sqrt())))
}

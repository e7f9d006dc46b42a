//! The M-estimate of location of Catoni's type: the root t of
//!
//! `sum_i psi((t - x_i)/s) = 0`,
//!
//! with the influence function `psi` of [`margins_losses::catoni`] and a scale `s` in the unit of
//! the sample. Values within about `s` of the estimate count like in a mean, those beyond
//! `sqrt(2) s` only by their side, like in a median: the estimate is the median for small scales
//! and tends to the mean as `O(1/s^2)` for large ones.
//!
//! Source: Holland, *Classification using margin pursuit* (2019), equations 2 and 3, propositions 2
//! and 4, lemma 6; the constants of the latter two are derived again at [`stability_bound`] and
//! [`confidence_interval`].

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use margins_losses::{OutOfRange, catoni};

use crate::{Error, scale};

/// All roots of the estimating equation: a closed interval, usually one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Location {
    /// The smallest root.
    pub lower: f64,
    /// The largest root.
    pub upper: f64,
}

impl Location {
    /// Returns the middle of the roots.
    pub fn estimate(&self) -> f64 {
        f64::midpoint(self.lower, self.upper)
    }
}

/// Returns the M-estimate of location of a sample at a scale > 0, in the unit of the sample.
///
/// The sum is nondecreasing in t, and flat only where it is zero with every value saturated. So the
/// root is unique, unless n is even and the two middle order statistics are farther apart than
/// `2 sqrt(2) s`: then the roots are the interval between them less `sqrt(2) s` on either side. A
/// unique root is found by Newton steps safeguarded by bisection, to rounding. O(n) for the median,
/// O(n) a step, a copy of the sample, no sort.
///
/// Two values farther apart than the largest `f64` count as saturated.
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: the sample is empty or has a value that is not finite.
/// [`Error::Parameter`]: the scale is not positive and finite.
pub fn catoni_location(sample: &[f64], scale: f64) -> Result<Location, Error> {
    Error::check_sample("sample", sample)?;
    OutOfRange::check("scale", scale, "positive and finite", |s| s > 0.0)?;
    let (below, above) = middle(sample);
    let reach = SQRT_2 * scale;
    if below + reach < above - reach {
        return Ok(Location { lower: below + reach, upper: above - reach });
    }
    let smallest = sample.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // A sqrt(2) s beyond the middle more than half of the values are saturated on one side.
    let bracket = (smallest.max(below - reach), largest.min(above + reach));
    // At larger scales the root is the mean to rounding, and the arguments of psi could underflow.
    let scale = scale.min(1e9 * (largest - smallest));
    let root = if smallest == largest {
        smallest
    } else {
        let sample = sample.iter().map(|&x| (x, 1.0));
        catoni::location(&sample, scale, f64::midpoint(below, above), bracket)
    };
    Ok(Location { lower: root, upper: root })
}

/// Returns the two middle order statistics, equal for n odd.
fn middle(sample: &[f64]) -> (f64, f64) {
    let mut sample = sample.to_vec();
    let n = sample.len();
    let (left, &mut above, _) = sample.select_nth_unstable_by(n / 2, f64::total_cmp);
    let below = if n.is_multiple_of(2) {
        left.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    } else {
        above
    };
    (below, above)
}

/// An interval for the mean of the distribution that a sample was drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    /// The roots of the estimating equation.
    pub location: Location,
    /// The scale that they were found at, by [`scale::error_minimizing`].
    pub scale: f64,
    /// The largest distance between the mean and a root, with probability at least 1 - delta;
    /// `None` if `n <= 4 log(2/delta)`, where the argument for it fails.
    pub half_width: Option<f64>,
    /// The half width `sqrt(2 v log(2/delta)/n)` as published, which `half_width` tends to for
    /// large n, from above.
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

/// A bound on how far the estimate can move when one value of the sample is replaced by any other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stability {
    /// The estimate moves no farther than `bound`.
    Bounded {
        /// The bound in the unit of the sample.
        bound: f64,
        /// The number of values within `sqrt(2)/2 s` of the estimate.
        near: usize,
    },
    /// The values near the estimate are too few for the argument to hold.
    TooFewNear {
        /// The number of values within `sqrt(2)/2 s` of the estimate.
        near: usize,
        /// The number that is needed.
        needed: usize,
    },
}

/// The number of values near the estimate from which on `s sqrt(2/m)` bounds its shift.
const NEEDED_NEAR: usize = 7;

/// Returns the bound of proposition 4: with m values within `sqrt(2)/2 s` of the estimate, it moves
/// by at most
///
/// * `s/sqrt(n)` if `m >= n/2 > 24`,
/// * else `s sqrt(2/m)` if `m >= 7`,
///
/// when one value is replaced by any other.
///
/// A replaced value changes the sum by at most `J = 2 psi(sqrt 2)`; if it is one of the m, by at
/// most `J' = psi(sqrt 2) + psi(sqrt(2)/2)`. A shift by h s makes up at least
/// `D(h) = psi(sqrt(2)/2 + h) - psi(sqrt(2)/2)` at each of the m that stay, psi being concave on
/// the positive half line. So h is a bound if `m D(h) >= J` and `(m - 1) D(h) >= J'`. Both left
/// sides increase in m at `h = sqrt(2/m)`, and in n at `m = n/2`, `h = 1/sqrt(n)`, because D(h)/h
/// decreases; the conditions hold at m = 7 (1.9208 >= 1.8856, 1.6464 >= 1.5910) and fail at m = 6,
/// and for the first bound they hold at n = 49 and n = 50, m = 25.
///
/// The source asks for 24 in both. Its proof bounds D from below by h times the slope at
/// `u = sqrt(2)/2 + sqrt(2/m)`, but takes `1 - u^2 = 1/2 - 2 (sqrt(m) + 1)/m` for the slope
/// `1 - u^2/2 = 3/4 - (sqrt(m) + 1)/m`; as printed it would need 53, with the right slope 13 do. It
/// also derives `s/sqrt(n)` from `s sqrt(2/m)`, which gives `2 s/sqrt(n)`; the smaller bound holds
/// nevertheless, by the above.
///
/// # Errors
/// The errors of [`catoni_location`].
pub fn stability_bound(sample: &[f64], scale: f64) -> Result<Stability, Error> {
    let estimate = catoni_location(sample, scale)?.estimate();
    let is_near = |x: &&f64| (estimate - **x).abs() / scale <= FRAC_1_SQRT_2;
    let (n, near) = (sample.len(), sample.iter().filter(is_near).count());
    Ok(if n > 48 && near >= n.div_ceil(2) {
        Stability::Bounded { bound: scale / (n as f64).sqrt(), near }
    } else if near >= NEEDED_NEAR {
        Stability::Bounded { bound: scale * (2.0 / near as f64).sqrt(), near }
    } else {
        Stability::TooFewNear { near, needed: NEEDED_NEAR }
    })
}

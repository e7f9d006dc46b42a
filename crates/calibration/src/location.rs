//! The M-estimate of location of Catoni's type: the root t of
//!
//! `sum_i psi((t - x_i)/s) = 0`,
//!
//! with the influence function `psi` of [`margins_losses::catoni`] and a scale `s` in the unit of
//! the sample. Values within about `s` of the estimate count like in a mean, those beyond
//! `sqrt(2) s` only by their side, like in a median: the estimate is the median for small scales
//! and tends to the mean as `O(1/s^2)` for large ones.
//!
//! [`summarize`] has all of it for one sample: the estimate, its interval, its distance from the mean,
//! how far changed values can move it, and the median of means for comparison.
//!
//! Source: Holland, *Classification using margin pursuit* (2019), equations 2, 3 and 6, propositions 2
//! and 4, remark 5, lemma 6; the constants of proposition 4 and lemma 6 are derived again at
//! [`stability_bound`] and [`confidence_interval`].

mod interval;
mod margins;
mod median_of_means;
mod stability;
mod summary;

pub use interval::{ConfidenceInterval, confidence_interval, confidence_interval_at};
pub use margins::MarginLocation;
pub(crate) use median_of_means::shuffled;
pub use median_of_means::{MedianOfMeans, blocks_of_confidence, median_of_means, variance_bound};
pub use stability::{Stability, range_after_changes, stability_bound};
pub use summary::{LocationSettings, LocationSummary, summarize};

use std::f64::consts::SQRT_2;

use margins_losses::{OutOfRange, catoni};

use crate::Error;

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
    Ok(roots(sample, scale))
}

/// Returns the roots for a sample of which less than half of the values may be infinite.
fn roots(sample: &[f64], scale: f64) -> Location {
    weighted_roots(&sample.iter().map(|&x| (x, 1.0)), middle(sample), scale)
}

/// Returns the roots for values with weights, given as pairs `(x, c)`, and their two middle values by
/// weight. Values of less than half of the weight may be infinite.
fn weighted_roots(
    sample: &(impl Iterator<Item = (f64, f64)> + Clone),
    (below, above): (f64, f64),
    scale: f64,
) -> Location {
    let reach = SQRT_2 * scale;
    if below + reach < above - reach {
        return Location { lower: below + reach, upper: above - reach };
    }
    let values = || sample.clone().map(|(x, _)| x);
    let smallest = values().fold(f64::INFINITY, f64::min);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    // A sqrt(2) s beyond the middle at least half of the weight is saturated on one side.
    let bracket = (smallest.max(below - reach), largest.min(above + reach));
    // At larger scales the root is the mean to rounding, and the arguments of psi could underflow.
    let scale = scale.min(1e9 * (largest - smallest));
    let root = if smallest == largest {
        smallest
    } else {
        catoni::location(sample, scale, f64::midpoint(below, above), bracket)
    };
    Location { lower: root, upper: root }
}

/// Returns a bound on the distance of the estimate t from the mean of the sample,
/// `sum_i |t - x_i|^3/(6 n s^2)`, in the unit of the sample (proposition 2, part 2).
///
/// It follows from `|u - psi(u)| <= |u|^3/6`: the sum of `(t - x_i)/s`, n times the distance over s,
/// is the sum of `u_i - psi(u_i)`.
///
/// # Errors
/// The errors of [`catoni_location`].
pub fn distance_from_mean(sample: &[f64], scale: f64) -> Result<f64, Error> {
    let estimate = catoni_location(sample, scale)?.estimate();
    let cubes: f64 = sample.iter().map(|x| ((estimate - x) / scale).abs().powi(3)).sum();
    Ok(scale * (cubes / (6.0 * sample.len() as f64)))
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

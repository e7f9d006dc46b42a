//! The bound on the error of a linear classifier by random projections of its margins.
//!
//! Source: Garg and Roth, *Margin distribution and dual sparsity* (2003), as given by Holland,
//! *Classification using margin pursuit* (2019), equation 1.

use margins_losses::OutOfRange;

use crate::Error;
use crate::location::shuffled;

/// The bound with its terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectionBound {
    /// The dimension k after the projection for which the bound is smallest.
    pub dimension: usize,
    /// The share of margins of at most 0 among n of the rows.
    pub error: f64,
    /// The projection term `mu_k`.
    pub projection: f64,
    /// The term `2 sqrt(((k + 2) ln(n e/(k + 2)) + ln(2/delta))/(2 n))`.
    pub complexity: f64,
    /// The probability 1 - 4 delta.
    pub confidence: f64,
}

impl ProjectionBound {
    /// Returns the bound on the error of the classifier on the distribution, at most 1.
    pub fn bound(&self) -> f64 {
        (self.error + self.projection + self.complexity).min(1.0)
    }

    /// Returns true if the bound allows any error.
    pub fn is_vacuous(&self) -> bool {
        self.bound() >= 1.0
    }
}

/// Returns `min(1, 3 exp(-h^2 k/(2 (2 + |h|)^2)), 2/(h^2 k))`, a bound on the probability that a random
/// projection to k dimensions changes the sign of `<w, x>` for unit vectors with `<w, x> = h`.
pub fn sign_change(margin: f64, dimension: usize) -> f64 {
    let (h, k) = (margin.abs(), dimension as f64);
    let exponential = 3.0 * (-h * h * k / (2.0 * (2.0 + h) * (2.0 + h))).exp();
    exponential.min(2.0 / (h * h * k)).min(1.0)
}

/// Returns the bound for the margins `y <w, x>/(||w|| ||x||)` of 2 n rows (of an odd number, all but
/// one), at the best k of a grid whose numbers rise by a twentieth. The n rows whose errors count are
/// drawn by `seed`.
///
/// With probability at least 1 - 4 delta the error is at most the error on n rows plus
/// `mu_k + 2 sqrt(((k + 2) ln(n e/(k + 2)) + ln(2/delta))/(2 n))` for every k up to n - 2, with
/// `mu_k = (2/(delta n)) sum_i` [`sign_change`]`(h_i, k)` over all 2 n rows.
///
/// ```
/// use margins_calibration::projection_bound::projection_bound;
///
/// let large = projection_bound(&vec![0.9; 200_000], 0.025, 1)?;
/// assert!(!large.is_vacuous());
/// // For few rows it says nothing, whatever the margins.
/// assert!(projection_bound(&[1.0; 1000], 0.025, 1)?.is_vacuous());
/// # Ok::<(), margins_calibration::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: there are no margins, or one is not finite.
/// [`Error::Entry`]: a margin is outside [-1, 1]. [`Error::Parameter`]: there are fewer than 6 margins,
/// or delta is outside (0, 1/4).
pub fn projection_bound(margins: &[f64], delta: f64, seed: u64) -> Result<ProjectionBound, Error> {
    /// Rounding of a margin of unit vectors.
    const SLACK: f64 = 1e-9;
    Error::check_sample("margins", margins)?;
    let in_range = |h: f64| h.abs() <= 1.0 + SLACK;
    Error::check_entries("margin", margins, "in [-1, 1], of unit vectors", in_range)?;
    let requirement = "between 0 and 1/4, both excluded";
    OutOfRange::check("delta", delta, requirement, |x| x > 0.0 && x < 0.25)?;
    let count = margins.len() as f64;
    OutOfRange::check("the number of margins", count, "at least 6", |n| n >= 6.0)?;
    let n = margins.len() / 2;
    let drawn = shuffled(margins, seed);
    let rows = n as f64;
    let error = drawn[..n].iter().filter(|h| **h <= 0.0).count() as f64 / rows;
    let at = |dimension: usize| {
        let changes: f64 = drawn[..2 * n].iter().map(|&h| sign_change(h, dimension)).sum();
        let k = dimension as f64 + 2.0;
        let logarithms = k * (1.0 + rows.ln() - k.ln()) + (2.0 / delta).ln();
        ProjectionBound {
            dimension,
            error,
            projection: 2.0 / delta * (changes / rows),
            complexity: 2.0 * (logarithms / (2.0 * rows)).sqrt(),
            confidence: 1.0 - 4.0 * delta,
        }
    };
    let mut best = at(1);
    let mut dimension = 2;
    while dimension <= n - 2 {
        let found = at(dimension);
        if found.projection + found.complexity < best.projection + best.complexity {
            best = found;
        }
        dimension += 1 + dimension / 20;
    }
    Ok(best)
}

//! The weights that samples have in a measure.

use crate::Error;
use crate::error::{check_len, check_weights};

/// Checked weights, of which some are positive.
pub(super) struct Weights<'a> {
    given: Option<&'a [f64]>,
    /// The power of two at or below the largest: relative to it, sums and squares cannot overflow,
    /// and nothing is rounded.
    scale: f64,
}

impl<'a> Weights<'a> {
    pub(super) fn of(given: Option<&'a [f64]>, n: usize) -> Result<Self, Error> {
        let Some(weights) = given else { return Ok(Weights { given, scale: 1.0 }) };
        check_len("weights, one per row", n, weights.len())?;
        check_weights(weights)?;
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(Error::parameter("the sum of weights", 0, "positive"));
        }
        const EXPONENT: u64 = 0x7ff << 52;
        let power = f64::from_bits(largest.to_bits() & EXPONENT);
        Ok(Weights { given, scale: power.max(f64::MIN_POSITIVE) })
    }

    /// Returns the number that relative weights are multiplied by.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the weight of a sample over the scale, at most 2.
    pub(super) fn relative(&self, i: usize) -> f64 {
        self.given.map_or(1.0, |weights| weights[i] / self.scale)
    }

    /// Returns true if a sample counts.
    pub(super) fn counts(&self, i: usize) -> bool {
        self.given.is_none_or(|weights| weights[i] > 0.0)
    }

    /// Returns the mean of values, one per sample.
    pub(super) fn mean(&self, values: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, value) in values.enumerate().filter(|(i, _)| self.counts(*i)) {
            sum += self.relative(i) * value;
            total += self.relative(i);
        }
        sum / total
    }
}

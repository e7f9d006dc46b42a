//! Suggests the sigma of a Gaussian kernel from the distances between samples.

use std::cmp::Ordering;

use margins_data::Design;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;

/// The largest number of pairs of samples that are used.
const MOST_PAIRS: usize = 10_000;

/// Reasonable values of sigma for the Gaussian kernel `exp(-sigma ||x - z||^2)`: the reciprocals of
/// quantiles of the squared distance between two samples.
///
/// Features in other units scale all of them: if every feature is multiplied by a power of two,
/// each sigma is divided by its square, to the last bit.
///
/// Source: the rule of `sigest` in the R package kernlab, after Caputo, Sim, Furesjo and Smola
/// (2002): anything between the 0.1 and the 0.9 quantile will do. There the features are scaled
/// first; here they are taken as they come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SigmaRange {
    /// The reciprocal of the 0.9 quantile: the widest reasonable kernel.
    pub low: f64,
    /// The reciprocal of the median.
    pub median: f64,
    /// The reciprocal of the 0.1 quantile: the narrowest.
    pub high: f64,
}

impl SigmaRange {
    /// Measures all pairs of samples if these are few, else 10000 pairs drawn with replacement from
    /// the seed. Pairs of equal samples are left out, as kernlab does; quantiles are linear between
    /// order statistics. A sample of weight k counts as k samples, one of weight 0 as none; weights
    /// that are not whole numbers count in thousandths of their mean.
    ///
    /// # Errors
    /// All samples are equal; a distance overflows; sigma overflows or is 0 because the samples are
    /// farther from each other than 6e153 or nearer than 8e-155.
    ///
    /// # Panics
    /// If there are weights, but not one per row.
    pub fn of(design: &Design, weights: Option<&[f64]>, seed: u64) -> Result<Self, Error> {
        assert!(weights.is_none_or(|weights| weights.len() == design.rows()), "one weight per row");
        let ends = last_copies(design.rows(), weights);
        let n = ends.last().copied().unwrap_or(0);
        let row = |copy: usize| ends.partition_point(|&end| end <= copy);
        let square = |(i, j)| Square::of(design, row(i), row(j));
        let few = n.checked_mul(n.saturating_sub(1)).is_some_and(|twice| twice / 2 <= MOST_PAIRS);
        let squares: Result<Vec<Square>, Error> = if few {
            (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .filter_map(|at| square(at).transpose())
                .collect()
        } else {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let draw = |_| (random.random_range(0..n), random.random_range(0..n));
            (0..MOST_PAIRS).map(draw).filter_map(|at| square(at).transpose()).collect()
        };
        let mut squares = squares?;
        if squares.is_empty() {
            return Err(Error::NoDistance);
        }
        squares.sort_by(Square::order);
        let sigma = |share: f64| {
            let position = share * (squares.len() - 1) as f64;
            let below = position.floor() as usize;
            let above = (below + 1).min(squares.len() - 1);
            squares[below].toward(&squares[above], position.fract()).reciprocal()
        };
        Ok(SigmaRange { low: sigma(0.9)?, median: sigma(0.5)?, high: sigma(0.1)? })
    }

    /// Returns the middle of the two ends, kernlab's automatic choice.
    pub fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }
}

/// Returns the number of copies of each row and those before it, for rows that count by their weights.
fn last_copies(rows: usize, weights: Option<&[f64]>) -> Vec<usize> {
    /// The mean number of copies where weights are not whole numbers.
    const MEAN: f64 = 1000.0;
    /// The largest total of copies.
    const MOST: f64 = 1e15;
    let Some(weights) = weights else { return (1..=rows).collect() };
    let total: f64 = weights.iter().sum();
    let is_whole = total <= MOST && weights.iter().all(|weight| weight.fract() == 0.0);
    let factor = if is_whole { 1.0 } else { MEAN * rows as f64 / total };
    let mut copies = 0;
    let count = |weight: &f64| {
        copies += (factor * weight).round() as usize;
        copies
    };
    weights.iter().map(count).collect()
}

/// A square holds the squared distance between two rows as `mantissa 4^exponent`, the mantissa from
/// 1 to 4: squares of distances are beyond the numbers where the distances themselves are not.
#[derive(Debug, Clone, Copy)]
struct Square {
    mantissa: f64,
    exponent: i32,
    rows: [usize; 2],
}

impl Square {
    /// The smallest square that has lost no digits to the smallest positive number.
    const LEAST: f64 = 1e-290;

    /// Returns the square for two rows, `None` if they are equal.
    fn of(design: &Design, one: usize, other: usize) -> Result<Option<Self>, Error> {
        let (x, z) = (design.sample(one), design.sample(other));
        let rows = [one, other];
        let square = x.squared_distance(&z);
        if (Self::LEAST..=f64::MAX).contains(&square) {
            return Ok(Some(Square { mantissa: square, exponent: 0, rows }.normal()));
        }
        let mut largest = 0.0f64;
        x.for_each_pair(&z, |x, z| largest = largest.max((x - z).abs()));
        if largest == 0.0 {
            return Ok(None);
        }
        if largest.is_infinite() {
            return Err(Error::Distance { one, other });
        }
        // Differences times a power of two, so that the largest is about 1: nothing is rounded but
        // what is far smaller.
        let lift = if largest < Self::LEAST { 600 } else { 0 };
        let exponent = binary_exponent(largest * power_of_two(lift)) - lift;
        let half = -exponent / 2;
        let (first, second) = (power_of_two(half), power_of_two(-exponent - half));
        let mut square = 0.0;
        x.for_each_pair(&z, |x, z| {
            let difference = (x - z) * first * second;
            square += difference * difference;
        });
        Ok(Some(Square { mantissa: square, exponent, rows }.normal()))
    }

    /// Returns the number with a mantissa from 1 to 4.
    fn normal(self) -> Self {
        let half = binary_exponent(self.mantissa).div_euclid(2);
        let mantissa = self.mantissa * power_of_two(-half) * power_of_two(-half);
        Square { mantissa, exponent: self.exponent + half, ..self }
    }

    fn order(&self, other: &Self) -> Ordering {
        self.exponent.cmp(&other.exponent).then(self.mantissa.total_cmp(&other.mantissa))
    }

    /// Returns the square at a share of the way to one that is no smaller.
    fn toward(&self, above: &Self, share: f64) -> Self {
        // Beyond this distance of the exponents nothing is left of the smaller one.
        let half = (self.exponent - above.exponent).max(-500);
        let below = self.mantissa * power_of_two(half) * power_of_two(half);
        Square { mantissa: below + share * (above.mantissa - below), ..*above }
    }

    /// Returns one over the square, as a number with all its digits.
    fn reciprocal(&self) -> Result<f64, Error> {
        let lifted = self.normal();
        // In two steps, of which neither is beyond the numbers.
        let half = -lifted.exponent.clamp(-1000, 1000);
        let sigma = (1.0 / lifted.mantissa) * power_of_two(half) * power_of_two(half);
        if sigma.is_normal() {
            return Ok(sigma);
        }
        let [one, other] = self.rows;
        let half = lifted.exponent / 2;
        let distance =
            lifted.mantissa.sqrt() * power_of_two(half) * power_of_two(lifted.exponent - half);
        Err(Error::Width { one, other, distance })
    }
}

/// Returns the k of `2^k <= |x| < 2^(k + 1)` of a normal number.
fn binary_exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// Returns `2^k` for k from -1022 to 1023.
fn power_of_two(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

use margins_data::Design;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;

/// Most pairs of samples that are looked at.
const MOST_PAIRS: usize = 10_000;

/// Reasonable values of sigma for the Gaussian kernel `exp(-sigma ||x - z||^2)`: the reciprocals of
/// quantiles of the squared distance between two samples.
///
/// Source: the rule of `sigest` in the R package kernlab, after Caputo, Sim, Furesjo and Smola (2002):
/// anything between the 0.1 and the 0.9 quantile will do. There the features are scaled first; here
/// they are taken as they come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SigmaRange {
    /// One over the 0.9 quantile: the widest reasonable kernel.
    pub low: f64,
    /// One over the median.
    pub median: f64,
    /// One over the 0.1 quantile: the narrowest.
    pub high: f64,
}

impl SigmaRange {
    /// From all pairs of samples if these are few, else from 10000 pairs drawn with replacement from the
    /// seed. Pairs of equal samples are left out, as kernlab does; quantiles are linear between order
    /// statistics.
    ///
    /// # Errors
    /// All samples the same.
    pub fn of(design: &Design, seed: u64) -> Result<Self, Error> {
        let n = design.rows();
        let distance = |i: usize, j: usize| design.sample(i).squared_distance(&design.sample(j));
        let mut distances: Vec<f64> = if n * n.saturating_sub(1) / 2 <= MOST_PAIRS {
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| distance(i, j)).collect()
        } else {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut draw = || (random.random_range(0..n), random.random_range(0..n));
            (0..MOST_PAIRS).map(|_| draw()).map(|(i, j)| distance(i, j)).collect()
        };
        distances.retain(|&d| d > 0.0 && d.is_finite());
        if distances.is_empty() {
            return Err(Error::NoDistance);
        }
        distances.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let position = share * (distances.len() - 1) as f64;
            let below = position.floor() as usize;
            let above = (below + 1).min(distances.len() - 1);
            distances[below] + position.fract() * (distances[above] - distances[below])
        };
        Ok(SigmaRange {
            low: 1.0 / quantile(0.9),
            median: 1.0 / quantile(0.5),
            high: 1.0 / quantile(0.1),
        })
    }

    /// The middle of the two ends, kernlab's automatic choice.
    pub fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }
}

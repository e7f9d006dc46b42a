//! The median of means, of a sample and of the squared differences that estimate its variance.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::middle;
use crate::{Error, scale};
use margins_losses::OutOfRange;

/// The median of the means of K blocks of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianOfMeans {
    /// The median, the middle of the two middle means if K is even.
    pub estimate: f64,
    /// The number K of blocks.
    pub blocks: usize,
    /// The number m of values in the smallest block; others have at most one more.
    pub block_size: usize,
}

impl MedianOfMeans {
    /// Returns `2 sqrt(v/m)`, which the distance from the mean of a distribution of variance at most v
    /// exceeds with probability at most [`exceedance`](Self::exceedance).
    ///
    /// By Chebyshev's inequality the mean of a block is farther away with probability at most 1/4, and
    /// half of the blocks must be.
    pub fn half_width(&self, variance_bound: f64) -> f64 {
        2.0 * variance_bound.sqrt() / (self.block_size as f64).sqrt()
    }

    /// Returns `exp(-K/8)`, by Hoeffding's inequality for the number of blocks that are farther away.
    pub fn exceedance(&self) -> f64 {
        (-(self.blocks as f64) / 8.0).exp()
    }
}

/// Returns the number of blocks `ceil(8 log(1/delta))`, whose
/// [`exceedance`](MedianOfMeans::exceedance) is at most delta.
///
/// # Errors
/// [`Error::Parameter`]: delta is outside (0, 1).
pub fn blocks_of_confidence(delta: f64) -> Result<usize, Error> {
    Ok((-8.0 * scale::check_delta(delta)?.ln()).ceil().max(1.0) as usize)
}

/// Returns the median of the means of blocks, drawn from the sample at random by `seed`.
///
/// Source: Lugosi and Mendelson, *Mean estimation and regression under heavy-tailed distributions: a
/// survey* (2019), section 2.1.
///
/// ```
/// use margins_calibration::location::median_of_means;
///
/// let sample: Vec<f64> = (1..100).map(f64::from).chain([1e9]).collect();
/// let found = median_of_means(&sample, 10, 1)?;
/// assert!((found.estimate - 50.0).abs() < 20.0);
/// # Ok::<(), margins_calibration::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: the sample is empty or has a value that is not finite.
/// [`Error::Parameter`]: there are no blocks, or more than values.
pub fn median_of_means(sample: &[f64], blocks: usize, seed: u64) -> Result<MedianOfMeans, Error> {
    Error::check_sample("sample", sample)?;
    check_blocks(blocks, sample.len())?;
    Ok(of_blocks(&shuffled(sample, seed), blocks))
}

fn check_blocks(blocks: usize, values: usize) -> Result<(), Error> {
    let requirement = "at least 1 and at most the number of values";
    let in_range = |x: f64| x >= 1.0 && x <= values as f64;
    OutOfRange::check("the number of blocks", blocks as f64, requirement, in_range)?;
    Ok(())
}

/// Returns the values in random order.
pub(crate) fn shuffled(sample: &[f64], seed: u64) -> Vec<f64> {
    let mut sample = sample.to_vec();
    sample.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    sample
}

/// Returns the median of the means of consecutive values, of at most as many blocks as values.
fn of_blocks(sample: &[f64], blocks: usize) -> MedianOfMeans {
    let n = sample.len();
    let bound = |k: usize| (k as u128 * n as u128 / blocks as u128) as usize;
    let mean = |k: usize| {
        let block = &sample[bound(k)..bound(k + 1)];
        block.iter().map(|x| x / block.len() as f64).sum::<f64>()
    };
    let means: Vec<f64> = (0..blocks).map(mean).collect();
    let (below, above) = middle(&means);
    MedianOfMeans { estimate: f64::midpoint(below, above), blocks, block_size: n / blocks }
}

/// Returns an upper bound on the variance of the distribution that a sample was drawn from: twice the
/// median of means of `(x - y)^2/2` over disjoint pairs, drawn at random by `seed`.
///
/// There are `ceil(8 log(1/delta))` blocks, at most as many as pairs. `(x - y)^2/2` has the mean v and
/// the variance `(kurtosis + 1) v^2/2`, so that by Chebyshev's and Hoeffding's inequalities twice the
/// median is at least v with probability 1 - delta if each block has at least 8 (kurtosis + 1) pairs;
/// without a fourth moment or with fewer pairs it is an estimate without a guarantee.
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: the sample is empty or has a value that is not finite.
/// [`Error::Parameter`]: there is one value, delta is outside (0, 1), or the estimate is 0, as for a
/// sample of which most values are equal, or infinite.
pub fn variance_bound(sample: &[f64], delta: f64, seed: u64) -> Result<f64, Error> {
    Error::check_sample("sample", sample)?;
    let pairs = sample.len() / 2;
    let requirement = "at least 2 to estimate a variance";
    OutOfRange::check("the number of values", sample.len() as f64, requirement, |n| n >= 2.0)?;
    let blocks = blocks_of_confidence(delta)?.min(pairs);
    let halves: Vec<f64> = shuffled(sample, seed)
        .chunks_exact(2)
        .map(|pair| {
            let distance = pair[0] - pair[1];
            0.5 * distance * distance
        })
        .collect();
    let bound = 2.0 * of_blocks(&halves, blocks).estimate;
    scale::check_positive("the bound on the variance estimated from the sample", bound)
}

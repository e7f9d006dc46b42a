//! Random Fourier features of the Gaussian kernel.

use margins_data::{Design, parallel};
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::{Error, Gaussian};

/// Random Fourier features of the Gaussian kernel: `sqrt(1/h) (cos <w_k, x>, sin <w_k, x>)`, k = 1,
/// ..., h, with `w_k` normal of variance `2 sigma`. Their inner products are unbiased for the
/// kernel, with a standard deviation of at most `1/sqrt(2 h)`.
///
/// Source: Rahimi and Recht, *Random features for large-scale kernel machines* (2007), in the
/// paired form, whose variance is smaller (Sutherland and Schneider 2015).
#[derive(Debug, Clone, PartialEq)]
pub struct RandomFourierMap {
    /// The frequencies, p x h.
    frequencies: DMatrix<f64>,
}

impl From<DMatrix<f64>> for RandomFourierMap {
    /// Returns the map of given frequencies, p x h, one per column.
    fn from(frequencies: DMatrix<f64>) -> Self {
        RandomFourierMap { frequencies }
    }
}

impl RandomFourierMap {
    /// Draws a map of m features, m rounded up to an even number, for samples of p features, from
    /// the seed.
    ///
    /// # Errors
    /// No features.
    pub fn new(kernel: Gaussian, p: usize, m: usize, seed: u64) -> Result<Self, Error> {
        if m == 0 {
            return Err(Error::TooFewFeatures { least: 2, found: 0 });
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let deviation = (2.0 * kernel.sigma()).sqrt();
        let normal = |_, _| -> f64 { StandardNormal.sample(&mut random) };
        let frequencies = DMatrix::from_fn(p, m.div_ceil(2), normal) * deviation;
        Ok(RandomFourierMap { frequencies })
    }

    /// Returns `w_k`, one per column.
    pub fn frequencies(&self) -> &DMatrix<f64> {
        &self.frequencies
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        2 * self.frequencies.ncols()
    }

    /// Returns the features of all samples, in blocks, [in parallel](margins_data::parallel).
    ///
    /// # Errors
    /// Another number of features than the map was made for.
    pub fn transform(&self, design: &Design) -> Result<Design, Error> {
        const SIDE: usize = 256;
        let (p, half) = self.frequencies.shape();
        if design.columns() != p {
            let found = design.columns();
            return Err(Error::Shape { what: "features", expected: p, found });
        }
        Design::check_room(design.rows(), 2 * half)?;
        let scale = (1.0 / half as f64).sqrt();
        let mut samples = DMatrix::zeros(2 * half, design.rows());
        parallel::for_each_chunk(samples.as_mut_slice(), 2 * half * SIDE, |k, out| {
            for (i, out) in out.chunks_exact_mut(2 * half).enumerate() {
                let x = design.sample(SIDE * k + i);
                let (cosines, sines) = out.split_at_mut(half);
                for (j, frequency) in self.frequencies.column_iter().enumerate() {
                    let (sine, cosine) = x.dot(frequency.as_slice()).sin_cos();
                    (cosines[j], sines[j]) = (scale * cosine, scale * sine);
                }
            }
        });
        Ok(Design::from_samples(samples)?)
    }
}

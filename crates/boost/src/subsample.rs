//! The size of a random subsample that keeps rare samples and misses outliers.

use margins_losses::OutOfRange;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;

/// A new sample drawn with repetition, so small that outliers are missed and rare samples are not.
///
/// Among m samples k are outliers and `m_2 > k` rare. The new sample of n has an outlier with
/// probability at most `k n/m`, and fewer than half of the `n m_2/m` rare samples that are expected
/// with probability at most `exp(-n m_2/(8 m))` (Chernoff). Their sum is least at `n = (8 m/m_2)
/// ln(m_2/(8 k))`.
///
/// Source: Shalev-Shwartz and Wexler (2016), section 4.1 and theorem 3, whose bound
/// `0.01 + 0.99 k n/m + exp(-0.1 n m_2/m)` is above this one wherever it is below 1. The theorem says
/// half of the `m_2` rare samples, for which it is false: a new sample of fewer than `m_2/2` never has
/// as many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subsample {
    rows: usize,
    size: usize,
    failure: f64,
}

/// Returns the bound on the probability of failure of n of m samples.
pub(crate) fn bound(m: f64, k: f64, m_2: f64, n: f64) -> f64 {
    (k * n / m + (-n * m_2 / (8.0 * m)).exp()).min(1.0)
}

impl Subsample {
    /// Returns a subsample of the size with the smallest bound, at most m.
    ///
    /// # Errors
    /// More outliers or rare samples than samples, no rare samples, or so many outliers that no
    /// size is better than none, `m_2 <= 8 k`.
    pub fn new(rows: usize, outliers: usize, rare: usize) -> Result<Self, Error> {
        let [m, k, m_2] = [rows as f64, outliers as f64, rare as f64];
        OutOfRange::check(
            "the number of rare samples",
            m_2,
            "from 1 to that of all samples",
            |m_2| 1.0 <= m_2 && m_2 <= m,
        )?;
        OutOfRange::check(
            "the number of outliers",
            k,
            "less than an eighth of the rare samples",
            |k| 8.0 * k < m_2,
        )?;
        let best = if k > 0.0 { 8.0 * m / m_2 * (m_2 / (8.0 * k)).ln() } else { m };
        let n = best.round().clamp(1.0, m);
        let failure = bound(m, k, m_2, n);
        Ok(Subsample { rows, size: n as usize, failure })
    }

    /// Returns n.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns a bound on the probability that there is an outlier or less than half of the rare
    /// samples expected.
    pub fn failure(&self) -> f64 {
        self.failure
    }

    /// Returns the rows of the new sample.
    pub fn draw(&self, seed: u64) -> Vec<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..self.size).map(|_| random.random_range(0..self.rows)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn theorem_3(m: f64, k: f64, m_2: f64, n: f64) -> f64 {
        0.01 + 0.99 * k * n / m + (-0.1 * n * m_2 / m).exp()
    }

    proptest! {
        #[test]
        fn the_size_is_the_best_and_the_bound_below_the_published_one(
            rows in 1000usize..100_000, outliers in 0usize..5, factor in 9usize..100,
        ) {
            let rare = (outliers.max(1) * factor).min(rows);
            let [m, k, m_2] = [rows as f64, outliers as f64, rare as f64];
            let subsample = Subsample::new(rows, outliers, rare).unwrap();
            let n = subsample.size() as f64;
            prop_assert!(subsample.failure() <= theorem_3(m, k, m_2, n));
            let bound = |n: f64| k * n / m + (-n * m_2 / (8.0 * m)).exp();
            for other in [1.0, n - 1.0, n + 1.0, m] {
                if (1.0..=m).contains(&other) {
                    prop_assert!(bound(other) >= bound(n) - 1e-12);
                }
            }
        }
    }

    #[test]
    fn outliers_are_missed_as_often_as_the_bound_says() {
        let (rows, outliers, rare) = (20_000, 2, 4_000);
        let subsample = Subsample::new(rows, outliers, rare).unwrap();
        let expected = subsample.size() * rare / rows;
        let trials = 2000;
        let failures = (0..trials).filter(|&seed| {
            let drawn = subsample.draw(seed);
            let rare = drawn.iter().filter(|&&row| (outliers..outliers + rare).contains(&row));
            drawn.iter().any(|&row| row < outliers) || 2 * rare.count() < expected
        });
        let rate = failures.count() as f64 / trials as f64;
        let deviation = (subsample.failure() / trials as f64).sqrt();
        assert!(rate <= subsample.failure() + 4.0 * deviation, "{rate}");
    }

    /// Theorem 3 as printed has m_2/2, which a new sample of 100 misses always; half of those
    /// expected, n m_2/(2 m) = 25, it misses as seldom as both bounds say.
    #[test]
    fn half_of_the_rare_samples_are_those_expected() {
        let [m, k, m_2, n] = [1e6, 100.0, 5e5, 100.0];
        let bound = theorem_3(m, k, m_2, n);
        assert!((bound - 0.026_638).abs() < 1e-6, "{bound}");
        assert!(n < m_2 / 2.0);
        // The probability of r rare samples among n, each rare with probability 1/2.
        let (mut of_r, mut fewer) = (0.5f64.powi(100), 0.0);
        for r in 0..25 {
            fewer += of_r;
            of_r *= (n - f64::from(r)) / f64::from(r + 1);
        }
        assert!((fewer - 9.05e-8).abs() < 1e-10, "{fewer}");
        let an_outlier = 1.0 - (1.0 - k / m).powi(100);
        assert!(an_outlier + fewer < bound);
        assert!(an_outlier + fewer < k * n / m + (-n * m_2 / (8.0 * m)).exp());
    }

    #[test]
    fn refusals() {
        let message =
            |rows, outliers, rare| Subsample::new(rows, outliers, rare).unwrap_err().to_string();
        insta::assert_snapshot!(
            [message(10, 0, 0), message(10, 0, 11), message(100, 2, 16)].join("\n")
        );
    }
}

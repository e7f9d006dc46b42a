//! Samples of which some are rare, the distributions of section 3 of the paper on the maximal loss.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::{Dataset, Design, Error, Labels};

/// Draws samples of which some are rare, one set of samples after the other.
///
/// A classifier with a small mean loss may be wrong on the rare samples; one with a small largest loss
/// is not.
///
/// ```
/// use margins_data::generate::RareSamples;
///
/// let data = RareSamples::new(1, 0).gap(1200, 0.001, 0.01)?;
/// assert_eq!((data.rows(), data.columns()), (1200, 2));
/// let data = RareSamples::new(1, 0).typical_and_rare(2000, 10)?;
/// assert_eq!((data.rows(), data.columns()), (2010, RareSamples::FEATURES));
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// Source: S. Shalev-Shwartz and Y. Wexler, *Minimizing the maximal loss: how and why?*, ICML 2016.
#[derive(Debug, Clone)]
pub struct RareSamples {
    random: ChaCha8Rng,
}

impl RareSamples {
    /// The number of features of [`typical_and_rare`](Self::typical_and_rare).
    pub const FEATURES: usize = 20;

    /// Returns a generator; streams of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        RareSamples { random }
    }

    /// Draws from the distribution of section 3.1 on two features: `z_1 = (alpha, 1)`, and with
    /// probability epsilon `z_2 = (alpha, -2 alpha)`, both times a label that is +1 or -1 with the same
    /// probability. The first four rows are both points with both labels. The classifier
    /// `(3, alpha)` is right on all of them; for a small alpha the second feature alone is right on all
    /// but the rare ones.
    ///
    /// # Errors
    /// Fewer than four rows, alpha or epsilon not in (0, 1), or rows that do not fit in memory.
    pub fn gap(&mut self, rows: usize, alpha: f64, epsilon: f64) -> Result<Dataset, Error> {
        if rows < 4 {
            return Err(Error::parameter("the number of rows", rows, "at least 4"));
        }
        for (name, value) in [("alpha", alpha), ("epsilon", epsilon)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::parameter(name, value, "between 0 and 1"));
            }
        }
        Design::check_room(rows, 2)?;
        let random = &mut self.random;
        let sample = |row: usize| {
            let (y, rare) = match row {
                0..4 => ([1.0, -1.0][row % 2], row < 2),
                _ => (if random.random() { 1.0 } else { -1.0 }, random.random::<f64>() < epsilon),
            };
            (vec![y * alpha, y * if rare { -2.0 * alpha } else { 1.0 }], y)
        };
        dataset((0..rows).map(sample).unzip())
    }

    /// Draws a number of typical samples, then a number of rare ones, as section 3.2 has them: a typical
    /// sample is `y (1, 0, noise)`, a rare one `y (-1/2, 1/10, noise)`, with noise of standard deviation
    /// 0.02 on all features. The feature that decides typical samples is wrong on rare ones, and the one
    /// that is right there is small. The first two samples have both labels.
    ///
    /// # Errors
    /// Fewer than two samples, or more than fit in memory.
    pub fn typical_and_rare(&mut self, typical: usize, rare: usize) -> Result<Dataset, Error> {
        const NOISE: f64 = 0.02;
        let rows = typical.saturating_add(rare);
        if rows < 2 {
            return Err(Error::parameter("the number of samples", rows, "at least 2"));
        }
        Design::check_room(rows, Self::FEATURES)?;
        let random = &mut self.random;
        let sample = |row: usize| {
            let y = match row {
                0 | 1 => [1.0, -1.0][row],
                _ => [1.0, -1.0][usize::from(random.random::<bool>())],
            };
            let mut noise = || NOISE * Distribution::<f64>::sample(&StandardNormal, random);
            let mut x: Vec<f64> = (0..Self::FEATURES).map(|_| noise()).collect();
            (x[0], x[1]) = if row >= typical { (-0.5 * y, 0.1 * y) } else { (y, 0.0) };
            (x, y)
        };
        dataset((0..rows).map(sample).unzip())
    }
}

fn dataset((rows, signs): (Vec<Vec<f64>>, Vec<f64>)) -> Result<Dataset, Error> {
    Dataset::new(Design::from_rows(&rows)?, Labels::from_signs(signs)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only four points, the rare ones as often as they should be, and a classifier that is right.
    #[test]
    fn the_gap_is_that_of_section_3_1() {
        let (n, alpha, epsilon) = (20_000, 0.01, 0.1);
        let data = RareSamples::new(3, 1).gap(n, alpha, epsilon).unwrap();
        let mut rare = 0;
        for (x, y) in data.design().samples().zip(data.labels().signs()) {
            let [first, second] = [x.dot(&[1.0, 0.0]) * y, x.dot(&[0.0, 1.0]) * y];
            assert!(first == alpha && (second == 1.0 || second == -2.0 * alpha));
            assert!(y * x.dot(&[3.0, alpha]) > 0.0);
            rare += usize::from(second < 0.0);
        }
        let deviation = (n as f64 * epsilon * (1.0 - epsilon)).sqrt();
        assert!((rare as f64 - n as f64 * epsilon).abs() < 4.0 * deviation, "{rare}");
        let refused = |rows, alpha, epsilon| {
            RareSamples::new(1, 1).gap(rows, alpha, epsilon).unwrap_err().to_string()
        };
        assert!(refused(3, 0.1, 0.1).contains("at least 4"));
        assert!(
            refused(9, 1.0, 0.1).contains("alpha") && refused(9, 0.1, f64::NAN).contains("epsilon")
        );
    }

    /// Typical samples are decided by the first feature and rare ones by the second, beside noise; the
    /// next draw of a generator is another one.
    #[test]
    fn typical_and_rare_samples_are_those_of_section_3_2() {
        let mut generator = RareSamples::new(1, 2);
        let data = generator.typical_and_rare(300, 200).unwrap();
        let feature = |row: usize, at: usize| {
            let mut w = vec![0.0; RareSamples::FEATURES];
            w[at] = data.labels().signs()[row];
            data.design().sample(row).dot(&w)
        };
        assert!((0..300).all(|row| (feature(row, 0), feature(row, 1)) == (1.0, 0.0)));
        assert!((300..500).all(|row| (feature(row, 0), feature(row, 1)) == (-0.5, 0.1)));
        let squares: f64 = (0..500).map(|row| feature(row, 7).powi(2)).sum();
        assert!(((squares / 500.0).sqrt() - 0.02).abs() < 0.003, "{squares}");
        assert_ne!(generator.typical_and_rare(300, 200).unwrap(), data);
        assert_eq!(RareSamples::new(1, 2).typical_and_rare(300, 200).unwrap(), data);
        assert!(generator.typical_and_rare(1, 0).is_err());
    }
}

//! The Bayes rule of a mixture, and its error.

use rand::RngExt;

use super::quadrature::{self, Quadrature};
use super::{GaussianMixture, RandomStream, generator};
use crate::Error;
use crate::metrics::ErrorRate;

impl GaussianMixture {
    /// Returns log p(x | Y = +1) - log p(x | Y = -1): the best score that there is, positive
    /// exactly where +1 is the likelier class.
    ///
    /// # Panics
    /// If `x` is not of length p.
    pub fn log_density_ratio(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.columns(), "the vector is not of length p");
        // Densities relative to that of the nearest centre: precise for centres that are close
        // compared with their distance from the origin, and free of overflow far out.
        let mut nearest = &self.positive[0];
        for centre in self.positive.iter().chain(&self.negative) {
            if self.exponent(x, centre, nearest) > 0.0 {
                nearest = centre;
            }
        }
        let log_density = |centres: &[Vec<f64>]| {
            let exponent = |centre: &Vec<f64>| self.exponent(x, centre, nearest);
            let largest = centres.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
            if largest == f64::NEG_INFINITY {
                return largest;
            }
            let sum: f64 = centres.iter().map(|centre| (exponent(centre) - largest).exp()).sum();
            largest + (sum / centres.len() as f64).ln()
        };
        log_density(&self.positive) - log_density(&self.negative)
    }

    /// Returns (|x - r|^2 - |x - c|^2) / (2 sigma^2) for a centre c and a reference r: linear in x.
    fn exponent(&self, x: &[f64], centre: &[f64], reference: &[f64]) -> f64 {
        let term = |((x, c), r): ((&f64, &f64), &f64)| {
            ((c - r) / self.deviation) * (((x - c) / 2.0 + (x - r) / 2.0) / self.deviation)
        };
        x.iter().zip(centre).zip(reference).map(term).sum()
    }

    /// The number of draws that means over the distribution are taken of.
    pub const DRAWS: usize = 200_000;

    /// Returns the log odds of the positive class at `n` draws of X: [`log_density_ratio`], because both
    /// classes are equally likely. The draws are those of [`bayes_error_estimate`].
    ///
    /// [`log_density_ratio`]: Self::log_density_ratio
    /// [`bayes_error_estimate`]: Self::bayes_error_estimate
    pub fn log_odds(&self, n: usize, seed: u64) -> Vec<f64> {
        let mut random = generator(seed, RandomStream::BayesError);
        let mut x = Vec::with_capacity(self.columns());
        let draw = |_| {
            x.clear();
            self.draw(if random.random() { 1.0 } else { -1.0 }, &mut random, &mut x);
            self.log_density_ratio(&x)
        };
        (0..n).map(draw).collect()
    }

    /// Returns P(Y = +1 | X = x).
    ///
    /// # Panics
    /// If `x` is not of length p.
    pub fn probability(&self, x: &[f64]) -> f64 {
        // Each branch exponentiates a number that is at most 0.
        let ratio = self.log_density_ratio(x);
        if ratio >= 0.0 { 1.0 / (1.0 + (-ratio).exp()) } else { ratio.exp() / (1.0 + ratio.exp()) }
    }

    /// Returns the [Bayes error](Self::bayes_error_quadrature) and the error of that number: by
    /// quadrature with the tolerance 1e-6 for p = 2, and otherwise [the mean](Self::bayes_error_estimate)
    /// of [`DRAWS`](Self::DRAWS) draws with its standard error.
    ///
    /// ```
    /// use margins_data::generate::{Example, GaussianMixture};
    ///
    /// let (rate, error) = GaussianMixture::example(Example::One, 1)?.bayes_error(1)?;
    /// assert!(rate < 0.5 && error <= 1e-6);
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the two methods, whose ranges hold here.
    pub fn bayes_error(&self, seed: u64) -> Result<(f64, f64), Error> {
        if self.columns() == 2 {
            let found = self.bayes_error_quadrature(1e-6)?;
            return Ok((found.rate, found.error));
        }
        let found = self.bayes_error_estimate(Self::DRAWS, seed)?;
        Ok((found.rate, found.standard_error))
    }

    /// Returns the Bayes error E min(P(Y = +1 | X), P(Y = -1 | X)) for p = 2, by adaptive
    /// quadrature over the plane until the estimated error is at most `tolerance`. For the paper's
    /// examples and 1e-6 that takes some milliseconds, and the time grows with the square of the
    /// number of centres. A tolerance that takes too many points is not reached, and the larger
    /// error reported.
    ///
    /// # Errors
    /// `p` is not 2, or `tolerance` is not > 0.
    pub fn bayes_error_quadrature(&self, tolerance: f64) -> Result<Quadrature, Error> {
        if self.columns() != 2 {
            let requirement = "2 for quadrature; bayes_error_estimate takes any number";
            return Err(Error::parameter("the number of features", self.columns(), requirement));
        }
        if tolerance.is_nan() || tolerance <= 0.0 {
            return Err(Error::parameter("the tolerance", tolerance, "positive"));
        }
        Ok(quadrature::bayes_error(self, tolerance))
    }

    /// Returns the Bayes error E min(P(Y = +1 | X), P(Y = -1 | X)) as an average over `n` draws of
    /// X, with its standard error.
    ///
    /// # Errors
    /// `n` is less than 2.
    pub fn bayes_error_estimate(&self, n: usize, seed: u64) -> Result<ErrorRate, Error> {
        if n < 2 {
            return Err(Error::parameter("the number of draws", n, "at least 2"));
        }
        let mut random = generator(seed, RandomStream::BayesError);
        let mut x = Vec::with_capacity(self.columns());
        // Running mean and sum of squared deviations (Welford).
        let (mut mean, mut squares) = (0.0, 0.0);
        for count in 1..=n {
            x.clear();
            self.draw(if random.random() { 1.0 } else { -1.0 }, &mut random, &mut x);
            let probability = self.probability(&x);
            let error = probability.min(1.0 - probability);
            let from_mean = error - mean;
            mean += from_mean / count as f64;
            squares += from_mean * (error - mean);
        }
        let n = n as f64;
        Ok(ErrorRate { rate: mean, standard_error: (squares / (n - 1.0) / n).sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Example;
    use super::*;
    use proptest::prelude::*;

    /// Returns the density by its definition.
    fn density(mixture: &GaussianMixture, sign: f64, x: &[f64]) -> f64 {
        let variance = mixture.deviation().powi(2);
        let centres = mixture.centres(sign);
        let normal = |centre: &Vec<f64>| {
            let squares: f64 = centre.iter().zip(x).map(|(c, x)| (x - c).powi(2)).sum();
            (-squares / (2.0 * variance)).exp()
                / (std::f64::consts::TAU * variance).powf(x.len() as f64 / 2.0)
        };
        centres.iter().map(normal).sum::<f64>() / centres.len() as f64
    }

    proptest! {
        #[test]
        fn the_posterior_is_that_of_the_densities(
            x in proptest::collection::vec(-2.0..2.0f64, 4), k in 1usize..5, seed: u64,
        ) {
            let mixture = GaussianMixture::new(k, 4, 0.7, seed).unwrap();
            let (positive, negative) = (density(&mixture, 1.0, &x), density(&mixture, -1.0, &x));
            let probability = mixture.probability(&x);
            prop_assert!((probability - positive / (positive + negative)).abs() < 1e-11);
            let ratio = mixture.log_density_ratio(&x);
            prop_assert!((ratio - (positive / negative).ln()).abs() < 1e-9 * (1.0 + ratio.abs()));
        }
    }

    #[test]
    fn the_posterior_is_defined_far_out() {
        let mixture = GaussianMixture::example(Example::Two, 3).unwrap();
        for x in [[1e300, 0.0], [-1e300, 1e300], [1e5, -1e5], [-0.0, 1e-310]] {
            let probability = mixture.probability(&x);
            assert!((0.0..=1.0).contains(&probability), "{probability}");
        }
    }

    #[test]
    fn the_posterior_is_precise_for_centres_close_by_and_far_from_the_origin() {
        // Centres 4 sigma apart, 1e9 sigma from the origin, beside two others far away.
        let sigma = 2f64.powi(-30);
        let positive = vec![vec![1.0, 1.0], vec![-5.0, 0.0]];
        let negative = vec![vec![1.0 + 4.0 * sigma, 1.0], vec![5.0, 0.0]];
        let mixture = GaussianMixture::with_centres(positive, negative, sigma).unwrap();
        for (at, ratio) in [(0.0, 8.0), (2.0, 0.0), (3.0, -4.0)] {
            let computed = mixture.log_density_ratio(&[1.0 + at * sigma, 1.0]);
            assert!((computed - ratio).abs() < 1e-12, "{computed}");
        }
    }

    #[test]
    fn log_odds_are_of_the_draws_of_the_bayes_error() {
        let mixture = GaussianMixture::example(Example::One, 3).unwrap();
        let odds = mixture.log_odds(500, 7);
        let error = |l: &f64| 1.0 / (1.0 + l.abs().exp());
        let mean = odds.iter().map(error).sum::<f64>() / 500.0;
        assert!((mean - mixture.bayes_error_estimate(500, 7).unwrap().rate).abs() < 1e-12);
    }

    #[test]
    fn the_third_example_as_printed_has_no_error() {
        let average = |example| {
            let draws = (0..40).map(|seed| GaussianMixture::example(example, seed).unwrap());
            let errors = draws.map(|mixture| mixture.bayes_error_estimate(500, 1).unwrap().rate);
            errors.sum::<f64>() / 40.0
        };
        assert!(average(Example::Three { p: 30 }) < 1e-6);
        assert!(average(Example::Three { p: 10 }) < 1e-3);
        let corrected = average(Example::ThreeCorrected);
        assert!((corrected - 0.1348).abs() < 0.015, "{corrected}");
    }
}

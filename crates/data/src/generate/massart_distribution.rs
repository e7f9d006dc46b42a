//! Distributions on finitely many points with Massart noise, and draws from them.

use rand::RngExt;

use super::{Adversary, MarginHalfspace, RandomStream, generator};
use crate::error::{check_entries, check_len, check_signs, check_weights};
use crate::{Dataset, Design, Error, Labels};

/// A distribution on finitely many points x_i with masses p_i, clean labels f_i and noise rates
/// eta_i: the label of x_i is `-f_i` with probability eta_i, else `f_i`. Every error is known
/// exactly.
///
/// Source: Diakonikolas and Zarifis (2024), definition 1.1.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
///
/// let halfspace = MarginHalfspace::new(20, 0.1, 1)?;
/// let points = halfspace.points(1000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::FarAway, 0.3)?;
/// assert!((noisy.opt() - 0.15).abs() < 1e-3); // half of the points
/// assert_eq!(noisy.linear_error(halfspace.normal())?, noisy.opt());
/// let draws = noisy.draw(500, 7);
/// assert_eq!(draws.rows.len(), 500);
/// # Ok::<(), margins_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MassartDistribution {
    design: Design,
    /// The masses of the points, of sum 1.
    masses: Vec<f64>,
    /// The partial sums of the masses, unless all are equal.
    cumulative: Option<Vec<f64>>,
    clean: Vec<f64>,
    rates: Vec<f64>,
}

/// Independent draws from a [`MassartDistribution`].
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// The number of the point.
    pub rows: Vec<usize>,
    /// The label, +1 or -1.
    pub signs: Vec<f64>,
}

impl Draws {
    /// Returns the distinct (row, sign) among the draws with their counts, in the order of the
    /// rows.
    pub fn tally(&self) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
        let last = self.rows.iter().max().map_or(0, |last| last + 1);
        let mut counts = vec![[0.0; 2]; last];
        for (&row, &sign) in self.rows.iter().zip(&self.signs) {
            counts[row][usize::from(sign > 0.0)] += 1.0;
        }
        let (mut rows, mut signs, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (row, counts) in counts.iter().enumerate() {
            for (sign, &count) in [-1.0, 1.0].iter().zip(counts) {
                if count > 0.0 {
                    rows.push(row);
                    signs.push(*sign);
                    weights.push(count);
                }
            }
        }
        (rows, signs, weights)
    }
}

impl MassartDistribution {
    /// Makes the distribution of points with masses (`None`: equal ones; else scaled to sum 1),
    /// clean labels and noise rates.
    ///
    /// # Errors
    /// Lengths that differ, a mass that is negative or not finite or all of them 0, a label other
    /// than +1 and -1, or a rate outside \[0, 1/2).
    pub fn new(
        design: Design,
        masses: Option<Vec<f64>>,
        clean: Vec<f64>,
        rates: Vec<f64>,
    ) -> Result<Self, Error> {
        let n = design.rows();
        check_len("clean labels, one per row", n, clean.len())?;
        check_len("noise rates, one per row", n, rates.len())?;
        check_signs(&clean)?;
        check_entries("noise rate", &rates, "at least 0 and below 1/2", |r| {
            (0.0..0.5).contains(&r)
        })?;
        let Some(mut masses) = masses else {
            let masses = vec![1.0 / n as f64; n];
            return Ok(MassartDistribution { design, masses, cumulative: None, clean, rates });
        };
        check_len("masses, one per row", n, masses.len())?;
        check_weights(&masses)?;
        let total: f64 = masses.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::parameter("the sum of masses", total, "positive and finite"));
        }
        let mut sum = 0.0;
        let mut cumulative = Vec::with_capacity(n);
        for mass in &mut masses {
            *mass /= total;
            sum += *mass;
            cumulative.push(sum);
        }
        Ok(MassartDistribution { design, masses, cumulative: Some(cumulative), clean, rates })
    }

    /// Makes the distribution of points of equal masses with the labels of a halfspace, and the
    /// noise of an adversary.
    ///
    /// # Errors
    /// The errors of [`Adversary::rates`].
    pub fn of_halfspace(
        halfspace: &MarginHalfspace,
        points: Design,
        adversary: &Adversary,
        bound: f64,
    ) -> Result<Self, Error> {
        check_len("features of the points", halfspace.normal().len(), points.columns())?;
        let mut scores = vec![0.0; points.rows()];
        points.multiply(halfspace.normal(), &mut scores);
        let clean: Vec<f64> = scores.into_iter().map(decide).collect();
        let rates = adversary.rates(&points, &clean, halfspace.normal(), bound)?;
        Self::new(points, None, clean, rates)
    }

    /// Draws a halfspace of R^d with a margin, and so many points with the noise of an adversary of
    /// this name: `random`, `far`, `near` or `greedy` of the [`Adversary`]s, or `trap`
    /// ([`MarginHalfspace::trap`]).
    ///
    /// ```
    /// use margins_data::generate::MassartDistribution;
    ///
    /// let (halfspace, noisy) = MassartDistribution::simulated(20, 0.1, 0.3, "trap", 1000, 1)?;
    /// assert_eq!(noisy.linear_error(halfspace.normal())?, noisy.opt());
    /// assert_eq!(noisy.sample(4000, 1)?.rows(), 4000);
    /// # Ok::<(), margins_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another name, d below 2, a margin or a bound out of range, or no points.
    pub fn simulated(
        d: usize,
        margin: f64,
        bound: f64,
        adversary: &str,
        points: usize,
        seed: u64,
    ) -> Result<(MarginHalfspace, Self), Error> {
        let halfspace = MarginHalfspace::new(d, margin, seed)?;
        let named = match adversary {
            "random" => Some(Adversary::Random),
            "far" => Some(Adversary::FarAway),
            "near" => Some(Adversary::NearBoundary),
            "greedy" => Some(Adversary::Greedy),
            "trap" => None,
            other => {
                let names = "random, far, near, greedy or trap";
                return Err(Error::parameter("the adversary", other, names));
            }
        };
        let (design, adversary) = match named {
            Some(adversary) => (halfspace.points(points, seed)?, adversary),
            None => halfspace.trap(points, bound, seed)?,
        };
        let noisy = Self::of_halfspace(&halfspace, design, &adversary, bound)?;
        Ok((halfspace, noisy))
    }

    /// Returns the points.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns the masses of the points, of sum 1.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Returns the clean labels.
    pub fn clean(&self) -> &[f64] {
        &self.clean
    }

    /// Returns the noise rates.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// Returns `opt = E eta(x)`, the error of the Bayes rule.
    pub fn opt(&self) -> f64 {
        self.masses.iter().zip(&self.rates).map(|(p, r)| p * r).sum()
    }

    /// Returns `P(sign(score) != y)` for the scores of the points, exactly; +1 is predicted where
    /// the score is > 0.
    ///
    /// # Errors
    /// Not one score per point.
    pub fn error(&self, scores: &[f64]) -> Result<f64, Error> {
        check_len("scores, one per row", self.design.rows(), scores.len())?;
        let wrong = |i: usize| {
            let rate = self.rates[i];
            self.masses[i] * if decide(scores[i]) == self.clean[i] { rate } else { 1.0 - rate }
        };
        Ok((0..scores.len()).map(wrong).sum())
    }

    /// Returns the error of `f(x) = <w, x>`.
    ///
    /// # Errors
    /// Not one coefficient per feature.
    pub fn linear_error(&self, w: &[f64]) -> Result<f64, Error> {
        check_len("coefficients, one per feature", self.design.columns(), w.len())?;
        let mut scores = vec![0.0; self.design.rows()];
        self.design.multiply(w, &mut scores);
        self.error(&scores)
    }

    /// Returns `n` independent draws.
    pub fn draw(&self, n: usize, seed: u64) -> Draws {
        let mut random = generator(seed, RandomStream::NoisyLabels);
        let last = self.design.rows() - 1;
        let (mut rows, mut signs) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for _ in 0..n {
            let row = match &self.cumulative {
                None => random.random_range(0..=last),
                Some(sums) => {
                    let level = random.random::<f64>() * sums[last];
                    sums.partition_point(|&sum| sum <= level).min(last)
                }
            };
            let flipped = random.random::<f64>() < self.rates[row];
            rows.push(row);
            signs.push(if flipped { -self.clean[row] } else { self.clean[row] });
        }
        Draws { rows, signs }
    }

    /// Returns `n` independent draws as a data set.
    ///
    /// # Errors
    /// All draws have one label, or they do not fit in memory.
    pub fn sample(&self, n: usize, seed: u64) -> Result<Dataset, Error> {
        Design::check_room(n, self.design.columns())?;
        let draws = self.draw(n, seed);
        Dataset::new(self.design.select(&draws.rows), Labels::from_signs(draws.signs)?)
    }

    /// Draws one label for every point, with the noise.
    pub fn flip(&self, seed: u64) -> Vec<f64> {
        let mut random = generator(seed, RandomStream::NoisyLabels);
        let pairs = self.clean.iter().zip(&self.rates);
        pairs.map(|(&y, &rate)| if random.random::<f64>() < rate { -y } else { y }).collect()
    }

    /// Returns the distribution as a weighted sample: every point once with each label that it can
    /// have, with the probability of the two as its weight.
    pub fn as_sample(&self) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
        let (mut rows, mut signs, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (&mass, &rate)) in self.masses.iter().zip(&self.rates).enumerate() {
            for (sign, weight) in [(self.clean[row], 1.0 - rate), (-self.clean[row], rate)] {
                if weight * mass > 0.0 {
                    rows.push(row);
                    signs.push(sign);
                    weights.push(weight * mass);
                }
            }
        }
        (rows, signs, weights)
    }
}

fn decide(score: f64) -> f64 {
    if score > 0.0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;
    use proptest::prelude::*;

    fn adversaries(d: usize) -> Vec<Adversary> {
        use Adversary::{FarAway, Greedy, NearBoundary, Random, Region};
        vec![
            Random,
            FarAway,
            NearBoundary,
            Region((0..d).map(|k| k as f64 - 0.3).collect()),
            Greedy,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn points_are_on_the_sphere_with_the_margin_and_rates_within_the_bound(
            d in 2usize..12, margin in 0.01..0.9f64, bound in 0.0..0.499f64, seed: u64,
        ) {
            let halfspace = MarginHalfspace::new(d, margin, seed).unwrap();
            prop_assert!((Sample::Dense(halfspace.normal()).norm() - 1.0).abs() < 1e-14);
            let points = halfspace.points(60, seed).unwrap();
            let (trap, _) = halfspace.trap(60, 0.3, seed).unwrap();
            for x in points.samples().chain(trap.samples()) {
                prop_assert!((x.norm() - 1.0).abs() < 1e-14);
                prop_assert!(x.dot(halfspace.normal()).abs() >= margin - 1e-15);
            }
            for adversary in adversaries(d) {
                let noisy =
                    MassartDistribution::of_halfspace(&halfspace, points.clone(), &adversary, bound);
                let noisy = noisy.unwrap();
                prop_assert!(noisy.rates().iter().all(|&rate| rate == 0.0 || rate == bound));
                prop_assert!(noisy.opt() <= bound * (1.0 + 1e-14));
                let opt = noisy.linear_error(halfspace.normal()).unwrap();
                prop_assert!((opt - noisy.opt()).abs() < 1e-14);
                let opposite: Vec<f64> = halfspace.normal().iter().map(|w| -w).collect();
                let worst = noisy.linear_error(&opposite).unwrap();
                prop_assert!((worst - (1.0 - opt)).abs() < 1e-14);
            }
        }
    }

    /// In R^3 the height of a uniform point on the sphere is uniform; in the plane its angle is.
    #[test]
    fn points_are_uniform() {
        let n = 4000;
        let heights = |d: usize, margin: f64| -> Vec<f64> {
            let halfspace = MarginHalfspace::new(d, margin, 5).unwrap();
            let points = halfspace.points(n, 6).unwrap();
            points.samples().map(|x| x.dot(halfspace.normal()).abs()).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (margin, deviation) = (0.2, |width: f64| width / (12.0 * n as f64).sqrt());
        let three = heights(3, margin);
        assert!((mean(&three) - 0.6).abs() < 4.0 * deviation(0.8), "{}", mean(&three));
        let angles: Vec<f64> = heights(2, margin).into_iter().map(f64::acos).collect();
        let widest = margin.acos();
        assert!(
            (mean(&angles) - widest / 2.0).abs() < 4.0 * deviation(widest),
            "{}",
            mean(&angles)
        );
    }

    /// Without noise the clean points are few, and the mean of the noisy ones leads away from u.
    #[test]
    fn a_trap_has_its_shares_and_its_means() {
        let (n, gamma, bound) = (4000, 0.1, 0.3);
        let halfspace = MarginHalfspace::new(6, gamma, 3).unwrap();
        let (points, adversary) = halfspace.trap(n, bound, 4).unwrap();
        let noisy =
            MassartDistribution::of_halfspace(&halfspace, points, &adversary, bound).unwrap();
        let leverage = {
            let b = (1.0 - gamma * gamma).sqrt();
            let beta = gamma * (1.0 + gamma) / b;
            (b * beta - gamma * gamma) / (gamma * gamma + beta * beta)
        };
        let ratio = 0.8 * bound / (1.0 - 2.0 * bound) * leverage;
        let share = noisy.opt() / bound;
        let expected = ratio / (1.0 + ratio);
        let deviation = (expected * (1.0 - expected) / n as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * deviation, "{share} {expected}");
        // What the noisy points have in common is short.
        let mut mean = vec![0.0; 6];
        let z: Vec<f64> = noisy
            .clean()
            .iter()
            .zip(noisy.rates())
            .map(|(y, r)| y * r / bound / n as f64)
            .collect();
        noisy.design().multiply_transposed(&z, &mut mean);
        assert!(Sample::Dense(&mean).norm() < 2.0 * gamma, "{mean:?}");
    }

    #[test]
    fn draws_have_the_masses_and_the_noise() {
        let design = Design::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]).unwrap();
        let (clean, rates) = (vec![1.0, -1.0, 1.0], vec![0.0, 0.4, 0.25]);
        let noisy =
            MassartDistribution::new(design, Some(vec![1.0, 2.0, 5.0]), clean, rates).unwrap();
        assert!((noisy.opt() - (0.8 + 1.25) / 8.0).abs() < 1e-15);
        let n = 20_000;
        let draws = noisy.draw(n, 3);
        let (rows, signs, counts) = draws.tally();
        assert_eq!(counts.iter().sum::<f64>(), n as f64);
        let (all_rows, all_signs, weights) = noisy.as_sample();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for ((row, sign), weight) in all_rows.iter().zip(&all_signs).zip(&weights) {
            let found = (0..rows.len()).find(|&k| rows[k] == *row && signs[k] == *sign);
            let share = found.map_or(0.0, |k| counts[k] / n as f64);
            let deviation = (weight * (1.0 - weight) / n as f64).sqrt();
            assert!((share - weight).abs() < 4.0 * deviation, "{row} {sign}: {share} {weight}");
        }
        assert_eq!(noisy.draw(n, 3), draws);
    }

    /// A simulation is the halfspace, the points and the adversary of its seed, drawn from.
    #[test]
    fn a_simulation_is_that_of_its_parts() {
        for name in ["random", "far", "near", "greedy", "trap"] {
            let (halfspace, noisy) =
                MassartDistribution::simulated(6, 0.1, 0.3, name, 300, 5).unwrap();
            assert!(noisy.rates().contains(&0.3), "{name}");
            let opt = noisy.linear_error(halfspace.normal()).unwrap();
            assert!((opt - noisy.opt()).abs() < 1e-14 && opt > 0.1 && opt < 0.3 + 1e-9, "{name}");
            let data = noisy.sample(5000, 2).unwrap();
            let draws = noisy.draw(5000, 2);
            assert_eq!(data.labels().signs(), draws.signs);
            let mut scores = vec![0.0; 5000];
            data.design().multiply(halfspace.normal(), &mut scores);
            let wrong = scores.iter().zip(&draws.signs).filter(|(s, y)| (**s > 0.0) != (**y > 0.0));
            assert!((wrong.count() as f64 / 5000.0 - opt).abs() < 0.03, "{name}");
        }
        let noisy = MassartDistribution::simulated(6, 0.1, 0.3, "near", 300, 5).unwrap().1;
        let halfspace = MarginHalfspace::new(6, 0.1, 5).unwrap();
        let points = halfspace.points(300, 5).unwrap();
        let parts =
            MassartDistribution::of_halfspace(&halfspace, points, &Adversary::NearBoundary, 0.3);
        assert_eq!(noisy, parts.unwrap());
    }

    #[test]
    fn the_greedy_adversary_misleads_the_average_more_than_random_noise() {
        let halfspace = MarginHalfspace::new(5, 0.05, 2).unwrap();
        let points = halfspace.points(500, 2).unwrap();
        let error_of_the_average = |adversary: &Adversary| {
            let noisy =
                MassartDistribution::of_halfspace(&halfspace, points.clone(), adversary, 0.4)
                    .unwrap();
            let mut mean = vec![0.0; 5];
            let pulls: Vec<f64> =
                noisy.rates().iter().zip(noisy.clean()).map(|(r, y)| (1.0 - 2.0 * r) * y).collect();
            points.multiply_transposed(&pulls, &mut mean);
            noisy.linear_error(&mean).unwrap() - noisy.opt()
        };
        assert_eq!(error_of_the_average(&Adversary::Random), 0.0);
        assert!(error_of_the_average(&Adversary::Greedy) > 0.01);
    }

    #[test]
    fn refusals() {
        let halfspace = MarginHalfspace::new(2, 0.1, 1).unwrap();
        let points = halfspace.points(2, 1).unwrap();
        let signs = || vec![1.0, -1.0];
        let distribution = |masses: Option<Vec<f64>>, clean: Vec<f64>, rates: Vec<f64>| {
            MassartDistribution::new(points.clone(), masses, clean, rates).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            [
                MarginHalfspace::new(1, 0.1, 1).unwrap_err().to_string(),
                MarginHalfspace::new(2, 1.0, 1).unwrap_err().to_string(),
                MarginHalfspace::new(2, f64::NAN, 1).unwrap_err().to_string(),
                halfspace.points(0, 1).unwrap_err().to_string(),
                halfspace.trap(2, 0.0, 1).unwrap_err().to_string(),
                MassartDistribution::simulated(2, 0.1, 0.3, "no", 2, 1).unwrap_err().to_string(),
                Adversary::Random
                    .rates(&points, &signs(), &[1.0, 0.0], 0.5)
                    .unwrap_err()
                    .to_string(),
                Adversary::Random.rates(&points, &[1.0], &[1.0, 0.0], 0.1).unwrap_err().to_string(),
                distribution(None, vec![1.0, 2.0], vec![0.0; 2]),
                distribution(None, signs(), vec![0.0, 0.6]),
                distribution(Some(vec![0.0; 2]), signs(), vec![0.0; 2]),
                distribution(Some(vec![-1.0, 1.0]), signs(), vec![0.0; 2]),
            ]
            .join("\n")
        );
    }
}

use nalgebra::DMatrix;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Stream, generator, normal};
use crate::error::{check_entries, check_len, check_signs, check_weights};
use crate::{Design, Error, Sample};

/// A halfspace `{x : <w*, x> > 0}` and the part of the unit sphere in R^d that is at least gamma away
/// from its boundary, `|<w*, x>| >= gamma`.
///
/// Source: Diakonikolas and Zarifis (2024), definition 1.2.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginHalfspace {
    normal: Vec<f64>,
    margin: f64,
}

impl MarginHalfspace {
    /// A halfspace of R^d whose unit normal `w*` is uniform on the sphere.
    ///
    /// # Errors
    /// d is less than 2, or gamma is not strictly between 0 and 1.
    pub fn new(d: usize, margin: f64, seed: u64) -> Result<Self, Error> {
        if d < 2 {
            return Err(Error::parameter("the number of features", d, "at least 2"));
        }
        if !(margin > 0.0 && margin < 1.0) {
            return Err(Error::parameter("the margin", margin, "strictly between 0 and 1"));
        }
        let mut random = generator(seed, Stream::Halfspace);
        Ok(MarginHalfspace { normal: unit_vector(d, &[], &mut random), margin })
    }

    /// The unit normal `w*`.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// gamma.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// `n` independent points, uniform on the part of the sphere with the margin.
    ///
    /// # Errors
    /// `n` is zero.
    pub fn points(&self, n: usize, seed: u64) -> Result<Design, Error> {
        let d = self.normal.len();
        let mut random = generator(seed, Stream::Points);
        let mut values = Vec::with_capacity(n * d);
        for _ in 0..n {
            let along = if random.random() { 1.0 } else { -1.0 } * self.height(&mut random);
            let across = (1.0 - along * along).max(0.0).sqrt();
            let direction = unit_vector(d, std::slice::from_ref(&self.normal), &mut random);
            values.extend(self.normal.iter().zip(direction).map(|(w, v)| along * w + across * v));
        }
        Design::from_samples(DMatrix::from_vec(d, n, values))
    }

    /// `n` independent points that lead convex surrogates astray when the noise is [`Adversary::Region`] with the
    /// direction that comes back, and `eta <= bound`.
    ///
    /// With a direction u orthogonal to w* and `y x` for a clean label y: a share of the points is
    /// `gamma w* + sqrt(1 - gamma^2) u`, clean; the others are `gamma w* - beta u + rest v`, noisy, where v is a random
    /// direction orthogonal to both, of which the mean is 0. The minimiser of the LeakyReLU loss with slope eta
    /// is near u because the pull of the noisy points, in the mean, is only that of `gamma w* - beta u`, times
    /// `1 - 2 eta`: it gets all of them wrong, an error of their share times `1 - eta`. That happens if the ratio of the noisy to the
    /// clean share is below `eta/(1 - 2 eta) (b beta - gamma^2)/(gamma^2 + beta^2)` with `b = sqrt(1 - gamma^2)`, which is largest
    /// for `beta = gamma (1 + gamma)/b`; here it is four fifths of that.
    ///
    /// In the plane there is no v: the noisy points are `gamma w* - b u`, and the minimiser has them on its
    /// boundary.
    ///
    /// # Errors
    /// `n` is zero, or the bound is not strictly between 0 and 1/2.
    pub fn trap(&self, n: usize, bound: f64, seed: u64) -> Result<(Design, Adversary), Error> {
        if !(bound > 0.0 && bound < 0.5) {
            return Err(Error::parameter("the noise bound", bound, "strictly between 0 and 1/2"));
        }
        let (d, gamma) = (self.normal.len(), self.margin);
        let b = (1.0 - gamma * gamma).sqrt();
        let beta = if d == 2 { b } else { (gamma * (1.0 + gamma) / b).min(b) };
        let leverage = (b * beta - gamma * gamma) / (gamma * gamma + beta * beta);
        let ratio = 0.8 * bound / (1.0 - 2.0 * bound) * leverage;
        let mut random = generator(seed, Stream::Points);
        let u = unit_vector(d, std::slice::from_ref(&self.normal), &mut random);
        let frame = [self.normal.clone(), u.clone()];
        let rest = (b * b - beta * beta).max(0.0).sqrt();
        let mut values = Vec::with_capacity(n * d);
        for _ in 0..n {
            let sign = if random.random() { 1.0 } else { -1.0 };
            let noisy = random.random::<f64>() * (1.0 + ratio) < ratio;
            let along = if noisy { -beta } else { b };
            let start = values.len();
            values.extend(self.normal.iter().zip(&u).map(|(w, u)| sign * (gamma * w + along * u)));
            if noisy && d > 2 {
                let v = unit_vector(d, &frame, &mut random);
                values[start..].iter_mut().zip(v).for_each(|(x, v)| *x += sign * rest * v);
            }
        }
        let points = Design::from_samples(DMatrix::from_vec(d, n, values))?;
        Ok((points, Adversary::Region(u.into_iter().map(|u| -u).collect())))
    }

    /// `|<w*, x>|`, of density proportional to `(1 - t^2)^((d-3)/2)` on [gamma, 1]: its square is drawn
    /// from `(1 - s)^((d-3)/2)` and accepted with probability `gamma/t`, which leaves the factor `ds/dt`
    /// over `2t`.
    fn height(&self, random: &mut ChaCha8Rng) -> f64 {
        let exponent = 2.0 / (self.normal.len() as f64 - 1.0);
        loop {
            let share: f64 = random.random::<f64>().powf(exponent);
            let t = (1.0 - (1.0 - self.margin * self.margin) * share).sqrt().max(self.margin);
            if random.random::<f64>() * t < self.margin {
                return t;
            }
        }
    }
}

/// A uniform unit vector orthogonal to fewer than d orthonormal ones.
fn unit_vector(d: usize, orthogonal_to: &[Vec<f64>], random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut vector: Vec<f64> = (0..d).map(|_| normal(random)).collect();
    // The second round removes what rounding leaves where most of a vector was along the others.
    for _ in 0..2 {
        for other in orthogonal_to {
            let along: f64 = vector.iter().zip(other).map(|(v, w)| v * w).sum();
            vector.iter_mut().zip(other).for_each(|(v, w)| *v -= along * w);
        }
        let norm = Sample::Dense(&vector).norm();
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    vector
}

/// Who chooses the noise rates `eta(x) <= eta`.
#[derive(Debug, Clone, PartialEq)]
pub enum Adversary {
    /// Random classification noise: `eta(x) = eta` everywhere.
    Random,
    /// None at the half of the points that are nearest to the boundary, eta at the other half.
    FarAway,
    /// eta at the half of the points that are nearest to the boundary, none at the other half.
    NearBoundary,
    /// eta where `y <u, x> > 0` for a vector u, none elsewhere: the clean points pull a convex surrogate
    /// towards -u, the noisy ones hold it less.
    Region(Vec<f64>),
    /// Data-driven and greedy, against the average `mean (1 - 2 eta(x)) y x`. In every round noise goes to
    /// the points whose pull helps the quarter of the points that the average serves worst; of all
    /// rounds, the rates with the largest error of the average are kept.
    Greedy,
}

impl Adversary {
    /// The rates at points with clean labels, +1 or -1, that the halfspace with the normal given has or nearly
    /// has; at most `bound`.
    ///
    /// # Errors
    /// Lengths that differ, a sign other than +1 and -1, or a bound outside \[0, 1/2).
    pub fn rates(
        &self,
        design: &Design,
        clean: &[f64],
        normal: &[f64],
        bound: f64,
    ) -> Result<Vec<f64>, Error> {
        check_len("clean labels, one a row", design.rows(), clean.len())?;
        check_len("entries of a normal", design.columns(), normal.len())?;
        check_signs(clean)?;
        if !(0.0..0.5).contains(&bound) {
            return Err(Error::parameter("the noise bound", bound, "at least 0 and below 1/2"));
        }
        let scores = |w: &[f64]| {
            let mut scores = vec![0.0; design.rows()];
            design.multiply(w, &mut scores);
            scores
        };
        let noisy_where = |at: Vec<bool>| -> Vec<f64> {
            at.into_iter().map(|noisy| if noisy { bound } else { 0.0 }).collect()
        };
        Ok(match self {
            Adversary::Random => vec![bound; design.rows()],
            Adversary::FarAway | Adversary::NearBoundary => {
                let heights: Vec<f64> = scores(normal).into_iter().map(f64::abs).collect();
                let middle = quantile(heights.clone(), 0.5);
                let far = matches!(self, Adversary::FarAway);
                noisy_where(heights.into_iter().map(|t| (t >= middle) == far).collect())
            }
            Adversary::Region(direction) => {
                check_len("entries of a direction", design.columns(), direction.len())?;
                let pairs = scores(direction).into_iter().zip(clean);
                noisy_where(pairs.map(|(f, y)| y * f > 0.0).collect())
            }
            Adversary::Greedy => {
                const ROUNDS: usize = 20;
                let weighted_mean = |weights: &dyn Fn(usize) -> f64| {
                    let z: Vec<f64> = (0..clean.len()).map(|i| weights(i) * clean[i]).collect();
                    let mut mean = vec![0.0; design.columns()];
                    design.multiply_transposed(&z, &mut mean);
                    mean
                };
                let margins = |w: &[f64]| -> Vec<f64> {
                    scores(w).iter().zip(clean).map(|(f, y)| f * y).collect()
                };
                let (mut rates, mut worst) = (vec![0.0; clean.len()], (f64::NEG_INFINITY, vec![]));
                for _ in 0..ROUNDS {
                    let served = margins(&weighted_mean(&|i| 1.0 - 2.0 * rates[i]));
                    let errors =
                        served.iter().zip(&rates).map(|(&u, r)| if u > 0.0 { *r } else { 1.0 - r });
                    let error: f64 = errors.sum();
                    if error > worst.0 {
                        worst = (error, rates);
                    }
                    let level = quantile(served.clone(), 0.25);
                    let target = weighted_mean(&|i| f64::from(u8::from(served[i] <= level)));
                    rates = noisy_where(margins(&target).into_iter().map(|u| u > 0.0).collect());
                }
                worst.1
            }
        })
    }
}

/// The value that a share `level` of the values is below.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    let at = ((values.len() - 1) as f64 * level) as usize;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Finitely many points x_i with masses p_i, clean labels f_i and noise rates eta_i: the label of x_i is
/// `-f_i` with probability eta_i, else `f_i`. Every error is known exactly.
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
    /// Of sum 1.
    masses: Vec<f64>,
    /// Partial sums of the masses, unless all are equal.
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
    /// The distinct (row, sign) among the draws with their counts, in the order of the rows.
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
    /// Points with masses (`None`: equal ones; else scaled to sum 1), clean labels and noise rates.
    ///
    /// # Errors
    /// Lengths that differ, a mass that is negative or not finite or all of them 0, a label other than +1
    /// and -1, or a rate outside \[0, 1/2).
    pub fn new(
        design: Design,
        masses: Option<Vec<f64>>,
        clean: Vec<f64>,
        rates: Vec<f64>,
    ) -> Result<Self, Error> {
        let n = design.rows();
        check_len("clean labels, one a row", n, clean.len())?;
        check_len("noise rates, one a row", n, rates.len())?;
        check_signs(&clean)?;
        check_entries("noise rate", &rates, "at least 0 and below 1/2", |r| {
            (0.0..0.5).contains(&r)
        })?;
        let Some(mut masses) = masses else {
            let masses = vec![1.0 / n as f64; n];
            return Ok(MassartDistribution { design, masses, cumulative: None, clean, rates });
        };
        check_len("masses, one a row", n, masses.len())?;
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

    /// Points of equal masses with the labels of a halfspace, and the noise of an adversary.
    ///
    /// # Errors
    /// Those of [`Adversary::rates`].
    pub fn of_halfspace(
        halfspace: &MarginHalfspace,
        points: Design,
        adversary: &Adversary,
        bound: f64,
    ) -> Result<Self, Error> {
        check_len("features of the points", halfspace.normal.len(), points.columns())?;
        let mut scores = vec![0.0; points.rows()];
        points.multiply(&halfspace.normal, &mut scores);
        let clean: Vec<f64> = scores.into_iter().map(decide).collect();
        let rates = adversary.rates(&points, &clean, &halfspace.normal, bound)?;
        Self::new(points, None, clean, rates)
    }

    /// The points.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Their masses, of sum 1.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The clean labels.
    pub fn clean(&self) -> &[f64] {
        &self.clean
    }

    /// The noise rates.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// `opt = E eta(x)`, the least error that there is.
    pub fn opt(&self) -> f64 {
        self.masses.iter().zip(&self.rates).map(|(p, r)| p * r).sum()
    }

    /// `P(sign(score) != y)` for the scores of the points, exactly; +1 is predicted where the score is > 0.
    ///
    /// # Errors
    /// Not one score a point.
    pub fn error(&self, scores: &[f64]) -> Result<f64, Error> {
        check_len("scores, one a row", self.design.rows(), scores.len())?;
        let wrong = |i: usize| {
            let rate = self.rates[i];
            self.masses[i] * if decide(scores[i]) == self.clean[i] { rate } else { 1.0 - rate }
        };
        Ok((0..scores.len()).map(wrong).sum())
    }

    /// The error of `f(x) = <w, x>`.
    ///
    /// # Errors
    /// Not one coefficient a feature.
    pub fn linear_error(&self, w: &[f64]) -> Result<f64, Error> {
        check_len("coefficients, one a feature", self.design.columns(), w.len())?;
        let mut scores = vec![0.0; self.design.rows()];
        self.design.multiply(w, &mut scores);
        self.error(&scores)
    }

    /// `n` independent draws.
    pub fn draw(&self, n: usize, seed: u64) -> Draws {
        let mut random = generator(seed, Stream::NoisyLabels);
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

    /// One label for every point, with the noise.
    pub fn flip(&self, seed: u64) -> Vec<f64> {
        let mut random = generator(seed, Stream::NoisyLabels);
        let pairs = self.clean.iter().zip(&self.rates);
        pairs.map(|(&y, &rate)| if random.random::<f64>() < rate { -y } else { y }).collect()
    }

    /// The distribution as a weighted sample: every point once with each label that it can have, with the
    /// probability of the two as its weight.
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

//! Calculators of the theorems and lemmas of the paper, which need no data: numbers of samples and
//! steps, and probabilities of failure. Theorem 1 is [`Horizon`](crate::Horizon).
//!
//! Source: Shalev-Shwartz and Wexler (2016), sections 3 and 4, with constants where the paper has
//! orders; `docs/boost.md` has the proofs.

use margins_data::metrics::binomial::{at_least, fewer_than};
use margins_losses::OutOfRange;

use crate::{Error, subsample};

/// The probability that a new sample of `size` of the `rows` samples, drawn with repetition, has an
/// outlier, or fewer than half of the rare samples expected (theorem 3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampleFailure {
    /// The probability itself, `1 - (1 - k/m)^n P(Bin(n, m_2/(m - k)) >= n m_2/(2m))`.
    pub exact: f64,
    /// The bound `k n/m + exp(-n m_2/(8m))`, at most 1, which [`Subsample`](crate::Subsample) has.
    pub bound: f64,
    /// The bound that the paper prints, `0.01 + 0.99 k n/m + exp(-0.1 n m_2/m)`, at most 1. It says so
    /// of half of the `m_2` rare samples, for which it is false.
    pub published: f64,
}

/// Returns theorem 3 for any size n of the new sample, from `m = rows` samples of which
/// `k = outliers` are outliers and `m_2 = rare` others are rare.
///
/// ```
/// use margins_boost::bounds::subsample_failure;
///
/// // The example after theorem 3: n = m/(100 k) and m_2 = 1000 ln(100) k.
/// let failure = subsample_failure(1_000_000, 10, 46_052, 1000)?;
/// assert!(failure.exact < failure.bound && failure.bound < failure.published);
/// assert!((failure.exact - 0.01005).abs() < 1e-5 && failure.published < 0.03);
/// # Ok::<(), margins_boost::Error>(())
/// ```
///
/// # Errors
/// No rare samples, more outliers and rare samples than samples, or a size of 0.
pub fn subsample_failure(
    rows: usize,
    outliers: usize,
    rare: usize,
    size: usize,
) -> Result<SubsampleFailure, Error> {
    let [m, k, m_2, n] = [rows as f64, outliers as f64, rare as f64, size as f64];
    OutOfRange::check("the number of rare samples", m_2, "at least 1", |m_2| m_2 >= 1.0)?;
    let requirement = "at least that of outliers and rare samples together";
    OutOfRange::check("the number of samples", m, requirement, |m| k + m_2 <= m)?;
    OutOfRange::check("the size of the new sample", n, "at least 1", |n| n >= 1.0)?;
    // The smallest whole number of at least n m_2/(2m), without rounding.
    let expected = (size as u128 * rare as u128).div_ceil(2 * rows as u128) as u64;
    let log_none = n * (-k / m).ln_1p();
    let too_few = fewer_than(expected, size as u64, m_2 / (m - k));
    Ok(SubsampleFailure {
        // An outlier, or none and too few rare samples: a difference from 1 would cancel.
        exact: (log_none.exp() * too_few - log_none.exp_m1()).min(1.0),
        bound: subsample::bound(m, k, m_2, n),
        published: (0.01 + 0.99 * k * n / m + (-0.1 * n * m_2 / m).exp()).min(1.0),
    })
}

fn check_share(parameter: &'static str, value: f64) -> Result<f64, Error> {
    let share = |value: f64| 0.0 < value && value < 1.0;
    Ok(OutOfRange::check(parameter, value, "between 0 and 1", share)?)
}

/// The probabilities of theorem 2, each error and failure in (0, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypicalAndRare {
    /// The VC dimension d of the class of classifiers.
    pub dimension: usize,
    /// The VC dimension `d_1` of those of them with an error of at most epsilon on typical samples.
    pub reduced_dimension: usize,
    /// The error that both distributions may have.
    pub epsilon: f64,
    /// The gap: whichever classifier of the reduced class has an error of at most c, at least epsilon,
    /// on rare samples has one of at most epsilon.
    pub gap: f64,
    /// The share `lambda_2` of rare samples, at most 1/2.
    pub rare: f64,
    /// The probability of failure.
    pub delta: f64,
}

impl TypicalAndRare {
    /// Returns a number m of samples with which, with probability `1 - delta`, every classifier that
    /// is right on all of them has an error of at most epsilon on typical and on rare samples:
    ///
    /// `max(2 N(d, epsilon)/lambda_1, 2 N(d_1, c)/lambda_2, (8/lambda_2) ln(6/delta))`, with
    /// `N(d, e) = max((4/e) log2(6/delta), (8 d/e) log2(13/e))`.
    ///
    /// The last term gives half of the samples expected of both kinds (Chernoff), and N is the number
    /// of Blumer, Ehrenfeucht, Haussler and Warmuth (1989) at `delta/3`.
    ///
    /// Source: theorem 2, whose constants the paper leaves open.
    ///
    /// # Errors
    /// A dimension of 0, a probability not in (0, 1), a gap below epsilon, a share of rare samples of
    /// more than 1/2, or a number of more than 2^53.
    pub fn samples(&self) -> Result<u64, Error> {
        let shell = self.checked()?;
        let (d, d_1) = (self.dimension as f64, self.reduced_dimension as f64);
        let typical = 2.0 * self.consistent(d, self.epsilon) / (1.0 - self.rare);
        let rare = 2.0 * self.consistent(d_1, shell) / self.rare;
        let kinds = 8.0 / self.rare * (6.0 / self.delta).ln();
        whole(typical.max(rare).max(kinds))
    }

    /// Returns the number that is enough without a reduced class and a gap, the naive one of section
    /// 3.2: with d for `d_1` and epsilon for c.
    ///
    /// # Errors
    /// The errors of [`samples`](Self::samples).
    pub fn naive_samples(&self) -> Result<u64, Error> {
        let (reduced_dimension, gap) = (self.dimension, self.epsilon);
        TypicalAndRare { reduced_dimension, gap, ..*self }.samples()
    }

    fn checked(&self) -> Result<f64, Error> {
        check_share("epsilon", self.epsilon)?;
        check_share("delta", self.delta)?;
        let positive = |d: f64| d >= 1.0;
        OutOfRange::check("the dimension", self.dimension as f64, "at least 1", positive)?;
        let reduced = self.reduced_dimension as f64;
        OutOfRange::check("the dimension of the reduced class", reduced, "at least 1", positive)?;
        let half = |share: f64| 0.0 < share && share <= 0.5;
        OutOfRange::check("the share of rare samples", self.rare, "in (0, 1/2]", half)?;
        let shell = |c: f64| self.epsilon <= c && c < 1.0;
        Ok(OutOfRange::check("the gap", self.gap, "at least epsilon and below 1", shell)?)
    }

    /// Returns the number of samples for an error of at most e, at `delta/3`.
    fn consistent(&self, d: f64, e: f64) -> f64 {
        (4.0 / e * (6.0 / self.delta).log2()).max(8.0 * d / e * (13.0 / e).log2())
    }
}

/// Returns a number as a whole one, rounded up.
fn whole(number: f64) -> Result<u64, Error> {
    let countable = |count: f64| count <= (1u64 << f64::MANTISSA_DIGITS) as f64;
    let number =
        OutOfRange::check("the number of samples", number.ceil(), "at most 2^53", countable)?;
    Ok(number as u64)
}

/// Returns the bound of section 3 on the risk of every classifier of a class of VC dimension d at
/// once, with probability `1 - delta` over m samples, from its mean 0-1 loss L on them:
///
/// `L + 2 sqrt(a L) + 4 a`, `a = (d ln(2 e m/d) + ln(4/delta))/m`, at most 1.
///
/// A classifier that is right on all samples has `4 a`, and so up to a factor has every one with L of
/// the order a. Source: Boucheron, Bousquet and Lugosi (2005), section 5.1.2.
///
/// # Errors
/// No samples, a dimension not from 1 to m, a mean loss not in [0, 1], or `delta` not in (0, 1).
pub fn risk_bound(
    samples: usize,
    dimension: usize,
    mean_loss: f64,
    delta: f64,
) -> Result<f64, Error> {
    check_share("delta", delta)?;
    let (m, d) = (samples as f64, dimension as f64);
    OutOfRange::check("the dimension", d, "from 1 to the number of samples", |d| {
        1.0 <= d && d <= m
    })?;
    OutOfRange::check("the mean loss", mean_loss, "from 0 to 1", |l| (0.0..=1.0).contains(&l))?;
    let a = (d * (2.0 * std::f64::consts::E * m / d).ln() + (4.0 / delta).ln()) / m;
    Ok((mean_loss + 2.0 * (a * mean_loss).sqrt() + 4.0 * a).min(1.0))
}

/// The distribution of section 3.1 on two features: `z_1 = (alpha, 1)`, and with probability epsilon
/// `z_2 = (alpha, -2 alpha)`, both times a label that is +1 or -1 with the same probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapDistribution {
    alpha: f64,
    epsilon: f64,
}

impl GapDistribution {
    /// Returns the distribution.
    ///
    /// # Errors
    /// `alpha` not in (0, 1), or `epsilon` not in (0, 1/2], beyond which lemma 1 is false.
    pub fn new(alpha: f64, epsilon: f64) -> Result<Self, Error> {
        check_share("alpha", alpha)?;
        let half = |epsilon: f64| 0.0 < epsilon && epsilon <= 0.5;
        OutOfRange::check("epsilon", epsilon, "in (0, 1/2]", half)?;
        Ok(GapDistribution { alpha, epsilon })
    }

    /// Returns a number of samples, `2 ln(4/delta)/epsilon`, among which all four points are with
    /// probability `1 - delta`, so that a classifier that is right on them is right everywhere (lemma
    /// 1).
    ///
    /// # Errors
    /// `delta` not in (0, 1), or more than 2^53 samples.
    pub fn samples(&self, delta: f64) -> Result<u64, Error> {
        whole(2.0 * (4.0 / check_share("delta", delta)?).ln() / self.epsilon)
    }

    /// Returns the probability that one of the four points is not among m samples, by inclusion and
    /// exclusion. The proof of lemma 1 bounds it by `4 (1 - epsilon/2)^m`.
    pub fn unseen(&self, samples: u64) -> f64 {
        let (rare, typical) = (0.5 * self.epsilon, 0.5 - 0.5 * self.epsilon);
        let without = |rares: f64, typicals: f64| {
            let left = 1.0 - rares * rare - typicals * typical;
            left.max(0.0).powf(samples as f64)
        };
        let single = 2.0 * (without(1.0, 0.0) + without(0.0, 1.0));
        let pairs = without(2.0, 0.0) + without(0.0, 2.0) + 4.0 * without(1.0, 1.0);
        let triples = 2.0 * (without(2.0, 1.0) + without(1.0, 2.0));
        (single - pairs + triples - without(2.0, 2.0)).clamp(0.0, 1.0)
    }

    /// Returns a bound on the probability that stochastic gradient with the hinge loss and a constant
    /// step, from coefficients 0, is right on `z_2` after so many rounds of uniform draws:
    /// `epsilon + P(Bin(T, epsilon) > (2 - alpha)/(5 alpha))`, at most 1 (lemma 2).
    ///
    /// The first sample is `z_1` with probability `1 - epsilon`, and by (7) `z_2` is then right only
    /// after more than `(2 - alpha)/(5 alpha)` steps on it. So the method needs of the order
    /// `1/(alpha epsilon)` rounds.
    pub fn gradient_is_right(&self, rounds: u64) -> f64 {
        let needed = (2.0 - self.alpha) / (5.0 * self.alpha);
        let more = (needed.floor() as u64).saturating_add(1);
        (self.epsilon + at_least(more, rounds, self.epsilon)).min(1.0)
    }

    /// Returns the most mistakes that the perceptron without an intercept makes on any sequence of
    /// these samples, `2/(5 alpha) + 2` (lemma 3). It is the B of theorem 1 for focused learning.
    ///
    /// # Errors
    /// An alpha of 1/8 or more, for which the bound is not proved.
    pub fn mistakes(&self) -> Result<f64, Error> {
        let small = |alpha: f64| alpha < 0.125;
        let alpha = OutOfRange::check("alpha", self.alpha, "below 1/8", small)?;
        Ok(0.4 / alpha + 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The derivation of N in docs/boost.md: `2 (2 e m/d)^d 2^(-e m/2) <= delta/3` from N on, with
        /// `m >= 8/e`, and `16 e x log2(13/x) <= 169` on (0, 1], which is where 13 comes from.
        #[test]
        fn so_many_consistent_samples_are_enough(
            dimension in 1usize..1000, error in 1e-6f64..1.0, delta in 1e-12f64..0.99, more in 1.0f64..10.0,
        ) {
            let plan = TypicalAndRare {
                dimension,
                reduced_dimension: dimension,
                epsilon: error,
                gap: error,
                rare: 0.5,
                delta,
            };
            let (d, m) = (dimension as f64, more * plan.consistent(dimension as f64, error));
            let log2_failure = 1.0 + d * (2.0 * std::f64::consts::E * m / d).log2() - 0.5 * error * m;
            prop_assert!(log2_failure <= (delta / 3.0).log2() + 1e-9, "{}", log2_failure);
            prop_assert!(m * error >= 8.0 && 2.0 * m >= d);
            prop_assert!(16.0 * std::f64::consts::E * error * (13.0 / error).log2() <= 169.0);
        }
    }
}

//! The number of rounds of a game and of the classifiers in its ensemble, with the bound on the
//! mean loss that sets them.

use margins_losses::{MarginLoss, OutOfRange};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{Combination, Error};

/// The horizon of a game: the number T of its rounds, and the number k of its classifiers that make
/// the ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Horizon {
    rounds: u64,
    outputs: usize,
}

/// A bound below 1/2: where the mean 0-1 loss is at most this, a majority is right.
const CLASSIFICATION_EPSILON: f64 = 0.49;

impl Horizon {
    /// Returns the horizon of T rounds and k outputs.
    ///
    /// # Errors
    /// No rounds; no outputs; more outputs than fit in 4 GiB of memory, 8 bytes an output.
    pub fn new(rounds: u64, outputs: usize) -> Result<Self, Error> {
        let positive = |value: f64| value >= 1.0;
        OutOfRange::check("the number of rounds", rounds as f64, "at least 1", positive)?;
        OutOfRange::check("the number of outputs", outputs as f64, "at least 1", positive)?;
        Error::check_memory(outputs as f64, "use fewer outputs", || {
            format!("the list of {outputs} outputs")
        })?;
        Ok(Horizon { rounds, outputs })
    }

    /// Returns the T and k with which, on m samples and with probability `1 - delta`, the mean loss
    /// of the k classifiers is at most `epsilon` on *every* sample:
    ///
    /// `T = (8/epsilon) ((e - 1) B + m (ln m + ln(2m/delta)))`,
    /// `k = ln(2m/delta) / ((ln 2 - 1/2) epsilon)`,
    ///
    /// both rounded up. `B = total_loss` bounds the sum of the losses that the learner suffers over
    /// any sequence of these samples, `T R_w(T)` in the paper: for the perceptron and the 0-1 loss
    /// `(R/gamma)^2`.
    ///
    /// Source: theorem 1 of Shalev-Shwartz and Wexler (2016), which leaves the constants open and
    /// whose proof gives `1/epsilon^2`; the proof of these is in `docs/boost.md`.
    ///
    /// # Errors
    /// `m = 0`, `epsilon` or `delta` not in (0, 1), a negative, infinite or NaN bound, or more than
    /// 2^53 rounds.
    pub fn theorem_1(m: usize, epsilon: f64, delta: f64, total_loss: f64) -> Result<Self, Error> {
        let m = check_game(m, epsilon, total_loss)?;
        OutOfRange::check("delta", delta, "between 0 and 1", |delta| 0.0 < delta && delta < 1.0)?;
        let union = (2.0 * m / delta).ln();
        let learner = (std::f64::consts::E - 1.0) * total_loss;
        let rounds = (8.0 / epsilon * (learner + m * (m.ln() + union))).ceil();
        let outputs = (union / ((std::f64::consts::LN_2 - 0.5) * epsilon)).ceil();
        let countable = |count: f64| count <= (1u64 << f64::MANTISSA_DIGITS) as f64;
        OutOfRange::check("the number of rounds", rounds, "at most 2^53", countable)?;
        Self::new(rounds as u64, outputs as usize)
    }

    /// Returns the T and k of theorem 1 for a learner whose losses sum to at most `B + r sqrt T`, with B
    /// the `total_loss` and r the `regret`: theorem 1 asks for `T >= a sqrt T + b` with
    /// `a = 8 (e - 1) r/epsilon` and `b = (8/epsilon) ((e - 1) B + m (ln m + ln(2m/delta)))`, that is, for
    /// `sqrt T >= (a + sqrt(a^2 + 4 b))/2`.
    ///
    /// The learner of a [`RegressionGame`](crate::RegressionGame) has `B = 0` and `r = X W`, if some
    /// clipped function of norm W has no loss. Losses less Euclidean slack have `r = 3/(2 sqrt 2) sqrt K`
    /// ([`Slack::regret`](crate::Slack::regret)).
    ///
    /// # Errors
    /// The errors of [`theorem_1`](Self::theorem_1).
    pub fn with_regret(
        m: usize,
        epsilon: f64,
        delta: f64,
        total_loss: f64,
        regret: f64,
    ) -> Result<Self, Error> {
        OutOfRange::check("the regret", regret, "at least 0", |regret| regret >= 0.0)?;
        // The theorem checks the other numbers.
        Self::theorem_1(m, epsilon, delta, total_loss)?;
        let rows = m as f64;
        let learner = (std::f64::consts::E - 1.0) * total_loss;
        let b = 8.0 / epsilon * (learner + rows * (rows.ln() + (2.0 * rows / delta).ln()));
        let a = 8.0 / epsilon * (std::f64::consts::E - 1.0) * regret;
        let root = (a + (a * a + 4.0 * b).sqrt()) / 2.0;
        Self::theorem_1(m, epsilon, delta, total_loss + regret * root)
    }

    /// Returns the horizon of [`theorem_1`](Self::theorem_1) for the 0-1 loss: epsilon = 0.49, with
    /// which the majority of the k classifiers is right on every sample (corollary 1).
    ///
    /// # Errors
    /// The errors of [`theorem_1`](Self::theorem_1).
    pub fn classification(m: usize, delta: f64, mistakes: f64) -> Result<Self, Error> {
        Self::theorem_1(m, CLASSIFICATION_EPSILON, delta, mistakes)
    }

    /// Returns the largest mean loss of the classifiers, at most `epsilon` and 0.49, with which the
    /// loss of their combination is at most `epsilon`; `None` if that of a unanimous vote is larger.
    ///
    /// A majority of which a share w is wrong has the margin `1 - 2w`: the share is the largest one
    /// with `L(1 - 2w) <= epsilon`, and it is at most the mean loss if `L(u) >= 1` wherever
    /// `u <= 0`, as of the 0-1 loss and the hinge loss. An average has at most the mean loss if L is
    /// convex where the scores are (corollary 2).
    ///
    /// ```
    /// use margins_boost::{Combination, Horizon};
    /// use margins_losses::{Hinge, ZeroOne};
    ///
    /// let share = |loss, epsilon| Horizon::mean_loss_for(Combination::Majority, loss, epsilon);
    /// assert_eq!((share(&ZeroOne, 0.9), share(&ZeroOne, 0.2)), (Some(0.49), Some(0.2)));
    /// assert!((share(&Hinge, 0.2).unwrap() - 0.1).abs() < 1e-12);
    /// ```
    pub fn mean_loss_for(
        combination: Combination,
        loss: &dyn MarginLoss,
        epsilon: f64,
    ) -> Option<f64> {
        let most = epsilon.min(CLASSIFICATION_EPSILON);
        let reaches = |wrong: f64| loss.value(1.0 - 2.0 * wrong) <= epsilon;
        match combination {
            Combination::Average => Some(most),
            Combination::Majority if !reaches(0.0) => None,
            Combination::Majority if reaches(most) => Some(most),
            Combination::Majority => {
                let halved = |(low, high): (f64, f64)| {
                    let middle = 0.5 * low + 0.5 * high;
                    if reaches(middle) { (middle, high) } else { (low, middle) }
                };
                let (share, _) = (0..60).fold((0.0, most), |ends, _| halved(ends));
                (share > 0.0).then_some(share)
            }
        }
    }

    /// Returns a bound on the probability that theorem 1 fails with this T and k: that the mean loss
    /// of the k classifiers exceeds `epsilon` on one of m samples, if the learner suffers at most
    /// `B = total_loss` in sum:
    ///
    /// `m exp(ln m + ((e - 1) B - epsilon T/8)/m) + m exp(-(ln 2 - 1/2) epsilon k)`, at most 1.
    ///
    /// [`theorem_1`](Self::theorem_1) makes each of the two terms `delta/2`.
    ///
    /// # Errors
    /// `m = 0`, `epsilon` not in (0, 1), or a negative, infinite or NaN bound.
    pub fn failure(&self, m: usize, epsilon: f64, total_loss: f64) -> Result<f64, Error> {
        let m = check_game(m, epsilon, total_loss)?;
        let learner = (std::f64::consts::E - 1.0) * total_loss;
        let rounds = m.ln() + (learner - epsilon * self.rounds as f64 / 8.0) / m;
        let outputs = -(std::f64::consts::LN_2 - 0.5) * epsilon * self.outputs as f64;
        Ok((m * rounds.exp() + m * outputs.exp()).min(1.0))
    }

    /// Returns the number of rounds T.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Returns the number of outputs k.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Draws the rounds before which the classifiers are taken: k of 0 to T - 1, each independent
    /// of the others, ascending.
    pub(crate) fn draw_outputs(&self, random: &mut ChaCha8Rng) -> Vec<u64> {
        let mut rounds: Vec<u64> =
            (0..self.outputs).map(|_| random.random_range(0..self.rounds)).collect();
        rounds.sort_unstable();
        rounds
    }
}

/// Returns the number of samples if theorem 1 takes the numbers.
fn check_game(m: usize, epsilon: f64, total_loss: f64) -> Result<f64, OutOfRange> {
    let m = OutOfRange::check("the number of samples", m as f64, "at least 1", |m| m >= 1.0)?;
    let share = |value: f64| 0.0 < value && value < 1.0;
    OutOfRange::check("epsilon", epsilon, "between 0 and 1", share)?;
    OutOfRange::check("the total loss", total_loss, "at least 0", |loss| loss >= 0.0)?;
    Ok(m)
}

/// Returns the bound of theorem 1 after a game: with probability `1 - delta`, the mean loss of the
/// learner over the rounds is, on each of `m` samples, at most `(4 (e - 1) S + 4 m (ln m +
/// ln(m/delta)))/T`, with `S` the sum of the losses that were seen.
///
/// Makes no assumption about the learner or the samples.
pub fn mean_loss_bound(m: usize, rounds: u64, seen: f64, delta: f64) -> f64 {
    let m = m as f64;
    let learner = (std::f64::consts::E - 1.0) * seen;
    4.0 * (learner + m * (m.ln() + (m / delta).ln())) / rounds as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_holds_with_half_of_epsilon_at_the_horizon() {
        for (m, epsilon, delta, total) in [(1, 0.3, 0.1, 0.0), (1000, 0.49, 0.01, 4e5)] {
            let horizon = Horizon::theorem_1(m, epsilon, delta, total).unwrap();
            let bound = mean_loss_bound(m, horizon.rounds(), total, delta / 2.0);
            assert!(bound <= epsilon / 2.0 && bound > 0.49 * epsilon, "{bound}");
        }
    }

    /// The probability of failure at the T and k of theorem 1 is delta, up to the rounding of T and k
    /// to whole numbers, and grows as rounds or outputs are taken away.
    #[test]
    fn the_probability_of_failure_is_that_of_the_horizon() {
        for (m, epsilon, delta, total) in
            [(1, 0.3, 0.1, 0.0), (1000, 0.01, 0.01, 4e3), (50, 0.49, 1e-6, 9.0)]
        {
            let horizon = Horizon::theorem_1(m, epsilon, delta, total).unwrap();
            let failure = |rounds, outputs| {
                Horizon::new(rounds, outputs).unwrap().failure(m, epsilon, total).unwrap()
            };
            let (rounds, outputs) = (horizon.rounds(), horizon.outputs());
            let found = failure(rounds, outputs);
            let rounding = (epsilon / (8.0 * m as f64)).exp().max((0.2 * epsilon).exp());
            assert!(found <= delta && found >= delta / rounding, "{found} {delta}");
            assert!(failure(rounds - 1, outputs) > found && failure(rounds, outputs - 1) > found);
            // One fewer of either breaks its half of delta.
            assert!(2.0 * failure(rounds - 1, 1 << 20) > delta);
            assert!(2.0 * failure(1 << 50, outputs - 1) > delta);
        }
    }

    #[test]
    fn refusals() {
        let message = |result: Result<Horizon, Error>| result.unwrap_err().to_string();
        let horizon = Horizon::new(100, 10).unwrap();
        let failure =
            |m, epsilon, total| horizon.failure(m, epsilon, total).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(Horizon::new(0, 1)),
                message(Horizon::new(1, 0)),
                message(Horizon::new(1, 1_000_000_000_000_000)),
                message(Horizon::theorem_1(0, 0.1, 0.1, 0.0)),
                message(Horizon::theorem_1(3, 1.0, 0.1, 0.0)),
                message(Horizon::theorem_1(3, 0.1, f64::NAN, 0.0)),
                message(Horizon::theorem_1(3, 0.1, 0.1, -1.0)),
                message(Horizon::classification(3, 0.1, 1e300)),
                failure(0, 0.1, 0.0),
                failure(3, 0.0, 0.0),
                failure(3, 0.1, f64::INFINITY),
            ]
            .join("\n")
        );
    }
}

//! How long a run of algorithm 1 is, and which of its iterates are candidates.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{Problem, Target};

/// The length of a run of algorithm 1 and the iterates that it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The step size.
    pub step: f64,
    /// The number T of samples that are learned from.
    pub steps: usize,
    /// The iterates to select from.
    pub candidates: CandidateRule,
    /// The number N of fresh samples to select with.
    pub selection: usize,
}

/// The rule that makes iterates candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateRule {
    /// All `T + 1` iterates are candidates, as published.
    All,
    /// The last iterate and this many at independent uniform times before it are candidates; all of
    /// them if there are no more.
    Random(usize),
}

impl Plan {
    /// Returns constants for which the theorem holds as stated: error at most eta + epsilon with
    /// probability at least `1 - delta`, whatever the distribution.
    ///
    /// Half of epsilon, `e = epsilon/2`, is for the iterates and half for the selection. With the
    /// step `gamma^2 e/8` of claim 2.5, lemma 2.2 and `||g|| <= 4/gamma` the squared distance from
    /// w* falls by `4 step (err(w_t) - eta - e/2)` on average; it is at most 4 to begin with, and
    /// the Azuma-Hoeffding inequality bounds the sum of the deviations, each in a range of
    /// `2 step (2 + 4/gamma)` either way. T makes the *mean* error of the iterates at most
    /// `eta + 3e/4`. A random iterate is then better than `eta + e` with probability at least
    /// `(e/4)/(eta + e)`, so that `4 (eta + e)/e log(3/delta)` random ones are enough, and with
    /// Hoeffding's inequality N follows from their number.
    pub fn proven(problem: &Problem) -> Self {
        let (eta, gamma) = (problem.noise.get(), problem.margin.get());
        let (e, failure) = (problem.target.epsilon() / 2.0, (3.0 / problem.target.delta()).ln());
        let step = gamma * gamma * e / 8.0;
        // With T = (s/(gamma e))^2 the condition is s^2/8 = 4 + s (1 + gamma/2) sqrt(2
        // log(3/delta)).
        let deviation = (1.0 + gamma / 2.0) * (2.0 * failure).sqrt();
        let s = 4.0 * deviation + (16.0 * deviation * deviation + 32.0).sqrt();
        let random = (4.0 * (eta + e) / e * failure).ceil();
        let selection = 2.0 * ((2.0 * (random + 1.0)).ln() + failure) / (e * e);
        Plan {
            step,
            steps: (s / (gamma * e)).powi(2).ceil() as usize,
            candidates: CandidateRule::Random(random as usize),
            selection: selection.ceil() as usize,
        }
    }

    /// Returns constants found by experiment (docs/massart.md has their failure rates): a step 32
    /// times as long and T some ten thousand times shorter than the proven ones, for the same
    /// epsilon.
    pub fn practical(problem: &Problem) -> Self {
        let gamma = problem.margin.get();
        let (epsilon, failure) = (problem.target.epsilon(), (1.0 / problem.target.delta()).ln());
        Plan {
            step: 2.0 * gamma * gamma * epsilon,
            steps: (failure / (2.0 * gamma * epsilon).powi(2)).ceil() as usize,
            candidates: CandidateRule::Random(64),
            selection: (failure / (epsilon * epsilon)).ceil() as usize,
        }
    }

    /// Returns the largest number of candidates: random times may coincide.
    pub fn most_candidates(&self) -> usize {
        let before_last = match self.candidates {
            CandidateRule::All => self.steps,
            CandidateRule::Random(count) => count.min(self.steps),
        };
        before_last.saturating_add(1)
    }

    /// Returns T + N, the number of fresh samples that the plan takes.
    pub fn rows(&self) -> usize {
        self.steps.saturating_add(self.selection)
    }

    /// Returns the smallest epsilon of a problem for which [`proven`](Self::proven) takes at most so
    /// many samples, to ten digits; `None` if the largest one, just below 1, takes more. The
    /// problem's own epsilon has no effect.
    ///
    /// T, the candidates and N fall as epsilon grows, so that bisection finds it.
    ///
    /// ```
    /// use margins_massart::{Plan, Problem};
    ///
    /// let problem = Problem::new(0.3, 0.05)?; // epsilon = delta = 0.05
    /// let rows = Plan::proven(&problem).rows();
    /// assert_eq!(rows, 392_312_052);
    /// let epsilon = Plan::proven_epsilon(&problem, rows).unwrap_or(1.0);
    /// assert!((epsilon - 0.05).abs() < 1e-9);
    /// assert_eq!(Plan::proven_epsilon(&problem, 2000), None);
    /// # Ok::<(), margins_massart::Error>(())
    /// ```
    pub fn proven_epsilon(problem: &Problem, rows: usize) -> Option<f64> {
        /// No number of rows that has a name proves as much.
        const LOWEST: f64 = 1e-12;
        let enough = |epsilon: f64| {
            let target = Target::new(epsilon, problem.target.delta());
            target.is_ok_and(|target| Plan::proven(&problem.with_target(target)).rows() <= rows)
        };
        let (mut low, mut high) = (LOWEST, 1.0f64.next_down());
        if !enough(high) {
            return None;
        }
        while high / low > 1.0 + 1e-10 {
            let middle = (low * high).sqrt();
            *if enough(middle) { &mut high } else { &mut low } = middle;
        }
        Some(high)
    }

    /// Returns the numbers of steps after which the iterate is a candidate, ascending.
    pub(super) fn times(&self, seed: u64) -> Box<dyn Iterator<Item = usize> + Send> {
        match self.candidates {
            CandidateRule::Random(count) if count < self.steps => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                // The proof is of the mean over the iterates that a step is taken from.
                let mut times: Vec<usize> =
                    (0..count).map(|_| random.random_range(0..self.steps)).collect();
                times.push(self.steps);
                times.sort_unstable();
                times.dedup();
                Box::new(times.into_iter())
            }
            CandidateRule::All | CandidateRule::Random(_) => Box::new(0..=self.steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random candidates are of the iterates before the last one, all equally often, as in the proof of
    /// [`Plan::proven`]; the last one is a candidate beside them.
    #[test]
    fn random_times_are_those_before_the_last_step() {
        let problem = Problem::new(0.1, 0.2).unwrap();
        let plan = Plan { steps: 4, ..Plan::practical(&problem) };
        let plan = Plan { candidates: CandidateRule::Random(1), ..plan };
        let mut counts = [0.0; 4];
        for seed in 0..4000 {
            let times: Vec<usize> = plan.times(seed).collect();
            assert_eq!((times.len(), times[1]), (2, 4), "{times:?}");
            counts[times[0]] += 1.0;
        }
        // Four standard deviations.
        assert!(counts.iter().all(|count| (count - 1000.0f64).abs() < 110.0), "{counts:?}");
        let none = Plan { steps: 0, ..plan };
        assert_eq!(none.times(1).collect::<Vec<_>>(), [0]);
        // As many as there are steps, or more, are all of them.
        for candidates in [CandidateRule::All, CandidateRule::Random(4), CandidateRule::Random(9)] {
            let all = Plan { candidates, ..plan };
            assert_eq!(all.times(1).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
            assert_eq!(all.most_candidates(), 5);
        }
    }
}

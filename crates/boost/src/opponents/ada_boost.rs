//! AdaBoost by resampling, for comparison with focused online learning.

use margins_data::{Design, Labels, Sample};
use margins_optim::online::{OnlineLearner, Scorer};
use rand_chacha::ChaCha8Rng;

use crate::ensemble::vote;
use crate::{Error, SampleTree};

/// A vote of classifiers with weights: the score is `sum_j a_j h_j(x)/sum_j a_j`, `h_j(x)` the
/// prediction, +1 or -1.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedVote<S> {
    pub(super) members: Vec<(f64, S)>,
}

impl<S> WeightedVote<S> {
    /// Returns the classifiers with their weights.
    pub fn members(&self) -> &[(f64, S)] {
        &self.members
    }
}

impl<S: Scorer> Scorer for WeightedVote<S> {
    /// Returns the vote, 0 without members.
    fn score(&self, x: &Sample<'_>) -> f64 {
        let votes: f64 = self.members.iter().map(|(a, member)| a * vote(member.score(x))).sum();
        let total: f64 = self.members.iter().map(|(a, _)| a).sum();
        if total > 0.0 { votes / total } else { 0.0 }
    }
}

/// AdaBoost: every round a weak learner is asked for a classifier that does well on weighted
/// samples; the weights of those that it gets wrong go up.
///
/// With weighted error e the classifier gets the weight `a = ln((1 - e)/e)/2`, and sample weights
/// are multiplied by `exp(-a y h(x))`. A round is a pass over the samples. It ends when the vote is
/// right on every sample, or when a weak classifier is no better than chance.
///
/// Source: Freund and Schapire (1997).
#[derive(Debug, Clone)]
pub struct AdaBoost<'a, S> {
    design: &'a Design,
    labels: &'a Labels,
    /// The margins `y f(x)` of the vote so far, not divided by the sum of weights.
    margins: Vec<f64>,
    vote: WeightedVote<S>,
}

/// The weight of a classifier without error, and the most that any gets: what an error of about
/// 1e-13 has.
const MOST_WEIGHT: f64 = 15.0;

impl<'a, S: Scorer> AdaBoost<'a, S> {
    /// Returns the booster before its first round.
    ///
    /// # Errors
    /// Another number of labels than of samples.
    pub fn new(design: &'a Design, labels: &'a Labels) -> Result<Self, Error> {
        Error::check_len("labels", design.rows(), labels.len())?;
        let vote = WeightedVote { members: Vec::new() };
        Ok(AdaBoost { design, labels, margins: vec![0.0; design.rows()], vote })
    }

    /// Returns the weights of the samples in the next round, of sum 1.
    pub fn weights(&self) -> Vec<f64> {
        let least = self.margins.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights: Vec<f64> = self.margins.iter().map(|u| (least - u).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        weights
    }

    /// Plays a round and returns true if the classifier of the weak learner was better than chance
    /// and is in the vote.
    ///
    /// # Errors
    /// The errors of the weak learner.
    pub fn round(&mut self, weak: impl FnOnce(&[f64]) -> Result<S, Error>) -> Result<bool, Error> {
        let weights = self.weights();
        let member = weak(&weights)?;
        let signs = self.labels.signs();
        let outcomes: Vec<f64> =
            self.design.samples().zip(signs).map(|(x, y)| y * vote(member.score(&x))).collect();
        let wrong = |(_, outcome): &(&f64, &f64)| **outcome < 0.0;
        let error: f64 = weights.iter().zip(&outcomes).filter(wrong).map(|(p, _)| p).sum();
        let weight = (0.5 * ((1.0 - error) / error).ln()).min(MOST_WEIGHT);
        if weight.is_nan() || weight <= 0.0 {
            return Ok(false);
        }
        self.margins.iter_mut().zip(&outcomes).for_each(|(u, outcome)| *u += weight * outcome);
        self.vote.members.push((weight, member));
        Ok(true)
    }

    /// Returns true if the vote is right on every sample.
    pub fn consistent(&self) -> bool {
        self.margins.iter().all(|&u| u > 0.0)
    }

    /// Returns the vote so far.
    pub fn vote(&self) -> &WeightedVote<S> {
        &self.vote
    }
}

/// Returns an online learner as a weak learner: it takes so many steps on samples drawn by their
/// weights.
///
/// # Errors
/// Weights that cannot be drawn from; what the learner says of a sample.
pub fn resampled<L: OnlineLearner>(
    mut learner: L,
    design: &Design,
    labels: &Labels,
    weights: &[f64],
    steps: usize,
    random: &mut ChaCha8Rng,
) -> Result<L::Snapshot, Error> {
    Error::check_len("labels", design.rows(), labels.len())?;
    Error::check_len("weights", design.rows(), weights.len())?;
    let mut tree = SampleTree::new(weights)?;
    for _ in 0..steps {
        let row = tree.draw(random);
        learner.step(&design.sample(row), labels.signs()[row])?;
    }
    Ok(learner.snapshot())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StumpSearch;
    use margins_optim::online::Perceptron;
    use rand::SeedableRng;

    /// Returns the majority of three stumps, which no single stump gets right.
    fn data() -> (Design, Labels) {
        let rows: Vec<[f64; 3]> = (0..8)
            .map(|k| std::array::from_fn(|j| if k >> j & 1 == 1 { 1.0 } else { -1.0 }))
            .collect();
        let signs = rows.iter().map(|x| x.iter().sum::<f64>().signum()).collect();
        (Design::from_rows(&rows).unwrap(), Labels::from_signs(signs).unwrap())
    }

    #[test]
    fn the_weighted_error_of_the_last_classifier_becomes_one_half() {
        let (design, labels) = data();
        let search = StumpSearch::new(&design);
        let mut boost = AdaBoost::new(&design, &labels).unwrap();
        let mut rounds = 0;
        while !boost.consistent() {
            let weak = |weights: &[f64]| Ok(search.best(&labels, weights)?.0);
            assert!(boost.round(weak).unwrap());
            rounds += 1;
            let last = boost.vote().members()[rounds - 1].1;
            let edge: f64 = design
                .samples()
                .zip(labels.signs())
                .zip(boost.weights())
                .map(|((x, y), p)| p * y * last.score(&x))
                .sum();
            assert!(edge.abs() < 1e-12, "{edge}");
        }
        assert_eq!(rounds, 3);
        let right = |(x, y): (Sample<'_>, &f64)| y * boost.vote().score(&x) > 0.0;
        assert!(design.samples().zip(labels.signs()).all(right));
    }

    #[test]
    fn an_online_learner_is_boosted_and_chance_is_not() {
        let (design, labels) = data();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut boost = AdaBoost::new(&design, &labels).unwrap();
        for _ in 0..50 {
            let weak = |weights: &[f64]| {
                resampled(Perceptron::new(3), &design, &labels, weights, 3, &mut random)
            };
            boost.round(weak).unwrap();
        }
        assert!(boost.consistent());
        let mut chance = AdaBoost::new(&design, &labels).unwrap();
        let weak = |_: &[f64]| Ok(Perceptron::new(3));
        assert!(!chance.round(weak).unwrap() && chance.vote().members().is_empty());
    }
}

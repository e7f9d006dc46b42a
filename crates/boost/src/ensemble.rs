//! Ensembles of classifiers, which decide by majority or by the average score.

use margins_data::Sample;
use margins_optim::online::{LinearClassifier, Scorer};
use serde::{Deserialize, Serialize};

/// How an ensemble combines the scores of its classifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// The share of votes for +1 minus that for -1; right where the mean 0-1 loss is below 1/2
    /// (corollary 1).
    Majority,
    /// The mean score; for a loss that is convex in the score it has at most the mean loss
    /// (corollary 2).
    Average,
}

/// An ensemble of classifiers with one score: of the majority, or the average.
///
/// Source: Shalev-Shwartz and Wexler (2016), corollaries 1 and 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble<S> {
    combination: Combination,
    members: Vec<S>,
}

/// Returns the prediction of a classifier: +1 where the score is above 0, else -1.
pub(crate) fn vote(score: f64) -> f64 {
    if score > 0.0 { 1.0 } else { -1.0 }
}

impl<S> Ensemble<S> {
    /// Makes an ensemble of the classifiers given.
    pub fn new(combination: Combination, members: Vec<S>) -> Self {
        Ensemble { combination, members }
    }

    /// Returns the classifiers.
    pub fn members(&self) -> &[S] {
        &self.members
    }

    /// Returns how the classifiers are combined.
    pub fn combination(&self) -> Combination {
        self.combination
    }

    pub(crate) fn map<R>(self, form: impl FnMut(S) -> R) -> Ensemble<R> {
        let members = self.members.into_iter().map(form).collect();
        Ensemble { combination: self.combination, members }
    }

    pub(crate) fn combined(self, combination: Combination) -> Self {
        Ensemble { combination, ..self }
    }

    pub(crate) fn push(&mut self, member: S) {
        self.members.push(member);
    }
}

impl<S: Scorer> Ensemble<S> {
    /// Returns what the members from a number on add to the sum of votes or scores.
    pub(crate) fn sum_from(&self, first: usize, x: &Sample<'_>) -> f64 {
        self.sum_by(first, x, vote)
    }

    fn sum_by(&self, first: usize, x: &Sample<'_>, vote: impl Fn(f64) -> f64) -> f64 {
        let scores = self.members[first..].iter().map(|member| member.score(x));
        match self.combination {
            Combination::Majority => scores.map(vote).sum(),
            Combination::Average => scores.sum(),
        }
    }
}

impl<S: Scorer> Scorer for Ensemble<S> {
    /// Returns the combined score, 0 of an ensemble without members; NaN if the score of a member is
    /// not finite, which a vote would hide.
    fn score(&self, x: &Sample<'_>) -> f64 {
        let decided = |score: f64| if score.is_finite() { vote(score) } else { f64::NAN };
        self.sum_by(0, x, decided) / self.members.len().max(1) as f64
    }
}

impl Ensemble<LinearClassifier> {
    /// Returns the one linear classifier whose score is the mean score of the members; `None`
    /// without members. For a majority it is another classifier than the ensemble.
    pub fn mean_classifier(&self) -> Option<LinearClassifier> {
        LinearClassifier::mean(&self.members)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A classifier of one score that counts how often it is asked.
    struct Asked(f64, Cell<usize>);

    impl Scorer for Asked {
        fn score(&self, _: &Sample<'_>) -> f64 {
            self.1.set(self.1.get() + 1);
            self.0
        }

        fn columns(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn a_majority_asks_each_member_once_and_hides_no_overflow() {
        let x = Sample::Dense(&[]);
        for (scores, expected) in [
            ([2.0, -1.0, 3.0], 1.0 / 3.0),
            ([2.0, f64::INFINITY, 3.0], f64::NAN),
            ([2.0, -1.0, f64::NAN], f64::NAN),
        ] {
            let members = scores.map(|score| Asked(score, Cell::new(0))).into();
            let ensemble = Ensemble::new(Combination::Majority, members);
            assert_eq!(ensemble.score(&x).to_bits(), f64::to_bits(expected), "{scores:?}");
            assert!(ensemble.members().iter().all(|member| member.1.get() == 1));
        }
    }
}

//! Checks incrementally whether a growing ensemble is right on every sample, so that a game can
//! end early.

use margins_data::Design;
use margins_losses::MarginLoss;
use margins_optim::online::Scorer;
use serde::{Deserialize, Serialize};

use crate::Ensemble;
use crate::evaluation::clipped;

/// A check that a growing ensemble is right on every sample, with a loss of at most epsilon. It
/// visits a few samples at a time.
///
/// The check keeps the sum of votes (or scores) of every sample, and brings it up to date when it
/// visits the sample: every member is evaluated on every sample at most once. Samples are visited
/// in a circle; the ensemble is consistent when m of them in a row were right and no member came in
/// between. A sample that is wrong stays so until the next member comes, and no sample is visited
/// meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsistencyCheck {
    sums: Vec<f64>,
    /// The number of members in the sum of every sample.
    counted: Vec<usize>,
    next: usize,
    /// The number of samples found right in a row, with this number of members.
    right: usize,
    members: usize,
    /// The largest loss at which a sample counts as right.
    epsilon: f64,
    stuck: bool,
}

/// The samples of a game, with the largest loss that their classifier may have.
pub(crate) struct Goal<'a> {
    pub(crate) design: &'a Design,
    pub(crate) signs: &'a [f64],
    pub(crate) loss: &'a dyn MarginLoss,
    /// The weights of the samples; `None` if all are 1.
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) epsilon: f64,
}

impl Goal<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// Returns true if no classifier has a larger loss on a sample, so that it need not be right.
    pub(crate) fn spares(&self, row: usize) -> bool {
        self.epsilon < 1.0 && self.weight(row) <= self.epsilon
    }

    /// Returns true if a score is right for a sample, with a small loss.
    pub(crate) fn is_reached(&self, row: usize, score: f64) -> bool {
        let (y, weight) = (self.signs[row], self.weight(row));
        let loss = clipped(self.loss, row, y, score);
        y * score > 0.0 && loss.is_ok_and(|loss| weight * loss <= self.epsilon)
    }
}

impl ConsistencyCheck {
    pub(crate) fn new(rows: usize) -> Self {
        ConsistencyCheck {
            sums: vec![0.0; rows],
            counted: vec![0; rows],
            next: 0,
            right: 0,
            members: 0,
            epsilon: 1.0,
            stuck: true,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.sums.len()
    }

    /// Returns true if it can be a check of an ensemble of so many members.
    pub(crate) fn fits(&self, members: usize) -> bool {
        let rows = self.rows();
        self.counted.len() == rows
            && self.next < rows
            && self.right <= rows
            && self.counted.iter().all(|&counted| counted <= members)
    }

    /// Visits at most this many samples; returns true if the ensemble is known to reach the goal.
    pub(crate) fn advance<S: Scorer>(
        &mut self,
        ensemble: &Ensemble<S>,
        goal: &Goal<'_>,
        visits: usize,
    ) -> bool {
        let Goal { design, signs, epsilon, .. } = *goal;
        let members = ensemble.members().len();
        if self.members != members || self.epsilon != epsilon {
            (self.members, self.epsilon, self.right, self.stuck) = (members, epsilon, 0, false);
        }
        for _ in 0..visits {
            if self.stuck || self.right == signs.len() {
                break;
            }
            let row = self.next;
            if goal.spares(row) {
                self.right += 1;
                self.next = (row + 1) % signs.len();
                continue;
            }
            self.sums[row] += ensemble.sum_from(self.counted[row], &design.sample(row));
            self.counted[row] = members;
            let score = self.sums[row] / members.max(1) as f64;
            if goal.is_reached(row, score) {
                self.right += 1;
                self.next = (row + 1) % signs.len();
            } else {
                self.stuck = true;
            }
        }
        self.right == signs.len()
    }
}

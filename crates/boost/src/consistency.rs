use margins_data::Design;
use margins_optim::online::Scorer;
use serde::{Deserialize, Serialize};

use crate::Ensemble;

/// A check that an ensemble that grows is right on every sample, made a few samples at a time.
///
/// The sum of votes (or scores) of every sample is kept, and brought up to date when the sample's
/// turn comes: every member is asked about every sample at most once. Samples are visited in a
/// circle; the ensemble is consistent when m of them in a row were right and no member came in
/// between. A sample that is wrong stays so until the next member comes, and nothing is looked at
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
    stuck: bool,
}

impl ConsistencyCheck {
    pub(crate) fn new(rows: usize) -> Self {
        ConsistencyCheck {
            sums: vec![0.0; rows],
            counted: vec![0; rows],
            next: 0,
            right: 0,
            members: 0,
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

    /// Visits at most so many samples; whether the ensemble is known to be consistent.
    pub(crate) fn advance<S: Scorer>(
        &mut self,
        ensemble: &Ensemble<S>,
        design: &Design,
        signs: &[f64],
        visits: usize,
    ) -> bool {
        let members = ensemble.members().len();
        if self.members != members {
            (self.members, self.right, self.stuck) = (members, 0, false);
        }
        for _ in 0..visits {
            if self.stuck || self.right == signs.len() {
                break;
            }
            let row = self.next;
            self.sums[row] += ensemble.sum_from(self.counted[row], &design.sample(row));
            self.counted[row] = members;
            if signs[row] * self.sums[row] > 0.0 {
                self.right += 1;
                self.next = (row + 1) % signs.len();
            } else {
                self.stuck = true;
            }
        }
        self.right == signs.len()
    }
}

//! Members that vote, for one score or for each class.

use std::borrow::Cow;
use std::iter::repeat_n;

use margins_data::Design;
use margins_kernel_functions::Kernel;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use super::Model;
use crate::{Basis, Error, Member, Scheme};

impl Model {
    /// Returns the model of [`Scheme::MajorityVersusRest`]: the members of each class against the rest,
    /// in the order of the classes, at least one each.
    ///
    /// # Errors
    /// The errors of [`from_members`](Self::from_members).
    pub fn from_majorities(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
        basis: Option<Basis>,
        members: Vec<Vec<Member>>,
    ) -> Result<Self, Error> {
        let votes = members.iter().map(Vec::len).collect();
        let scheme = (Scheme::MajorityVersusRest, votes, None);
        let members = members.into_iter().flatten().collect();
        Self::from_parts(loss, classes, scheme, feature_names, basis, members)
    }

    /// Returns the number of votes in each score, none unless the members [vote](Scheme::is_vote). The
    /// members are in this order, but for a plurality, whose every voter has a member for each class.
    pub fn votes(&self) -> Cow<'_, [usize]> {
        match self.scheme {
            Scheme::Majority => Cow::Owned(vec![self.members.len()]),
            Scheme::Plurality => {
                let classes = self.classes.len();
                Cow::Owned(vec![self.members.len() / classes; classes])
            }
            _ => Cow::Borrowed(&self.votes),
        }
    }

    /// Returns the shares of the votes for the class of each score less those against it, scores x
    /// samples.
    pub(super) fn shares(
        &self,
        design: &Design,
        kernel: Option<&dyn Kernel>,
    ) -> Result<DMatrix<f64>, Error> {
        /// The number of linear members whose scores are in memory at the same time, or a little more.
        const TOGETHER: usize = 32;
        let counts = self.votes();
        // The members of a voter are together.
        let voter = if self.scheme == Scheme::Plurality { counts.len() } else { 1 };
        // Kernel values are computed once for all members.
        let linear = TOGETHER.next_multiple_of(voter);
        let together = if self.basis.is_some() { self.members.len() } else { linear };
        let places = counts.iter().enumerate().flat_map(|(k, &count)| repeat_n(k, count));
        let places: Vec<usize> = places.collect();
        let mut shares = DMatrix::zeros(counts.len(), design.rows());
        for (members, places) in self.members.chunks(together).zip(places.chunks(together)) {
            let scores = self.scores_of(members, design, kernel)?;
            for (mut sums, scores) in shares.column_iter_mut().zip(scores.column_iter()) {
                if self.scheme == Scheme::Plurality {
                    for scores in scores.as_slice().chunks_exact(voter) {
                        sums.add_scalar_mut(-1.0);
                        sums[self.decide(scores)] += 2.0;
                    }
                    continue;
                }
                for (&place, &score) in places.iter().zip(scores.iter()) {
                    sums[place] += if score > 0.0 { 1.0 } else { -1.0 };
                }
            }
        }
        for (mut shares, &count) in shares.row_iter_mut().zip(&*counts) {
            shares /= count as f64;
        }
        Ok(shares)
    }
}

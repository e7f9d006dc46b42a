//! Probabilities of classes, from the scores of members.

use margins_calibration::probability::pairwise_coupling;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::{Error, Model, Scheme};

impl Model {
    /// Returns the probability of every class, one a column, for every sample, one a row, from the
    /// scores of [`decision_functions`](Self::decision_functions) and the loss that the model
    /// [names](Self::loss).
    ///
    /// Every member gives its positive class a probability p, by the loss or by Platt scaling. Two
    /// classes have 1 - p and p. One-versus-rest: the p of all classes are divided by their sum, or
    /// all classes have the same probability where that is 0. One-versus-one: [pairwise
    /// coupling](pairwise_coupling) of Wu, Lin and Weng (2004).
    ///
    /// # Errors
    /// [`Error::NoProbabilities`]: the loss has none, and a member has no Platt scaling.
    ///
    /// # Panics
    /// If the scores do not have one column a member.
    pub fn class_probabilities(
        &self,
        scores: &DMatrix<f64>,
        loss: &dyn MarginLoss,
    ) -> Result<DMatrix<f64>, Error> {
        let (members, k) = (self.members(), self.classes().len());
        assert_eq!(scores.ncols(), members.len(), "one column a member");
        let mut out = DMatrix::zeros(scores.nrows(), k);
        for (scores, mut out) in scores.row_iter().zip(out.row_iter_mut()) {
            let of_member = |(member, &score)| self.member_probability(member, loss, score);
            let p = members.iter().zip(scores.iter()).map(of_member).collect::<Result<_, _>>()?;
            let classes = self.coupled(p)?;
            out.iter_mut().zip(classes).for_each(|(out, p)| *out = p);
        }
        Ok(out)
    }

    fn member_probability(
        &self,
        member: &crate::Member,
        loss: &dyn MarginLoss,
        score: f64,
    ) -> Result<f64, Error> {
        let none = || Error::NoProbabilities(self.loss().to_owned());
        member.probability(loss, score).ok_or_else(none)
    }

    /// Returns the probabilities of the classes, from those of the positive class of each member.
    fn coupled(&self, p: Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(match self.scheme() {
            Scheme::Binary => vec![1.0 - p[0], p[0]],
            Scheme::OneVersusRest => normalized(p),
            Scheme::OneVersusOne => pairwise_coupling(self.classes().len(), &p)?,
        })
    }
}

/// Returns the probabilities divided by their sum, or even ones where that is 0.
fn normalized(p: Vec<f64>) -> Vec<f64> {
    let sum: f64 = p.iter().sum();
    let even = 1.0 / p.len() as f64;
    p.into_iter().map(|p| if sum > 0.0 { p / sum } else { even }).collect()
}

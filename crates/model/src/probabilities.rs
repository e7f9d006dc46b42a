//! Probabilities of classes, from the scores of members.

use margins_calibration::probability::{joint_probabilities, pairwise_coupling, softmax};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::{Error, Model, Scheme};

impl Model {
    /// Returns the probability of the second class at a score of a model for two classes; `None` of
    /// a majority or a decision list, and where neither the loss nor a Platt scaling gives one.
    pub fn probability(&self, loss: &dyn MarginLoss, score: f64) -> Option<f64> {
        match (self.scheme(), self.members()) {
            (Scheme::Binary, [member]) => member.probability(loss, score),
            _ => None,
        }
    }

    /// Returns the probability of every class, one per column, for every sample, one per row, from the
    /// scores of [`decision_functions`](Self::decision_functions) and the loss that the model
    /// [names](Self::loss).
    ///
    /// Every member gives its positive class a probability p, by the loss or by Platt scaling. Two
    /// classes have 1 - p and p; a majority or a decision list has no probabilities. One-versus-rest:
    /// the p of all classes are divided by their sum, or all classes have the same probability where
    /// that is 0.
    /// One-versus-one: [pairwise coupling](pairwise_coupling) of Wu, Lin and Weng (2004). One problem for
    /// all classes: the probabilities whose conditional risk the scores
    /// [minimise](joint_probabilities), for the multinomial loss the [`softmax`] of the scores.
    ///
    /// # Errors
    /// [`Error::NoProbabilities`]: the loss has none, and a member has no Platt scaling; or the model
    /// is a majority or a decision list.
    ///
    /// # Panics
    /// If the scores do not have [as many columns](Self::scores_per_sample) as the model has scores.
    pub fn class_probabilities(
        &self,
        scores: &DMatrix<f64>,
        loss: &dyn MarginLoss,
    ) -> Result<DMatrix<f64>, Error> {
        let (columns, k) = (self.scores_per_sample(), self.classes().len());
        assert_eq!(scores.ncols(), columns, "one column a score");
        let scores = scores.transpose();
        let mut out = DMatrix::zeros(k, scores.ncols());
        let samples = scores.as_slice().chunks_exact(columns);
        for (scores, out) in samples.zip(out.as_mut_slice().chunks_exact_mut(k)) {
            self.sample_probabilities(scores, loss, out)?;
        }
        Ok(out.transpose())
    }

    /// Writes the probability of every class for a sample, from its score under every member, as
    /// [`class_probabilities`](Self::class_probabilities) does for many.
    ///
    /// # Errors
    /// [`class_probabilities`](Self::class_probabilities) says which.
    ///
    /// # Panics
    /// If there are not as many scores as the model has, or there is no room for one probability a class.
    pub fn sample_probabilities(
        &self,
        scores: &[f64],
        loss: &dyn MarginLoss,
        out: &mut [f64],
    ) -> Result<(), Error> {
        assert_eq!(scores.len(), self.scores_per_sample(), "the scores of a sample");
        assert_eq!(out.len(), self.classes().len(), "one probability a class");
        let none = || Error::NoProbabilities(self.loss().to_owned());
        if self.scheme().scores_together() {
            return Err(none());
        }
        if self.scheme().is_joint() {
            return self.scheme().of_scores(scores, loss, out).ok_or_else(none);
        }
        let members = self.members().iter().zip(scores);
        let of_members: Option<Vec<f64>> =
            members.map(|(member, &score)| member.probability(loss, score)).collect();
        self.scheme().probabilities(&of_members.ok_or_else(none)?, out)
    }

    /// Returns probabilities of which the class that the scores [decide](Self::decide) is the most
    /// probable one, for every sample: those of [`class_probabilities`](Self::class_probabilities)
    /// where they say so themselves, else the nearest that do, in squares: the class that is
    /// decided and those above it share what they have, up to 1e-12 that it is ahead by.
    ///
    /// # Errors
    /// [`class_probabilities`](Self::class_probabilities) says which.
    ///
    /// # Panics
    /// If the scores do not have [as many columns](Self::scores_per_sample) as the model has scores.
    pub fn deciding_probabilities(
        &self,
        scores: &DMatrix<f64>,
        loss: &dyn MarginLoss,
    ) -> Result<DMatrix<f64>, Error> {
        let mut out = self.class_probabilities(scores, loss)?;
        for (row, scores) in scores.row_iter().enumerate() {
            let scores: Vec<f64> = scores.iter().copied().collect();
            let decided = self.decide(&scores);
            let mut p: Vec<f64> = out.row(row).iter().copied().collect();
            if p.iter().enumerate().any(|(k, &other)| k != decided && other >= p[decided]) {
                prefer(decided, &mut p);
                out.row_mut(row).iter_mut().zip(p).for_each(|(out, p)| *out = p);
            }
        }
        Ok(out)
    }
}

impl Scheme {
    /// Writes the probability of every class from the scores of a [joint](Self::is_joint) problem; `None`
    /// for other schemes, and where the loss has no probabilities.
    ///
    /// # Panics
    /// If there are not as many scores as classes.
    pub fn of_scores(
        self,
        scores: &[f64],
        loss: &(impl MarginLoss + ?Sized),
        out: &mut [f64],
    ) -> Option<()> {
        loss.probability(0.0)?;
        match self {
            Scheme::Joint => joint_probabilities(loss, scores, out),
            Scheme::Multinomial => softmax(scores, out),
            _ => return None,
        }
        Some(())
    }

    /// Writes the probability of every class, from the one that each member gives to its positive
    /// class, as [`Model::class_probabilities`] does.
    ///
    /// # Errors
    /// [`Error::NoProbabilities`]: a majority has none, and a joint problem those of its
    /// [scores](Self::of_scores). A number that is not a probability.
    ///
    /// # Panics
    /// If there are not as many probabilities of members as the scheme has [scores](Self::scores), or
    /// there is no room for one per class.
    pub fn probabilities(self, of_members: &[f64], out: &mut [f64]) -> Result<(), Error> {
        assert_eq!(Some(of_members.len()), self.scores(out.len()), "one probability a score");
        match self {
            Scheme::Binary => out.copy_from_slice(&[1.0 - of_members[0], of_members[0]]),
            Scheme::Majority
            | Scheme::MajorityVersusRest
            | Scheme::Plurality
            | Scheme::DecisionList
            | Scheme::Joint
            | Scheme::Multinomial
            | Scheme::CrammerSinger => {
                return Err(Error::NoProbabilities(self.to_string()));
            }
            Scheme::OneVersusRest => {
                out.copy_from_slice(of_members);
                normalize(out);
            }
            Scheme::OneVersusOne => {
                out.copy_from_slice(&pairwise_coupling(out.len(), of_members)?);
            }
        }
        Ok(())
    }
}

/// Divides the probabilities by their sum, or makes them even where that is 0.
fn normalize(p: &mut [f64]) {
    let sum: f64 = p.iter().sum();
    let even = 1.0 / p.len() as f64;
    p.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { even });
}

/// Moves the probabilities no farther than to make the class at an index the most probable one: it
/// and the largest others come to their mean, but for a lead that survives rounding.
fn prefer(decided: usize, p: &mut [f64]) {
    const LEAD: f64 = 1e-12;
    let mut others: Vec<usize> = (0..p.len()).filter(|&k| k != decided).collect();
    others.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let mut sum = p[decided];
    let mut shared = 0;
    while shared < others.len() && p[others[shared]] * (shared + 1) as f64 >= sum {
        sum += p[others[shared]];
        shared += 1;
    }
    let mean = sum / (shared + 1) as f64;
    let lead = LEAD.min(mean);
    others[..shared].iter().for_each(|&k| p[k] = mean - lead / (shared + 1) as f64);
    p[decided] = mean + lead * shared as f64 / (shared + 1) as f64;
}

#[cfg(test)]
mod tests {
    use super::prefer;
    use proptest::prelude::*;

    #[test]
    fn what_is_above_the_class_is_shared_with_it() {
        let mut p = [0.5, 0.3, 0.2];
        prefer(1, &mut p);
        assert!((p[0] - 0.4).abs() < 1e-11 && (p[1] - 0.4).abs() < 1e-11 && p[2] == 0.2);
    }

    proptest! {
        /// No other distribution that prefers the class is nearer: what moves has moved to one
        /// value, above all that has not.
        #[test]
        fn the_class_leads_at_the_least_cost(raw in proptest::collection::vec(0.0..1.0f64, 2..7), at in 0usize..7) {
            let total: f64 = raw.iter().sum::<f64>() + 1e-9;
            let before: Vec<f64> = raw.iter().map(|p| (p + 1e-9 / raw.len() as f64) / total).collect();
            let decided = at % before.len();
            let mut p = before.clone();
            prefer(decided, &mut p);
            prop_assert!((p.iter().sum::<f64>() - before.iter().sum::<f64>()).abs() < 1e-12);
            for k in 0..p.len() {
                prop_assert!(p[k] >= 0.0 && (k == decided || p[k] < p[decided]));
                prop_assert!(k == decided || p[k] == before[k] || (p[decided] - p[k]) <= 1.1e-12);
                prop_assert!(k == decided || p[k] <= before[k]);
            }
        }
    }
}

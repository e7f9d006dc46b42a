//! Probabilities of classes, from the scores of members.

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
    /// Every member gives its positive class a probability, by the loss or by Platt scaling, from which
    /// those of all classes [follow](Scheme::probabilities); one problem for all classes gives them [by its
    /// scores](Scheme::class_probabilities). A majority or a decision list has no probabilities.
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
            return self.scheme().class_probabilities(scores, loss, out).ok_or_else(none);
        }
        let members = self.members().iter().zip(scores);
        let of_members: Option<Vec<f64>> =
            members.map(|(member, &score)| member.probability(loss, score)).collect();
        Ok(self.scheme().probabilities(&of_members.ok_or_else(none)?, out)?)
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

//! Members of which the first with a large score decides.

use margins_data::{Design, Sample};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Model;
use crate::{Error, Member, Scheme};

/// The rule by which the members of a [`Scheme::DecisionList`] decide: the score of a member is
/// `f_k(x)/d(x)`, and the first member with `|f_k(x)|/d(x) >= t_k` decides. The last threshold is 0,
/// so that some member does.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct DecisionList {
    /// The threshold `t_k` of each member, at least 0; 0 of the last one.
    pub thresholds: Vec<f64>,
    /// The number d(x).
    pub divisor: Divisor,
}

/// The number that scores of a sample are divided by before a threshold is compared with them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
pub enum Divisor {
    /// The same number for every sample, such as the largest norm of the training samples.
    Number(f64),
    /// The norm of the sample with one more feature, which has this value: 1 where the learner saw
    /// a constant feature for the intercept, and else 0.
    Norm(f64),
}

impl Divisor {
    fn of(self, x: &Sample<'_>) -> f64 {
        match self {
            Divisor::Number(number) => number,
            Divisor::Norm(constant) => x.norm().hypot(constant),
        }
    }
}

impl DecisionList {
    /// Returns the score of the member that decides, from the scores of all. Divided by 0 they are 0.
    fn score(&self, x: &Sample<'_>, scores: &[f64]) -> f64 {
        let divisor = self.divisor.of(x);
        let divided = |score: &f64| if divisor > 0.0 { score / divisor } else { 0.0 };
        let mut scores = scores.iter().map(divided).zip(&self.thresholds);
        scores.find(|(score, threshold)| score.abs() >= **threshold).map_or(0.0, |(score, _)| score)
    }

    /// Refuses a list that is not one of so many members.
    pub(super) fn check(&self, members: usize) -> Result<(), String> {
        let thresholds = &self.thresholds;
        if thresholds.len() != members {
            let count = thresholds.len();
            return Err(format!("its decision list has {count} thresholds for {members} members"));
        }
        let is_size = |x: f64| x.is_finite() && x >= 0.0;
        if thresholds.last() != Some(&0.0) || !thresholds.iter().all(|&t| is_size(t)) {
            return Err(format!(
                "the thresholds of its decision list are {thresholds:?}, but must be at least 0, and the last 0"
            ));
        }
        let (Divisor::Number(number) | Divisor::Norm(number)) = self.divisor;
        if !is_size(number) {
            return Err(format!("the divisor of its decision list is {number}"));
        }
        Ok(())
    }
}

impl Model {
    /// Returns the model of [`Scheme::DecisionList`] for two classes: linear members with the rule that
    /// chooses one of them for each sample.
    ///
    /// ```
    /// use margins_losses::LeakyRelu;
    /// use margins_model::{DecisionList, Design, Divisor, Member, Model, Registry, TrainingSummary};
    ///
    /// let member = |coef: [f64; 2]| Member {
    ///     lambda: None,
    ///     intercept: 0.0,
    ///     coef: coef.to_vec(),
    ///     training: TrainingSummary::uncertified(100),
    ///     platt: None,
    /// };
    /// let list = DecisionList { thresholds: vec![0.5, 0.0], divisor: Divisor::Number(2.0) };
    /// let classes = vec!["no".to_owned(), "yes".to_owned()];
    /// let members = vec![member([1.0, 0.0]), member([0.0, 1.0])];
    /// let loss = LeakyRelu::new(0.3)?;
    /// let model = Model::from_decision_list(&loss, classes, None, members, list)?;
    /// // The first member decides where its score is at least 1, and else the second one.
    /// let samples = Design::from_rows(&[[1.0, -3.0], [0.9, -3.0]])?;
    /// let scores = model.decision_function(&samples, &Registry::standard())?;
    /// assert_eq!(scores, [0.5, -1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`from_members`](Self::from_members). [`Error::Invalid`]: another number of
    /// thresholds than of members, a negative one, a last one that is not 0, a negative divisor.
    pub fn from_decision_list(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
        members: Vec<Member>,
        list: DecisionList,
    ) -> Result<Self, Error> {
        let scheme = (Scheme::DecisionList, Vec::new(), Some(list));
        Self::from_parts(loss, classes, scheme, feature_names, None, members)
    }

    /// Returns the rule of a [`Scheme::DecisionList`].
    pub fn decision_list(&self) -> Option<&DecisionList> {
        self.list.as_ref()
    }

    /// Returns the score of the member that decides on each sample, 1 x samples.
    pub(super) fn listed(
        &self,
        list: &DecisionList,
        design: &Design,
    ) -> Result<DMatrix<f64>, Error> {
        let scores = self.scores_of(&self.members, design, None)?;
        let pairs = design.samples().zip(scores.as_slice().chunks_exact(self.members.len()));
        let decided: Vec<f64> = pairs.map(|(x, scores)| list.score(&x, scores)).collect();
        match decided.iter().position(|score| !score.is_finite()) {
            Some(row) => Err(Error::Score { row, score: decided[row] }),
            None => Ok(DMatrix::from_vec(1, design.rows(), decided)),
        }
    }
}

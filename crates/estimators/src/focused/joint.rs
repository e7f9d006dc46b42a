//! One game of several classes, on the vectors of Kesler's construction.

use std::borrow::Cow;

use margins_boost::kesler_samples;
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::{MarginLoss, ZeroOne};

use super::fit::FittedEnsemble;
use super::learner::FocusedLearner;
use super::plurality::evaluation;
use super::settings::EnsembleSettings;
use super::weights::{share_of, weighted};
use crate::Error;

impl EnsembleSettings {
    /// Plays one game on data of several classes: the loss of a classifier is 1 on a sample that it
    /// gives another class, and the learner is the perceptron on the vectors of Kesler's construction
    /// ([`KeslerPerceptron`](margins_boost::KeslerPerceptron)).
    ///
    /// Theorem 1 and corollary 1 hold as for two classes: where a mean loss is below 1/2, more than half
    /// of the classifiers decide for the right class, and so does their plurality. The losses of the
    /// result are those of the plurality ([`Scheme::Plurality`](margins_model::Scheme::Plurality)), or of the mean of the functions of
    /// each class with another output. Balanced classes all have the same total weight, and a second game
    /// with slack has the same learner.
    ///
    /// ```
    /// use margins_data::{Classes, Dataset, Design};
    /// use margins_estimators::focused::EnsembleSettings;
    /// use margins_model::Scheme;
    ///
    /// let rows = [[1.0, 0.0], [0.9, 0.3], [-0.5, 0.9], [-0.6, 0.7], [-0.5, -0.9], [-0.4, -1.0]];
    /// let classes = Classes::new(&["a", "a", "b", "b", "c", "c"])?;
    /// let data = Dataset::new(Design::from_rows(&rows)?, classes)?;
    /// let fitted = EnsembleSettings::default().fit_joint(&data)?;
    /// assert!(fitted.evaluation.consistent() && fitted.ending.consistent_at.is_some());
    /// assert_eq!(fitted.model.map(|model| model.scheme()), Some(Scheme::Plurality));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit). [`Error::Contradiction`]: another learner than the perceptron,
    /// or another loss than the 0-1 loss.
    pub fn fit_joint(&self, data: &Dataset<Classes>) -> Result<FittedEnsemble, Error> {
        self.check()?;
        self.check_joint()?;
        let weighed = self.weighed(data)?;
        let data = &*weighed;
        let (guarantee, rows, mut outcome) =
            self.play(data, kesler, Some(data.labels().names().len()))?;
        if let Some(joint) = outcome.ensemble.joint() {
            // The classifiers are those of features as given now.
            let samples = data.design().samples().enumerate();
            let samples = samples.map(|(row, x)| (x, Some(data.labels().index(row))));
            let limits = self.iterations.limits(self.time_limit);
            outcome.evaluation = weighted(evaluation(joint, samples, &limits)?, data)?;
        }
        let weights = data.own_weights();
        let share = |rows: &Vec<usize>| share_of(rows, weights, data.rows());
        let largest = data.labels().rows_by_class().iter().map(share).fold(0.0, f64::max);
        self.fitted(data, 1.0 - largest, rows, guarantee, outcome)
    }

    /// Refuses what one game of several classes does not have.
    fn check_joint(&self) -> Result<(), Error> {
        let (learner, loss) = (&self.learner, self.loss.specification());
        let other = if !matches!(learner, FocusedLearner::Perceptron) {
            format!("the learner {learner}")
        } else if loss != ZeroOne.specification() {
            format!("the loss {loss}")
        } else {
            return Ok(());
        };
        Err(Error::contradiction(
            "one game of several classes".to_owned(),
            other,
            "it is played by the perceptron on the 0-1 loss; play a game of each class against the rest instead",
        ))
    }
}

/// Returns the samples with their classes, for the perceptron.
fn kesler(data: &Dataset<Classes>) -> Result<Cow<'_, Dataset>, Error> {
    let (design, labels) = kesler_samples(data.design(), data.labels())?;
    Ok(Cow::Owned(data.relabelled(labels)?.over(design)?))
}

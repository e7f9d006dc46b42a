//! A model joined with the loss and the kernel that it names.

use std::sync::Arc;

use margins_data::Design;
use margins_kernel_functions::Kernel;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::{Error, Model, ProbabilityTable, Registry};

/// A model with its loss and its kernel from a registry, for programs that apply it many times.
///
/// ```
/// use margins_model::{Design, Member, Model, Predictor, Registry, Scheme, TrainingSummary};
///
/// let member = Member {
///     lambda: None,
///     intercept: -1.0,
///     coef: vec![2.0, 0.0],
///     training: TrainingSummary::uncertified(100),
///     platt: None,
/// };
/// let registry = Registry::standard();
/// let loss = registry.losses.parse("logistic")?;
/// let classes = vec!["ham".to_owned(), "spam".to_owned()];
/// let model = Model::from_members(&loss, classes, Scheme::Binary, None, None, vec![member])?;
///
/// let predictor = Predictor::new(model, &registry)?;
/// assert_eq!(predictor.predict_row(&[1.0, 7.0])?, 1);
/// assert!(predictor.row_probabilities(&[1.0, 7.0])?[1] > 0.7);
/// let samples = Design::from_rows(&[[1.0, 7.0], [0.0, 7.0]])?;
/// assert_eq!(predictor.predict(&samples)?, [1, 0]);
/// println!("{}", predictor.probabilities(&samples)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Predictor {
    model: Model,
    loss: Arc<dyn MarginLoss>,
    /// The kernel, where the model evaluates one.
    kernel: Option<Arc<dyn Kernel>>,
}

impl Predictor {
    /// Returns the predictor of a model, with the loss and the kernel of the registry.
    ///
    /// # Errors
    /// [`Error::Loss`], [`Error::Kernel`]: the registry does not have the loss or the kernel.
    pub fn new(model: Model, registry: &Registry) -> Result<Self, Error> {
        let loss = registry.losses.parse(model.loss()).map_err(Error::Loss)?;
        Self::with_loss(model, Arc::from(loss), registry)
    }

    /// Returns the predictor of a model with this loss, which the registry need not have.
    ///
    /// # Errors
    /// [`Error::Kernel`]: the registry does not have the kernel.
    pub fn with_loss(
        model: Model,
        loss: Arc<dyn MarginLoss>,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let kernel = model.kernel(registry)?.map(Arc::from);
        Ok(Predictor { model, loss, kernel })
    }

    /// Reads a model file in either format and returns its predictor.
    ///
    /// # Errors
    /// [`Model::load`] says which.
    #[cfg(feature = "serde")]
    pub fn load(path: impl AsRef<std::path::Path>, registry: &Registry) -> Result<Self, Error> {
        Self::new(Model::load(path, registry)?, registry)
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the loss.
    pub fn loss(&self) -> &dyn MarginLoss {
        &*self.loss
    }

    /// Returns the score of every sample under every member, samples x members.
    ///
    /// # Errors
    /// [`Model::decision_functions`] says which.
    pub fn decision_functions(&self, design: &Design) -> Result<DMatrix<f64>, Error> {
        Ok(self.scores(design)?.transpose())
    }

    /// Returns the class of every sample, counted from 0.
    ///
    /// # Errors
    /// [`Model::decision_functions`] says which.
    pub fn predict(&self, design: &Design) -> Result<Vec<usize>, Error> {
        self.model.predict_with(design, self.kernel.as_deref())
    }

    /// Returns the probability of every class for every sample, by
    /// [`Model::class_probabilities`].
    ///
    /// # Errors
    /// [`Model::decision_functions`] and [`Model::class_probabilities`] say which.
    pub fn probabilities(&self, design: &Design) -> Result<ProbabilityTable, Error> {
        let scores = self.decision_functions(design)?;
        let values = self.model.class_probabilities(&scores, &*self.loss)?;
        Ok(ProbabilityTable::new(self.model.classes().to_vec(), values))
    }

    /// Returns the class of one sample, counted from 0, given its features.
    ///
    /// # Errors
    /// [`Error::Columns`]: another number of features. [`Error::Data`]: a feature that is not
    /// finite. [`Error::Score`]: a score that is not finite.
    pub fn predict_row(&self, features: &[f64]) -> Result<usize, Error> {
        Ok(self.model.decide(self.row_scores(features)?.as_slice()))
    }

    /// Returns the probability of every class for one sample, given its features.
    ///
    /// # Errors
    /// [`predict_row`](Self::predict_row) says which; [`Error::NoProbabilities`]: the loss has none,
    /// and a member has no Platt scaling.
    pub fn row_probabilities(&self, features: &[f64]) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; self.model.classes().len()];
        let scores = self.row_scores(features)?;
        self.model.sample_probabilities(scores.as_slice(), &*self.loss, &mut out)?;
        Ok(out)
    }

    fn row_scores(&self, features: &[f64]) -> Result<DMatrix<f64>, Error> {
        self.model.accept(features.len(), None)?;
        self.scores(&Design::from_rows(&[features])?)
    }

    /// Returns the score of every sample under every member, members x samples.
    fn scores(&self, design: &Design) -> Result<DMatrix<f64>, Error> {
        self.model.scores_with(design, self.kernel.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, Scheme, TrainingSummary};

    /// Rows are decided a few at a time, of which an error names the row in all.
    #[test]
    fn rows_are_decided_in_turns() {
        let classes: Vec<String> = (0..4).map(|class| class.to_string()).collect();
        let member = |m: usize| Member {
            lambda: None,
            intercept: m as f64 - 2.5,
            coef: vec![(m as f64).sin()],
            training: TrainingSummary::uncertified(60),
            platt: None,
        };
        let members = (0..6).map(member).collect();
        let scheme = Scheme::OneVersusOne;
        let loss = margins_losses::Logistic;
        let model = Model::from_members(&loss, classes, scheme, None, None, members).unwrap();
        let mut rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i) - 30.0]).collect();
        let (design, registry) = (Design::from_rows(&rows).unwrap(), Registry::standard());
        let scores = model.scores(&design, &registry).unwrap();
        let decided: Vec<usize> =
            scores.column_iter().map(|scores| model.decide(scores.as_slice())).collect();
        assert_eq!(model.predict(&design, &registry).unwrap(), decided);
        rows[50] = [1e308];
        let steep = |m: usize| Member { coef: vec![1e10], ..member(m) };
        let members = (0..6).map(steep).collect();
        let classes = model.classes().to_vec();
        let model = Model::from_members(&loss, classes, scheme, None, None, members).unwrap();
        let refused = model.predict(&Design::from_rows(&rows).unwrap(), &registry).unwrap_err();
        assert!(matches!(refused, Error::Score { row: 50, .. }), "{refused}");
    }
}

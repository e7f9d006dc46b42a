//! Fitted classifiers.

#[cfg(feature = "serde")]
mod file;

use std::borrow::Cow;
use std::str::FromStr;

use margins_data::encode::RawTable;
use margins_data::metrics::{ErrorRate, mistake_rate};
use margins_data::{ClassLabels, Dataset, Design};
use margins_estimators::regularised::{FittedClassifier, TrainingReport};
use margins_model::{Model, Predictor, ProbabilityTable, Registry};
use nalgebra::DMatrix;

use crate::{Error, Features};

/// A fitted classifier of two classes or more, with its predictions, probabilities, and a report on
/// its fit.
///
/// ```
/// use margins::{Classifier, CrossValidation, Selection};
/// use margins::data::{Classes, Dataset, Design};
/// use margins::losses::Logistic;
///
/// let rows: Vec<[f64; 1]> = (0..80).map(|i| [f64::from(i)]).collect();
/// let labels: Vec<&str> = (0..80).map(|i| if i >= 40 || i % 10 == 0 { "yes" } else { "no" }).collect();
/// let data = Dataset::new(Design::from_rows(&rows)?, Classes::new(&labels)?)?;
/// let how = CrossValidation { selection: Selection::OneStandardError, ..CrossValidation::default() };
/// let estimator = Classifier::builder().loss(Logistic).cross_validation(how).build()?;
/// let classifier = estimator.fit(&data)?;
/// assert!(classifier.report().is_certified());
/// println!("{}", classifier.report());
/// assert!(classifier.score(&data)? > 0.85);
/// let p = classifier.predict_proba(&data)?;
/// assert_eq!(p.shape(), (80, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    predictor: Predictor,
    report: TrainingReport,
}

impl Classifier {
    /// Returns the classifier of a fit.
    pub(crate) fn new(fitted: FittedClassifier, registry: &Registry) -> Result<Self, Error> {
        let FittedClassifier { model, loss, report, .. } = fitted;
        let predictor = Predictor::with_loss(model, loss, registry)?;
        Ok(Classifier { predictor, report })
    }

    /// Returns the classifier of a model, with the losses and kernels that it names.
    ///
    /// # Errors
    /// A loss or a kernel that is not in the registry.
    pub fn from_model(model: Model, registry: &Registry) -> Result<Self, Error> {
        let report = TrainingReport::of_model(&model);
        Ok(Classifier { predictor: Predictor::new(model, registry)?, report })
    }

    /// Returns the model, the part of the classifier that a file stores.
    pub fn model(&self) -> &Model {
        self.predictor.model()
    }

    /// Returns the names of the classes, in the order of the columns of
    /// [`predict_proba`](Self::predict_proba).
    pub fn classes(&self) -> &[String] {
        self.model().classes()
    }

    /// Returns the report on the fit.
    pub fn report(&self) -> &TrainingReport {
        &self.report
    }

    /// Returns the features of the rows of a raw table, by the encoding of the model.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: a classifier that was not fitted to a raw table.
    /// [`Encoding::encode`](margins_data::encode::Encoding::encode) says which others.
    pub fn encode(&self, table: &RawTable) -> Result<Design, Error> {
        match self.model().encoding() {
            Some(encoding) => Ok(encoding.encode(table)?),
            None => Err(Error::Contradiction {
                one: "a raw table".to_owned(),
                other: "a classifier of features as given".to_owned(),
                reason: "fit the classifier to a raw table",
            }),
        }
    }

    /// Returns the score of every sample, one per row, under every member of the
    /// [`Scheme`](crate::Scheme), one per column: a single one for two classes, whose sign decides.
    ///
    /// # Errors
    /// Other features than those of the training data, samples that [`Features::design`] refuses, a
    /// score that is NaN or infinite.
    pub fn decision_function<X: Features + ?Sized>(
        &self,
        samples: &X,
    ) -> Result<DMatrix<f64>, Error> {
        Ok(self.predictor.decision_functions(&*self.accepted(samples)?)?)
    }

    /// Returns the samples as a design with the features of the model.
    fn accepted<'x, X: Features + ?Sized>(&self, samples: &'x X) -> Result<Cow<'x, Design>, Error> {
        let design = samples.design()?;
        self.model().accept(design.columns(), samples.feature_names())?;
        Ok(design)
    }

    /// Returns the name of the class of every sample.
    ///
    /// A class is identified by its name, for any type of labels;
    /// [`predict_labels`](Self::predict_labels) returns values of a type, and
    /// [`predict_index`](Self::predict_index) indices.
    ///
    /// # Errors
    /// [`decision_function`](Self::decision_function) says which.
    pub fn predict<X: Features + ?Sized>(&self, samples: &X) -> Result<Vec<&str>, Error> {
        let classes = self.predict_index(samples)?;
        Ok(classes.into_iter().map(|class| self.classes()[class].as_str()).collect())
    }

    /// Returns the class of every sample, as an index into [`classes`](Self::classes).
    ///
    /// # Errors
    /// [`decision_function`](Self::decision_function) says which.
    pub fn predict_index<X: Features + ?Sized>(&self, samples: &X) -> Result<Vec<usize>, Error> {
        Ok(self.predictor.predict(&*self.accepted(samples)?)?)
    }

    /// Returns the class of every sample as a value of the type of the labels, or of any other type
    /// that can be parsed from the names of the classes: numbers, booleans, or your own types that
    /// parse what they display.
    ///
    /// ```
    /// use margins::Classifier;
    ///
    /// let rows = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [3.0, 1.0]];
    /// let estimator = Classifier::builder().lambda(0.01).build()?;
    /// let classifier = estimator.fit_samples(&rows, [false, false, true, true])?;
    /// let predicted: Vec<bool> = classifier.predict_labels(&rows)?;
    /// assert_eq!(predicted, [false, false, true, true]);
    ///
    /// let classifier = estimator.fit_samples(&rows, [-1, -1, 1, 1])?;
    /// assert_eq!(classifier.predict_labels::<i32>(&rows)?, [-1, -1, 1, 1]);
    /// assert!(classifier.predict_labels::<bool>(&rows).is_err());
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`model::Error::LabelType`](margins_model::Error::LabelType): the name of a class is no
    /// value of the type. [`decision_function`](Self::decision_function) says which others.
    pub fn predict_labels<T: FromStr + Clone>(
        &self,
        samples: &(impl Features + ?Sized),
    ) -> Result<Vec<T>, Error> {
        let labels = self.model().class_values::<T>()?;
        let classes = self.predict_index(samples)?;
        Ok(classes.into_iter().map(|class| labels[class].clone()).collect())
    }

    /// Returns the probability of every class, one per column, for every sample, one per row. It prints
    /// as a table:
    ///
    /// ```
    /// use margins::Classifier;
    /// use margins::losses::Logistic;
    ///
    /// let rows = [[0.0], [1.0], [2.0], [3.0]];
    /// let estimator = Classifier::builder().loss(Logistic).lambda(0.01).build()?;
    /// let classifier = estimator.fit_samples(&rows, ["no", "no", "yes", "yes"])?;
    /// let table = classifier.predict_proba(&[[1.5]])?.to_string();
    /// assert_eq!(table, "    no     yes\n0.5000  0.5000\n");
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// Every member gives its positive class a probability, by the loss or by Platt scaling, and
    /// [`Model::class_probabilities`] explains how the probabilities of several members are combined.
    /// The most probable class need not be the class that [`predict`](Self::predict) returns by score
    /// or by vote. For two classes and the probabilities of the loss they are the same, except for
    /// even odds.
    ///
    /// # Errors
    /// [`model::Error::NoProbabilities`](margins_model::Error::NoProbabilities): a loss without
    /// probabilities, and no Platt scaling. [`decision_function`](Self::decision_function) says
    /// which others.
    pub fn predict_proba<X: Features + ?Sized>(
        &self,
        samples: &X,
    ) -> Result<ProbabilityTable, Error> {
        Ok(self.predictor.probabilities(&*self.accepted(samples)?)?)
    }

    /// Returns the share of samples whose class is predicted, by weight where the data have any: 1
    /// less the [error rate](Self::error_rate).
    ///
    /// # Errors
    /// [`error_rate`](Self::error_rate) says which.
    pub fn score<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<f64, Error> {
        Ok(1.0 - self.error_rate(data)?.rate)
    }

    /// Returns the share of samples whose class is not predicted, by weight where the data have
    /// any, by [`mistake_rate`]. Costs of classes do not count.
    ///
    /// # Errors
    /// A class that the classifier does not know; data without rows.
    /// [`decision_function`](Self::decision_function) says which others.
    pub fn error_rate<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<ErrorRate, Error> {
        let names = data.labels().names().iter();
        let own: Vec<Option<usize>> = names.map(|class| self.model().class_of(class)).collect();
        let mut mistakes = Vec::with_capacity(data.rows());
        for (row, predicted) in self.predict_index(data)?.into_iter().enumerate() {
            let Some(class) = own[data.labels().index(row)] else {
                let (class, classes) = (data.labels().class_of(row), self.classes().to_vec());
                return Err(Error::UnknownClass {
                    class: class.to_owned(),
                    row: Some(row),
                    classes,
                });
            };
            mistakes.push(class != predicted);
        }
        Ok(mistake_rate(&mistakes, data.weights())?)
    }
}

#[cfg(feature = "serde")]
mod file;

use std::str::FromStr;
use std::sync::Arc;

use margins_calibration::probability::{PlattScaling, pairwise_coupling};
use margins_data::metrics::{ErrorRate, mistake_rate};
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_optim::{ErrorCurve, Fit};
use nalgebra::DMatrix;

use crate::model::{Member, Model, Scheme, TrainingSummary};
use crate::{
    ClassifierBuilder, Error, Estimator, Features, KernelReport, Prepared, Registry, TrainingReport,
};

/// A fitted classifier of two classes or more: what it decides, how sure it is, and how good the fit was.
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
    model: Model,
    loss: Arc<dyn MarginLoss>,
    registry: Registry,
    report: TrainingReport,
}

impl Classifier {
    /// The settings of a classifier to be fitted.
    pub fn builder() -> ClassifierBuilder {
        ClassifierBuilder::default()
    }

    pub(crate) fn assemble(
        estimator: &Estimator,
        scheme: Scheme,
        data: &Dataset<Classes>,
        prepared: &Prepared<'_>,
        fits: &[Fit],
        (curve, kernels): (Option<ErrorCurve>, Vec<KernelReport>),
        // One a member.
        platt: Option<&[PlattScaling]>,
    ) -> Result<Self, Error> {
        let (basis, coefs) = prepared.basis(fits)?;
        let member = |(m, (fit, coef)): (usize, (&Fit, Vec<f64>))| Member {
            lambda: Some(fit.lambda.get()),
            intercept: fit.intercept,
            coef,
            training: TrainingSummary::new(&fit.report, data.rows(), estimator.standardize),
            platt: platt.map(|scalings| scalings[m]),
        };
        let model = Model::from_members(
            &*estimator.loss,
            data.labels().names().to_vec(),
            scheme,
            data.feature_names().map(<[String]>::to_vec),
            basis,
            fits.iter().zip(coefs).enumerate().map(member).collect(),
        )?;
        let reports = fits.iter().map(|fit| fit.report.clone()).collect();
        let kernel = prepared.kernel_specification();
        let report =
            TrainingReport { kernels, ..TrainingReport::new(&model, kernel, reports, curve) };
        let (loss, registry) = (Arc::clone(&estimator.loss), estimator.registry.clone());
        Ok(Classifier { model, loss, registry, report })
    }

    /// The classifier of a model, with the losses and kernels that it names.
    ///
    /// # Errors
    /// A loss that is not in the registry.
    pub fn from_model(model: Model, registry: &Registry) -> Result<Self, Error> {
        let loss = Arc::from(registry.losses.parse(model.loss())?);
        let kernel = model.basis().map(|basis| basis.kernel().to_owned());
        let report = TrainingReport::new(&model, kernel, Vec::new(), None);
        Ok(Classifier { model, loss, registry: registry.clone(), report })
    }

    /// What a file keeps of it.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Names of the classes, in the order of the columns of [`predict_proba`](Self::predict_proba).
    pub fn classes(&self) -> &[String] {
        self.model.classes()
    }

    /// How good the fit was.
    pub fn report(&self) -> &TrainingReport {
        &self.report
    }

    /// The score of every sample, one a row, under every member of the [`Scheme`], one a column: a single one for two
    /// classes, whose sign decides.
    ///
    /// # Errors
    /// Other features than those of the training data; what [`Features::design`] refuses; a score that
    /// is NaN or infinite.
    pub fn decision_function<X: Features + ?Sized>(
        &self,
        samples: &X,
    ) -> Result<DMatrix<f64>, Error> {
        let design = samples.design()?;
        self.model.accept(design.columns(), samples.feature_names())?;
        Ok(self.model.decision_functions(&design, &self.registry)?)
    }

    /// The name of the class of every sample.
    ///
    /// Classes go by names, whatever type the labels had; [`predict_labels`](Self::predict_labels) gives values of a type
    /// and [`predict_index`](Self::predict_index) indices.
    ///
    /// # Errors
    /// As [`decision_function`](Self::decision_function).
    pub fn predict<X: Features + ?Sized>(&self, samples: &X) -> Result<Vec<&str>, Error> {
        let classes = self.predict_index(samples)?;
        Ok(classes.into_iter().map(|class| self.classes()[class].as_str()).collect())
    }

    /// The class of every sample, as an index into [`classes`](Self::classes).
    ///
    /// # Errors
    /// As [`decision_function`](Self::decision_function).
    pub fn predict_index<X: Features + ?Sized>(&self, samples: &X) -> Result<Vec<usize>, Error> {
        let scores = self.decision_function(samples)?;
        let decide = |row: usize| self.model.decide(&row_of(&scores, row));
        Ok((0..scores.nrows()).map(decide).collect())
    }

    /// The class of every sample as a value of the type that labels were given in, or of any other that can be read from
    /// the names of the classes: numbers, booleans, types of your own that display and parse alike.
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
    /// assert_eq!(classifier.predict_labels::<i32, _>(&rows)?, [-1, -1, 1, 1]);
    /// assert!(classifier.predict_labels::<bool, _>(&rows).is_err());
    /// # Ok::<(), margins::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LabelType`]: the name of a class is no value of the type. As
    /// [`decision_function`](Self::decision_function).
    pub fn predict_labels<T: FromStr + Clone, X: Features + ?Sized>(
        &self,
        samples: &X,
    ) -> Result<Vec<T>, Error> {
        let read = |class: &String| {
            // A whole number may be spelled 1.0.
            let plain = || T::from_str(&class.trim().parse::<f64>().ok()?.to_string()).ok();
            T::from_str(class).ok().or_else(plain).ok_or_else(|| Error::LabelType {
                class: class.clone(),
                wanted: std::any::type_name::<T>(),
            })
        };
        let labels: Vec<T> = self.classes().iter().map(read).collect::<Result<_, _>>()?;
        let classes = self.predict_index(samples)?;
        Ok(classes.into_iter().map(|class| labels[class].clone()).collect())
    }

    /// The probability of every class, one a column, for every sample, one a row.
    ///
    /// Every member gives its positive class a probability, by the loss or by Platt scaling. Two classes: that and the
    /// rest. One-versus-rest: those of all classes divided by their sum (all alike where the sum is 0).
    /// One-versus-one: [pairwise coupling](pairwise_coupling) of Wu, Lin and Weng (2004). The most probable class need not be the one that
    /// [`predict`](Self::predict) takes by score or by vote; of two classes it is by the probabilities of the loss, but where
    /// those are even.
    ///
    /// # Errors
    /// As [`decision_function`](Self::decision_function); a loss without probabilities, and no Platt scaling.
    pub fn predict_proba<X: Features + ?Sized>(&self, samples: &X) -> Result<DMatrix<f64>, Error> {
        let scores = self.decision_function(samples)?;
        let k = self.classes().len();
        let mut out = DMatrix::zeros(scores.nrows(), k);
        for row in 0..scores.nrows() {
            let of_members: Vec<f64> = row_of(&scores, row)
                .into_iter()
                .enumerate()
                .map(|(member, score)| self.member_probability(member, score))
                .collect::<Result<_, _>>()?;
            let p = match self.model.scheme() {
                Scheme::Binary => vec![1.0 - of_members[0], of_members[0]],
                Scheme::OneVersusRest => normalized(of_members),
                Scheme::OneVersusOne => pairwise_coupling(k, &of_members)?,
            };
            out.row_mut(row).iter_mut().zip(p).for_each(|(out, p)| *out = p);
        }
        Ok(out)
    }

    fn member_probability(&self, member: usize, score: f64) -> Result<f64, Error> {
        let none = || Error::NoProbabilities(self.loss.specification());
        self.model.members()[member].probability(&*self.loss, score).ok_or_else(none)
    }

    /// Returns the share of samples whose class is predicted, by weight where the data have any: 1 less the
    /// [error rate](Self::error_rate).
    ///
    /// # Errors
    /// As [`error_rate`](Self::error_rate).
    pub fn score<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<f64, Error> {
        Ok(1.0 - self.error_rate(data)?.rate)
    }

    /// Returns the share of samples whose class is not predicted, by weight where the data have any, as [`mistake_rate`] has it.
    /// Costs of classes do not count.
    ///
    /// # Errors
    /// As [`decision_function`](Self::decision_function); a class that the classifier does not know; data without rows.
    pub fn error_rate<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Result<ErrorRate, Error> {
        let names = data.labels().names().iter();
        let own: Vec<Option<usize>> = names.map(|class| self.model.class_of(class)).collect();
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

fn row_of(scores: &DMatrix<f64>, row: usize) -> Vec<f64> {
    scores.row(row).iter().copied().collect()
}

/// Probabilities of classes against the rest, divided by their sum.
fn normalized(p: Vec<f64>) -> Vec<f64> {
    let sum: f64 = p.iter().sum();
    let even = 1.0 / p.len() as f64;
    p.into_iter().map(|p| if sum > 0.0 { p / sum } else { even }).collect()
}

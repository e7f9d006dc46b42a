//! Fitted classifiers, of two classes or more, with what is needed to apply them and to know where they come
//! from; their files.

mod basis;
#[cfg(feature = "serde")]
mod binary;
mod error;
#[cfg(feature = "serde")]
mod file;
#[cfg(feature = "serde")]
mod json;
mod scheme;

use std::collections::HashSet;

use margins_calibration::probability::PlattScaling;
use margins_data::{ClassIndex, Dataset, Design};
use margins_losses::MarginLoss;
use margins_optim::online::LinearClassifier;
use margins_optim::{Fit, Lambda, Report, Status};
use nalgebra::DMatrix;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use basis::{Basis, Functions};
pub use error::Error;
#[cfg(feature = "serde")]
pub use file::{Format, Header, write_atomically};
pub use scheme::Scheme;

use crate::{Prepared, Registry};

/// Version of the layouts that this crate writes.
const VERSION: u32 = 3;

/// A classifier: one binary classifier for two classes, several for more, over the same functions of a
/// sample.
///
/// The score of member m is `f_m(x) = b_m + sum_j a_mj phi_j(x)`, where the `phi_j` are the features as given, or the
/// functions of the [`Basis`]. What it is made of has been checked: all numbers are finite, all sizes agree.
///
/// ```
/// use margins::data::generate::{Example, GaussianMixture};
/// use margins::losses::LeakyHockeyStick;
/// use margins::optim::{Lambda, Training};
/// use margins::{Model, Prepared, Registry};
///
/// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
/// let fits = Training::new(&LeakyHockeyStick).path(&data, &[Lambda::new(0.01)?])?;
/// let model = Model::new(&LeakyHockeyStick, &data, &Prepared::linear(&data), false, &fits[0])?;
///
/// let registry = Registry::standard();
/// let class = model.predict(data.design(), &registry)?[0];
/// assert_eq!(model.classes()[class], data.labels().class_name(fits[0].score(&data.design().sample(0))));
/// # #[cfg(feature = "serde")] {
/// use margins::model::Format;
///
/// assert_eq!(Model::from_bytes(&model.to_bytes(Format::Binary)?, &registry)?, model);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    loss: String,
    classes: Vec<String>,
    /// The classes by their names.
    index: ClassIndex,
    scheme: Scheme,
    feature_names: Option<Vec<String>>,
    basis: Option<Basis>,
    members: Vec<Member>,
}

/// One binary classifier of a [`Model`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct Member {
    /// The regularisation; `None` of a fit whose objective has no penalty.
    pub lambda: Option<f64>,
    /// `b`.
    pub intercept: f64,
    /// `w`, for the features as given, or the coefficients of the functions of the basis.
    pub coef: Vec<f64>,
    /// How the fit ended.
    pub training: TrainingSummary,
    /// What makes scores probabilities, if not the loss.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub platt: Option<PlattScaling>,
}

/// The certificate that a member was fitted with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct TrainingSummary {
    /// Rows of the training data.
    pub rows: usize,
    /// Whether features were scaled to unit standard deviation during the fit.
    pub standardize: bool,
    /// The objective reached; unknown of a stream.
    pub objective: Option<f64>,
    /// A lower bound on its minimum, where one is known.
    pub dual_objective: Option<f64>,
    /// The gap between them relative to their size, where it is known.
    pub relative_gap: Option<f64>,
    /// Whether that gap is at most the tolerance.
    pub converged: bool,
}

impl TrainingSummary {
    /// Of a fit to `rows` samples.
    pub fn new(report: &Report, rows: usize, standardize: bool) -> Self {
        // A method without certificate has no bound to report, however it ended; any other that has none has
        // met numbers that overflowed, and says so.
        let uncertified =
            report.status != Status::NumericalTrouble && report.duality_gap == f64::INFINITY;
        let bound = |value: f64| (!uncertified).then_some(value);
        TrainingSummary {
            rows,
            standardize,
            objective: Some(report.objective),
            dual_objective: bound(report.dual_objective),
            relative_gap: bound(report.relative_gap),
            converged: report.status == Status::Converged,
        }
    }

    /// Of a pass over a stream of `rows` samples, whose objective nobody knows.
    pub fn of_stream(rows: usize) -> Self {
        TrainingSummary {
            rows,
            standardize: false,
            objective: None,
            dual_objective: None,
            relative_gap: None,
            converged: false,
        }
    }
}

impl Model {
    /// The model of a fit to `data`, of two classes.
    ///
    /// # Errors
    /// A fit whose numbers overflowed and that no program could apply.
    pub fn new(
        loss: &dyn MarginLoss,
        data: &Dataset,
        prepared: &Prepared<'_>,
        standardize: bool,
        fit: &Fit,
    ) -> Result<Self, Error> {
        let (basis, coefs) = prepared.basis(std::slice::from_ref(fit))?;
        let training = TrainingSummary::new(&fit.report, data.rows(), standardize);
        let (lambda, intercept) = (Some(fit.lambda.get()), fit.intercept);
        let member =
            |coef| Member { lambda, intercept, coef, training: training.clone(), platt: None };
        Model::from_members(
            loss,
            vec![
                data.labels().negative_class().to_owned(),
                data.labels().positive_class().to_owned(),
            ],
            Scheme::Binary,
            data.feature_names().map(<[String]>::to_vec),
            basis,
            coefs.into_iter().map(member).collect(),
        )
    }

    /// The model with a Platt scaling for the probabilities of all of its members.
    #[must_use]
    pub fn with_platt(mut self, scaling: PlattScaling) -> Self {
        self.members.iter_mut().for_each(|member| member.platt = Some(scaling));
        self
    }

    /// The model of a linear classifier learnt from a stream of `rows` samples, of the negative and the
    /// positive class; `lambda` is `None` if the learner has no penalty.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn of_stream(
        loss: &dyn MarginLoss,
        lambda: Option<Lambda>,
        (negative, positive): (&str, &str),
        feature_names: Option<Vec<String>>,
        rows: usize,
        classifier: &LinearClassifier,
    ) -> Result<Self, Error> {
        let member = Member {
            lambda: lambda.map(Lambda::get),
            intercept: classifier.intercept,
            coef: classifier.coef.clone(),
            training: TrainingSummary::of_stream(rows),
            platt: None,
        };
        let classes = vec![negative.to_owned(), positive.to_owned()];
        Model::from_members(loss, classes, Scheme::Binary, feature_names, None, vec![member])
    }

    /// The model of binary classifiers that share a basis, in the order of the [`Scheme`]; without a basis
    /// they are linear in the features.
    ///
    /// # Errors
    /// [`Error::Invalid`]: another number of members than the scheme has for as many classes, two classes of
    /// one name, no coefficients or another number of them than of functions, another number of feature
    /// names than of features, a number that is not finite, a lambda that is not greater than 0.
    pub fn from_members(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        scheme: Scheme,
        feature_names: Option<Vec<String>>,
        basis: Option<Basis>,
        members: Vec<Member>,
    ) -> Result<Self, Error> {
        let loss = loss.specification();
        let index = ClassIndex::new(&classes).map_err(|error| Error::Invalid(error.to_string()))?;
        let model = Model { loss, classes, index, scheme, feature_names, basis, members };
        model.check().map_err(Error::Invalid)?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        let (classes, members) = (self.classes.len(), self.members.len());
        match self.scheme.members(classes) {
            Some(expected) if expected == members => {}
            Some(expected) => {
                let scheme = self.scheme;
                return Err(format!(
                    "it has {members} members, but {scheme} has {expected} for {classes} classes"
                ));
            }
            None => return Err(format!("{} is not for {classes} classes", self.scheme)),
        }
        let functions = match &self.basis {
            Some(basis) => basis.len(),
            None => self.members[0].coef.len(),
        };
        if functions == 0 {
            return Err("it has no coefficients".to_owned());
        }
        for (m, member) in self.members.iter().enumerate() {
            member.check(functions).map_err(|reason| format!("member {}: {reason}", m + 1))?;
        }
        match &self.feature_names {
            Some(names) if names.len() != self.columns() => {
                let (names, columns) = (names.len(), self.columns());
                Err(format!("it has {names} feature names for {columns} features"))
            }
            _ => Ok(()),
        }
    }

    /// Specification of the loss, such as `l-r:r=2`.
    pub fn loss(&self) -> &str {
        &self.loss
    }

    /// Names of the classes, in the order of [`Labels`](margins_data::Labels); the second of two is the one of positive
    /// scores.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How the members decide.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Names of the features, if the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The functions that the members combine, if they are not linear in the features.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }

    /// The binary classifiers, at least one, in the order of the scheme.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.basis.as_ref().map_or(self.members[0].coef.len(), Basis::columns)
    }

    /// Whether the model can be applied to features with these names, or to as many without names.
    ///
    /// # Errors
    /// Another number of features; another name in some place.
    pub fn accept(&self, columns: usize, names: Option<&[String]>) -> Result<(), Error> {
        if columns != self.columns() {
            let known: HashSet<&String> = self.feature_names.iter().flatten().collect();
            let unknown = |name: &&String| !known.is_empty() && !known.contains(*name);
            let extra = names.unwrap_or_default().iter().filter(unknown).cloned().collect();
            return Err(Error::Columns { expected: self.columns(), found: columns, extra });
        }
        if let (Some(ours), Some(theirs)) = (&self.feature_names, names) {
            for (k, (expected, found)) in ours.iter().zip(theirs).enumerate() {
                if expected != found {
                    return Err(Error::FeatureName {
                        position: k + 1,
                        expected: expected.clone(),
                        found: found.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The score of every sample under every member, samples x members; kernel values are computed once for
    /// all members, in blocks, [in parallel](margins_data::parallel).
    ///
    /// # Errors
    /// Another number of features; a kernel that is not in the registry; a score that is NaN or infinite, because a
    /// product overflowed and left no sign to rely on.
    pub fn decision_functions(
        &self,
        design: &Design,
        registry: &Registry,
    ) -> Result<DMatrix<f64>, Error> {
        Ok(self.scores(design, registry)?.transpose())
    }

    /// The score of every sample, of a model for two classes: `b + <w, x>` or `b + sum_j a_j phi_j(x)`.
    ///
    /// # Errors
    /// A model with several members; as [`decision_functions`](Self::decision_functions).
    pub fn decision_function(
        &self,
        design: &Design,
        registry: &Registry,
    ) -> Result<Vec<f64>, Error> {
        let (classes, members) = (self.classes.len(), self.members.len());
        if members > 1 {
            return Err(Error::NotBinary { classes, members });
        }
        Ok(self.scores(design, registry)?.as_slice().to_vec())
    }

    /// The class of every sample, counted from 0, as the scheme has it.
    ///
    /// # Errors
    /// As [`decision_functions`](Self::decision_functions).
    pub fn predict(&self, design: &Design, registry: &Registry) -> Result<Vec<usize>, Error> {
        let scores = self.scores(design, registry)?;
        let members = self.members.len();
        Ok(scores.as_slice().chunks_exact(members).map(|scores| self.decide(scores)).collect())
    }

    /// The class, counted from 0, that the scores of a sample stand for. The scores are finite, as those of
    /// [`decision_functions`](Self::decision_functions) are; NaN stands for no class.
    ///
    /// # Panics
    /// If there is not one score a member.
    pub fn decide(&self, scores: &[f64]) -> usize {
        self.scheme.decide(self.classes.len(), scores)
    }

    /// Members x samples.
    fn scores(&self, design: &Design, registry: &Registry) -> Result<DMatrix<f64>, Error> {
        self.accept(design.columns(), None)?;
        let functions = self.members[0].coef.len();
        let coefs = self.members.iter().flat_map(|member| member.coef.iter().copied());
        let coefs = DMatrix::from_row_iterator(self.members.len(), functions, coefs);
        let mut scores = match &self.basis {
            None => design.multiply_all(&coefs),
            Some(basis) => basis.combine(design, &coefs, registry)?,
        };
        for mut sample in scores.column_iter_mut() {
            for (score, member) in sample.iter_mut().zip(&self.members) {
                *score += member.intercept;
            }
        }
        let members = self.members.len();
        margins_optim::Error::check_scores(
            scores.as_slice(),
            (0..scores.len()).map(|at| at / members),
        )?;
        Ok(scores)
    }

    /// The class of a label, counted from 0, compared as numbers where both are numbers; `None` for no class
    /// of the model.
    pub fn class_of(&self, label: &str) -> Option<usize> {
        self.index.get(label)
    }
}

impl Member {
    /// The probability of the positive class at a score: by Platt scaling if there is one, else by the loss; `None` if that
    /// has none.
    pub fn probability(&self, loss: &dyn MarginLoss, score: f64) -> Option<f64> {
        match &self.platt {
            Some(scaling) => Some(scaling.probability(score)),
            None => loss.probability(score),
        }
    }

    fn check(&self, functions: usize) -> Result<(), String> {
        if let Some(lambda) = self.lambda.filter(|lambda| !(lambda.is_finite() && *lambda > 0.0)) {
            return Err(format!("its lambda is {lambda:?}"));
        }
        if self.coef.len() != functions {
            return Err(format!(
                "it has {} coefficients for {functions} functions",
                self.coef.len()
            ));
        }
        if !(self.intercept.is_finite() && self.coef.iter().all(|w| w.is_finite())) {
            return Err("a coefficient is not finite".to_owned());
        }
        let training = &self.training;
        let numbers = [training.objective, training.dual_objective, training.relative_gap];
        if !numbers.iter().flatten().all(|x| x.is_finite()) {
            return Err("its objective or the gap of it is not finite".to_owned());
        }
        Ok(())
    }
}

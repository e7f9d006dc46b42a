//! The model: classes, members and functions, with scores and decisions.

mod classes;
mod decision_list;
mod votes;

use std::borrow::Cow;

use margins_calibration::probability::PlattScaling;
use margins_data::encode::Encoding;
use margins_data::{ClassIndex, Design};
use margins_kernel_functions::{Kernel, linear_scores};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::{Basis, Error, Member, Registry, Scheme, accept_features};

pub use decision_list::{DecisionList, Divisor};

/// A scheme with the number of members of each class, if these vote, and the rule of a decision list.
pub(crate) type SchemeParts = (Scheme, Vec<usize>, Option<DecisionList>);

/// A classifier: one binary classifier for two classes, several for more, over the same functions
/// of a sample.
///
/// The score of member m is `f_m(x) = b_m + sum_j a_mj phi_j(x)`, where the `phi_j` are the
/// features as given, or the functions of the [`Basis`]. Members that [vote](Scheme::is_vote) have one
/// score together, or one for each class, and those of a [`DecisionList`] one together. A model has been checked: all of its numbers are finite,
/// and all sizes agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    loss: String,
    classes: Vec<String>,
    /// The classes by their names.
    index: ClassIndex,
    label_type: Option<String>,
    scheme: Scheme,
    /// The number of members of each class, in a majority of each class against the rest.
    votes: Vec<usize>,
    list: Option<DecisionList>,
    feature_names: Option<Vec<String>>,
    encoding: Option<Encoding>,
    basis: Option<Basis>,
    members: Vec<Member>,
}

impl Model {
    /// Returns the model with a Platt scaling for the probabilities of all of its members.
    #[must_use]
    pub fn with_platt(mut self, scaling: PlattScaling) -> Self {
        self.members.iter_mut().for_each(|member| member.platt = Some(scaling));
        self
    }

    /// Returns the model with the encoding that made its features of a raw table, or without one.
    ///
    /// # Errors
    /// [`Error::Invalid`]: an encoding to other features than those of the model.
    pub fn with_encoding(mut self, encoding: Option<Encoding>) -> Result<Self, Error> {
        let names = encoding.as_ref().map(Encoding::feature_names);
        if names.is_some() && names != self.feature_names {
            let reason = "its encoding returns other features than those of the model";
            return Err(Error::Invalid(reason.to_owned()));
        }
        self.encoding = encoding;
        Ok(self)
    }

    /// Returns the model with the type that its labels had before they became names, such as `|i1` of an
    /// array of NumPy. Files keep it as it is.
    #[must_use]
    pub fn with_label_type(mut self, label_type: Option<String>) -> Self {
        self.label_type = label_type;
        self
    }

    /// Returns the model of binary classifiers that share a basis, in the order of the [`Scheme`];
    /// without a basis they are linear in the features.
    ///
    /// # Errors
    /// [`Error::Invalid`]: another number of members than the scheme has for as many classes, two
    /// classes of one name, no coefficients or another number of them than of functions, another
    /// number of feature names than of features, a number that is not finite, a lambda below 0.
    pub fn from_members(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        scheme: Scheme,
        feature_names: Option<Vec<String>>,
        basis: Option<Basis>,
        members: Vec<Member>,
    ) -> Result<Self, Error> {
        let scheme = (scheme, Vec::new(), None);
        Self::from_parts(loss, classes, scheme, feature_names, basis, members)
    }

    /// Returns the model of a scheme with its parts.
    pub(crate) fn from_parts(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        (scheme, votes, list): SchemeParts,
        feature_names: Option<Vec<String>>,
        basis: Option<Basis>,
        members: Vec<Member>,
    ) -> Result<Self, Error> {
        let loss = loss.specification();
        let index = ClassIndex::new(&classes).map_err(|error| Error::Invalid(error.to_string()))?;
        let (encoding, label_type) = (None, None);
        let model = Model {
            loss,
            classes,
            index,
            label_type,
            scheme,
            votes,
            list,
            feature_names,
            encoding,
            basis,
            members,
        };
        model.check().map_err(Error::Invalid)?;
        Ok(model)
    }

    /// Returns the model with the members at another lambda, which have been checked.
    pub(crate) fn with_members(&self, members: Vec<Member>) -> Self {
        Model { members, ..self.clone() }
    }

    /// Refuses parts that contradict each other.
    fn check(&self) -> Result<(), String> {
        let (classes, members) = (self.classes.len(), self.members.len());
        match self.scheme.scores(classes) {
            Some(_) if self.scheme == Scheme::Majority && members > 0 => {}
            Some(_) if self.scheme == Scheme::DecisionList && members > 0 => match &self.list {
                Some(list) if self.basis.is_none() => list.check(members)?,
                Some(_) => return Err("it has a decision list of functions".to_owned()),
                None => return Err("it has no thresholds for its decision list".to_owned()),
            },
            Some(scores) if self.scheme == Scheme::MajorityVersusRest => {
                let total = self.votes.iter().try_fold(0_usize, |sum, &k| sum.checked_add(k));
                if self.votes.len() != scores || self.votes.contains(&0) || total != Some(members) {
                    let votes = &self.votes;
                    return Err(format!(
                        "its {members} members are divided into {votes:?} for {classes} classes"
                    ));
                }
            }
            Some(scores) if self.scheme == Scheme::Plurality => {
                if members == 0 || !members.is_multiple_of(scores) {
                    return Err(format!(
                        "it has {members} members, which are not {scores} a voter"
                    ));
                }
            }
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

    /// Returns the specification of the loss, such as `l-r:r=2`.
    pub fn loss(&self) -> &str {
        &self.loss
    }

    /// Returns the names of the classes, in the order of [`Labels`](margins_data::Labels); the
    /// second of two is the one of positive scores.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the type that the labels had, if it is known; labels of text files have none.
    pub fn label_type(&self) -> Option<&str> {
        self.label_type.as_deref()
    }

    /// Returns the scheme by which the members decide.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the names of the features, if the data had any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Returns the encoding of raw tables as features, if the model has one.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoding.as_ref()
    }

    /// Returns the functions that the members combine, if they are not linear in the features.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }

    /// Returns the number of scores of a sample: 1 of a majority or a decision list, that of the classes
    /// of a majority of each class against the rest or a plurality, and else that of the members.
    pub fn scores_per_sample(&self) -> usize {
        match self.scheme {
            Scheme::DecisionList => 1,
            scheme if scheme.is_vote() => self.votes().len(),
            _ => self.members.len(),
        }
    }

    /// Returns the binary classifiers, at least one, in the order of the scheme.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the number of features.
    pub fn columns(&self) -> usize {
        self.basis.as_ref().map_or(self.members[0].coef.len(), Basis::columns)
    }

    /// Refuses features that the model cannot be applied to; features without names count as those
    /// of the model.
    ///
    /// # Errors
    /// Another number of features; another name in some place.
    pub fn accept(&self, columns: usize, names: Option<&[String]>) -> Result<(), Error> {
        accept_features((self.columns(), self.feature_names()), (columns, names))
    }

    /// Returns the scores of every sample, samples x [scores](Self::scores_per_sample): one a
    /// member, or one of all members of a majority or a decision list. Kernel values are computed once for all members,
    /// in blocks, [in parallel](margins_data::parallel).
    ///
    /// # Errors
    /// Another number of features; a kernel that is not in the registry; a score that is NaN or
    /// infinite, because a product overflowed and left no sign to rely on.
    pub fn decision_functions(
        &self,
        design: &Design,
        registry: &Registry,
    ) -> Result<DMatrix<f64>, Error> {
        Ok(self.scores(design, registry)?.transpose())
    }

    /// Returns the score of every sample, of a model for two classes: `b + <w, x>`, `b + sum_j
    /// a_j phi_j(x)`, or that of a majority or a decision list.
    ///
    /// # Errors
    /// A model with several scores; [`decision_functions`](Self::decision_functions) says which
    /// others.
    pub fn decision_function(
        &self,
        design: &Design,
        registry: &Registry,
    ) -> Result<Vec<f64>, Error> {
        let (classes, members) = (self.classes.len(), self.members.len());
        if self.scores_per_sample() > 1 {
            return Err(Error::NotBinary { classes, members });
        }
        Ok(self.scores(design, registry)?.data.into())
    }

    /// Returns the class of every sample, counted from 0, by the scheme.
    ///
    /// # Errors
    /// [`decision_functions`](Self::decision_functions) says which.
    pub fn predict(&self, design: &Design, registry: &Registry) -> Result<Vec<usize>, Error> {
        self.predict_with(design, self.kernel(registry)?.as_deref())
    }

    /// Returns the classes as [`predict`](Self::predict) does, given the kernel, from the scores of so
    /// many samples at a time that these take no more than 128 MiB.
    pub(crate) fn predict_with(
        &self,
        design: &Design,
        kernel: Option<&dyn Kernel>,
    ) -> Result<Vec<usize>, Error> {
        const SCORES: usize = if cfg!(test) { 100 } else { 1 << 24 };
        let (n, width) = (design.rows(), self.scores_per_sample());
        let most = (SCORES / width).max(1);
        let mut classes = Vec::with_capacity(n);
        for first in (0..n).step_by(most) {
            let last = n.min(first + most);
            let some: Cow<'_, Design> = match last - first == n {
                true => Cow::Borrowed(design),
                false => Cow::Owned(design.select(&(first..last).collect::<Vec<_>>())),
            };
            let in_all = |error| match error {
                Error::Score { row, score } => Error::Score { row: first + row, score },
                other => other,
            };
            let scores = self.scores_with(&some, kernel).map_err(in_all)?;
            classes.extend(scores.as_slice().chunks_exact(width).map(|scores| self.decide(scores)));
        }
        Ok(classes)
    }

    /// Returns the class, counted from 0, that the scores of a sample stand for. The scores are
    /// finite, as those of [`decision_functions`](Self::decision_functions) are; NaN stands for no
    /// class.
    ///
    /// # Panics
    /// If there are not as many scores as [`scores_per_sample`](Self::scores_per_sample) says.
    pub fn decide(&self, scores: &[f64]) -> usize {
        self.scheme.decide(self.classes.len(), scores)
    }

    /// Returns the scores of every sample, [scores](Self::scores_per_sample) x samples, so that the
    /// scores of a sample stand beside each other in memory.
    ///
    /// # Errors
    /// [`decision_functions`](Self::decision_functions) says which.
    pub fn scores(&self, design: &Design, registry: &Registry) -> Result<DMatrix<f64>, Error> {
        self.scores_with(design, self.kernel(registry)?.as_deref())
    }

    /// Returns the kernel that the scores are computed with, if they are computed with one.
    pub(crate) fn kernel(&self, registry: &Registry) -> Result<Option<Box<dyn Kernel>>, Error> {
        let parse = |basis: &Basis| registry.kernels.parse(basis.kernel()).map_err(Error::Kernel);
        self.basis.as_ref().map(parse).transpose()
    }

    /// Returns the scores as [`scores`](Self::scores) does, given the kernel.
    pub(crate) fn scores_with(
        &self,
        design: &Design,
        kernel: Option<&dyn Kernel>,
    ) -> Result<DMatrix<f64>, Error> {
        self.accept(design.columns(), None)?;
        match &self.list {
            Some(list) => self.listed(list, design),
            None if self.scheme.is_vote() => self.shares(design, kernel),
            None => self.scores_of(&self.members, design, kernel),
        }
    }

    /// Returns the score of every sample under some members, members x samples.
    fn scores_of(
        &self,
        members: &[Member],
        design: &Design,
        kernel: Option<&dyn Kernel>,
    ) -> Result<DMatrix<f64>, Error> {
        let functions = members[0].coef.len();
        let coefs = members.iter().flat_map(|member| member.coef.iter().copied());
        let coefs = DMatrix::from_row_iterator(members.len(), functions, coefs);
        let mut scores = match (&self.basis, kernel) {
            (Some(basis), Some(kernel)) => basis.combine(design, &coefs, kernel)?,
            _ => linear_scores(design, &coefs),
        };
        for mut sample in scores.column_iter_mut() {
            for (score, member) in sample.iter_mut().zip(members) {
                *score += member.intercept;
            }
        }
        match scores.as_slice().iter().position(|score| !score.is_finite()) {
            Some(at) => Err(Error::Score { row: at / members.len(), score: scores.as_slice()[at] }),
            None => Ok(scores),
        }
    }
}

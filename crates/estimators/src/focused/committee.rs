//! The ensembles of games, one variant per kind of learner.

use std::borrow::Cow;
use std::iter::repeat;

use margins_boost::{Combination, KernelExpansion, LinearClasses, Network, StumpVote};
use margins_data::{Design, Sample, parallel};
use margins_kernels::KernelRegistry;
use margins_losses::ZeroOne;
use margins_model::{Basis, Member, Model, Scheme, TrainingSummary};
use margins_optim::online::{LinearClassifier, Scorer};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::plurality;
use crate::Error;

/// The kind of the bytes of ensembles.
#[cfg(feature = "serde")]
const KIND: &str = "an ensemble";

/// The classifiers of a game, one variant per kind of learner, which decide together, or those of the
/// games of several classes. It has the traits of serde, so that a program can keep those that no model
/// holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Committee {
    /// Linear classifiers.
    Linear(margins_boost::Ensemble<LinearClassifier>),
    /// Weighted votes of decision stumps.
    Stumps(margins_boost::Ensemble<StumpVote>),
    /// Combinations of kernel sections.
    Kernel {
        /// The specification of the kernel, complete.
        kernel: String,
        /// The factors that features are multiplied with first, if they were standardised.
        scales: Option<Vec<f64>>,
        /// The combinations.
        sections: margins_boost::Ensemble<KernelExpansion<()>>,
    },
    /// Multilayer perceptrons.
    Networks {
        /// The factors that features are multiplied with first, if they were standardised.
        scales: Option<Vec<f64>>,
        /// The networks.
        networks: margins_boost::Ensemble<Network>,
    },
    /// The ensembles of several classes, each against the rest: the largest score decides.
    Classes(Vec<Committee>),
    /// Linear functions of several classes: the largest score decides.
    Joint(margins_boost::Ensemble<LinearClasses>),
}

impl Committee {
    /// Returns the number of classifiers.
    pub fn len(&self) -> usize {
        match self {
            Committee::Linear(ensemble) => ensemble.members().len(),
            Committee::Stumps(ensemble) => ensemble.members().len(),
            Committee::Kernel { sections, .. } => sections.members().len(),
            Committee::Networks { networks, .. } => networks.members().len(),
            Committee::Classes(classes) => classes.iter().map(Committee::len).sum(),
            Committee::Joint(ensemble) => ensemble.members().len(),
        }
    }

    /// Returns the functions of several classes, if the ensemble is of them.
    pub(super) fn joint(&self) -> Option<&margins_boost::Ensemble<LinearClasses>> {
        match self {
            Committee::Joint(ensemble) => Some(ensemble),
            _ => None,
        }
    }

    /// Returns the ensemble with its linear functions of scaled features as those of the features as
    /// given.
    pub(super) fn unscaled(self, unscale: impl Fn(&LinearClassifier) -> LinearClassifier) -> Self {
        match self {
            Committee::Linear(scaled) => {
                let members = scaled.members().iter().map(unscale).collect();
                Committee::Linear(margins_boost::Ensemble::new(scaled.combination(), members))
            }
            Committee::Joint(scaled) => {
                let of_classes = |member: &LinearClasses| {
                    LinearClasses::new(member.functions().iter().map(&unscale).collect())
                };
                let members = scaled.members().iter().map(of_classes).collect();
                Committee::Joint(margins_boost::Ensemble::new(scaled.combination(), members))
            }
            other => other,
        }
    }

    /// Returns the ensemble as bytes with a checksum.
    ///
    /// # Errors
    /// [`Error::Model`]: an ensemble that cannot be written.
    #[cfg(feature = "serde")]
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(margins_model::to_checked_bytes(KIND, self)?)
    }

    /// Returns the ensemble of the bytes that [`to_bytes`](Self::to_bytes) has made.
    ///
    /// # Errors
    /// [`Error::Model`]: bytes that were altered, or are of something else.
    #[cfg(feature = "serde")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(margins_model::from_checked_bytes(KIND, bytes)?)
    }

    /// Returns true before the first classifier was taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ensembles of the classes, or this one of two classes.
    fn classes(&self) -> &[Committee] {
        match self {
            Committee::Classes(classes) => classes,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns the members of a model of the ensemble for each score, each with the end of its training,
    /// their scheme and their basis; `None` before the first classifier was taken, and of stumps and
    /// networks, which no model holds.
    ///
    /// # Errors
    /// [`Error::Kernels`]: a kernel that the registry does not have.
    pub(super) fn parts(
        &self,
        training: &TrainingSummary,
        columns: usize,
        registry: Option<&KernelRegistry>,
    ) -> Result<Option<Parts>, Error> {
        let member = |(intercept, coef)| Member {
            lambda: None,
            intercept,
            coef,
            training: training.clone(),
            platt: None,
        };
        if let Some(joint) = self.joint() {
            let parts = plurality::functions(joint).map(|(scheme, functions)| {
                let functions = functions.into_iter().map(|f| member((f.intercept, f.coef)));
                Parts { scheme, basis: None, members: vec![functions.collect()] }
            });
            return Ok(parts);
        }
        let classes = self.classes();
        if classes.iter().any(Committee::is_empty) {
            return Ok(None);
        }
        let Some((combination, all, basis)) = functions(classes, columns, registry)? else {
            return Ok(None);
        };
        let mut all = all.into_iter();
        let mut groups: Vec<Vec<Coefficients>> =
            classes.iter().map(|class| all.by_ref().take(class.len()).collect()).collect();
        let scheme = match (combination, groups.len()) {
            (Combination::Majority, 1) => Scheme::Majority,
            (Combination::Majority, _) => Scheme::MajorityVersusRest,
            (Combination::Average, 1) => Scheme::Binary,
            (Combination::Average, _) => Scheme::OneVersusRest,
        };
        if combination == Combination::Average {
            groups.iter_mut().for_each(|group| *group = vec![mean(group)]);
        }
        let members = |group: Vec<Coefficients>| group.into_iter().map(member).collect();
        Ok(Some(Parts { scheme, basis, members: groups.into_iter().map(members).collect() }))
    }

    /// Returns the scores of samples, samples x 1, of which those above 0 stand for the positive class;
    /// of several classes, samples x classes.
    ///
    /// # Errors
    /// [`Error::Optim`]: a score that is not finite. [`Error::Kernels`]: a kernel that the registry
    /// does not have.
    ///
    /// # Panics
    /// If the samples have other features than those of the game.
    pub fn scores(
        &self,
        design: &Design,
        registry: &KernelRegistry,
    ) -> Result<DMatrix<f64>, Error> {
        if let Some(joint) = self.joint() {
            return joint_scores(joint, design);
        }
        let classes = self.classes();
        let mut scores = DMatrix::zeros(design.rows(), classes.len());
        for (mut out, class) in scores.column_iter_mut().zip(classes) {
            out.copy_from_slice(&class.scores_of_class(design, registry)?);
        }
        Ok(scores)
    }

    /// Returns the scores of samples under the ensemble of a class.
    fn scores_of_class(
        &self,
        design: &Design,
        registry: &KernelRegistry,
    ) -> Result<Vec<f64>, Error> {
        let scores = match self {
            Committee::Linear(ensemble) => scores_by(ensemble, design),
            Committee::Stumps(ensemble) => scores_by(ensemble, design),
            Committee::Kernel { kernel, scales, sections } => {
                let kernel = registry.parse(kernel)?;
                let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
                let members = sections.members().iter();
                let members = members.map(|c| c.clone().map_kernel(|()| &value)).collect();
                let ensemble = margins_boost::Ensemble::new(sections.combination(), members);
                scores_by(&ensemble, &scaled(design, scales.as_deref()))
            }
            Committee::Networks { scales, networks } => {
                scores_by(networks, &scaled(design, scales.as_deref()))
            }
            Committee::Classes(_) | Committee::Joint(_) => {
                return Err(Error::contradiction(
                    "an ensemble of several classes".to_owned(),
                    "one of a class".to_owned(),
                    "a class has classifiers of two classes",
                ));
            }
        };
        margins_optim::Error::check_scores(&scores, 0..scores.len())?;
        Ok(scores)
    }
}

/// The members of a model of an ensemble.
pub(super) struct Parts {
    scheme: Scheme,
    basis: Option<Basis>,
    /// The members for each score.
    members: Vec<Vec<Member>>,
}

impl Parts {
    /// Returns the model for classes of these names.
    pub(super) fn model(
        self,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
    ) -> Result<Model, margins_model::Error> {
        let Parts { scheme, basis, members } = self;
        if scheme == Scheme::MajorityVersusRest {
            return Model::from_majorities(&ZeroOne, classes, feature_names, basis, members);
        }
        let members = members.into_iter().flatten().collect();
        Model::from_members(&ZeroOne, classes, scheme, feature_names, basis, members)
    }
}

/// The intercept of a classifier and its coefficients.
type Coefficients = (f64, Vec<f64>);

/// How ensembles combine their classifiers, the coefficients of all of them, one class after the other,
/// and their basis.
type Functions = (Combination, Vec<Coefficients>, Option<Basis>);

/// Returns the functions of the ensembles of classes; `None` if they are not linear in a basis that a
/// model holds.
fn functions(
    classes: &[Committee],
    columns: usize,
    registry: Option<&KernelRegistry>,
) -> Result<Option<Functions>, Error> {
    match &classes[0] {
        Committee::Linear(first) => {
            let linear = |class: &Committee| match class {
                Committee::Linear(ensemble) => Some(ensemble.members().to_vec()),
                _ => None,
            };
            let members: Option<Vec<Vec<LinearClassifier>>> = classes.iter().map(linear).collect();
            let coefficients = |all: Vec<Vec<LinearClassifier>>| {
                let all = all.into_iter().flatten().map(|c| (c.intercept, c.coef)).collect();
                (first.combination(), all, None)
            };
            Ok(members.map(coefficients))
        }
        Committee::Kernel { kernel, scales, sections } => {
            let Some(registry) = registry else { return Ok(None) };
            let mut all = Vec::new();
            for class in classes {
                let Committee::Kernel { sections, .. } = class else { return Ok(None) };
                all.extend_from_slice(sections.members());
            }
            // Every support vector is stored once for all classes.
            let all = margins_boost::Ensemble::new(sections.combination(), all);
            let Some((samples, coefs)) = all.support(columns)? else { return Ok(None) };
            let stored = margins_model::Functions::Sections(samples);
            let basis = Basis::new(&*registry.parse(kernel)?, scales.clone(), stored)?;
            let coefs = coefs.into_iter().map(|coef| (0.0, coef)).collect();
            Ok(Some((sections.combination(), coefs, Some(basis))))
        }
        Committee::Stumps(_)
        | Committee::Networks { .. }
        | Committee::Classes(_)
        | Committee::Joint(_) => Ok(None),
    }
}

/// Returns the mean of classifiers.
fn mean(classifiers: &[Coefficients]) -> Coefficients {
    let (mut intercept, mut coef) = classifiers[0].clone();
    for (b, w) in &classifiers[1..] {
        intercept += b;
        coef.iter_mut().zip(w).for_each(|(sum, w)| *sum += w);
    }
    let count = classifiers.len() as f64;
    coef.iter_mut().for_each(|sum| *sum /= count);
    (intercept / count, coef)
}

/// Returns samples with their features multiplied by factors, if there are any.
fn scaled<'d>(design: &'d Design, scales: Option<&[f64]>) -> Cow<'d, Design> {
    match scales {
        None => Cow::Borrowed(design),
        Some(scales) => {
            let mut scaled = design.clone();
            scaled.scale_columns(scales);
            Cow::Owned(scaled)
        }
    }
}

/// Returns the scores of samples under functions of several classes, samples x classes.
fn joint_scores(
    ensemble: &margins_boost::Ensemble<LinearClasses>,
    design: &Design,
) -> Result<DMatrix<f64>, Error> {
    let mut rows = vec![Vec::new(); design.rows()];
    parallel::for_each_chunk(&mut rows, BLOCK, |k, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = ensemble.class_scores(&design.sample(BLOCK * k + i));
        }
    });
    for (row, scores) in rows.iter().enumerate() {
        margins_optim::Error::check_scores(scores, repeat(row))?;
    }
    let classes = rows.first().map_or(0, Vec::len);
    Ok(DMatrix::from_row_iterator(rows.len(), classes, rows.into_iter().flatten()))
}

/// The number of samples that a thread scores in a turn.
const BLOCK: usize = 256;

fn scores_by(scorer: &(impl Scorer + Sync), design: &Design) -> Vec<f64> {
    let mut scores = vec![0.0; design.rows()];
    parallel::for_each_chunk(&mut scores, BLOCK, |k, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = scorer.score(&design.sample(BLOCK * k + i));
        }
    });
    scores
}

//! The ensembles of games, one variant per kind of learner.

use std::borrow::Cow;

use margins_boost::KernelExpansion;
use margins_boost::{Combination, Network, StumpVote};
use margins_data::Sample;
use margins_data::{Design, parallel};
use margins_kernels::KernelRegistry;
use margins_model::Functions;
use margins_model::{Basis, Member, Scheme, TrainingSummary};
use margins_optim::online::{LinearClassifier, Scorer};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The kind of the bytes of ensembles.
#[cfg(feature = "serde")]
const KIND: &str = "an ensemble";

/// The classifiers of a game, one variant per kind of learner, which decide together. It has
/// the traits of serde, so that a program can keep those that no model holds.
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
}

impl Committee {
    /// Returns the number of classifiers.
    pub fn len(&self) -> usize {
        match self {
            Committee::Linear(ensemble) => ensemble.members().len(),
            Committee::Stumps(ensemble) => ensemble.members().len(),
            Committee::Kernel { sections, .. } => sections.members().len(),
            Committee::Networks { networks, .. } => networks.members().len(),
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

    /// Returns the members of a model of the ensemble, each with the end of its training, their
    /// scheme and their basis; `None` before the first classifier was taken, and of stumps and
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
        let (combination, mut members, basis): (_, Vec<Coefficients>, _) = match self {
            _ if self.is_empty() => return Ok(None),
            Committee::Linear(ensemble) => {
                let members = ensemble.members().iter();
                let members = members.map(|c| (c.intercept, c.coef.clone())).collect();
                (ensemble.combination(), members, None)
            }
            Committee::Kernel { kernel, scales, sections } => {
                let Some(registry) = registry else { return Ok(None) };
                let Some((samples, coefs)) = sections.support(columns)? else { return Ok(None) };
                let functions = Functions::Sections(samples);
                let basis = Basis::new(&*registry.parse(kernel)?, scales.clone(), functions)?;
                let members = coefs.into_iter().map(|coef| (0.0, coef)).collect();
                (sections.combination(), members, Some(basis))
            }
            Committee::Stumps(_) | Committee::Networks { .. } => return Ok(None),
        };
        let scheme = match combination {
            Combination::Majority => Scheme::Majority,
            Combination::Average => {
                members = vec![mean(&members)];
                Scheme::Binary
            }
        };
        let member = |(intercept, coef)| Member {
            lambda: None,
            intercept,
            coef,
            training: training.clone(),
            platt: None,
        };
        Ok(Some(Parts { scheme, basis, members: members.into_iter().map(member).collect() }))
    }

    /// Returns the scores of samples, of which those above 0 stand for the positive class.
    ///
    /// # Errors
    /// [`Error::Optim`]: a score that is not finite. [`Error::Kernels`]: a kernel that the registry
    /// does not have.
    ///
    /// # Panics
    /// If the samples have other features than those of the game.
    pub fn scores(&self, design: &Design, registry: &KernelRegistry) -> Result<Vec<f64>, Error> {
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
        };
        margins_optim::Error::check_scores(&scores, 0..scores.len())?;
        Ok(scores)
    }
}

/// The members of a model of an ensemble.
pub(super) struct Parts {
    pub(super) scheme: Scheme,
    pub(super) basis: Option<Basis>,
    pub(super) members: Vec<Member>,
}

/// The intercept of a classifier and its coefficients.
type Coefficients = (f64, Vec<f64>);

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

fn scores_by(scorer: &(impl Scorer + Sync), design: &Design) -> Vec<f64> {
    const BLOCK: usize = 256;
    let mut scores = vec![0.0; design.rows()];
    parallel::for_each_chunk(&mut scores, BLOCK, |k, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = scorer.score(&design.sample(BLOCK * k + i));
        }
    });
    scores
}

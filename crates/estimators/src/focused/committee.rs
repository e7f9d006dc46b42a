use margins_boost::KernelExpansion;
use margins_boost::{Combination, Network, StumpVote};
use margins_data::Sample;
use margins_data::{Design, parallel};
use margins_kernels::KernelRegistry;
use margins_optim::online::{LinearClassifier, Scorer};
use serde::{Deserialize, Serialize};

use crate::Error;

/// What bytes of ensembles say that they are.
#[cfg(feature = "serde")]
const KIND: &str = "an ensemble";

/// The classifiers that a game leaves behind, of whatever kind its learner makes, which decide
/// together. It has the traits of serde, so that a program can keep those that no model holds.
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
        /// The combinations.
        sections: margins_boost::Ensemble<KernelExpansion<()>>,
    },
    /// Multilayer perceptrons.
    Networks(margins_boost::Ensemble<Network>),
}

impl Committee {
    /// Returns the number of classifiers.
    pub fn len(&self) -> usize {
        match self {
            Committee::Linear(ensemble) => ensemble.members().len(),
            Committee::Stumps(ensemble) => ensemble.members().len(),
            Committee::Kernel { sections, .. } => sections.members().len(),
            Committee::Networks(ensemble) => ensemble.members().len(),
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

    /// Returns the one linear classifier that the ensemble is; `None` of another one.
    pub fn classifier(&self) -> Option<LinearClassifier> {
        match self {
            Committee::Linear(ensemble) if ensemble.combination() == Combination::Average => {
                ensemble.mean_classifier()
            }
            _ => None,
        }
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
            Committee::Kernel { kernel, sections } => {
                let kernel = registry.parse(kernel)?;
                let value = |x: &Sample<'_>, z: &Sample<'_>| kernel.value(x, z);
                let members = sections.members().iter();
                let members = members.map(|c| c.clone().map_kernel(|()| &value)).collect();
                let ensemble = margins_boost::Ensemble::new(sections.combination(), members);
                scores_by(&ensemble, design)
            }
            Committee::Networks(ensemble) => scores_by(ensemble, design),
        };
        margins_optim::Error::check_scores(&scores, 0..scores.len())?;
        Ok(scores)
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

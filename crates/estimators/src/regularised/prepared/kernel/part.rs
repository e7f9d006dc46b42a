//! What fits to the same rows share for a kernel: its matrix, or its features.

use std::borrow::Cow;

use margins_data::{Classes, Dataset};
use margins_kernels::{Gram, KernelObjective, PivotedCholesky, training_path};
use margins_losses::MarginLoss;
use margins_optim::path::JointFit;
use margins_optim::problem::JointForm;
use margins_optim::{Fit, Lambda, Training};
use margins_robust::RobustLearner;

use super::super::{Subset, joint};
use super::{FeatureSpace, KernelBasis};
use crate::Error;
use crate::regularised::margin_distribution::margin_distribution;

/// The share of a kernel that fits to some of the rows have in common.
#[derive(Debug)]
pub(in crate::regularised::prepared) enum Part<'s> {
    /// The kernel matrix of these rows.
    Gram(Box<Cow<'s, Gram>>),
    /// The factor for all rows.
    Cholesky(&'s PivotedCholesky, &'s KernelBasis),
    Features(&'s FeatureSpace),
}

impl Part<'_> {
    /// Returns true if coefficients belong to features, and not to samples.
    pub(in crate::regularised::prepared) fn has_features(&self) -> bool {
        matches!(self, Part::Features(_))
    }

    /// Returns the fits at every lambda, largest first, with a coefficient for every function of
    /// the prepared data.
    pub(in crate::regularised::prepared) fn path<L: MarginLoss + ?Sized>(
        &self,
        subset: &Subset<'_>,
        training: &Training<'_, L>,
        learner: Option<&RobustLearner>,
        data: &Dataset,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let (options, observer) = (&training.options, training.observer);
        let mut fits = match (self, learner) {
            (Part::Features(space), _) => {
                return space.path(training, learner, data, subset.rows, lambdas);
            }
            (Part::Cholesky(factor, KernelBasis { kernel, design, .. }), None) => {
                // Samples that are left out are samples of weight zero: the factor serves every
                // subset.
                let risk = match subset.rows {
                    Some(rows) => training.risk_of_rows(data, rows)?,
                    None => training.risk(data)?,
                };
                let fits = factor.path(&risk, &**kernel, design, lambdas, options, observer)?;
                return Ok(fits.into_iter().map(Fit::from).collect());
            }
            (Part::Gram(gram), None) => {
                training_path(training, &subset.chosen(data)?, gram, lambdas)?
            }
            (Part::Gram(gram), Some(RobustLearner::MarginDistribution(machine))) => {
                let chosen = subset.chosen(data)?;
                let objective = KernelObjective::from_risk(training.risk(&chosen)?, gram)?;
                margin_distribution(machine, &objective, lambdas, options, observer)?
            }
            (Part::Gram(_) | Part::Cholesky(..), Some(learner)) => {
                return Err(Error::LinearLearner(*learner));
            }
        };
        for fit in &mut fits {
            fit.coef = subset.in_all(std::mem::take(&mut fit.coef), data.rows());
        }
        Ok(fits.into_iter().map(Fit::from).collect())
    }

    /// Returns the fits of several classes in one problem at every lambda, largest first, to the rows chosen
    /// of the data, with a coefficient for every function of the prepared data.
    pub(in crate::regularised::prepared) fn joint_path(
        &self,
        subset: &Subset<'_>,
        training: &Training<'_, dyn MarginLoss>,
        form: JointForm,
        (data, chosen): (&Dataset<Classes>, &Dataset<Classes>),
        lambdas: &[Lambda],
    ) -> Result<Vec<JointFit>, Error> {
        match self {
            Part::Features(space) => Ok(joint::fits(&space.own(training), form, chosen, lambdas)?),
            Part::Cholesky(factor, KernelBasis { kernel, design, .. }) => {
                let kernel = (&**kernel, design);
                Ok(factor.joint_path(training, form, chosen, subset.rows, kernel, lambdas)?)
            }
            Part::Gram(gram) => {
                let mut fits = margins_kernels::joint_path(training, form, chosen, gram, lambdas)?;
                for coef in fits.iter_mut().flat_map(|fit| &mut fit.coefs) {
                    *coef = subset.in_all(std::mem::take(coef), data.rows());
                }
                Ok(fits)
            }
        }
    }
}

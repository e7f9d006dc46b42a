//! `--probability platt`: Platt scaling of held-out scores.

use margins::calibration::probability::PlattScaling;
use margins::data::Dataset;
use margins::losses::MarginLoss;
use margins::optim::{Lambda, Training};
use margins::{Model, Prepared, Probabilities, folds_of};
use serde::Serialize;

use crate::Failure;
use crate::args::TrainArguments;
use crate::choices::{Probability, SolverChoice};
use crate::train::refusal;

/// `P(y = +1 | f) = 1/(1 + exp(slope f + intercept))`.
#[derive(Debug, Serialize)]
pub(crate) struct PlattDocument {
    slope: f64,
    intercept: f64,
}

impl From<&PlattScaling> for PlattDocument {
    fn from(scaling: &PlattScaling) -> Self {
        PlattDocument { slope: scaling.slope(), intercept: scaling.intercept() }
    }
}

impl TrainArguments {
    /// Where the builder is to take probabilities from.
    pub(crate) fn probabilities(&self, folds: Option<usize>) -> Probabilities {
        match self.probability {
            Probability::Loss => Probabilities::OfTheLoss,
            Probability::Platt => Probabilities::Platt { folds },
        }
    }

    /// Refuses Platt scaling for fits that hold no folds out.
    pub(crate) fn check_probability(&self) -> Result<(), Failure> {
        let holds_folds_out =
            matches!(self.solver, SolverChoice::Named(name) if name.of_paths().is_some());
        if self.probability == Probability::Loss || holds_folds_out {
            return Ok(());
        }
        Err(Failure::usage(
            "--probability platt scales the scores of held-out folds: it is for the solvers of one objective \
             (auto, newton, mm, mm-accelerated, mm-batched, sdca, bundle, gd)",
        ))
    }

    /// The scaling, if it is asked for, by fits at the last of the lambdas. Samples count by these weights, 1 where
    /// absent; costs of classes are for the fits alone.
    pub(crate) fn platt(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, dyn MarginLoss + '_>,
        (data, folds): (&Dataset, Option<usize>),
        lambdas: &[Lambda],
        sample_weights: Option<&[f64]>,
    ) -> Result<Option<PlattScaling>, Failure> {
        if self.probability == Probability::Loss {
            return Ok(None);
        }
        let (folds, _) = folds_of(data, folds, self.seed).map_err(Failure::usage)?;
        let training = Training { observer: &|_| {}, ..*training };
        prepared.platt(&training, &folds, lambdas, sample_weights).map(Some).map_err(refusal)
    }
}

/// The model with the scaling, if there is one.
pub(crate) fn scaled(model: Model, scaling: Option<PlattScaling>) -> Model {
    match scaling {
        Some(scaling) => model.with_platt(scaling),
        None => model,
    }
}

//! The settings of fits, as given.

use margins::calibration::probability::PlattScaling;
use serde::Serialize;

/// The settings of a fit.
#[derive(Serialize)]
pub(crate) struct TrainingDocument {
    pub(crate) loss: String,
    /// Null for linear classifiers.
    pub(crate) kernel: Option<String>,
    /// Null without a kernel.
    pub(crate) approximation: Option<String>,
    /// Null for the mean loss.
    pub(crate) objective: Option<String>,
    pub(crate) solver: String,
    pub(crate) tolerance: f64,
    pub(crate) intercept: bool,
    pub(crate) standardize: bool,
    /// As given, separated by blanks; null if all features have the factor 1.
    pub(crate) penalty_factors: Option<String>,
    pub(crate) class_weight: String,
    /// The seed of landmarks, frequencies, sigma from the data, and folds unless the data say them.
    pub(crate) seed: u64,
}

/// A Platt scaling: `P(y = +1 | f) = 1/(1 + exp(slope f + intercept))`.
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

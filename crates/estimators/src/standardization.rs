//! Features standardised before a learner sees them, and its classifier as one of the features as
//! given.

use margins_data::{Design, Error, Standardizer};
use margins_optim::online::LinearClassifier;

/// The scaling of features to deviation 1, and to mean 0 if they are centred.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standardization {
    standardizer: Standardizer,
    centred: bool,
}

impl Standardization {
    /// Returns the scaling by these means and deviations; `centred` is false where an intercept
    /// cannot take up a shift of the features, and for sparse ones.
    pub(crate) fn new(standardizer: Standardizer, centred: bool) -> Self {
        Standardization { standardizer, centred }
    }

    /// Returns the features, scaled.
    ///
    /// # Errors
    /// A value overflows.
    pub(crate) fn apply(&self, design: &Design) -> Result<Design, Error> {
        match self.centred {
            true => self.standardizer.center_and_scale(design),
            false => self.standardizer.scale(design.clone()),
        }
    }

    /// Returns the factors of the features.
    pub(crate) fn factors(&self) -> Vec<f64> {
        self.standardizer.factors()
    }

    /// Returns the classifier of features as given that decides like one of scaled features.
    pub(crate) fn unscale(&self, scaled: &LinearClassifier) -> LinearClassifier {
        let LinearClassifier { intercept, ref coef } = *scaled;
        let intercept = match self.centred {
            true => self.standardizer.uncenter_intercept(intercept, coef),
            false => intercept,
        };
        LinearClassifier { intercept, coef: self.standardizer.unscale_coefficients(coef) }
    }
}

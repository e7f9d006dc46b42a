//! The perceptron.

use margins_data::Sample;

use super::{LinearClassifier, OnlineLearner, Scorer};
use crate::Error;

/// The perceptron: on a mistake, `y f(x) <= 0`, the coefficients move by `y x` and the intercept by
/// `y`.
///
/// Source: Rosenblatt (1958). It makes at most `(R/gamma)^2` mistakes on samples of norm at most R
/// that are separated with margin gamma (Novikoff 1962); R and gamma count the intercept as a
/// feature of value 1.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Perceptron {
    classifier: LinearClassifier,
    has_intercept: bool,
}

impl Perceptron {
    /// Returns a perceptron at the origin, with an intercept.
    pub fn new(features: usize) -> Self {
        Perceptron { classifier: LinearClassifier::zero(features), has_intercept: true }
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        Perceptron { has_intercept: false, ..self }
    }
}

impl Scorer for Perceptron {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.classifier.score(x)
    }

    fn columns(&self) -> Option<usize> {
        self.classifier.columns()
    }
}

impl OnlineLearner for Perceptron {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        let margin = y * self.score(x);
        if !margin.is_finite() {
            return Err(Error::Diverged(margin));
        }
        if margin <= 0.0 {
            x.add_to(y, &mut self.classifier.coef);
            if self.has_intercept {
                self.classifier.intercept += y;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> LinearClassifier {
        self.classifier.clone()
    }
}

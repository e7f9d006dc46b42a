//! The averaged perceptron.

use margins_data::Sample;

use super::{LinearClassifier, OnlineLearner, Scorer};
use crate::Error;
use crate::online::iterate::Iterate;

/// The averaged perceptron: the classifier is the mean of the iterates, one counted after every
/// sample.
///
/// The iterate, not the mean, decides what is a mistake. A step costs O(nonzeros), a snapshot O(p).
///
/// Source: Freund and Schapire, *Large margin classification using the perceptron algorithm*
/// (1999), section 2.4, the averaged variant of their voted perceptron.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AveragedPerceptron {
    iterate: Iterate,
    has_intercept: bool,
}

impl AveragedPerceptron {
    /// Returns a perceptron at the origin, with an intercept.
    pub fn new(features: usize) -> Self {
        let mut iterate = Iterate::new(LinearClassifier::zero(features));
        iterate.start_averaging();
        AveragedPerceptron { iterate, has_intercept: true }
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        AveragedPerceptron { has_intercept: false, ..self }
    }
}

impl Scorer for AveragedPerceptron {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.iterate.score(x)
    }

    fn columns(&self) -> Option<usize> {
        Some(self.iterate.features())
    }
}

impl OnlineLearner for AveragedPerceptron {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        let product = self.iterate.product(x);
        let margin = y * (self.iterate.intercept + product);
        if !margin.is_finite() {
            return Err(Error::Diverged(margin));
        }
        if margin <= 0.0 {
            let y_b = if self.has_intercept { y } else { 0.0 };
            self.iterate.advance(1.0, (y, y_b), x, product)?;
        }
        self.iterate.finish(None);
        Ok(())
    }

    fn snapshot(&self) -> LinearClassifier {
        self.iterate.classifier()
    }
}

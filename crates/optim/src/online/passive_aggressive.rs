//! Passive-aggressive learners.

use margins_data::Sample;
use margins_losses::OutOfRange;

use super::{LinearClassifier, OnlineLearner, Scorer};
use crate::Error;

/// The length of a passive-aggressive step, for the hinge loss `l` of the sample before it and
/// `q = ||x||^2`, plus 1 if there is an intercept.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Aggressiveness {
    /// The step of PA, to the margin 1: `tau = l / q`.
    Full,
    /// The step of PA-I: `tau = min(C, l / q)`.
    Capped(f64),
    /// The step of PA-II: `tau = l / (q + 1/(2 C))`.
    Damped(f64),
}

/// The passive-aggressive learner: a sample with a margin of at least 1 changes nothing; any other
/// adds `tau y` to the intercept and `tau y x` to the coefficients, the smallest change that the
/// [`Aggressiveness`] asks for.
///
/// The intercept is the coefficient of a feature of value 1.
///
/// Source: Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, *Online passive-aggressive
/// algorithms* (2006), section 3.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PassiveAggressive {
    classifier: LinearClassifier,
    aggressiveness: Aggressiveness,
    has_intercept: bool,
}

impl PassiveAggressive {
    /// Returns a learner at the origin, with an intercept.
    ///
    /// # Errors
    /// [`Error::Parameter`]: C is not a finite number greater than 0.
    pub fn new(features: usize, aggressiveness: Aggressiveness) -> Result<Self, Error> {
        if let Aggressiveness::Capped(c) | Aggressiveness::Damped(c) = aggressiveness {
            OutOfRange::check_positive("the aggressiveness C", c)?;
        }
        let classifier = LinearClassifier::zero(features);
        Ok(PassiveAggressive { classifier, aggressiveness, has_intercept: true })
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        PassiveAggressive { has_intercept: false, ..self }
    }

    /// Returns `tau`, and 0 for a sample that is 0, which no step helps.
    fn length(&self, loss: f64, square: f64) -> f64 {
        let full = if square > 0.0 { loss / square } else { 0.0 };
        match self.aggressiveness {
            Aggressiveness::Full => full,
            Aggressiveness::Capped(c) => full.min(c),
            Aggressiveness::Damped(c) => loss / (square + 0.5 / c),
        }
    }
}

impl Scorer for PassiveAggressive {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.classifier.score(x)
    }

    fn columns(&self) -> Option<usize> {
        self.classifier.columns()
    }
}

impl OnlineLearner for PassiveAggressive {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), Error> {
        let margin = y * self.score(x);
        if !margin.is_finite() {
            return Err(Error::Diverged(margin));
        }
        if margin < 1.0 {
            let square = x.squared_norm() + if self.has_intercept { 1.0 } else { 0.0 };
            let tau = self.length(1.0 - margin, square);
            // If both are finite, tau x and its sum with the coefficients are too.
            if !(square.is_finite() && tau.is_finite()) {
                return Err(Error::Overflow);
            }
            x.add_to(tau * y, &mut self.classifier.coef);
            if self.has_intercept {
                self.classifier.intercept += tau * y;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> LinearClassifier {
        self.classifier.clone()
    }
}

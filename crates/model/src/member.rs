//! A binary classifier of a model, with the certificate of its fit.

use margins_calibration::probability::PlattScaling;
use margins_losses::MarginLoss;

/// A binary classifier of a [`Model`](crate::Model).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Member {
    /// The regularisation; `None` of a fit whose objective has no penalty.
    pub lambda: Option<f64>,
    /// The intercept b.
    pub intercept: f64,
    /// The coefficients: w for the features as given, or those of the functions of the basis.
    pub coef: Vec<f64>,
    /// The end of the fit.
    pub training: TrainingSummary,
    /// The scaling that turns scores into probabilities; `None` leaves that to the loss.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub platt: Option<PlattScaling>,
}

/// The certificate that a member was fitted with.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TrainingSummary {
    /// Rows of the training data.
    pub rows: usize,
    /// True if features were scaled to unit standard deviation during the fit.
    pub standardize: bool,
    /// The objective reached; `None` if it is unknown, as for a stream.
    pub objective: Option<f64>,
    /// A lower bound on the minimum of the objective, where one is known.
    pub dual_objective: Option<f64>,
    /// The gap between objective and bound relative to their size, where it is known.
    pub relative_gap: Option<f64>,
    /// True if that gap is at most the tolerance.
    pub converged: bool,
}

impl TrainingSummary {
    /// Returns the summary of a fit to `rows` samples as given whose objective is unknown: of a
    /// pass over a stream, a game, or a learner that has no objective.
    pub fn uncertified(rows: usize) -> Self {
        TrainingSummary {
            rows,
            standardize: false,
            objective: None,
            dual_objective: None,
            relative_gap: None,
            converged: false,
        }
    }
}

impl Member {
    /// Returns the probability of the positive class at a score: by Platt scaling if there is one,
    /// else by the loss; `None` if that has none.
    pub fn probability(&self, loss: &dyn MarginLoss, score: f64) -> Option<f64> {
        match &self.platt {
            Some(scaling) => Some(scaling.probability(score)),
            None => loss.probability(score),
        }
    }

    /// Refuses numbers that no program could apply, and another number of coefficients than of
    /// functions.
    pub(crate) fn check(&self, functions: usize) -> Result<(), String> {
        if let Some(lambda) = self.lambda.filter(|lambda| !(lambda.is_finite() && *lambda >= 0.0)) {
            return Err(format!("its lambda is {lambda:?}"));
        }
        if self.coef.len() != functions {
            return Err(format!(
                "it has {} coefficients for {functions} functions",
                self.coef.len()
            ));
        }
        if !(self.intercept.is_finite() && self.coef.iter().all(|w| w.is_finite())) {
            return Err("a coefficient is not finite".to_owned());
        }
        let training = &self.training;
        let numbers = [training.objective, training.dual_objective, training.relative_gap];
        if !numbers.iter().flatten().all(|x| x.is_finite()) {
            return Err("its objective or the gap of it is not finite: features so large or so small leave the \
                        range of numbers, scale them first".to_owned());
        }
        Ok(())
    }
}

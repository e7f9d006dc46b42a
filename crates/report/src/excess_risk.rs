//! The bound on the excess error by the Psi-transform.

use margins_calibration::PsiTransform;
use margins_data::metrics::mean_loss;
use margins_losses::MarginLoss;
use serde::Serialize;

use crate::data::Labelled;
use crate::measured::Measured;

/// The bound on the excess error that the Psi-transform of the loss gives for an excess risk: a
/// classifier whose risk is r above the minimum over all measurable functions errs at most
/// `Psi^{-1}(r)` more often than the Bayes rule. The minimal risk of a class, such as the linear
/// functions, may be larger and then bounds nothing.
///
/// Source: Bartlett, Jordan and McAuliffe 2006, theorem 1. The minimum over all functions is not
/// known, but the excess is at most the risk itself if the loss is nonnegative.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExcessRisk {
    /// The name of the data that the risk is a mean over.
    pub data: String,
    /// The mean loss, by weight.
    pub risk: Measured,
    /// Excess risks with what they allow, from 0 to the mean loss; where that is not positive, to the
    /// excess that allows an error of one half above the least.
    pub points: Vec<ExcessRiskPoint>,
}

/// An excess risk with what it allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExcessRiskPoint {
    /// The excess of the risk over its minimum over all measurable functions.
    pub excess_risk: f64,
    /// The largest excess of the error over the Bayes error that it allows.
    pub excess_error: f64,
}

impl ExcessRisk {
    /// Returns the excess risks below the mean loss of scores; `None` for a loss that is not
    /// calibrated, or whose mean is not finite.
    pub(crate) fn new(
        sample: &Labelled<'_>,
        loss: &dyn MarginLoss,
        scores: &[f64],
    ) -> Option<Self> {
        const POINTS: usize = 40;
        let transform = PsiTransform::of(loss).ok()?;
        let margins = sample.signs(1).into_iter().zip(scores);
        let losses: Vec<f64> = margins.map(|(sign, score)| loss.value(sign * score)).collect();
        let risk: Measured = mean_loss(&losses, sample.weights).ok()?.into();
        let most = if risk.value > 0.0 { risk.value } else { transform.value(0.5) };
        if !(risk.value.is_finite() && most.is_finite()) {
            return None;
        }
        let point = |k: usize| {
            let excess_risk = most * k as f64 / POINTS as f64;
            ExcessRiskPoint { excess_risk, excess_error: transform.inverse(excess_risk) }
        };
        let points = (0..=POINTS).map(point).collect();
        Some(ExcessRisk { data: sample.name.to_owned(), risk, points })
    }
}

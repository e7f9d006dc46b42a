//! The loss of rows before their steps, which shows steps that are too long.

use margins_losses::MarginLoss;
use margins_optim::online::stochastic::Start;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::settings::{StreamMethod, StreamSettings};

/// The loss of the rows so far, each under the classifier before its step, over all members.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub(super) struct ProgressiveLoss {
    sum: f64,
    weight: f64,
}

impl ProgressiveLoss {
    /// Adds the loss of a row with a weight.
    pub(super) fn add(&mut self, loss: f64, weight: f64) {
        self.sum += weight * loss;
        self.weight += weight;
    }

    /// Returns true if the mean is above twice the loss at w = 0.
    ///
    /// Steps of length eta from w = 0 on convex losses `f_t` with gradients `g_t` have
    /// `|w_(t+1)|^2 <= |w_t|^2 - 2 eta (f_t(w_t) - f_t(0)) + eta^2 |g_t|^2`, so that the mean of
    /// `f_t(w_t) - f_t(0)` is at most `eta/2` times the mean of `|g_t|^2`, in any order of the rows. If
    /// it exceeds `f(0)`, eta is above `2 f(0)` over the mean of `|g_t|^2`.
    pub(super) fn has_grown(&self, loss: &dyn MarginLoss) -> bool {
        const TIMES: f64 = 2.0;
        // An overflow has grown as well.
        self.sum.is_nan() || self.sum > TIMES * self.weight * loss.value(0.0)
    }
}

impl StreamSettings {
    /// Returns the length of the first step if it was given, and steps begin at w = 0.
    pub(super) fn given_step(&self) -> Option<f64> {
        match (self.method, self.start) {
            (StreamMethod::Gradient { first, .. }, Start::Origin) => first,
            _ => None,
        }
    }
}

//! The mixture of experts, weighted by their losses so far.

use super::coordinate::{COIN, EXPERTS};

/// The methods whose mean score is the score of the learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Experts {
    /// Adaptive normalised steps of three lengths and the coin bettor, by what they have lost.
    All,
    /// The coin bettor alone.
    Coin,
}

/// The losses of the experts so far, from which their shares follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Mixture {
    losses: [f64; EXPERTS],
}

impl Mixture {
    /// Returns the shares of the experts in the score: exponential weights by their losses, at the
    /// rate `1/sqrt(lowest loss)`, at most 1 (Auer, Cesa-Bianchi and Gentile 2002).
    #[inline(always)]
    pub(super) fn shares(&self, experts: Experts) -> [f64; EXPERTS] {
        if experts == Experts::Coin {
            let mut shares = [0.0; EXPERTS];
            shares[COIN] = 1.0;
            return shares;
        }
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let rate = least.max(1.0).sqrt().recip();
        let weights = self.losses.map(|loss| ((least - loss) * rate).exp());
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }

    /// Adds the losses of a sample; a sum is never infinite.
    #[inline(always)]
    pub(super) fn add(&mut self, losses: [f64; EXPERTS]) {
        for (sum, loss) in self.losses.iter_mut().zip(losses) {
            *sum = (*sum + loss).clamp(f64::MIN, f64::MAX);
        }
    }
}

/// The mean of the iterates: its sum is that of the weights times `factors` and of the rests of the
/// coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Mean {
    pub(super) factors: [f64; EXPERTS],
    pub(super) count: f64,
}

impl Mean {
    /// Counts the present iterate, a mixture of these shares.
    #[inline(always)]
    pub(super) fn count(&mut self, shares: [f64; EXPERTS]) {
        self.factors.iter_mut().zip(shares).for_each(|(factor, share)| *factor += share);
        self.count += 1.0;
    }
}

/// Returns the inner product of the numbers of the experts.
#[inline(always)]
pub(super) fn mix(a: &[f64; EXPERTS], b: &[f64; EXPERTS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

//! The coin-betting expert of one weight.

/// A bettor on the slopes of one weight, without any step length (Orabona and Tommasi 2017,
/// algorithm 1).
///
/// Each slope is a coin, and the weight a bet on it: the share of the wealth that the slopes so far
/// call for. The wealth is bounded from below as a bettor who loses all begins again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(super) struct Coin {
    /// The sum of the slopes, downhill positive.
    sum: f64,
    /// The sum of the absolute slopes.
    total: f64,
    /// The gain over the wealth at the beginning, at least 0.
    gain: f64,
}

impl Coin {
    /// Takes the slope under a weight, at most `steepest` in absolute value, and returns the next
    /// weight, given the wealth at the beginning.
    #[inline(always)]
    pub(super) fn toss(&mut self, weight: f64, slope: f64, steepest: f64, wealth: f64) -> f64 {
        if slope == 0.0 {
            return weight;
        }
        self.take(weight, slope);
        self.sum * (wealth + self.gain) / (steepest * (self.total + steepest))
    }

    /// Takes the slope of a penalty `pull weight^2 / 2`, or `steepest` where that is less; the
    /// weight follows with the next toss.
    #[inline(always)]
    pub(super) fn resist(&mut self, weight: f64, pull: f64, steepest: f64) {
        if weight != 0.0 {
            self.take(weight, (-pull * weight).clamp(-steepest, steepest));
        }
    }

    #[inline(always)]
    fn take(&mut self, weight: f64, slope: f64) {
        self.total += slope.abs();
        self.gain = (self.gain + weight * slope).max(0.0);
        self.sum += slope;
    }
}

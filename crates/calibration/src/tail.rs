//! The lowest conditional risk of a loss without a lower bound, where its minimiser is on the tails.

use margins_losses::{HomogeneousTail, MarginLoss};

/// Returns the tail of a loss without a lower bound that falls on the right and is a line on the left.
pub(crate) fn of_unbounded(loss: &dyn MarginLoss) -> Option<HomogeneousTail> {
    let tail = loss.homogeneous_tail().filter(HomogeneousTail::falls)?;
    let is_line = loss.derivative(-tail.from) == loss.derivative(-f64::MAX);
    (is_line && loss.lower_bound().is_none()).then_some(tail)
}

/// Returns the rate `(1 - d)/d` with which the risk falls, exponentially in the log odds.
pub(crate) fn rate(tail: HomogeneousTail) -> f64 {
    (1.0 - tail.degree) / tail.degree
}

/// Returns the lowest conditional risk at log odds `l >= 0`; `None` if its minimiser is not on a known
/// tail.
///
/// With the tails `L'(u) = -c u^(-d)` and `L'(-u) = -s` from `u_0` on, the minimiser is
/// `u = (c/s exp(l))^(1/d)`. With `c u_0^(1-d) = g`, `l_0` the log odds of `u_0`, and
/// `k = (1 - d)/d`, the lowest risk is
/// `p (L(u_0) + g - g (exp(k (l - l_0)) - 1)/k) + (1 - p) (L(-u_0) - s u_0)`. The minimiser overflows
/// before the risk does, so it is not computed.
pub(crate) fn least_risk(loss: &dyn MarginLoss, log_odds: f64) -> Option<f64> {
    let tail = of_unbounded(loss)?;
    let from = tail.from;
    let (right, left) = (-loss.derivative(from), -loss.derivative(-from));
    let beyond = log_odds - (left / right).ln();
    if beyond.is_nan() || beyond < 0.0 {
        return None;
    }
    let share = 1.0 / (1.0 + (-log_odds).exp());
    let falling = loss.value(from) + right * from * (1.0 - growth(rate(tail), beyond));
    Some(share * falling + (1.0 - share) * (loss.value(-from) - left * from))
}

/// Returns `(exp(rate t) - 1)/rate`, t for a rate of 0; large ones in logarithms, because the quotient
/// may be a number where `exp(rate t)` is not.
fn growth(rate: f64, t: f64) -> f64 {
    /// An exponent whose power is a number, and to which 1 is nothing.
    const LARGE: f64 = 700.0;
    match rate * t {
        _ if rate == 0.0 => t,
        exponent if exponent > LARGE => (exponent - rate.ln()).exp(),
        exponent => exponent.exp_m1() / rate,
    }
}

//! The lowest surrogate risk of all functions, and the share of samples with hardly any label noise,
//! from log odds `l(x) = ln(p(x)/(1 - p(x)))` of the positive class.
//!
//! Every excess surrogate risk is an excess over the lowest risk `R_L*`, the mean of the lowest
//! conditional risks. A loss without a lower bound, such as the leaky hockey stick, may have the
//! lowest risk minus infinity: then every excess is infinite and bounds nothing. Log odds stand for
//! probabilities here because such a loss needs the digits of `p` near 0 and 1.
//!
//! Source: Kwon and Zou, *Leaky hockey stick loss*, JMLR 24 (2023), section 5 and theorem 4, A.10 and
//! A.15.
//!
//! ```
//! use margins_calibration::least_risk::{LeastRisk, share_without_noise};
//! use margins_losses::LeakyHockeyStick;
//!
//! let log_odds = [0.0, 2.0, -2.0, 5.0];
//! let least = LeastRisk::of(&LeakyHockeyStick, &log_odds)?;
//! assert!((least.risk - (1.0 + 2.0 * (1.0 - 1.761594) + (1.0 - 4.966536)) / 4.0).abs() < 1e-6);
//! // Five is beyond ln 19, so one sample of four has a probability within 0.05 of 0 or 1.
//! assert_eq!(share_without_noise(&log_odds, 0.1)?, 0.25);
//! // Without any label noise on a share of the samples the lowest risk is minus infinity.
//! let certain = LeastRisk::of(&LeakyHockeyStick, &[0.0, f64::INFINITY])?;
//! assert_eq!(certain.risk, f64::NEG_INFINITY);
//! # Ok::<(), margins_calibration::Error>(())
//! ```

use margins_losses::{MarginLoss, OutOfRange};

use crate::{Error, least_conditional_risk, tail};

/// An estimate of the lowest risk `R_L*` from samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastRisk {
    /// The mean of the lowest conditional risks, minus infinity if one of them is.
    pub risk: f64,
    /// The standard error of the mean; NaN for one sample or a mean that is not finite.
    pub standard_error: f64,
}

impl LeastRisk {
    /// Estimates the lowest risk of a loss from the log odds of samples.
    ///
    /// # Errors
    /// [`Error::Empty`]: there are no samples. [`Error::Entry`]: log odds are NaN.
    pub fn of(loss: &dyn MarginLoss, log_odds: &[f64]) -> Result<Self, Error> {
        check(log_odds)?;
        let risks: Vec<f64> = log_odds.iter().map(|&l| least_risk_at(loss, l)).collect();
        let n = risks.len() as f64;
        let risk = risks.iter().sum::<f64>() / n;
        let squares: f64 = risks.iter().map(|at| (at - risk).powi(2)).sum();
        Ok(LeastRisk { risk, standard_error: (squares / (n - 1.0) / n).sqrt() })
    }
}

/// Returns the lowest conditional risk where the positive class has these log odds; minus infinity for
/// infinite log odds and a loss without a lower bound; NaN for NaN.
///
/// For the leaky hockey stick it is `1 - |l|/(1 + exp(-|l|))` (A.10), and for `L_r`
/// `1 - (r - 1) (exp(|l|/(r - 1)) - 1)/(1 + exp(-|l|))` (A.15).
pub fn least_risk_at(loss: &dyn MarginLoss, log_odds: f64) -> f64 {
    /// The log odds beyond which a class counts as certain, if the tail of the loss is not known.
    const FAR: f64 = 40.0;
    let size = log_odds.abs();
    // The smaller one of the two probabilities keeps its digits.
    let eta = if size > FAR { 0.0 } else { 1.0 / (1.0 + size.exp()) };
    let on_tail = tail::least_risk(loss, size);
    on_tail.unwrap_or_else(|| least_conditional_risk(loss, eta).unwrap_or(f64::NAN))
}

/// Returns the k such that the lowest risk is finite exactly if the mean of `exp(k |l|)` is, for `k = 0`
/// the mean of `|l|` (theorem 4): 0 for the leaky hockey stick, `1/(r - 1)` for `L_r`. `None` for a loss
/// with a lower bound, whose lowest risk is always finite, and for one whose tails are not known: a
/// [falling](margins_losses::HomogeneousTail::falls) one on the right, a line on the left.
///
/// In terms of g the condition is that the integral of `g(delta) delta^(-1-k)` near 0 is finite.
pub fn tail_rate(loss: &dyn MarginLoss) -> Option<f64> {
    tail::of_unbounded(loss).map(tail::rate)
}

/// Returns `g(delta) = P(|2 p - 1| >= 1 - delta)`, the share of samples with hardly any label noise:
/// those whose log odds are at least `ln((2 - delta)/delta)` in size.
///
/// # Errors
/// [`Error::Empty`]: there are no samples. [`Error::Entry`]: log odds are NaN. [`Error::Parameter`]:
/// `delta` is not in (0, 1].
pub fn share_without_noise(log_odds: &[f64], delta: f64) -> Result<f64, Error> {
    check(log_odds)?;
    let delta = OutOfRange::check("delta", delta, "in (0, 1]", |d| d > 0.0 && d <= 1.0)?;
    let least = ((2.0 - delta) / delta).ln();
    let count = log_odds.iter().filter(|l| l.abs() >= least).count();
    Ok(count as f64 / log_odds.len() as f64)
}

fn check(log_odds: &[f64]) -> Result<(), Error> {
    if log_odds.is_empty() {
        return Err(Error::Empty("log odds"));
    }
    Error::check_entries("log odds", log_odds, "a number", |l| !l.is_nan())
}

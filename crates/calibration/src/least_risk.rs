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

use margins_losses::{HomogeneousTail, MarginLoss, OutOfRange};

use crate::{Error, least_conditional_risk};

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
    /// The log odds from which on the risk has its asymptotic form, to a relative `exp(-40)`.
    const FAR: f64 = 40.0;
    let size = log_odds.abs();
    if size.is_nan() {
        return size;
    }
    // The smaller one of the two probabilities keeps its digits.
    let eta = 1.0 / (1.0 + size.min(FAR).exp());
    let near = least_conditional_risk(loss, eta).unwrap_or(f64::NAN);
    let beyond = size - FAR;
    match tail_rate(loss) {
        Some(_) if beyond == f64::INFINITY => f64::NEG_INFINITY,
        Some(rate) if beyond > 0.0 => near - slope_beyond(loss, rate, FAR) * growth(rate, beyond),
        None if beyond > 0.0 => least_conditional_risk(loss, 0.0).unwrap_or(f64::NAN),
        _ => near,
    }
}

/// Returns the k such that the lowest risk is finite exactly if the mean of `exp(k |l|)` is, for `k = 0`
/// the mean of `|l|` (theorem 4): 0 for the leaky hockey stick, `1/(r - 1)` for `L_r`. `None` for a loss
/// with a lower bound, whose lowest risk is always finite, and for one whose tail is not known.
///
/// In terms of g the condition is that the integral of `g(delta) delta^(-1-k)` near 0 is finite.
pub fn tail_rate(loss: &dyn MarginLoss) -> Option<f64> {
    let tail = loss.homogeneous_tail().filter(HomogeneousTail::falls);
    let tail = tail.filter(|_| loss.lower_bound().is_none())?;
    Some((1.0 - tail.degree) / tail.degree)
}

/// Returns `(exp(rate t) - 1)/rate`, t for a rate of 0.
fn growth(rate: f64, t: f64) -> f64 {
    if rate == 0.0 { t } else { (rate * t).exp_m1() / rate }
}

/// Returns the slope with which the lowest risk falls in `|l|` at some far away.
///
/// With the tail `L'(u) = -c u^(-d)` and `L'(-u) = -s`, the minimiser is `u = (c/s exp(l))^(1/d)`, and
/// the lowest risk changes by `-c u^(1-d)` for each unit of l, where the other class has hardly any
/// probability.
fn slope_beyond(loss: &dyn MarginLoss, rate: f64, at: f64) -> f64 {
    let Some(tail) = loss.homogeneous_tail() else { return f64::NAN };
    let c = -loss.derivative(tail.from) * tail.from.powf(tail.degree);
    let s = -loss.derivative(-f64::MAX);
    c * (c / s).powf(rate) * (rate * at).exp()
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

//! Rules for the scale s of the margin-pursuit loss `s^2 rho((gamma - u)/s)` and of the estimate of
//! [`location`](crate::location). A scale has the unit of the margin, a variance its square.
//!
//! Source: Holland, *Classification using margin pursuit* (2019), equation 6 and below, lemma 6 and
//! section 4.

use std::f64::consts::LN_2;

use crate::Error;
use margins_losses::OutOfRange;

/// Returns `s = sqrt(n v/(2 log(2/delta)))`: minimises the error bound `v/s + 2 s log(2/delta)/n`
/// of the location estimate of n samples of variance at most v at confidence 1 - delta.
///
/// # Errors
/// [`Error::Parameter`]: n is 0, the variance is not positive and finite, delta is outside (0, 1),
/// or the scale is out of range.
pub fn error_minimizing(n: usize, variance: f64, delta: f64) -> Result<f64, Error> {
    check_count(n)?;
    check_positive("variance", variance)?;
    check_delta(delta)?;
    check_scale((n as f64 / (2.0 * log_two_over(delta))).sqrt() * variance.sqrt())
}

/// Returns `log(2/delta)`, also where the quotient overflows.
pub(crate) fn log_two_over(delta: f64) -> f64 {
    LN_2 - delta.ln()
}

/// Returns `s = v k/gamma`: the smallest scale at which the bias v/s of the location estimate is at
/// most the fraction 1/k of the margin level gamma; the source takes it or a larger one.
///
/// # Errors
/// [`Error::Parameter`]: a parameter is not positive and finite, or the scale is out of range.
pub fn bias_bounded(variance: f64, margin_level: f64, k: f64) -> Result<f64, Error> {
    check_positive("variance", variance)?;
    check_positive("margin level", margin_level)?;
    check_positive("k", k)?;
    check_scale(variance / margin_level * k)
}

/// Returns `s = sqrt(n v/(2 lambda log(1/delta)))` with the 75th percentile of the absolute margins
/// for v: the rule by which the source sets the scale once, after some steps at s = 1.
///
/// The percentile is linear between order statistics: with zero-based ranks, at rank
/// `0.75 (n - 1)`. The source does not fix this convention. It writes v for the mean of ||x||^2 and
/// puts the percentile, which has the unit of a margin and not of its square, in its place: a rough
/// proxy, of its own choice, under which s does not scale with the margins.
///
/// # Errors
/// [`Error::Empty`] or [`Error::NotFinite`]: there are no margins, or one is not finite.
/// [`Error::Parameter`]: lambda is not positive and finite, delta is outside (0, 1), the percentile
/// is 0, or the scale is out of range.
pub fn data_driven(margins: &[f64], lambda: f64, delta: f64) -> Result<f64, Error> {
    Error::check_sample("margins", margins)?;
    check_positive("lambda", lambda)?;
    check_delta(delta)?;
    let spread = third_quartile(margins.iter().map(|u| u.abs()).collect());
    check_positive("the 75th percentile of the absolute margins", spread)?;
    let n = margins.len() as f64;
    check_scale((n / (-2.0 * delta.ln())).sqrt() * (spread.sqrt() / lambda.sqrt()))
}

/// Returns the third quartile of a sample that is not empty, linear between order statistics; O(n).
fn third_quartile(mut sample: Vec<f64>) -> f64 {
    let position = 0.75 * (sample.len() - 1) as f64;
    let share = position.fract();
    let (_, &mut below, rest) = sample.select_nth_unstable_by(position as usize, f64::total_cmp);
    let above = rest.iter().copied().reduce(f64::min).unwrap_or(below);
    (1.0 - share) * below + share * above
}

fn check_count(n: usize) -> Result<(), Error> {
    if n == 0 { Err(Error::Empty("samples")) } else { Ok(()) }
}

pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<f64, Error> {
    Ok(OutOfRange::check(name, value, "positive and finite", |x| x > 0.0)?)
}

pub(crate) fn check_delta(delta: f64) -> Result<f64, Error> {
    let share = |x| x > 0.0 && x < 1.0;
    Ok(OutOfRange::check("delta", delta, "between 0 and 1, both excluded", share)?)
}

fn check_scale(scale: f64) -> Result<f64, Error> {
    check_positive("the scale that the rule gives", scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-14 * b.abs()
    }

    #[test]
    fn rules_by_hand() {
        let delta = 2.0 * (-2.0f64).exp(); // log(2/delta) = 2
        assert!(close(error_minimizing(100, 4.0, delta).unwrap(), 10.0));
        assert!(close(bias_bounded(3.0, 0.5, 4.0).unwrap(), 24.0));
        // |margins| 0, 1, 2, 3, 8: the percentile is the fourth, 3.
        let margins = [2.0, -8.0, 0.0, -1.0, 3.0];
        let s = data_driven(&margins, 0.25, (-1.0f64).exp()).unwrap();
        assert!(close(s, (5.0 * 3.0 / 0.5f64).sqrt()));
        // 0, 1, 2, 3: rank 2.25.
        let s = data_driven(&[0.0, 1.0, -2.0, 3.0], 1.0, (-1.0f64).exp()).unwrap();
        assert!(close(s, (4.0 * 2.25 / 2.0f64).sqrt()));
        assert!(close(data_driven(&[-2.0], 1.0, (-1.0f64).exp()).unwrap(), 1.0));
    }

    #[test]
    fn the_rule_minimises_its_bound() {
        let (n, v, delta) = (50, 3.0, 0.1);
        let bound = |s: f64| v / s + 2.0 * s * (2.0f64 / delta).ln() / n as f64;
        let s = error_minimizing(n, v, delta).unwrap();
        assert!(bound(s) < bound(0.99 * s) && bound(s) < bound(1.01 * s));
    }

    #[test]
    fn refusals() {
        assert!(error_minimizing(0, 1.0, 0.1).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(error_minimizing(1, bad, 0.1).is_err());
            assert!(error_minimizing(1, 1.0, bad).is_err());
            assert!(bias_bounded(bad, 1.0, 1.0).is_err());
            assert!(bias_bounded(1.0, bad, 1.0).is_err());
            assert!(bias_bounded(1.0, 1.0, bad).is_err());
            assert!(data_driven(&[1.0], bad, 0.1).is_err());
        }
        assert!(data_driven(&[], 1.0, 0.1).is_err());
        assert!(data_driven(&[f64::NAN], 1.0, 0.1).is_err());
        assert!(data_driven(&[1.0], 1.0, 1.0).is_err());
        assert_eq!(
            data_driven(&[0.0, 0.0], 1.0, 0.1).unwrap_err().to_string(),
            "the 75th percentile of the absolute margins is 0, but must be positive and finite"
        );
        assert!(bias_bounded(1e300, 1e-300, 1.0).is_err());
    }
}

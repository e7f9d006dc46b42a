//! The excess error and the terms of lemma 4 that bound it, from log odds and scores.

use margins::calibration::{conditional_risk, least_conditional_risk};
use margins::losses::LeakyHockeyStick;

use crate::Failure;

/// The delta of lemma 4: 1 down to 1e-6.
pub(super) const DELTAS: usize = 13;

pub(super) fn delta(k: usize) -> f64 {
    10f64.powf(-0.5 * k as f64)
}

/// Returns the size of the log odds from which `p (1 - p) <= delta/2 (1 - delta/2)`.
fn least_log_odds(delta: f64) -> f64 {
    ((2.0 - delta) / delta).ln()
}

/// The numbers of a schedule in a trial: whether its fit is certified, the excess error, and for every
/// delta the two terms of lemma 4.
pub(super) const WIDTH: usize = 2 + 2 * DELTAS;

/// Returns the excess error and, for every delta, the terms of lemma 4: the probability of another
/// class than that of the Bayes rule where X has hardly any label noise, and the excess risk elsewhere.
/// They are means over points with these log odds and scores.
pub(super) fn terms(log_odds: &[f64], scores: &[f64]) -> Result<Vec<f64>, Failure> {
    let mut sums = vec![0.0; 1 + 2 * DELTAS];
    for (l, &score) in log_odds.iter().zip(scores) {
        let differs = f64::from((score > 0.0) != (*l > 0.0));
        sums[0] += differs * (0.5 * l.abs()).tanh();
        let inside = |k: usize| l.abs() < least_log_odds(delta(k));
        let excess = if inside(DELTAS - 1) {
            let eta = 1.0 / (1.0 + (-l).exp());
            let risk = conditional_risk(&LeakyHockeyStick, eta, score)?;
            risk - least_conditional_risk(&LeakyHockeyStick, eta)?
        } else {
            0.0
        };
        for k in 0..DELTAS {
            match inside(k) {
                true => sums[2 + 2 * k] += excess,
                false => sums[1 + 2 * k] += differs,
            }
        }
    }
    Ok(sums.into_iter().map(|sum| sum / log_odds.len() as f64).collect())
}

#[cfg(test)]
mod tests {
    use margins::losses::MarginLoss;

    use super::*;

    /// Lemma 4 holds for any function, at every delta: the smaller delta is, the smaller is the first
    /// term and the larger the second one, which is 0 at 1.
    #[test]
    fn both_terms_bound_the_excess_at_every_delta() {
        let log_odds: Vec<f64> = (1..200).map(|k| 18.0 * (f64::from(k * k) * 0.37).sin()).collect();
        let mut of_both = 0;
        for seed in 0..20 {
            let noise = |k: usize| (k as f64 * 2.1 + f64::from(seed) * 1.3).cos();
            let score = |(k, l): (usize, &f64)| 0.1 * l + f64::from(seed) * 0.2 * noise(k);
            let scores: Vec<f64> = log_odds.iter().enumerate().map(score).collect();
            let all = terms(&log_odds, &scores).expect("terms");
            let excess = all[0];
            for k in 0..DELTAS {
                let [first, second] = [all[1 + 2 * k], all[2 + 2 * k]];
                assert!(excess <= first + second + 1e-12, "seed {seed}, delta {}", delta(k));
                of_both += usize::from(first > 0.0 && second > 0.0);
                if k > 0 {
                    assert!(first <= all[2 * k - 1] && second >= all[2 * k] - 1e-12, "delta {k}");
                }
            }
            assert_eq!(all[2], 0.0, "delta 1 leaves no X with label noise");
        }
        assert!(of_both > 100, "{of_both}");
    }

    #[test]
    fn the_best_function_has_no_excess() {
        let log_odds = [-3.0, -0.2, 0.1, 5.0];
        let best =
            log_odds.map(|l: f64| LeakyHockeyStick.population_minimizer(1.0 / (1.0 + (-l).exp())));
        let all = terms(&log_odds, &best).expect("terms");
        assert!(all.iter().all(|term| term.abs() < 1e-12), "{all:?}");
    }
}

//! The lowest risk of all functions, by the formulas of the paper and by the bounds that use it.

use margins_calibration::least_risk::{LeastRisk, least_risk_at, share_without_noise, tail_rate};
use margins_calibration::{Error, PsiTransform, conditional_risk, least_conditional_risk};
use margins_losses::{
    LeakyHockeyStick, LeakyRelu, Logistic, LossRegistry, MarginLoss, PowerHockeyStick, Squared,
};

/// Log odds of every size, of both signs.
fn log_odds() -> Vec<f64> {
    (0..60).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 } * 1e-3 * 1.35f64.powi(k)).collect()
}

#[test]
fn the_lowest_risks_are_those_of_the_paper() {
    let power = PowerHockeyStick::new(3.0).unwrap();
    let steep = PowerHockeyStick::new(1.5).unwrap();
    let nearly = PowerHockeyStick::new(1e9).unwrap();
    let line = PowerHockeyStick::new(1.01).unwrap();
    for l in log_odds() {
        let size = l.abs();
        let share = 1.0 / (1.0 + (-size).exp());
        let close = |loss: &dyn MarginLoss, want: f64, tolerance: f64| {
            let found = least_risk_at(loss, l);
            let same = found == want || (found - want).abs() <= tolerance * (1.0 + want.abs());
            assert!(same, "{} {l}: {found} {want}", loss.specification());
        };
        close(&LeakyHockeyStick, 1.0 - size * share, 1e-13);
        close(&power, 1.0 - 2.0 * (size / 2.0).exp_m1() * share, 1e-12);
        close(&steep, 1.0 - 0.5 * (2.0 * size).exp_m1() * share, 1e-12);
        close(&nearly, 1.0 - size * share, 1e-4);
        // Half of the exponent at a time, because the risk is a number beyond exp(709).
        let half = (size / (line.r() - 1.0) / 2.0).exp();
        let fall = (line.r() - 1.0) * half * half - (line.r() - 1.0);
        close(&line, 1.0 - fall * share, 1e-11);
        let (p, q) = (share, (-size).exp() * share);
        let entropy = -p * p.ln() - if q > 0.0 { q * q.ln() } else { 0.0 };
        close(&Logistic, entropy, 1e-12);
        close(&Squared, 4.0 * p * q, 1e-12);
    }
    assert_eq!(least_risk_at(&LeakyHockeyStick, f64::INFINITY), f64::NEG_INFINITY);
    assert_eq!(least_risk_at(&Logistic, f64::NEG_INFINITY), 0.0);
    assert!(least_risk_at(&Logistic, f64::NAN).is_nan());
}

/// The minimiser `exp(l r/(r - 1))` of `L_r` is no number from 7.03 on, the risk from 7.14 on.
#[test]
fn the_lowest_risk_is_a_number_where_its_minimiser_is_not() {
    let line = PowerHockeyStick::new(1.01).unwrap();
    for l in [7.05, 7.1, 7.13] {
        let eta = 1.0 / (1.0 + f64::exp(-l));
        assert_eq!(line.population_minimizer(eta), f64::INFINITY);
        let risks = [
            least_risk_at(&line, l),
            least_risk_at(&line, -l),
            least_conditional_risk(&line, eta).unwrap(),
        ];
        // ln((r - 1) p exp(l/(r - 1))), for which 1 is nothing.
        let want = 0.01f64.ln() + eta.ln() + 100.0 * l;
        for risk in risks {
            assert!((f64::ln(-risk) - want).abs() < 1e-10, "{l}: {risk}");
        }
    }
    assert_eq!(least_risk_at(&line, 7.2), f64::NEG_INFINITY);
}

#[test]
fn the_rate_of_the_tail_decides_what_has_to_be_finite() {
    assert_eq!(tail_rate(&LeakyHockeyStick), Some(0.0));
    let rate = tail_rate(&PowerHockeyStick::new(3.0).unwrap()).unwrap();
    assert!((rate - 0.5).abs() < 1e-15);
    assert_eq!(tail_rate(&Logistic), None);
    // The tail of leaky-relu does not fall: without a bound below, its lowest risk is minus infinity
    // where a class is rare.
    let leaky = LeakyRelu::new(0.2).unwrap();
    assert_eq!(tail_rate(&leaky), None);
    assert_eq!(least_risk_at(&leaky, 50.0), f64::NEG_INFINITY);
}

/// Theorem 4 in numbers: `E |l|` is the integral of `2 g(delta)/(delta (2 - delta))` over (0, 1).
#[test]
fn the_integral_of_g_is_the_mean_size_of_the_log_odds() {
    let all: Vec<f64> =
        (1..400).map(|k| 0.03 * f64::from(k) * (f64::from(k) * 1.7).sin()).collect();
    let mean = all.iter().map(|l| l.abs()).sum::<f64>() / all.len() as f64;
    // In the logarithm of delta, from where every sample counts down to where none does.
    let (steps, lowest) = (20_000, -13.0);
    let width = -lowest / f64::from(steps);
    let integral: f64 = (0..steps)
        .map(|k| {
            let delta = ((f64::from(k) + 0.5) * -width).exp();
            width * 2.0 / (2.0 - delta) * share_without_noise(&all, delta).unwrap()
        })
        .sum();
    assert!((integral - mean).abs() < 1e-3 * mean, "{integral} {mean}");
    let shares = [1.0, 0.5, 0.1, 0.01, 1e-5].map(|d| share_without_noise(&all, d).unwrap());
    assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]) && shares[0] == 1.0, "{shares:?}");
    let probabilities = all.iter().map(|l| 1.0 / (1.0 + (-l).exp()));
    let count = probabilities.filter(|p| (2.0 * p - 1.0).abs() >= 0.9).count();
    assert_eq!(shares[2], count as f64 / all.len() as f64);
}

/// `Psi(R - R*) <= R_L - R_L*` for any scores, of a distribution on finitely many points.
#[test]
fn excesses_over_the_lowest_risk_satisfy_the_bound_of_bartlett_and_others() {
    let registry = LossRegistry::standard();
    let all: Vec<f64> = (1..80).map(|k| 4.0 * (f64::from(k * k) * 0.37).sin()).collect();
    let n = all.len() as f64;
    let mut bounded = 0;
    for name in registry.names() {
        let loss = registry.parse(name).unwrap();
        let Ok(psi) = PsiTransform::of(&*loss) else { continue };
        let least = LeastRisk::of(&*loss, &all).unwrap();
        for trial in 0..20 {
            let (mut risk, mut excess) = (0.0, 0.0);
            for (k, l) in all.iter().enumerate() {
                let eta = 1.0 / (1.0 + (-l).exp());
                let noise = (k as f64 * 2.1 + f64::from(trial) * 1.3).cos();
                let score = 0.4 * l + 0.3 * f64::from(trial) * noise;
                risk += conditional_risk(&*loss, eta, score).unwrap() / n;
                excess +=
                    if (score > 0.0) == (*l > 0.0) { 0.0 } else { (2.0 * eta - 1.0).abs() / n };
            }
            let over = risk - least.risk;
            assert!(psi.value(excess) <= over + 1e-12, "{name} {trial}: {excess} {over}");
            bounded += usize::from(excess > 0.05);
        }
    }
    assert!(bounded > 50, "{bounded}");
}

/// Lemma 4 of Kwon and Zou (2023): where X has hardly any label noise errors count in full, elsewhere the
/// excess of the surrogate risk is enough. With delta so small that no X is without noise it is the bound
/// of the whole excess.
#[test]
fn errors_of_hockey_sticks_are_bounded_apart_from_samples_without_noise() {
    let registry = LossRegistry::standard();
    let all: Vec<f64> = (1..80).map(|k| 6.0 * (f64::from(k * k) * 0.37).sin()).collect();
    let n = all.len() as f64;
    let mut of_parts = 0;
    for name in ["lhs", "l-r:r=1.5", "l-r:r=4"] {
        let loss = registry.parse(name).unwrap();
        for (trial, delta) in
            (0..20).flat_map(|t| [0.5, 0.1, 0.01, 1e-4].map(|delta: f64| (t, delta)))
        {
            let least = ((2.0 - delta) / delta).ln();
            let (mut excess, mut errors, mut elsewhere) = (0.0, 0.0, 0.0);
            for (k, l) in all.iter().enumerate() {
                let eta = 1.0 / (1.0 + (-l).exp());
                let noise = (k as f64 * 2.1 + f64::from(trial) * 1.3).cos();
                let score = 0.4 * l + 0.3 * f64::from(trial) * noise;
                let is_wrong = (score > 0.0) != (*l > 0.0);
                excess += if is_wrong { (2.0 * eta - 1.0).abs() / n } else { 0.0 };
                if l.abs() >= least {
                    let error = if score > 0.0 { 1.0 - eta } else { eta };
                    errors += error / n;
                } else {
                    let risk = conditional_risk(&*loss, eta, score).unwrap();
                    elsewhere += (risk - least_risk_at(&*loss, *l)) / n;
                }
            }
            assert!(excess <= errors + elsewhere + 1e-13, "{name} {trial} {delta}: {excess}");
            assert!(elsewhere >= -1e-13, "{name} {trial} {delta}: {elsewhere}");
            of_parts += usize::from(errors > 0.0 && elsewhere > 0.0);
        }
    }
    assert!(of_parts > 50, "{of_parts}");
}

#[test]
fn refusals() {
    assert_eq!(LeastRisk::of(&Logistic, &[]), Err(Error::Empty("log odds")));
    let message = LeastRisk::of(&Logistic, &[0.0, f64::NAN]).unwrap_err().to_string();
    assert_eq!(message, "log odds 1 is NaN, but must be a number");
    for delta in [0.0, 1.5, f64::NAN] {
        assert!(share_without_noise(&[0.0], delta).is_err(), "{delta}");
    }
    assert!(LeastRisk::of(&Logistic, &[1.0]).unwrap().standard_error.is_nan());
}

//! Psi-transforms against reference values, numerical minimisation and their own inverses.

use margins_calibration::cubic::getroot;
use margins_calibration::{
    MarginPursuitPsi, NotCalibrated, PsiTransform, conditional_risk, least_conditional_risk,
};
use margins_losses::catoni::{self, SATURATION, rho};
use margins_losses::{LossRegistry, MarginLoss};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::f64::consts::SQRT_2;

/// The rows of a file of `fixtures`, which must be more than a few.
fn reference<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let rows: Vec<T> = serde_json::from_str(text).expect("the reference file");
    assert!(rows.len() > 50, "only {} rows", rows.len());
    rows
}

fn loss(specification: &str) -> Box<dyn MarginLoss> {
    LossRegistry::standard().parse(specification).expect("a standard loss")
}

#[derive(Deserialize)]
struct Forward {
    gamma: f64,
    scale: f64,
    a: f64,
    eta: f64,
    u_star: f64,
    #[serde(rename = "H")]
    h: f64,
    psi: f64,
}

#[test]
fn reference_transforms_of_margin_pursuit() {
    for case in reference::<Forward>(include_str!("fixtures/psi_transform.json")) {
        let transform = MarginPursuitPsi::new(case.gamma, case.scale).unwrap();
        let tolerance = 1e-13 * transform.maximum();
        let label = format!("gamma {} scale {} a {}", case.gamma, case.scale, case.a);
        let value = transform.value(case.a);
        assert!((value - case.psi).abs() <= tolerance, "{label}: {value} not {}", case.psi);
        let h = transform.least_conditional_risk(case.eta).unwrap();
        assert!((h - case.h).abs() <= tolerance, "{label}: H {h} not {}", case.h);
        let minimizer = transform.minimizer(case.eta).unwrap();
        // At a = 0 and a level above sqrt 2 every point of an interval minimises.
        if case.a > 0.0 {
            let error = (minimizer - case.u_star).abs();
            assert!(error <= 1e-10 * case.gamma, "{label}: u* {minimizer} not {}", case.u_star);
        }
    }
}

#[test]
fn conditional_risks_of_losses_have_their_minimum_at_the_minimiser() {
    let registry = LossRegistry::standard();
    for name in ["logistic", "squared", "hinge", "lhs", "margin-pursuit:gamma=1,scale=0.3"] {
        let loss = registry.parse(name).unwrap();
        for eta in [0.1, 0.3, 0.45, 0.8] {
            let least = least_conditional_risk(&*loss, eta).unwrap();
            let best = loss.population_minimizer(eta);
            let risk = |u: f64| conditional_risk(&*loss, eta, u).unwrap();
            assert!((risk(best) - least).abs() <= 1e-14, "{name} {eta}: {} {least}", risk(best));
            assert!(best * (eta - 0.5) > 0.0, "{name} {eta}: {best}");
            for k in -40..=40 {
                assert!(risk(f64::from(k) / 10.0) >= least - 1e-14, "{name} {eta} {k}");
            }
            let mirrored = least_conditional_risk(&*loss, 1.0 - eta).unwrap();
            assert!((mirrored - least).abs() < 1e-14, "{name} {eta}");
        }
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(least_conditional_risk(&*loss, bad).is_err());
            assert!(conditional_risk(&*loss, bad, 0.0).is_err());
        }
        assert!(conditional_risk(&*loss, 0.5, f64::NAN).is_err());
    }
    // Margin pursuit has its closed form, to rounding, where a search would leave a larger error.
    let exact = MarginPursuitPsi::new(1.0, 0.3).unwrap();
    let loss = registry.parse("margin-pursuit:gamma=1,scale=0.3").unwrap();
    assert_eq!(Ok(loss.population_minimizer(0.7)), exact.minimizer(0.7));
    let transform = PsiTransform::of(&*loss).unwrap();
    assert_eq!(transform.least_conditional_risk(0.7), exact.least_conditional_risk(0.7));
}

#[derive(Deserialize)]
struct Inverse {
    gamma: f64,
    scale: f64,
    excess_surrogate_risk: f64,
    psi_inverse: f64,
}

#[test]
fn reference_inverses_of_margin_pursuit() {
    for case in reference::<Inverse>(include_str!("fixtures/psi_inverse.json")) {
        let transform = MarginPursuitPsi::new(case.gamma, case.scale).unwrap();
        let inverse = transform.inverse(case.excess_surrogate_risk);
        assert!(
            (inverse - case.psi_inverse).abs() <= 1e-9,
            "gamma {} scale {} risk {}: {inverse} not {}",
            case.gamma,
            case.scale,
            case.excess_surrogate_risk,
            case.psi_inverse
        );
        let grid = transform.grid_inverse(case.excess_surrogate_risk, 2500).unwrap();
        assert!(
            grid <= case.psi_inverse + 1e-12 && case.psi_inverse - grid <= 1.0 / 2499.0 + 1e-12
        );
    }
}

#[derive(Deserialize)]
struct Other {
    loss: String,
    r: Option<f64>,
    a: f64,
    psi: Option<f64>,
}

#[test]
fn reference_transforms_of_other_losses() {
    for case in reference::<Other>(include_str!("fixtures/psi_other_losses.json")) {
        let specification = match case.r {
            Some(r) => format!("{}:r={r}", case.loss),
            None => case.loss.clone(),
        };
        let loss = loss(&specification);
        let transform = PsiTransform::of(&*loss).unwrap();
        let want = case.psi.unwrap_or(f64::INFINITY);
        let value = transform.value(case.a);
        let close = value == want || (value - want).abs() <= 1e-12 * want.abs();
        assert!(close, "{specification} at {}: {value} not {want}", case.a);
    }
}

/// A few values by hand.
#[test]
fn representative_rows() {
    let transform = MarginPursuitPsi::new(std::f64::consts::FRAC_1_SQRT_2, 1.0).unwrap();
    assert!((transform.value(0.01) - 2.800_873_098_022_805_2e-5).abs() <= 1e-17);
    assert!(
        (transform.inverse(0.000_239_583_333_333_333_37) - 0.029_249_101_025_429_5).abs() <= 1e-14
    );
    assert_eq!(PsiTransform::of(&*loss("hinge")).unwrap().value(0.3), 0.3);
    assert_eq!(PsiTransform::of(&*loss("lhs")).unwrap().value(1.0), f64::INFINITY);
    let quarter = PsiTransform::of(&*loss("exponential")).unwrap().value(0.6);
    assert!((quarter - 0.2).abs() < 1e-15);
}

/// Levels on both sides of every switch, and scales.
fn parameters() -> impl Strategy<Value = (f64, f64)> {
    let level = prop_oneof![
        0.05..5.0f64,
        (-12.0..-1.0f64).prop_map(|e| SQRT_2 + 10f64.powf(e)),
        (-12.0..-1.0f64).prop_map(|e| SQRT_2 - 10f64.powf(e)),
        (-12.0..-1.0f64).prop_map(|e| 0.5 * SQRT_2 + 10f64.powf(e)),
    ];
    (level, prop_oneof![Just(1.0), 0.01..100.0f64])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_closed_form_is_the_least_risk((level, scale) in parameters(), a in 0.0..1.0f64) {
        let gamma = level * scale;
        let transform = MarginPursuitPsi::new(gamma, scale).unwrap();
        let eta = 0.5 * (1.0 + a);
        let risk = |u: f64| {
            scale * scale * (eta * rho((gamma - u) / scale) + (1.0 - eta) * rho((gamma + u) / scale))
        };
        let u = transform.minimizer(eta).unwrap();
        let least = transform.least_conditional_risk(eta).unwrap();
        let slack = 1e-13 * transform.maximum();
        prop_assert!((risk(u) - least).abs() <= slack, "{} {least}", risk(u));
        for k in 0..=40 {
            prop_assert!(risk(gamma * f64::from(k - 20) / 20.0) >= least - slack);
        }
        prop_assert!((transform.minimizer(1.0 - eta).unwrap() + u).abs() <= 1e-9 * gamma);
    }

    #[test]
    fn the_inverse_undoes_the_transform((level, scale) in parameters(), e in -9.0..0.0f64) {
        let transform = MarginPursuitPsi::new(level * scale, scale).unwrap();
        let a = 10f64.powf(e);
        let back = transform.inverse(transform.value(a));
        prop_assert!((back - a).abs() <= 1e-9 * a.max(1e-3), "{a:e} {back:e}");
        let near_one = 1.0 - a;
        let back = transform.inverse(transform.value(near_one));
        prop_assert!((back - near_one).abs() <= 1e-9, "{near_one} {back}");
    }

    #[test]
    fn psi_is_convex_increasing_and_continuous((level, scale) in parameters()) {
        let transform = MarginPursuitPsi::new(level * scale, scale).unwrap();
        let slack = 1e-13 * transform.maximum();
        let values: Vec<f64> = (0..=400).map(|k| transform.value(f64::from(k) / 400.0)).collect();
        for triple in values.windows(3) {
            prop_assert!(triple[0] <= triple[1] + slack);
            prop_assert!(2.0 * triple[1] <= triple[0] + triple[2] + 4.0 * slack);
        }
        prop_assert!(values[0] == 0.0 && (values[400] - transform.maximum()).abs() <= slack);
        // Across the switch from one cubic to the other.
        let next = MarginPursuitPsi::new(level * (1.0 + 1e-12) * scale, scale).unwrap();
        for k in 0..=50 {
            let a = f64::from(k) / 50.0;
            let change = (next.value(a) - transform.value(a)).abs();
            prop_assert!(change <= 1e-10 * transform.maximum(), "{a} {change:e}");
        }
    }

    #[test]
    fn the_derivative_is_that_of_the_value((level, scale) in parameters(), a in 0.01..0.99f64) {
        let transform = MarginPursuitPsi::new(level * scale, scale).unwrap();
        let h = 1e-5;
        let difference = (transform.value(a + h) - transform.value(a - h)) / (2.0 * h);
        prop_assert!((difference - transform.derivative(a)).abs() <= 1e-6 * transform.maximum());
    }

    /// The corrected conditions (14), (16) and (17) of the source have the minimiser among their
    /// roots.
    #[test]
    fn the_minimiser_is_a_root_of_its_cubic(g in 0.05..4.0f64, a in 0.01..0.99f64) {
        let transform = MarginPursuitPsi::new(g, 1.0).unwrap();
        for eta in [0.5 * (1.0 + a), 0.5 * (1.0 - a)] {
            let u = transform.minimizer(eta).unwrap();
            let alpha = (eta - 1.0) / eta;
            let roots = if u.abs() + g <= SQRT_2 {
                let d = (1.0 + alpha) * (6.0 * g - g * g * g);
                getroot(1.0 - alpha, -3.0 * g * (1.0 + alpha), 3.0 * (1.0 - alpha) * (g * g - 2.0), d)
            } else if eta > 0.5 {
                let d = 6.0 * (g + alpha * SATURATION - g * g * g / 6.0);
                getroot(1.0, -3.0 * g, 3.0 * g * g - 6.0, d)
            } else {
                let d = -6.0 * (g + SATURATION / alpha - g * g * g / 6.0);
                getroot(1.0, 3.0 * g, 3.0 * g * g - 6.0, d)
            };
            let distance = roots.unwrap().as_slice().iter().map(|root| (root - u).abs()).fold(f64::INFINITY, f64::min);
            // Where the cubic is flat at its root both are uncertain by the root of the rounding.
            prop_assert!(distance <= 1e-6, "{g} {eta}: {distance:e}");
        }
    }

    #[test]
    fn numerical_and_closed_forms_agree(a in 0.0..0.999f64) {
        for specification in ["logistic", "exponential", "squared", "squared-hinge", "hinge", "lhs", "l-r:r=3"] {
            let loss = loss(specification);
            let closed = PsiTransform::of(&*loss).unwrap().value(a);
            let bare = Bare(&*loss);
            let numerical = PsiTransform::of(&bare).unwrap().value(a);
            prop_assert!((closed - numerical).abs() <= 1e-12 * (1.0 + closed), "{specification} {a}: {closed} {numerical}");
        }
    }
}

/// A loss stripped of everything but its two required methods and its bound.
#[derive(Debug)]
struct Bare<'a>(&'a dyn MarginLoss);

impl MarginLoss for Bare<'_> {
    fn value(&self, u: f64) -> f64 {
        self.0.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        self.0.derivative(u)
    }
}

#[test]
fn ends_and_nonsense() {
    let transform = MarginPursuitPsi::new(1.0, 2.0).unwrap();
    assert_eq!((transform.value(0.0), transform.inverse(0.0)), (0.0, 0.0));
    assert_eq!(transform.inverse(-1.0), 0.0);
    assert_eq!(transform.inverse(transform.maximum()), 1.0);
    assert_eq!(transform.inverse(f64::INFINITY), 1.0);
    assert!(transform.inverse(f64::NAN).is_nan() && transform.value(f64::NAN).is_nan());
    assert_eq!(transform.minimizer(1.0).unwrap(), 1.0);
    assert_eq!(transform.minimizer(0.0).unwrap(), -1.0);
    for (gamma, scale) in
        [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]
    {
        assert!(MarginPursuitPsi::new(gamma, scale).is_err());
    }
    assert!(transform.minimizer(1.5).is_err());
    assert!(transform.grid_inverse(0.1, 1).is_err());
    assert!(transform.grid_inverse(-0.1, 2500).is_err());
}

#[test]
fn a_loss_that_is_not_calibrated_says_why() {
    let leaky = loss("leaky-relu:lambda=0.1");
    let reason = PsiTransform::of(&*leaky).unwrap_err();
    assert!(matches!(reason, NotCalibrated::KinkAtZero { .. }), "{reason}");
    assert!(reason.to_string().contains("slopes -0.9 and -0.1"));
    let half = loss("leaky-relu:lambda=0.5");
    assert!(PsiTransform::of(&*half).is_ok());
    let garg_roth = loss("garg-roth:alpha=1,beta=1");
    assert!(matches!(PsiTransform::of(&*garg_roth), Err(NotCalibrated::WrongSign { .. })));
}

#[test]
fn without_convexity_psi_is_convex_and_below_the_gap() {
    let loss = loss("garg-roth:alpha=1,beta=0.3");
    let transform = PsiTransform::of(&*loss).unwrap();
    let values: Vec<f64> = (0..=1000).map(|k| transform.value(f64::from(k) / 1000.0)).collect();
    assert!(values.windows(3).all(|t| 2.0 * t[1] <= t[0] + t[2] + 1e-12), "convex");
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "increasing");
    // Below psi~, touching it at the end.
    let wrong = |eta: f64| {
        (0..=40_000)
            .map(|k| -f64::from(k) * 1e-3)
            .map(|u| eta * loss.value(u) + (1.0 - eta) * loss.value(-u))
            .fold(f64::INFINITY, f64::min)
    };
    for (k, value) in values.iter().enumerate().step_by(100) {
        let eta = 0.5 * (1.0 + k as f64 / 1000.0);
        let gap = wrong(eta) - transform.least_conditional_risk(eta).unwrap();
        assert!(*value <= gap + 1e-6, "{eta}: {value} {gap}");
    }
    let end = wrong(1.0) - transform.least_conditional_risk(1.0).unwrap();
    assert!((values[1000] - end).abs() < 1e-6);
}

#[test]
fn inverses_of_every_loss() {
    for specification in [
        "logistic",
        "exponential",
        "squared",
        "hinge",
        "lhs",
        "l-r:r=2",
        "log-cosh",
        "smoothed-hinge",
        "modified-huber",
        "dwd",
        "dwd:q=4",
        "zero-one",
        "garg-roth:alpha=1,beta=0.3",
    ] {
        let loss = loss(specification);
        let transform = PsiTransform::of(&*loss).unwrap();
        for a in [1e-4, 0.01, 0.3, 0.7, 0.999] {
            let back = transform.inverse(transform.value(a));
            assert!((back - a).abs() <= 1e-7, "{specification} {a}: {back}");
        }
        assert_eq!(transform.inverse(0.0), 0.0);
        assert_eq!(transform.inverse(f64::INFINITY), 1.0);
        let excess = transform.excess_misclassification(0.9, 0.4).unwrap();
        assert_eq!(excess, transform.inverse(0.5));
        assert!(transform.excess_misclassification(0.4, 0.9).is_err());
    }
}

/// The loss of Savage, `1/(1 + e^u)^2`.
#[derive(Debug)]
struct Savage;

impl MarginLoss for Savage {
    fn value(&self, u: f64) -> f64 {
        (1.0 + u.exp()).powi(-2)
    }
    fn derivative(&self, u: f64) -> f64 {
        let share = 1.0 / (1.0 + u.exp());
        -2.0 * share * share / (1.0 + (-u).exp())
    }
    fn is_convex(&self) -> bool {
        false
    }
}

/// The tangent loss, `(2 atan u - 1)^2`.
#[derive(Debug)]
struct Tangent;

impl MarginLoss for Tangent {
    fn value(&self, u: f64) -> f64 {
        (2.0 * u.atan() - 1.0).powi(2)
    }
    fn derivative(&self, u: f64) -> f64 {
        4.0 * (2.0 * u.atan() - 1.0) / (1.0 + u * u)
    }
    fn is_convex(&self) -> bool {
        false
    }
}

/// At a = 7e-9 the smallest risks of right and wrong scores differ by less than rounding.
#[test]
fn calibrated_losses_without_convexity_have_their_psi_also_below_rounding() {
    let losses: [(&dyn MarginLoss, f64); 2] = [(&Savage, 0.25), (&Tangent, 1.0)];
    for (loss, factor) in losses {
        let transform = PsiTransform::of(loss).unwrap();
        for a in [1e-10, 7e-9, 1e-6, 1e-3, 0.02, 0.3, 0.5, 0.9, 0.999, 1.0] {
            let (psi, exact) = (transform.value(a), factor * a * a);
            let least = factor * (a - 4e-15_f64).powi(2) * (1.0 - 1e-9);
            assert!(least <= psi && psi <= exact * (1.0 + 1e-14), "{loss:?} at {a}: {psi:e}");
            assert!(transform.inverse(exact) >= a * (1.0 - 1e-14), "{loss:?} at {a}");
        }
    }
}

proptest! {
    /// Remark 9 for all gamma: Psi rises with the level at every a, and its inverse falls.
    #[test]
    fn psi_rises_with_the_level_and_its_inverse_falls(
        (level, scale) in parameters(),
        growth in 1e-6..1.0f64,
        a in 1e-3..1.0f64,
    ) {
        let low = MarginPursuitPsi::new(level * scale, scale).unwrap();
        let high = MarginPursuitPsi::new(level * (1.0 + growth) * scale, scale).unwrap();
        let (below, above) = (low.value(a), high.value(a));
        prop_assert!(below < above * (1.0 + 1e-13), "{below} {above}");
        prop_assert!(low.inverse(below) >= high.inverse(below) * (1.0 - 1e-12));
    }

    /// Its proof: by (13) the derivative of H in gamma is the harmonic mean of psi(gamma - u*) and
    /// psi(gamma + u*), which is at most psi(gamma), the derivative of rho(gamma).
    #[test]
    fn the_slope_of_the_least_risk_in_the_level_is_a_harmonic_mean(
        level in 0.05..4.0f64,
        a in 0.01..0.99f64,
    ) {
        let eta = 0.5 * (1.0 + a);
        let risk = |level: f64| {
            MarginPursuitPsi::new(level, 1.0).unwrap().least_conditional_risk(eta).unwrap()
        };
        let h = 1e-5;
        let slope = (risk(level + h) - risk(level - h)) / (2.0 * h);
        let u = MarginPursuitPsi::new(level, 1.0).unwrap().minimizer(eta).unwrap();
        let (p, q) = (catoni::psi(level - u), catoni::psi(level + u));
        let harmonic = 2.0 * p * q / (p + q);
        prop_assert!((slope - harmonic).abs() < 1e-7, "{slope} {harmonic}");
        prop_assert!(harmonic <= catoni::psi(level) * (1.0 + 1e-12));
    }
}

/// `Psi(a) >= a` for the leaky hockey stick and every `L_r` (Kwon and Zou 2023, A.11 and A.15): an excess
/// risk bounds the excess error as for the hinge, or better.
#[test]
fn the_transforms_of_hockey_sticks_are_above_that_of_the_hinge() {
    let registry = LossRegistry::standard();
    for name in ["lhs", "l-r:r=1.01", "l-r:r=1.5", "l-r:r=2", "l-r:r=30", "l-r:r=1e6"] {
        let loss = registry.parse(name).unwrap();
        let psi = PsiTransform::of(&*loss).unwrap();
        for k in 1..400 {
            let a = 1.0 - 0.95f64.powi(k);
            assert!(psi.value(a) >= a, "{name} {a}: {}", psi.value(a));
        }
        for a in [1e-300, 1e-20, 1e-9] {
            assert!(psi.value(a) >= a * (1.0 - 1e-15), "{name} {a:e}: {:e}", psi.value(a));
        }
    }
}

//! Properties over random parameters and arguments.

use margins_losses::{LossRegistry, MarginLoss, catoni, testkit};
use proptest::prelude::*;

/// A standard loss with random parameters.
fn any_loss() -> impl Strategy<Value = Box<dyn MarginLoss>> {
    let names: Vec<String> = LossRegistry::standard().names().map(str::to_owned).collect();
    (prop::sample::select(names), 0.0..1.0f64, 0.0..1.0f64).prop_map(|(name, p, q)| {
        let registry = LossRegistry::standard();
        let parameters: Vec<(String, f64)> = registry
            .parameters(&name)
            .unwrap_or_default()
            .iter()
            .zip([p, q])
            .map(|((key, _), x)| {
                let value = match key.as_str() {
                    "lambda" => 0.5 * x,
                    // Nearer to 1 the conjugate overflows.
                    "r" => 1.0 + 10f64.powf(6.0 * x - 2.0),
                    _ => 10f64.powf(3.0 * x - 1.5),
                };
                (key.clone(), value)
            })
            .collect();
        registry.build(&name, &parameters).expect("parameters within their ranges")
    })
}

fn dual_objective(loss: &dyn MarginLoss, s: f64, dual: f64, margin: f64, curvature: f64) -> f64 {
    -loss.conjugate(s) - (s - dual) * margin - 0.5 * curvature * (s - dual) * (s - dual)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Returns the end of the flow by many small steps of the classical method of Runge and Kutta.
fn integrated(loss: &dyn MarginLoss, mut u: f64, time: f64) -> f64 {
    const STEPS: usize = 4000;
    let h = time / STEPS as f64;
    for _ in 0..STEPS {
        let a = -loss.derivative(u);
        let b = -loss.derivative(u + 0.5 * h * a);
        let c = -loss.derivative(u + 0.5 * h * b);
        let d = -loss.derivative(u + h * c);
        u += h / 6.0 * (a + 2.0 * (b + c) + d);
    }
    u
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn flows_in_closed_form_are_the_limit_of_small_steps(
        name in prop::sample::select(vec!["logistic", "exponential", "squared-hinge", "squared"]),
        u in -5.0..5.0f64,
        time in 0.0..20.0f64,
    ) {
        let loss = LossRegistry::standard().parse(name).expect("a loss");
        let (got, want) = (loss.flow(u, time), integrated(&loss, u, time));
        prop_assert!((got - want).abs() <= 1e-6, "{name} {u} {time}: {got}, {want}");
        let twice = loss.flow(loss.flow(u, 0.3 * time), 0.7 * time);
        prop_assert!((got - twice).abs() <= 1e-10 * (1.0 + got.abs()), "{name} {u} {time}");
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn flows_descend(loss in any_loss(), u in -600.0..600.0f64, log_time in -12.0..12.0f64) {
        let time = 10f64.powf(log_time);
        let end = loss.flow(u, time);
        prop_assert!(end.is_finite(), "{u} {time}: {end}");
        let rounding = 1e-9 * (1.0 + loss.value(u).abs());
        prop_assert!(loss.value(end) <= loss.value(u) + rounding, "{u} {time}: {end}");
        prop_assert_eq!(loss.flow(u, 0.0), u);
    }

    #[test]
    fn specifications_round_trip(loss in any_loss()) {
        let text = loss.specification();
        let read = LossRegistry::standard().parse(&text).expect("its own specification");
        prop_assert_eq!(read.specification(), text);
        prop_assert_eq!(read.name(), loss.name());
        prop_assert_eq!(read.parameters(), loss.parameters());
        prop_assert_eq!(read.value(0.3), loss.value(0.3));
    }

    #[test]
    fn parse_never_panics(text in "[a-z0-9:=,. -]{0,24}") {
        let _ = LossRegistry::standard().parse(&text);
    }

    #[test]
    fn fenchel_young(loss in any_loss(), u in -40.0..40.0f64, t in -3.0..3.0f64) {
        let value = loss.value(u);
        let gap = value + loss.conjugate(t) + t * u;
        let slack = 1e-12 * (1.0 + value.abs() + (t * u).abs());
        prop_assert!(gap >= -slack, "{}: {gap:e}", loss.specification());
    }

    /// Against a grid over the domain of the conjugate, refined around its best point.
    #[test]
    fn dual_step_beats_brute_force(
        loss in any_loss(),
        part in 0.01..0.99f64,
        margin in -5.0..5.0f64,
        log_curvature in -3.0..2.0f64,
    ) {
        if !loss.is_convex() {
            return Ok(());
        }
        let domain = loss.conjugate_domain().expect("a convex loss");
        let (mut low, mut high) = (domain.lower.max(-50.0), domain.upper.min(200.0));
        let dual = low + part * (high - low).min(5.0);
        let curvature = 10f64.powf(log_curvature);
        let objective = |s: f64| dual_objective(&loss, s, dual, margin, curvature);
        let s = loss.dual_step(dual, margin, curvature);
        prop_assert!(domain.contains(s), "{}: {s}", loss.specification());
        let mut best = low;
        for _ in 0..6 {
            let width = (high - low) / 50.0;
            for k in 0..=50 {
                let candidate = low + width * f64::from(k);
                if objective(candidate) > objective(best) {
                    best = candidate;
                }
            }
            (low, high) = ((best - width).max(low), (best + width).min(high));
        }
        let (ours, theirs) = (objective(s), objective(best));
        prop_assert!(
            ours >= theirs - 1e-9 * (1.0 + theirs.abs()),
            "{}: dual {dual}, margin {margin}, curvature {curvature}: {ours:e} at {s:e}, {theirs:e} at \
             {best:e}",
            loss.specification()
        );
    }

    /// The monotone cubic of margin pursuit, by Newton, against its trigonometric root.
    #[test]
    fn margin_pursuit_proximal(
        gamma in 0.1..5.0f64,
        log_scale in -2.0..2.0f64,
        point in -20.0..20.0f64,
        log_step in -6.0..6.0f64,
    ) {
        let (scale, step) = (10f64.powf(log_scale), 10f64.powf(log_step));
        let loss = margins_losses::MarginPursuit::new(gamma, scale).expect("positive parameters");
        let q = (gamma - point) / scale;
        if q.abs() >= std::f64::consts::SQRT_2 + step * catoni::SATURATION {
            return Ok(());
        }
        let amplitude = (8.0 * (1.0 + step) / step).sqrt();
        let w = amplitude * ((3.0 * q / ((1.0 + step) * amplitude)).asin() / 3.0).sin();
        let (got, want) = (loss.proximal(point, step), gamma - scale * w);
        prop_assert!((got - want).abs() <= 1e-12 * (want.abs() + gamma + scale), "{got:e}, not {want:e}");
    }

    #[test]
    fn garg_roth_decides_calibration_right(log_alpha in -2.0..2.0f64, ratio in 0.3..0.7f64) {
        let alpha = 10f64.powf(log_alpha);
        let loss = margins_losses::GargRoth::new(alpha, ratio * alpha.sqrt()).expect("positive");
        // Calibrated exactly if some margin does as well as 0 at eta = 1/2.
        let risk = |x: f64| {
            let u = x / alpha.sqrt();
            0.5 * (loss.value(u) + loss.value(-u))
        };
        let least = (1..400).map(|k| risk(0.01 * f64::from(k))).fold(f64::INFINITY, f64::min);
        if (least - 1.0).abs() <= 1e-4 {
            return Ok(());
        }
        prop_assert_eq!(loss.is_classification_calibrated(), least < 1.0);
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn any_parameters_conform(loss in any_loss()) {
        let violations = testkit::violations(&loss);
        // A feature narrower than the grid of the kit may hide where a bound is attained.
        let serious: Vec<_> = violations.iter().filter(|v| !v.contains("not attained")).collect();
        prop_assert!(serious.is_empty(), "{}: {serious:#?}", loss.specification());
    }
}

#[test]
fn catoni_functions_are_derivatives_of_each_other() {
    for k in -40..=40 {
        let (u, h) = (0.1 * f64::from(k) + 0.013, 1e-6);
        let slope = (catoni::rho(u + h) - catoni::rho(u - h)) / (2.0 * h);
        assert!((slope - catoni::psi(u)).abs() < 1e-8);
        let bend = (catoni::psi(u + h) - catoni::psi(u - h)) / (2.0 * h);
        assert!((bend - catoni::psi_prime(u)).abs() < 1e-6);
    }
    assert!((catoni::rho(2f64.sqrt()) - 5.0 / 6.0).abs() < 1e-15);
    assert!((catoni::psi(1e6) - catoni::SATURATION).abs() < 1e-15);
    assert_eq!(catoni::rho_conjugate(1.0), f64::INFINITY);
    assert!((catoni::rho_conjugate(catoni::SATURATION) - 0.5).abs() < 1e-15);
}

/// Inequality (12) of Holland (2019) with C = 1/2, on which every interval of the location rests.
#[test]
fn psi_is_between_two_logarithms() {
    let both_sides = |u: f64| {
        let (above, psi) = ((u + 0.5 * u * u).ln_1p(), catoni::psi(u));
        let below = -(0.5 * u * u - u).ln_1p();
        assert!(below <= psi + 1e-15 * psi.abs() && psi <= above + 1e-15 * psi.abs(), "{u}");
    };
    for k in -4000..=4000 {
        both_sides(f64::from(k) / 1000.0);
    }
    for k in -40..=40 {
        for sign in [1.0, -1.0] {
            both_sides(sign * 10f64.powf(f64::from(k) / 5.0));
        }
    }
    // The constant is the least: with C below 1/2 the bound on the right fails near 0.
    let smaller = |u: f64| (u + 0.49 * u * u).ln_1p();
    assert!(catoni::psi(1e-2) > smaller(1e-2));
}

/// Lemma 3 of Kwon and Zou (2023), with the curvature `1 - 1/r` for `L_r`: the quadratic upper bound of
/// MM, which touches at one point alone.
#[test]
fn hockey_sticks_lie_below_their_quadratic_bounds() {
    let registry = LossRegistry::standard();
    let margins: Vec<f64> =
        (0..120).map(|k| 12.0 * (f64::from(k * k) * 0.37).sin()).chain([1.0, 0.0]).collect();
    for name in ["lhs", "l-r:r=1.05", "l-r:r=2", "l-r:r=50"] {
        let loss = registry.parse(name).unwrap();
        let curvature = loss.curvature().unwrap();
        for &at in &margins {
            for &u in &margins {
                let step = u - at;
                let tangent = loss.value(at) + step * loss.derivative(at);
                let (bound, value) = (tangent + 0.5 * curvature * step * step, loss.value(u));
                assert!(value <= bound + 1e-13 * (1.0 + bound.abs()), "{name} {at} {u}");
                let is_apart = step.abs() > 1e-3;
                assert!(!is_apart || value < bound, "{name} {at} {u}: {value} {bound}");
            }
        }
    }
}

/// After (15) of the same paper: `0 <= L(u) - L_r(u) <= (ln u)^2 u^(1/r)/(2 r)` beyond 1, by Taylor's
/// theorem, so that `L_r` rises to the leaky hockey stick with r.
#[test]
fn the_power_hockey_stick_tends_to_the_leaky_one() {
    let registry = LossRegistry::standard();
    let limit = registry.parse("lhs").unwrap();
    for r in [1.5f64, 3.0, 10.0, 1e3, 1e5, 1e8] {
        let loss = registry.parse(&format!("l-r:r={r}")).unwrap();
        for k in 1..200 {
            let u = 1.15f64.powi(k);
            let difference = limit.value(u) - loss.value(u);
            let bound = u.ln().powi(2) * u.powf(1.0 / r) / (2.0 * r);
            let rounding = 1e-14 * (1.0 + u.ln());
            assert!(difference >= -rounding, "{r} {u}: {difference}");
            assert!(
                difference <= bound * (1.0 + 1e-12) + rounding,
                "{r} {u}: {difference} {bound}"
            );
        }
        for u in [-3.0, 0.0, 1.0] {
            assert_eq!(limit.value(u), loss.value(u));
        }
    }
}

//! A loss of which only value and derivative are given gets everything else numerically: compared
//! with the closed forms of the same function.

use margins_losses::{
    DistanceWeighted, Exponential, GargRoth, Hinge, LeakyHockeyStick, LogCoshMarginPursuit,
    Logistic, MarginLoss, MarginPursuit, ModifiedHuber, PowerHockeyStick, SmoothedHinge, Squared,
    SquaredHinge, testkit,
};

/// The two required methods and nothing else.
#[derive(Debug)]
struct Minimal<L>(L);

impl<L: MarginLoss> MarginLoss for Minimal<L> {
    fn value(&self, u: f64) -> f64 {
        self.0.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        self.0.derivative(u)
    }
}

fn close(got: f64, want: f64, tolerance: f64) -> bool {
    got == want || (got - want).abs() <= tolerance * want.abs().max(1.0)
}

fn compare<L: MarginLoss>(loss: L) {
    let minimal = Minimal(loss);
    let closed = &minimal.0;
    let name = closed.specification();
    let domain = closed.conjugate_domain().expect("a convex loss");
    for k in -10..=40 {
        let t = 0.1 * f64::from(k) + 0.003;
        if t > domain.lower && t < domain.upper {
            let (got, want) = (minimal.conjugate(t), closed.conjugate(t));
            assert!(close(got, want, 1e-9), "{name}: conjugate at {t}: {got:e}, not {want:e}");
        } else {
            assert_eq!(minimal.conjugate(t), f64::INFINITY, "{name} at {t}");
        }
    }
    let found = minimal.conjugate_domain().expect("a convex loss");
    assert!(
        close(found.lower, domain.lower, 1e-9) && close(found.upper, domain.upper, 1e-9),
        "{name}"
    );
    assert_eq!(minimal.lower_bound().is_some(), closed.lower_bound().is_some(), "{name}");
    assert_eq!(minimal.is_classification_calibrated(), closed.is_classification_calibrated());
    for point in [-30.0, -2.0, 0.0, 0.8, 1.0, 1.7, 50.0] {
        for step in [1e-3, 0.3, 2.0, 100.0] {
            let (got, want) = (minimal.proximal(point, step), closed.proximal(point, step));
            assert!(
                close(got, want, 1e-12),
                "{name}: prox of {point}, {step}: {got:e}, not {want:e}"
            );
            // The quotient of the default loses what the margin has too many digits of.
            let dual = 0.5 * (domain.lower.max(-1.0) + domain.upper.min(1.0));
            let got = minimal.dual_step(dual, point, step);
            let want = closed.dual_step(dual, point, step);
            if closed.is_differentiable() {
                assert!(close(got, want, 1e-10), "{name}: dual step {got:e}, not {want:e}");
            }
        }
    }
    for eta in [0.03, 0.2, 0.45, 0.55, 0.7, 0.93] {
        let (got, want) = (minimal.population_minimizer(eta), closed.population_minimizer(eta));
        assert!(close(got, want, 1e-10), "{name}: minimiser at {eta}: {got:e}, not {want:e}");
        if let Some(want) = closed.probability(want) {
            let got = minimal.probability(got).unwrap_or(f64::NAN);
            assert!(close(got, want, 1e-10), "{name}: probability {got:e}, not {want:e}");
            // Where the minimiser determines it, it is eta.
            let flat = (want - 0.5).abs() < 1e-12;
            assert!(flat || close(want, eta, 1e-10), "{name}: probability {want}, not {eta}");
        }
    }
    for u in [-3.3, -0.2, 0.4, 1.9] {
        let (got, want) = (minimal.second_derivative(u), closed.second_derivative(u));
        assert!(close(got, want, 1e-8), "{name}: second derivative at {u}: {got:e}, not {want:e}");
    }
}

#[test]
fn defaults_agree_with_closed_forms() -> Result<(), margins_losses::Error> {
    compare(LeakyHockeyStick);
    compare(PowerHockeyStick::new(2.0)?);
    compare(MarginPursuit::new(1.0, 1.0)?);
    compare(MarginPursuit::new(0.5, 3.0)?);
    compare(LogCoshMarginPursuit::new(1.5, 0.7)?);
    compare(SmoothedHinge::new(0.5)?);
    compare(SmoothedHinge::new(1.7)?);
    compare(ModifiedHuber);
    compare(DistanceWeighted::new(1.0)?);
    compare(DistanceWeighted::new(0.3)?);
    compare(DistanceWeighted::new(5.0)?);
    compare(Hinge);
    compare(SquaredHinge);
    compare(Squared);
    compare(Logistic);
    compare(Exponential);
    Ok(())
}

#[test]
fn a_minimal_loss_conforms() -> Result<(), margins_losses::Error> {
    testkit::check(&Minimal(Logistic));
    testkit::check(&Minimal(Squared));
    testkit::check(&Minimal(SmoothedHinge::new(0.3)?));
    testkit::check(&Minimal(LogCoshMarginPursuit::new(1.0, 1.0)?));
    Ok(())
}

/// `1/(1 + e^u)^2`, which is not convex and says no more of itself.
#[derive(Debug)]
struct Savage;

impl MarginLoss for Savage {
    fn value(&self, u: f64) -> f64 {
        (1.0 + u.exp()).powi(-2)
    }
    fn derivative(&self, u: f64) -> f64 {
        let p = 1.0 / (1.0 + u.exp());
        -2.0 * p * p * (1.0 - p)
    }
    fn is_convex(&self) -> bool {
        false
    }
}

#[test]
fn a_loss_that_is_not_convex_needs_no_global_minimum_of_its_own() {
    testkit::check(&Savage);
    for eta in [0.001f64, 0.2, 0.5, 0.6, 0.99] {
        let (got, want) = (Savage.population_minimizer(eta), (eta / (1.0 - eta)).ln());
        assert!(close(got, want, 1e-12), "minimiser at {eta}: {got:e}, not {want:e}");
    }
}

/// The projection profile without its closed forms.
#[derive(Debug)]
struct Profile(GargRoth);

impl MarginLoss for Profile {
    fn value(&self, u: f64) -> f64 {
        self.0.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        self.0.derivative(u)
    }
    fn is_convex(&self) -> bool {
        false
    }
    fn is_differentiable(&self) -> bool {
        false
    }
}

#[test]
fn global_minima_agree_with_closed_forms() -> Result<(), margins_losses::Error> {
    for (alpha, beta) in [(1.0, 0.3), (0.2, 1.5), (4.0, 0.9)] {
        let closed = GargRoth::new(alpha, beta)?;
        let minimal = Profile(closed);
        for point in [-30.0, -2.0, -0.1, 0.0, 0.3, 1.0, 1.7, 50.0] {
            for step in [1e-3, 0.3, 2.0, 100.0] {
                let objective = |v: f64| closed.value(v) + 0.5 * (v - point) * ((v - point) / step);
                let (got, want) = (minimal.proximal(point, step), closed.proximal(point, step));
                let (at_got, at_want) = (objective(got), objective(want));
                assert!(
                    close(at_got, at_want, 1e-13),
                    "prox of {point}, {step}: {got:e}, {want:e}"
                );
            }
        }
        for eta in [0.03, 0.2, 0.45, 0.55, 0.7, 0.93] {
            let (got, want) = (minimal.population_minimizer(eta), closed.population_minimizer(eta));
            assert!(close(got, want, 1e-12), "minimiser at {eta}: {got:e}, not {want:e}");
        }
    }
    Ok(())
}

/// Box and reference pass on the closed forms, not the defaults.
#[test]
fn boxes_and_references_are_losses() {
    fn curvature_of<L: MarginLoss + ?Sized>(loss: &L) -> Option<f64> {
        loss.curvature()
    }
    let boxed: Box<dyn MarginLoss> = Box::new(Logistic);
    assert_eq!(curvature_of(&boxed), Some(0.25));
    assert_eq!(curvature_of(&&Logistic), Some(0.25));
    assert_eq!(MarginLoss::name(&boxed), "logistic");
    testkit::check(&boxed);
}

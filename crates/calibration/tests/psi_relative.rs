//! Psi and its inverse relative to their values, from the smallest risk to the largest, against
//! `fixtures/psi_relative.json`, which `fixtures/psi_relative.py` computes from the definition.

use margins_calibration::PsiTransform;
use margins_losses::{LossRegistry, MarginLoss};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    loss: String,
    a: f64,
    psi: f64,
}

fn rows() -> Vec<Row> {
    let rows: Vec<Row> = serde_json::from_str(include_str!("fixtures/psi_relative.json")).unwrap();
    assert!(rows.len() > 540);
    rows
}

fn loss(specification: &str) -> Box<dyn MarginLoss> {
    LossRegistry::standard().parse(specification).expect("a standard loss")
}

/// A loss stripped of everything but its two required methods.
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
fn closed_forms_are_accurate_relative_to_their_values() {
    let mut faults = Vec::new();
    for Row { loss: specification, a, psi } in rows() {
        let loss = loss(&specification);
        let transform = PsiTransform::of(&*loss).unwrap();
        let value = transform.value(a);
        if (value - psi).abs() > 1e-12 * psi {
            faults.push(format!("{specification} at {a:e}: {value:e}, not {psi:e}"));
        }
        let inverse = transform.inverse(psi);
        if (inverse - a).abs() > 1e-12 * a {
            faults.push(format!("{specification}, inverse at {psi:e}: {inverse:e}, not {a:e}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two methods do not tell class probabilities nearer than their rounding: Psi is a lower bound and
/// its inverse an upper one, both sharp for what is larger.
#[test]
fn values_and_slopes_alone_bound_from_the_safe_side() {
    const SHIFT: f64 = 1e-14;
    let mut faults = Vec::new();
    // Powers beyond that lose digits of their own.
    for Row { loss: specification, a, psi } in rows().into_iter().filter(|row| row.psi < 1e100) {
        let loss = loss(&specification);
        if !loss.is_convex() {
            continue;
        }
        let bare = Bare(&*loss);
        let transform = PsiTransform::of(&bare).unwrap();
        let value = transform.value(a);
        if value > psi * (1.0 + 1e-14) {
            faults.push(format!("{specification} at {a:e}: {value:e} above {psi:e}"));
        }
        let inverse = transform.inverse(psi);
        if inverse < a * (1.0 - 1e-14) || inverse > a * (1.0 + 1e-9) + SHIFT {
            faults.push(format!("{specification}, inverse at {psi:e}: {inverse:e}, not {a:e}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn inverses_of_every_risk_are_positive_rising_and_reach_it() {
    for specification in LossRegistry::standard()
        .names()
        .chain(["leaky-relu:lambda=0.5", "garg-roth:alpha=1,beta=0.3"])
    {
        let loss = loss(specification);
        let Ok(transform) = PsiTransform::of(&*loss) else { continue };
        let mut last = 0.0;
        for exponent in -323..=308 {
            let risk: f64 = format!("1e{exponent}").parse().unwrap();
            let a = transform.inverse(risk);
            assert!(a > 0.0 && a >= last, "{specification} at {risk:e}: {a:e} after {last:e}");
            let reached = transform.value(a) >= risk || a == 1.0;
            assert!(reached, "{specification} at {risk:e}: {a:e}");
            last = a;
        }
        assert_eq!(transform.inverse(f64::INFINITY), 1.0, "{specification}");
    }
}

/// Psi is convex with `Psi(0) = 0`: its chords from 0 do not fall, at any size of `a`.
#[test]
fn chords_from_zero_rise() {
    for Row { loss: specification, a, .. } in rows() {
        let loss = loss(&specification);
        let transform = PsiTransform::of(&*loss).unwrap();
        for (low, high) in [(0.5 * a, a), (0.9 * a, a)] {
            let (at_low, at_high) = (transform.value(low) / low, transform.value(high) / high);
            assert!(at_low <= at_high * (1.0 + 1e-13), "{specification} at {a:e}");
        }
    }
}

/// A loss without convexity that has no closed form to offer.
#[derive(Debug)]
struct Unknown<'a>(&'a dyn MarginLoss);

impl MarginLoss for Unknown<'_> {
    fn value(&self, u: f64) -> f64 {
        self.0.value(u)
    }
    fn derivative(&self, u: f64) -> f64 {
        self.0.derivative(u)
    }
    fn is_convex(&self) -> bool {
        false
    }
    fn population_minimizer(&self, eta: f64) -> f64 {
        self.0.population_minimizer(eta)
    }
    fn lower_bound(&self) -> Option<f64> {
        self.0.lower_bound()
    }
}

/// Garg and Roth's `psi~` is concave up to some `a`, so that Psi is a line and then a curve: a grid
/// finds both, from below.
#[test]
fn the_bound_without_convexity_is_sharp_at_every_size() {
    let mut faults = Vec::new();
    for specification in ["garg-roth:alpha=1,beta=0.3", "garg-roth:alpha=4,beta=0.9"] {
        let loss = loss(specification);
        let unknown = Unknown(&*loss);
        let grid = PsiTransform::of(&unknown).unwrap();
        for Row { a, psi, .. } in
            rows().into_iter().filter(|row| self::loss(&row.loss).specification() == specification)
        {
            let value = grid.value(a);
            if value > psi * (1.0 + 1e-14) || value < psi * (1.0 - 1e-9) {
                faults.push(format!("{specification} at {a:e}: {value:e}, not {psi:e}"));
            }
            let inverse = grid.inverse(psi);
            if inverse < a * (1.0 - 1e-14) || inverse > a * (1.0 + 1e-9) {
                faults.push(format!("{specification}, inverse at {psi:e}: {inverse:e}, not {a:e}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The largest beta of a calibrated loss at alpha = 1 is 0.491130662283017665..., which lies
/// between two doubles; so it does in other units.
#[test]
fn the_edge_of_calibration_is_found_to_the_last_bit() {
    const LAST: f64 = 0.491_130_662_283_017_66;
    for unit in [1.0, 2f64.powi(-150), 2f64.powi(150)] {
        let of = |beta: f64| loss(&format!("garg-roth:alpha={:e},beta={beta:e}", unit * unit));
        let (inside, outside) = (of(LAST * unit), of(LAST.next_up() * unit));
        assert!(PsiTransform::of(&*inside).is_ok() && PsiTransform::of(&*outside).is_err());
    }
}

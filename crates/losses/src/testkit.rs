//! A conformance test-kit for implementations of [`MarginLoss`].
//!
//! Every method of the trait makes a claim about the function that [`MarginLoss::value`] computes.
//! The kit compares the claims with each other and with the function on a few hundred margins,
//! kinks allowed for:
//!
//! ```
//! use margins_losses::{MarginLoss, testkit};
//!
//! #[derive(Debug)]
//! struct Perceptron;
//!
//! impl MarginLoss for Perceptron {
//!     fn value(&self, u: f64) -> f64 {
//!         (-u).max(0.0)
//!     }
//!     fn derivative(&self, u: f64) -> f64 {
//!         if u < 0.0 { -1.0 } else { 0.0 }
//!     }
//!     fn name(&self) -> &str {
//!         "perceptron"
//!     }
//! }
//!
//! // It forgot to say that it is not differentiable.
//! let violations = testkit::violations(&Perceptron);
//! assert!(violations.iter().any(|violation| violation.contains("is_differentiable")));
//! ```
//!
//! A loss may overflow to `+inf` at the margins +-1e6 only where its derivative does too.

mod calibration;
mod duality;
mod smoothness;

use crate::{Error, GargRoth, Hinge, LeakyHockeyStick, MarginLoss, MarginPursuit, SpecialCase};

/// Panics with a readable list if the implementation contradicts itself or the trait.
///
/// # Panics
/// If there is a violation: it is an assertion for tests.
pub fn check(loss: &dyn MarginLoss) {
    let violations = violations(loss);
    assert!(
        violations.is_empty(),
        "{} breaks the contract of MarginLoss:\n  {}",
        loss.specification(),
        violations.join("\n  ")
    );
}

/// Returns the contradictions of an implementation with itself or with the trait, a line each that
/// begins with the method at fault; at most three lines for one kind of fault.
pub fn violations(loss: &dyn MarginLoss) -> Vec<String> {
    let mut examination = Examination { loss, margins: margins(), found: Vec::new() };
    examination.names();
    examination.extremes();
    examination.derivative();
    examination.second_derivative();
    examination.differentiability();
    examination.convexity();
    examination.curvature();
    examination.lipschitz();
    examination.conjugate();
    examination.proximal();
    examination.dual_step();
    examination.lower_bound();
    examination.population_minimizer();
    examination.probability();
    examination.undecided_scores();
    examination.psi_transform();
    examination.homogeneous_tail();
    examination.special_case();
    examination.batches();
    examination.found
}

/// Returns ascending margins: dense around 0 with the customary kinks hit exactly, sparse far out.
/// 0 itself is left out, as differences across it say nothing of a loss that jumps there.
fn margins() -> Vec<f64> {
    let near = (-48..=48).filter(|&k| k != 0).map(|k| f64::from(k) / 8.0);
    let off = (-11..11).map(|k| f64::from(k) * 0.37 + 0.1234);
    let far = [8.5, 20.0, 33.0, 100.0, 1e3].into_iter().flat_map(|u| [-u, u]);
    let mut margins: Vec<f64> = near.chain(off).chain(far).collect();
    margins.sort_by(f64::total_cmp);
    margins
}

struct Examination<'a> {
    loss: &'a dyn MarginLoss,
    margins: Vec<f64>,
    found: Vec<String>,
}

/// Returns true if `x` lies between the smallest and the largest of `ends`, give or take `slack`.
fn within_hull(x: f64, ends: [f64; 3], slack: f64) -> bool {
    let low = ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
    low - slack <= x && x <= high + slack
}

impl Examination<'_> {
    /// Notes a violation unless it is the fourth of its kind, a kind being method and fault.
    fn require(&mut self, holds: bool, fault: &str, detail: impl FnOnce() -> String) {
        let same = self.found.iter().filter(|line| line.starts_with(fault)).count();
        if !holds && same < 3 {
            self.found.push(format!("{fault}: {}", detail()));
        }
    }

    /// Returns the margins without those where the loss has overflowed.
    fn finite_margins(&self) -> Vec<f64> {
        let finite =
            |u: &f64| self.loss.value(*u).is_finite() && self.loss.derivative(*u).is_finite();
        self.margins.iter().copied().filter(finite).collect()
    }

    fn names(&mut self) {
        let (name, text) = (self.loss.name().to_owned(), self.loss.specification());
        // The default is a path of Rust, in which the two colons are not a parameter list.
        let plain = !name.is_empty() && !name.replace("::", "").contains([':', ',', '=']);
        self.require(plain, "name: not a word", || format!("'{name}'"));
        self.require(
            text.starts_with(&name),
            "specification: does not begin with the name",
            || text,
        );
    }

    fn extremes(&mut self) {
        let loss = self.loss;
        for u in [-1e6, 1e6, f64::NEG_INFINITY, f64::INFINITY] {
            let (value, slope, bend) =
                (loss.value(u), loss.derivative(u), loss.second_derivative(u));
            if u.is_finite() {
                let overflow = value == f64::INFINITY && slope.is_infinite();
                self.require(value.is_finite() || overflow, "value: not finite", || {
                    format!("L({u}) = {value}")
                });
                self.require(slope.is_finite() || overflow, "derivative: not finite", || {
                    format!("L'({u}) = {slope}")
                });
            }
            self.require(!value.is_nan(), "value: NaN", || format!("L({u})"));
            self.require(!slope.is_nan(), "derivative: NaN", || format!("L'({u})"));
            // The default takes differences, which do not exist at infinity.
            self.require(
                !bend.is_nan() || u.is_infinite() || value.is_infinite(),
                "second_derivative: NaN",
                || format!("L''({u})"),
            );
        }
    }

    fn special_case(&mut self) {
        let Some(case) = self.loss.special_case() else { return };
        let standard: Result<Box<dyn MarginLoss>, Error> = match case {
            SpecialCase::LeakyHockeyStick => Ok(Box::new(LeakyHockeyStick)),
            SpecialCase::Hinge => Ok(Box::new(Hinge)),
            SpecialCase::MarginPursuit { gamma, scale } => {
                MarginPursuit::new(gamma, scale).map(|loss| Box::new(loss) as _)
            }
            SpecialCase::GargRoth { alpha, beta } => {
                GargRoth::new(alpha, beta).map(|loss| Box::new(loss) as _)
            }
        };
        let standard = match standard {
            Ok(standard) => standard,
            Err(error) => {
                return self.require(false, "special_case: no loss", || error.to_string());
            }
        };
        for u in self.margins.clone() {
            let (own, claimed) = (self.loss.value(u), standard.value(u));
            self.require(own == claimed, "special_case: another loss", || {
                format!("L({u}) = {own:e}, but {claimed:e} for {}", standard.specification())
            });
        }
    }

    fn batches(&mut self) {
        let loss = self.loss;
        let mut margins = self.margins.clone();
        margins.extend([-1e6, -745.0, 0.0, 1.0 - f64::EPSILON / 2.0, 1.0 + f64::EPSILON, 1e6]);
        let mut out = vec![f64::NAN; margins.len()];
        type Batch = fn(&dyn MarginLoss, &[f64], &mut [f64]);
        type Scalar = fn(&dyn MarginLoss, f64) -> f64;
        let forms: [(&str, Batch, Scalar); 3] = [
            ("values: not value", |l, m, o| l.values(m, o), |l, u| l.value(u)),
            ("derivatives: not derivative", |l, m, o| l.derivatives(m, o), |l, u| l.derivative(u)),
            (
                "second_derivatives: not second_derivative",
                |l, m, o| l.second_derivatives(m, o),
                |l, u| l.second_derivative(u),
            ),
        ];
        for (fault, batch, scalar) in forms {
            batch(loss, &margins, &mut out);
            for (&u, &got) in margins.iter().zip(&out) {
                let expected = scalar(loss, u);
                let same = got == expected || (got.is_nan() && expected.is_nan());
                let close = (got - expected).abs() <= 1e-14 * expected.abs() + 1e-300;
                self.require(same || close, fault, || {
                    format!("{got:e}, not {expected:e}, at {u:e}")
                });
            }
        }
    }
}

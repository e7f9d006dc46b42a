//! The test-kit finds the fault of deliberately wrong losses, and names the method.

use margins_losses::{
    Exponential, GargRoth, Hinge, HomogeneousTail, Interval, LeakyHockeyStick, LeakyRelu, Logistic,
    MarginLoss, MarginPursuit, SmoothedHinge, SpecialCase, Squared, testkit,
};

/// A right loss with one method replaced.
#[derive(Debug)]
struct Tampered {
    base: Box<dyn MarginLoss>,
    fault: Fault,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Name(&'static str),
    Value(fn(f64, f64) -> f64),
    Derivative(fn(f64, f64) -> f64),
    SecondDerivative(fn(f64, f64) -> f64),
    Convex(bool),
    Differentiable(bool),
    Curvature(f64),
    Lipschitz(f64),
    Conjugate(fn(f64, f64) -> f64),
    Domain(Option<Interval>),
    Proximal(fn(f64, f64) -> f64),
    DualStep(fn(f64, f64) -> f64),
    LowerBound(Option<f64>),
    Calibrated(bool),
    PopulationMinimizer(fn(f64, f64) -> f64),
    Probability(fn(f64, f64) -> f64),
    Undecided(Option<f64>),
    Tail(f64, f64),
    SpecialCase(SpecialCase),
    Values,
    Derivatives,
    SecondDerivatives,
}

impl MarginLoss for Tampered {
    fn name(&self) -> &str {
        if let Fault::Name(name) = self.fault { name } else { self.base.name() }
    }
    fn value(&self, u: f64) -> f64 {
        let right = self.base.value(u);
        if let Fault::Value(f) = self.fault { f(u, right) } else { right }
    }
    fn derivative(&self, u: f64) -> f64 {
        let right = self.base.derivative(u);
        if let Fault::Derivative(f) = self.fault { f(u, right) } else { right }
    }
    fn second_derivative(&self, u: f64) -> f64 {
        let right = self.base.second_derivative(u);
        if let Fault::SecondDerivative(f) = self.fault { f(u, right) } else { right }
    }
    fn is_convex(&self) -> bool {
        if let Fault::Convex(claim) = self.fault { claim } else { self.base.is_convex() }
    }
    fn is_differentiable(&self) -> bool {
        if let Fault::Differentiable(claim) = self.fault {
            claim
        } else {
            self.base.is_differentiable()
        }
    }
    fn curvature(&self) -> Option<f64> {
        if let Fault::Curvature(c) = self.fault { Some(c) } else { self.base.curvature() }
    }
    fn lipschitz(&self) -> Option<f64> {
        if let Fault::Lipschitz(l) = self.fault { Some(l) } else { self.base.lipschitz() }
    }
    fn conjugate(&self, t: f64) -> f64 {
        let right = self.base.conjugate(t);
        if let Fault::Conjugate(f) = self.fault { f(t, right) } else { right }
    }
    fn conjugate_domain(&self) -> Option<Interval> {
        if let Fault::Domain(domain) = self.fault { domain } else { self.base.conjugate_domain() }
    }
    fn proximal(&self, point: f64, step: f64) -> f64 {
        let right = self.base.proximal(point, step);
        if let Fault::Proximal(f) = self.fault { f(point, right) } else { right }
    }
    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        let right = self.base.dual_step(dual, margin, curvature);
        if let Fault::DualStep(f) = self.fault { f(dual, right) } else { right }
    }
    fn lower_bound(&self) -> Option<f64> {
        if let Fault::LowerBound(bound) = self.fault { bound } else { self.base.lower_bound() }
    }
    fn is_classification_calibrated(&self) -> bool {
        match self.fault {
            Fault::Calibrated(claim) => claim,
            _ => self.base.is_classification_calibrated(),
        }
    }
    fn population_minimizer(&self, eta: f64) -> f64 {
        let right = self.base.population_minimizer(eta);
        if let Fault::PopulationMinimizer(f) = self.fault { f(eta, right) } else { right }
    }
    fn probability(&self, score: f64) -> Option<f64> {
        let right = self.base.probability(score);
        if let Fault::Probability(f) = self.fault { right.map(|p| f(score, p)) } else { right }
    }
    fn undecided_scores(&self) -> Option<Interval> {
        match self.fault {
            Fault::Undecided(end) => end.map(|end| Interval::new(-end, end)),
            _ => self.base.undecided_scores(),
        }
    }
    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        match self.fault {
            Fault::Tail(from, degree) => Some(HomogeneousTail { from, degree }),
            _ => self.base.homogeneous_tail(),
        }
    }
    fn special_case(&self) -> Option<SpecialCase> {
        if let Fault::SpecialCase(case) = self.fault {
            Some(case)
        } else {
            self.base.special_case()
        }
    }
    fn values(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.value(u);
        }
        if let (Fault::Values, Some(last)) = (self.fault, out.last_mut()) {
            *last *= 1.0 + 1e-12;
        }
    }
    fn derivatives(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.derivative(u);
        }
        if let (Fault::Derivatives, Some(first)) = (self.fault, out.first_mut()) {
            *first *= 1.0 + 1e-12;
        }
    }
    fn second_derivatives(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.second_derivative(u);
        }
        if let (Fault::SecondDerivatives, Some(first)) = (self.fault, out.first_mut()) {
            *first += 1.0;
        }
    }
}

fn assert_found(base: impl MarginLoss + 'static, fault: Fault, expected: &str) {
    testkit::check(&base);
    let tampered = Tampered { base: Box::new(base), fault };
    let violations = testkit::violations(&tampered);
    assert!(
        violations.iter().any(|violation| violation.starts_with(expected)),
        "{tampered:?}: looked for '{expected}' in {violations:#?}"
    );
}

fn pursuit() -> MarginPursuit {
    MarginPursuit::new(1.0, 1.0).expect("valid parameters")
}

#[test]
fn wrong_functions_are_found() {
    assert_found(Logistic, Fault::Name("log:istic"), "name: not a word");
    assert_found(Logistic, Fault::Value(|u, _| (1.0 + (-u).exp()).ln()), "value: not finite");
    assert_found(
        Squared,
        Fault::Value(|u, v| if u.is_infinite() { f64::NAN } else { v }),
        "value: NaN",
    );
    assert_found(Logistic, Fault::Derivative(|_, d| d * 1.0001), "derivative: not that of value");
    assert_found(Squared, Fault::Derivative(|_, d| -d), "derivative: not that of value");
    assert_found(
        Logistic,
        Fault::SecondDerivative(|_, b| b * 1.001),
        "second_derivative: not that of derivative",
    );
    assert_found(
        LeakyHockeyStick,
        Fault::SecondDerivative(|u, b| if u > 2.0 { 0.0 } else { b }),
        "second_derivative: not that of derivative",
    );
}

#[test]
fn wrong_claims_of_shape_are_found() {
    let garg_roth = GargRoth::new(0.7, 1.3).expect("valid parameters");
    assert_found(garg_roth, Fault::Convex(true), "is_convex: claimed in spite of a value");
    assert_found(
        garg_roth,
        Fault::Convex(true),
        "is_convex: claimed in spite of a falling derivative",
    );
    assert_found(garg_roth, Fault::Differentiable(true), "is_differentiable");
    assert_found(Hinge, Fault::Differentiable(true), "is_differentiable");
    let nearly_straight = LeakyRelu::new(0.49).expect("valid parameters");
    assert_found(nearly_straight, Fault::Differentiable(true), "is_differentiable");
}

#[test]
fn wrong_constants_are_found() {
    assert_found(Logistic, Fault::Curvature(0.24), "curvature: exceeded");
    assert_found(Logistic, Fault::Curvature(0.24), "curvature: no quadratic majoriser");
    assert_found(Logistic, Fault::Curvature(0.3), "curvature: not attained");
    assert_found(LeakyHockeyStick, Fault::Curvature(0.9), "curvature: exceeded");
    assert_found(pursuit(), Fault::Curvature(0.95), "curvature: exceeded");
    let narrow = MarginPursuit::new(3.766, 0.01).expect("valid parameters");
    assert_found(narrow, Fault::Curvature(0.9), "curvature: exceeded");
    assert_found(Hinge, Fault::Curvature(100.0), "curvature: exceeded");
    assert_found(Exponential, Fault::Curvature(100.0), "curvature: exceeded");
    assert_found(pursuit(), Fault::Lipschitz(0.9), "lipschitz: exceeded");
    assert_found(pursuit(), Fault::Lipschitz(1.0), "lipschitz: not attained");
    assert_found(Squared, Fault::Lipschitz(2.0), "lipschitz: exceeded");
    assert_found(Logistic, Fault::LowerBound(Some(0.1)), "lower_bound: exceeded");
    assert_found(Logistic, Fault::LowerBound(Some(-0.1)), "lower_bound: not minus");
    assert_found(Logistic, Fault::LowerBound(None), "lower_bound: not minus");
    assert_found(LeakyHockeyStick, Fault::LowerBound(Some(-1e3)), "lower_bound: not minus");
    assert_found(LeakyHockeyStick, Fault::Tail(0.5, 1.0), "homogeneous_tail");
    assert_found(LeakyHockeyStick, Fault::Tail(1.0, 0.9), "homogeneous_tail");
    assert_found(Logistic, Fault::Tail(3.0, 0.0), "homogeneous_tail");
}

#[test]
fn wrong_duality_is_found() {
    assert_found(pursuit(), Fault::Conjugate(|_, c| c * 1.0001), "conjugate: no equality");
    assert_found(
        pursuit(),
        Fault::Conjugate(|_, c| c - 1e-6),
        "conjugate: below the Fenchel-Young",
    );
    // Forgotten sign: the conjugate at t instead of -t.
    assert_found(pursuit(), Fault::Conjugate(|t, c| c + 2.0 * t), "conjugate: no equality");
    assert_found(Hinge, Fault::Conjugate(|t, _| -t), "conjugate: finite outside");
    assert_found(
        Squared,
        Fault::Conjugate(|t, c| if t < 0.0 { f64::INFINITY } else { c }),
        "conjugate: not finite inside",
    );
    assert_found(
        Squared,
        Fault::Domain(Some(Interval::new(0.0, f64::INFINITY))),
        "conjugate_domain: lacks",
    );
    assert_found(Squared, Fault::Domain(None), "conjugate_domain: none");
    assert_found(Logistic, Fault::Proximal(|_, v| v + 1e-6), "proximal: not stationary");
    assert_found(Logistic, Fault::Proximal(|point, _| point), "proximal: not the minimiser");
    assert_found(Hinge, Fault::Proximal(|point, _| point), "proximal: not the minimiser");
    assert_found(Logistic, Fault::DualStep(|_, s| s + 1e-6), "dual_step: not the maximiser");
    assert_found(Hinge, Fault::DualStep(|_, s| s * 1.5), "dual_step: outside the domain");
    assert_found(Hinge, Fault::DualStep(|dual, _| dual), "dual_step: not the maximiser");
}

#[test]
fn wrong_calibration_is_found() {
    assert_found(Hinge, Fault::Calibrated(false), "is_classification_calibrated");
    let leaky = LeakyRelu::new(0.05).expect("valid parameters");
    assert_found(leaky, Fault::Calibrated(true), "is_classification_calibrated");
    assert_found(leaky, Fault::Calibrated(true), "population_minimizer: wrong side");
    let garg_roth = GargRoth::new(0.7, 1.3).expect("valid parameters");
    assert_found(garg_roth, Fault::Calibrated(true), "population_minimizer: wrong side");
    assert_found(
        Squared,
        Fault::PopulationMinimizer(|_, u| u + 1e-3),
        "population_minimizer: not odd",
    );
    assert_found(
        Squared,
        Fault::PopulationMinimizer(|_, u| u * 1.01),
        "population_minimizer: not the minimiser",
    );
    assert_found(
        Squared,
        Fault::PopulationMinimizer(|_, u| u * (1.0 + 1e-6)),
        "population_minimizer: not stationary",
    );
    assert_found(Squared, Fault::Probability(|f, _| 0.5 + f), "probability: not one");
    assert_found(Squared, Fault::Probability(|_, p| 1.0 - p), "probability: falls");
    assert_found(
        Exponential,
        Fault::Probability(|f, _| 1.0 / (1.0 + (-f).exp())),
        "probability: not the inverse",
    );
    assert_found(Logistic, Fault::Undecided(None), "undecided_scores: not known exactly");
    assert_found(Logistic, Fault::Undecided(Some(1.0)), "undecided_scores: the odds are not even");
    assert_found(
        LeakyHockeyStick,
        Fault::Undecided(Some(0.5)),
        "undecided_scores: the odds are even",
    );
}

#[test]
fn wrong_special_cases_are_found() {
    assert_found(Squared, Fault::SpecialCase(SpecialCase::Hinge), "special_case: another loss");
    let pursuing = |scale| Fault::SpecialCase(SpecialCase::MarginPursuit { gamma: 1.0, scale });
    assert_found(pursuit(), pursuing(2.5), "special_case: another loss");
    assert_found(pursuit(), pursuing(0.0), "special_case: no loss");
}

#[test]
fn wrong_batches_are_found() {
    let smoothed = SmoothedHinge::new(0.5).expect("valid parameters");
    assert_found(LeakyHockeyStick, Fault::Values, "values: not value");
    assert_found(smoothed, Fault::Derivatives, "derivatives: not derivative");
    assert_found(smoothed, Fault::SecondDerivatives, "second_derivatives: not second_derivative");
}

#[test]
#[should_panic(expected = "logistic breaks the contract of MarginLoss:\n  lipschitz: exceeded")]
fn check_panics_with_a_list() {
    testkit::check(&Tampered { base: Box::new(Logistic), fault: Fault::Lipschitz(0.5) });
}

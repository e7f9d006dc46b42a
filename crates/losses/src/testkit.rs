//! A conformance test-kit for implementations of [`MarginLoss`].
//!
//! Every method of the trait makes a claim about the function that [`MarginLoss::value`] computes.
//! The kit compares the claims with each other and with the function on a few hundred margins, kinks
//! allowed for:
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
//! A loss that is not convex has to override [`MarginLoss::proximal`] and
//! [`MarginLoss::population_minimizer`], whose defaults are right for convex losses only. A loss may
//! overflow to `+inf` at the margins +-1e6 only where its derivative does too.

use crate::{Interval, MarginLoss, kink_at_zero};

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

/// What in the implementation contradicts itself or the trait, a line each that begins with the
/// method at fault; at most three lines for one kind of fault.
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
    examination.batches();
    examination.found
}

/// Ascending margins: dense around 0 with the customary kinks hit exactly, sparse far out. 0 itself
/// is left out, as differences across it say nothing of a loss that jumps there.
fn margins() -> Vec<f64> {
    let near = (-48..=48).filter(|&k| k != 0).map(|k| f64::from(k) / 8.0);
    let off = (-11..11).map(|k| f64::from(k) * 0.37 + 0.1234);
    let far = [8.5, 20.0, 33.0, 100.0, 1e3].into_iter().flat_map(|u| [-u, u]);
    let mut margins: Vec<f64> = near.chain(off).chain(far).collect();
    margins.sort_by(f64::total_cmp);
    margins
}

const STEPS: [f64; 5] = [1e-3, 0.1, 1.0, 10.0, 1e3];
const ETAS: [f64; 12] = [0.001, 0.02, 0.1, 0.3, 0.45, 0.499, 0.51, 0.6, 0.75, 0.9, 0.97, 0.999];

struct Examination<'a> {
    loss: &'a dyn MarginLoss,
    margins: Vec<f64>,
    found: Vec<String>,
}

/// Whether `x` lies between the least and the greatest of `ends`, give or take `slack`.
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

    /// The margins, without those where the loss has overflowed.
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

    fn derivative(&mut self) {
        let loss = self.loss;
        for u in self.finite_margins() {
            // A difference quotient is a mean of slopes, at a kink too.
            let h = 1e-6 * u.abs().max(1.0);
            let (a, b) = (u - h, u + h);
            let quotient = (loss.value(b) - loss.value(a)) / (b - a);
            let slopes = [loss.derivative(a), loss.derivative(u), loss.derivative(b)];
            let size = loss.value(u).abs().max(1.0);
            let slack = 1e-6 * slopes[1].abs() + 4.0 * f64::EPSILON * size / h;
            self.require(
                within_hull(quotient, slopes, slack),
                "derivative: not that of value",
                || format!("L'({u}) = {:e}, difference quotient {quotient:e}", slopes[1]),
            );
        }
    }

    fn second_derivative(&mut self) {
        let loss = self.loss;
        for u in self.finite_margins() {
            let h = 1e-6 * u.abs().max(1.0);
            let (a, b) = (u - h, u + h);
            let quotient = (loss.derivative(b) - loss.derivative(a)) / (b - a);
            if !loss.is_differentiable() && self.kink_between(a, b).is_some() {
                continue;
            }
            let bends = [a, u, b].map(|u| loss.second_derivative(u));
            let size = loss.derivative(u).abs().max(1.0);
            let slack = 1e-6 * bends[1].abs() + 1e-6 + 4.0 * f64::EPSILON * size / h;
            self.require(
                within_hull(quotient, bends, slack),
                "second_derivative: not that of derivative",
                || format!("L''({u}) = {:e}, difference quotient {quotient:e}", bends[1]),
            );
        }
    }

    /// A jump of the derivative between two margins: the half with the larger increment, again and
    /// again, until the two are neighbours.
    fn kink_between(&self, mut a: f64, mut b: f64) -> Option<f64> {
        let slope = |u: f64| self.loss.derivative(u);
        loop {
            let middle = a + 0.5 * (b - a);
            if middle <= a || middle >= b {
                break;
            }
            if (slope(middle) - slope(a)).abs() >= (slope(b) - slope(middle)).abs() {
                b = middle;
            } else {
                a = middle;
            }
        }
        let jump = (slope(b) - slope(a)).abs();
        (jump > 1e-3 * (1e-3 + slope(a).abs().min(slope(b).abs()))).then_some(a)
    }

    fn differentiability(&mut self) {
        if !self.loss.is_differentiable() {
            return;
        }
        let margins = self.finite_margins();
        for pair in margins.windows(2) {
            let kink = self.kink_between(pair[0], pair[1]);
            self.require(kink.is_none(), "is_differentiable: claimed in spite of a kink", || {
                format!("near {}", kink.unwrap_or_default())
            });
        }
    }

    fn convexity(&mut self) {
        let loss = self.loss;
        if !loss.is_convex() {
            return;
        }
        let margins = self.finite_margins();
        for (i, &a) in margins.iter().enumerate() {
            for &b in margins.iter().skip(i + 1) {
                let (at_a, at_b) = (loss.value(a), loss.value(b));
                let slack = 1e-12 * (1.0 + at_a.abs() + at_b.abs());
                let middle = loss.value(0.5 * (a + b));
                self.require(
                    middle <= 0.5 * (at_a + at_b) + slack,
                    "is_convex: claimed in spite of a value above the chord",
                    || format!("between {a} and {b}"),
                );
                let (low, high) = (loss.derivative(a), loss.derivative(b));
                self.require(
                    low <= high + 1e-12 * (1.0 + low.abs()),
                    "is_convex: claimed in spite of a falling derivative",
                    || format!("L'({a}) = {low:e}, L'({b}) = {high:e}"),
                );
            }
        }
    }

    /// The steepest rise of the derivative that bisection finds between two margins.
    fn bend_between(&self, mut a: f64, mut b: f64) -> f64 {
        let loss = self.loss;
        let rise = |a: f64, b: f64| (loss.derivative(b) - loss.derivative(a)) / (b - a);
        let mut steepest = rise(a, b);
        while b - a > 1e-7 * (1.0 + a.abs().max(b.abs())) {
            let middle = a + 0.5 * (b - a);
            let (left, right) = (rise(a, middle), rise(middle, b));
            steepest = steepest.max(left).max(right);
            (a, b) = if left > right { (a, middle) } else { (middle, b) };
        }
        steepest
    }

    fn curvature(&mut self) {
        let loss = self.loss;
        let Some(bound) = loss.curvature() else { return };
        let margins = self.finite_margins();
        let mut steepest = 0.0f64;
        for pair in margins.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            steepest = steepest.max(self.bend_between(a, b)).max(loss.second_derivative(a));
            let majorizer =
                loss.value(a) + loss.derivative(a) * (b - a) + 0.5 * bound * (b - a) * (b - a);
            let slack = 1e-12 * (1.0 + majorizer.abs() + loss.value(a).abs());
            self.require(
                loss.value(b) <= majorizer + slack,
                "curvature: no quadratic majoriser",
                || format!("L({b}) = {:e} above {majorizer:e}, from {a}", loss.value(b)),
            );
        }
        let steepest = steepest.max(self.largest_second_derivative());
        self.require(steepest <= bound * (1.0 + 1e-6) + 1e-9, "curvature: exceeded", || {
            format!("claimed {bound:e}, found L'' = {steepest:e}")
        });
        self.require(steepest >= 0.9 * bound, "curvature: not attained", || {
            format!("claimed {bound:e}, found at most {steepest:e}")
        });
    }

    /// The largest `L''` near the margin of the grid where it is largest, looked for in ever smaller
    /// surroundings: its supremum may be at a kink of `L'` between two margins.
    fn largest_second_derivative(&self) -> f64 {
        const ROUNDS: usize = 6;
        const PARTS: i32 = 20;
        let at = |u: f64| self.loss.second_derivative(u);
        let margins = self.finite_margins();
        let mut best =
            margins.into_iter().fold(0.0, |best, u| if at(u) > at(best) { u } else { best });
        let mut width = 0.25;
        for _ in 0..ROUNDS {
            let around = (-PARTS..=PARTS).map(|k| best + width * f64::from(k) / f64::from(PARTS));
            best = around.fold(best, |best, u| if at(u) > at(best) { u } else { best });
            width *= 0.2;
        }
        at(best)
    }

    fn lipschitz(&mut self) {
        let loss = self.loss;
        let Some(bound) = loss.lipschitz() else { return };
        let far = [-1e100, -1e6, 1e6, 1e100];
        let slopes = self.margins.iter().chain(&far).map(|&u| loss.derivative(u).abs());
        let steepest = slopes.fold(0.0, f64::max);
        self.require(steepest <= bound * (1.0 + 1e-12), "lipschitz: exceeded", || {
            format!("claimed {bound:e}, found |L'| = {steepest:e}")
        });
        // The slopes of a convex function are steepest at the ends.
        self.require(
            !loss.is_convex() || steepest >= 0.99 * bound,
            "lipschitz: not attained",
            || format!("claimed {bound:e}, found at most {steepest:e}"),
        );
    }

    /// `t = -L'(u)`, put back onto the end of the domain that rounding has carried it across.
    fn dual_of(&self, u: f64) -> f64 {
        let t = -self.loss.derivative(u);
        match self.loss.conjugate_domain() {
            Some(domain) => {
                let nearest = t.max(domain.lower).min(domain.upper);
                if (t - nearest).abs() <= 1e-12 * t.abs() { nearest } else { t }
            }
            None => t,
        }
    }

    /// Points within the domain of the conjugate, its ends excluded.
    fn duals(&self) -> Vec<f64> {
        let Some(domain) = self.loss.conjugate_domain() else { return Vec::new() };
        let (low, high) = (domain.lower, domain.upper);
        let offsets = [1e-3, 0.1, 0.5, 1.0, 7.0, 200.0];
        match (low.is_finite(), high.is_finite()) {
            (true, true) => {
                [1e-3, 0.1, 0.5, 0.9, 0.999].iter().map(|part| low + part * (high - low)).collect()
            }
            (true, false) => offsets.iter().map(|t| low + t).collect(),
            (false, true) => offsets.iter().map(|t| high - t).collect(),
            (false, false) => offsets.iter().flat_map(|&t| [-t, t]).collect(),
        }
    }

    fn conjugate(&mut self) {
        let loss = self.loss;
        if !loss.is_convex() {
            return;
        }
        let Some(domain) = loss.conjugate_domain() else {
            return self.require(false, "conjugate_domain: none for a convex loss", String::new);
        };
        let (margins, duals) = (self.finite_margins(), self.duals());
        for &t in &duals {
            let conjugate = loss.conjugate(t);
            self.require(conjugate.is_finite(), "conjugate: not finite inside its domain", || {
                format!("L*(-{t}) = {conjugate}")
            });
            for &u in &margins {
                let value = loss.value(u);
                let slack = 1e-9 * (1.0 + value.abs() + conjugate.abs() + (t * u).abs());
                self.require(
                    value + conjugate + t * u >= -slack,
                    "conjugate: below the Fenchel-Young bound",
                    || {
                        format!(
                            "L*(-{t}) = {conjugate:e}, but -t u - L(u) = {:e} at {u}",
                            -t * u - value
                        )
                    },
                );
            }
        }
        for (end, sign) in [(domain.lower, -1.0), (domain.upper, 1.0)] {
            let outside = end + sign * 1e-6 * (1.0 + end.abs());
            self.require(
                end.is_infinite() || loss.conjugate(outside) == f64::INFINITY,
                "conjugate: finite outside its domain",
                || format!("L*(-{outside}) = {:e}", loss.conjugate(outside)),
            );
        }
        for u in margins {
            let (value, t) = (loss.value(u), self.dual_of(u));
            let conjugate = loss.conjugate(t);
            let slack = 1e-9 * (1.0 + value.abs() + (t * u).abs());
            self.require(domain.contains(t), "conjugate_domain: lacks a slope of the loss", || {
                format!("-L'({u}) = {t:e}")
            });
            // At a slope that has run into an open end the supremum is not attained at u.
            let open = conjugate.is_infinite() && (t == domain.lower || t == domain.upper);
            self.require(
                open || (value + conjugate + t * u).abs() <= slack,
                "conjugate: no equality in Fenchel-Young",
                || format!("L*(-{t:e}) = {conjugate:e}, should be {:e}, at {u}", -t * u - value),
            );
        }
    }

    fn proximal(&mut self) {
        let loss = self.loss;
        let points = [-300.0, -30.0, -4.1, -1.0, -0.3, 0.0, 0.2, 0.7, 1.0, 1.6, 3.3, 25.0, 400.0];
        for (point, step) in points.into_iter().flat_map(|p| STEPS.map(|s| (p, s))) {
            let objective = |v: f64| loss.value(v) + 0.5 * (v - point) * ((v - point) / step);
            let v = loss.proximal(point, step);
            let best = objective(v);
            let nearby = [1e-3, 0.1, 2.0].into_iter().flat_map(|d| [v - d, v + d]);
            for other in self.margins.clone().into_iter().chain(nearby).chain([0.0, point]) {
                let slack = 1e-10 * (1.0 + best.abs() + loss.value(v).abs());
                self.require(
                    best <= objective(other) + slack,
                    "proximal: not the minimiser",
                    || format!("point {point}, step {step}: {v:e} is worse than {other:e}"),
                );
            }
            // Stationarity sees errors that the value, flat at its minimum, does not.
            let e = 1e-9 * v.abs().max(1.0);
            let pull = (point - v) / step;
            let slopes = [loss.derivative(v - e), loss.derivative(v), loss.derivative(v + e)];
            let slack = 1e-9 * (slopes[0].abs() + 1.0) + 1e-12 * (point.abs() + v.abs()) / step;
            self.require(
                !loss.is_convex() || within_hull(pull, slopes, slack),
                "proximal: not stationary",
                || format!("point {point}, step {step}: L'({v:e}) = {:e}, not {pull:e}", slopes[1]),
            );
        }
    }

    fn dual_step(&mut self) {
        let loss = self.loss;
        if !loss.is_convex() {
            return;
        }
        for (dual, margin) in self
            .duals()
            .into_iter()
            .flat_map(|t| [-20.0, -0.9, 0.0, 0.6, 1.3, 15.0].map(|u| (t, u)))
        {
            for curvature in [0.0, 1e-3, 0.1, 1.0, 50.0] {
                let s = loss.dual_step(dual, margin, curvature);
                // The maximiser is minus a slope at the margin that it leads to.
                let after = margin + curvature * (s - dual);
                if !loss.value(after).is_finite() {
                    continue;
                }
                let e = 1e-9 * after.abs().max(1.0);
                let slopes = [-e, 0.0, e].map(|e| -loss.derivative(after + e));
                let slack = 1e-9 * (1.0 + slopes[1].abs());
                self.require(within_hull(s, slopes, slack), "dual_step: not the maximiser", || {
                    format!(
                        "dual {dual}, margin {margin}, curvature {curvature}: {s:e}, but -L'({after:e}) \
                         = {:e}",
                        slopes[1]
                    )
                });
                let inside = loss.conjugate_domain().is_none_or(|domain| {
                    let slack = 1e-12 * s.abs();
                    domain.lower - slack <= s && s <= domain.upper + slack
                });
                self.require(inside, "dual_step: outside the domain of the conjugate", || {
                    format!("dual {dual}, margin {margin}, curvature {curvature}: {s:e}")
                });
            }
        }
    }

    fn lower_bound(&mut self) {
        let loss = self.loss;
        let claimed = loss.lower_bound();
        let least = loss.conjugate(0.0);
        if let Some(bound) = claimed {
            let far = [-1e6, 1e6];
            for &u in self.margins.clone().iter().chain(&far) {
                let value = loss.value(u);
                self.require(
                    value >= bound - 1e-12 * (1.0 + bound.abs()),
                    "lower_bound: exceeded",
                    || format!("claimed {bound:e}, but L({u}) = {value:e}"),
                );
            }
        }
        let agrees = match claimed {
            Some(bound) => (bound + least).abs() <= 1e-9 * (1.0 + bound.abs()),
            None => least == f64::INFINITY,
        };
        self.require(
            !loss.is_convex() || agrees,
            "lower_bound: not minus the conjugate at 0",
            || format!("claimed {claimed:?}, L*(0) = {least:e}"),
        );
    }

    fn population_minimizer(&mut self) {
        let loss = self.loss;
        let (slope, kink) = (loss.derivative(0.0), kink_at_zero(loss));
        let criterion = kink.is_none() && slope < 0.0;
        let calibrated = loss.is_classification_calibrated();
        self.require(
            !loss.is_convex() || calibrated == criterion,
            "is_classification_calibrated: not the criterion of convex losses",
            || format!("claimed {calibrated}, the slope at 0 is {slope:e}, the kink {kink:?}"),
        );
        for eta in ETAS.into_iter().chain([0.0, 1.0]) {
            let risk = |u: f64| {
                // A certain class makes the other one's loss, infinite or not, irrelevant.
                let weigh =
                    |weight: f64, u: f64| if weight > 0.0 { weight * loss.value(u) } else { 0.0 };
                weigh(eta, u) + weigh(1.0 - eta, -u)
            };
            let u = loss.population_minimizer(eta);
            let right_side = u * (eta - 0.5) > 0.0;
            self.require(!calibrated || right_side, "population_minimizer: wrong side", || {
                format!("eta = {eta}: {u:e}, though calibration is claimed")
            });
            // Where it jumps, 1 - eta may fall on either side.
            let mirrored = [-1e-9, 0.0, 1e-9]
                .map(|e| loss.population_minimizer((1.0 - eta + e).clamp(0.0, 1.0)));
            let slack = if u.is_finite() { 1e-9 * (1.0 + u.abs()) } else { 0.0 };
            self.require(within_hull(-u, mirrored, slack), "population_minimizer: not odd", || {
                format!("{u:e} at {eta}, {:e} at 1 - {eta}", mirrored[1])
            });
            // An infinite minimiser is a limit: approach it.
            let best = risk(if u.is_finite() { u } else { 1e9f64.copysign(u) });
            let nearby = [0.0, 0.99 * u, 1.01 * u].into_iter().filter(|u| u.is_finite());
            for other in self.margins.clone().into_iter().chain(nearby) {
                let at_other = risk(other);
                let slack = 1e-9 * (1.0 + best.abs());
                self.require(
                    best <= at_other + slack || at_other.is_nan(),
                    "population_minimizer: not the minimiser",
                    || format!("eta = {eta}: risk {best:e} at {u:e}, {at_other:e} at {other:e}"),
                );
            }
            if loss.is_convex() && u.is_finite() {
                let e = 1e-8 * u.abs().max(1.0);
                let slope = |u: f64| eta * loss.derivative(u) - (1.0 - eta) * loss.derivative(-u);
                let slack = 1e-8 * (eta * loss.derivative(u).abs()) + 1e-12;
                self.require(
                    within_hull(0.0, [slope(u - e), slope(u), slope(u + e)], slack),
                    "population_minimizer: not stationary",
                    || format!("eta = {eta}: slope {:e} at {u:e}", slope(u)),
                );
            }
        }
    }

    fn probability(&mut self) {
        let loss = self.loss;
        let far = [-1e6, 1e6, f64::NEG_INFINITY, f64::INFINITY];
        let mut before = 0.0;
        let mut scores = self.margins.clone();
        scores.extend(far);
        scores.sort_by(f64::total_cmp);
        for score in scores {
            let Some(probability) = loss.probability(score) else { return };
            self.require((0.0..=1.0).contains(&probability), "probability: not one", || {
                format!("{probability} at score {score}")
            });
            self.require(probability >= before - 1e-12, "probability: falls", || {
                format!("to {probability} at score {score}")
            });
            before = probability;
        }
        for eta in ETAS {
            let [below, at, above] =
                [eta - 5e-4, eta, eta + 5e-4].map(|e| loss.population_minimizer(e));
            if below < at && at < above && at.is_finite() {
                let probability = loss.probability(at);
                self.require(
                    probability.is_some_and(|p| (p - eta).abs() <= 1e-7),
                    "probability: not the inverse of population_minimizer",
                    || format!("{probability:?} at the minimiser {at:e} for eta = {eta}"),
                );
            }
        }
    }

    fn undecided_scores(&mut self) {
        let loss = self.loss;
        let undecided = loss.undecided_scores();
        self.require(
            undecided.is_some() == loss.probability(0.0).is_some(),
            "undecided_scores: not known exactly where probability is",
            || format!("{undecided:?}, probability {:?}", loss.probability(0.0)),
        );
        let Some(Interval { lower, upper }) = undecided else { return };
        self.require(lower == -upper && upper >= 0.0, "undecided_scores: not around 0", || {
            format!("from {lower} to {upper}")
        });
        for share in [0.0, 0.5, 1.0] {
            let probability = loss.probability(share * upper);
            self.require(
                probability.is_some_and(|p| (p - 0.5).abs() <= 1e-12),
                "undecided_scores: the odds are not even inside",
                || format!("{probability:?} at score {}", share * upper),
            );
        }
        let beyond = upper + 1e-3 * (1.0 + upper);
        let probability = loss.probability(beyond);
        self.require(
            upper.is_infinite() || probability.is_some_and(|p| p > 0.5),
            "undecided_scores: the odds are even outside too",
            || format!("{probability:?} at score {beyond}"),
        );
    }

    fn psi_transform(&mut self) {
        let loss = self.loss;
        if !loss.is_convex() {
            return self.psi_transform_is_convex();
        }
        for a in [0.0, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let Some(psi) = loss.psi_transform(a) else { return };
            let eta = 0.5 * (1.0 + a);
            let u = loss.population_minimizer(eta);
            let expected = loss.value(0.0) - eta * loss.value(u) - (1.0 - eta) * loss.value(-u);
            // Without an attained infimum the risk at the minimiser is no number.
            let expected = if expected.is_nan() { f64::INFINITY } else { expected };
            self.require(
                psi == expected || (psi - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
                "psi_transform: not L(0) - H",
                || format!("{psi:e} at {a}, not {expected:e}"),
            );
        }
        self.psi_transform_is_convex();
    }

    /// Psi is convex with `Psi(0) = 0`, so that `Psi(a)/a` does not fall, down to the least `a`.
    fn psi_transform_is_convex(&mut self) {
        let mut before: Option<(f64, f64)> = None;
        for exponent in -140..=0 {
            let a = 10f64.powi(exponent);
            let Some(psi) = self.loss.psi_transform(a) else { return };
            self.require(psi >= 0.0, "psi_transform: negative", || format!("{psi:e} at {a:e}"));
            if let Some((last_a, last_psi)) = before {
                self.require(
                    last_psi / last_a <= psi / a * (1.0 + 1e-12),
                    "psi_transform: not convex",
                    || format!("{last_psi:e} at {last_a:e}, but {psi:e} at {a:e}"),
                );
            }
            before = Some((a, psi));
        }
    }

    fn homogeneous_tail(&mut self) {
        let loss = self.loss;
        let Some(tail) = loss.homogeneous_tail() else { return };
        let starts = self.margins.clone().into_iter().chain([tail.from, 1e6]);
        for u in starts.filter(|&u| u.is_finite() && u >= tail.from) {
            for k in [1.0, 1.5, 2.0, 10.0, 1e3] {
                let (scaled, expected) =
                    (loss.derivative(k * u), k.powf(-tail.degree) * loss.derivative(u));
                self.require(
                    (scaled - expected).abs() <= 1e-12 * expected.abs(),
                    "homogeneous_tail: does not scale",
                    || format!("L'({k} * {u}) = {scaled:e}, not {expected:e}"),
                );
            }
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

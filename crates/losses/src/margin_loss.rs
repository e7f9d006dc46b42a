//! The trait of margin losses.

use std::fmt::Debug;

use crate::scalar_search::{last_zero, lowest_minimum, monotone_root};
use crate::{Interval, SpecialCase};

/// The margin beyond which the numerical defaults take a limit at infinity for reached.
const FAR: f64 = 1e100;

/// A margin loss `L(u)`, `u = y f(x)`.
///
/// Two methods are required. Every other method has a default that is correct for a convex,
/// differentiable loss, computed numerically if necessary. A loss that is not convex overrides
/// [`is_convex`](Self::is_convex). Override methods that have a closed form, which is faster and more
/// accurate; `curvature`, `lipschitz` and `homogeneous_tail` cannot be computed numerically. Check
/// the result with `margins_losses::testkit::check` (feature `testkit`).
///
/// The trait is object-safe. Implementations are pure functions of the margin.
pub trait MarginLoss: Debug + Send + Sync {
    /// Returns `L(u)`.
    fn value(&self, u: f64) -> f64;

    /// Returns `L'(u)`; at a kink any element of the subdifferential.
    fn derivative(&self, u: f64) -> f64;

    /// Returns the name in specifications, reports and model files, such as `squared-hinge`.
    /// Default: the name of the type.
    fn name(&self) -> &str {
        let path = std::any::type_name::<Self>();
        let path = path.split_once('<').map_or(path, |(path, _)| path);
        path.rsplit("::").next().unwrap_or(path)
    }

    /// Returns the parameter names with their values, in the order of the specification. A loss
    /// with parameters must list them, because a model file stores only them and the name of the
    /// loss.
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Returns the specification `name:key=value,...` that [`LossRegistry`](crate::LossRegistry)
    /// reads back.
    fn specification(&self) -> String {
        let parameters: Vec<String> =
            self.parameters().iter().map(|(key, value)| format!("{key}={value}")).collect();
        if parameters.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}:{}", self.name(), parameters.join(","))
        }
    }

    /// Returns `L''(u)`, at a kink of `L'` any element of its generalised derivative.
    ///
    /// Default: a central difference of [`derivative`](Self::derivative), good to about ten digits.
    fn second_derivative(&self, u: f64) -> f64 {
        let h = f64::EPSILON.cbrt() * u.abs().max(1.0);
        (self.derivative(u + h) - self.derivative(u - h)) / ((u + h) - (u - h))
    }

    /// Returns true if `L` is convex. Default: yes; the test-kit checks it.
    fn is_convex(&self) -> bool {
        true
    }

    /// Returns true if `L` is continuously differentiable. Default: yes; the test-kit checks it.
    fn is_differentiable(&self) -> bool {
        true
    }

    /// Returns `sup L''`, the curvature of the quadratic majoriser of MM; `None` if infinite or
    /// unknown.
    fn curvature(&self) -> Option<f64> {
        None
    }

    /// Returns `sup |L'|`; `None` if infinite or unknown.
    fn lipschitz(&self) -> Option<f64> {
        None
    }

    /// Returns the conjugate at `-t`: `L*(-t) = sup_u (-t u - L(u))`, `+inf` outside its domain.
    ///
    /// Default: the supremum of a concave function of one variable by bisection on its derivative;
    /// for a loss that is not convex `+inf`, as duality then certifies nothing.
    fn conjugate(&self, t: f64) -> f64 {
        if !self.is_convex() {
            return f64::INFINITY;
        }
        let at = |u: f64| -t * u - self.value(u);
        let u = monotone_root(|u| t + self.derivative(u), 0.0, FAR);
        if u.is_finite() {
            return at(u);
        }
        // The supremum is a limit: finite if the function has settled between two far points.
        let (near, far) = (at(FAR.sqrt().copysign(u)), at(FAR.copysign(u)));
        if (far - near).abs() <= 1e-9 * (1.0 + far.abs()) { far } else { f64::INFINITY }
    }

    /// Returns the closure of the set of `t` with `L*(-t)` finite; `None` for a loss that is not
    /// convex.
    ///
    /// Default: from `-L'(+inf)` to `-L'(-inf)`.
    fn conjugate_domain(&self) -> Option<Interval> {
        if !self.is_convex() {
            return None;
        }
        let slope = |u: f64| {
            let slope = -self.derivative(u);
            if slope.abs() > FAR.sqrt() || slope.is_nan() {
                f64::INFINITY.copysign(-u)
            } else {
                slope
            }
        };
        Some(Interval::new(slope(FAR), slope(-FAR)))
    }

    /// Returns the proximal point: the minimiser over `v` of `L(v) + (v - point)^2 / (2 step)`,
    /// `step > 0`.
    ///
    /// Default: bisection on `v - point + step L'(v)`, right for every convex loss, kinks included.
    /// For a loss that is not convex the bisection runs between all neighbours of a grid where that
    /// sum changes its sign, and the best of these points is returned. The grid has steps of 1/8 up
    /// to a distance of 8 from 0 and from the point, and doubles the distance beyond.
    fn proximal(&self, point: f64, step: f64) -> f64 {
        let slope = |v: f64| (v - point) + step * self.derivative(v);
        if self.is_convex() {
            return monotone_root(slope, point, FAR);
        }
        lowest_minimum(|v| self.value(v) + 0.5 * (v - point) * ((v - point) / step), slope, point)
    }

    /// Returns the margin to which gradient flow, `dv/ds = -L'(v)`, leads from `v = u` in this time,
    /// at least 0: the limit of many small steps on one sample, by which a stochastic method takes
    /// the weight of a sample for repetitions of it (Karampatziakis and Langford, *Online
    /// importance weight aware updates*, 2011).
    ///
    /// Default: the [`proximal`](Self::proximal) point, one implicit step in place of the limit. It
    /// passes no minimiser of the loss either, and is the flow itself where the loss is piecewise
    /// linear.
    fn flow(&self, u: f64, time: f64) -> f64 {
        if time > 0.0 { self.proximal(u, time) } else { u }
    }

    /// Returns the step of one coordinate of the dual: the maximiser over `s` of `-L*(-s) - (s -
    /// dual) margin - curvature (s - dual)^2 / 2`, with `dual` the present value and `margin` the
    /// present margin of the sample.
    ///
    /// In a linear model `curvature = c_i ||x_i||^2 / (2 lambda n)`. By Moreau's identity the
    /// maximiser is `(v - a)/curvature` with `a = margin - curvature dual` and `v` the
    /// [`proximal`](Self::proximal) point of `a`, which for a differentiable loss is `-L'(v)`, the
    /// form that does not cancel; for curvature 0 it is `-L'(margin)`.
    fn dual_step(&self, dual: f64, margin: f64, curvature: f64) -> f64 {
        if curvature <= 0.0 {
            return -self.derivative(margin);
        }
        let point = margin - curvature * dual;
        let v = self.proximal(point, curvature);
        let maximizer =
            if self.is_differentiable() { -self.derivative(v) } else { (v - point) / curvature };
        match self.conjugate_domain() {
            Some(domain) => maximizer.clamp(domain.lower, domain.upper),
            None => maximizer,
        }
    }

    /// Returns `inf L`; `None` for a negatively divergent loss. Default: `-L*(0)`.
    fn lower_bound(&self) -> Option<f64> {
        let bound = -self.conjugate(0.0);
        bound.is_finite().then_some(bound)
    }

    /// Returns true if every minimiser of the conditional risk has the sign of the Bayes rule.
    ///
    /// Default: the criterion of Bartlett, Jordan and McAuliffe (2006, theorem 2) for convex
    /// losses: [no kink at 0](kink_at_zero) and `L'(0) < 0`; `false` for others, which must decide
    /// for themselves.
    fn is_classification_calibrated(&self) -> bool {
        self.is_convex() && kink_at_zero(self).is_none() && self.derivative(0.0) < 0.0
    }

    /// Returns the minimiser over `u` of the conditional risk `eta L(u) + (1 - eta) L(-u)`, `eta`
    /// the probability of the positive class; `-inf` or `+inf` where the infimum is not attained.
    /// Where the minimiser is not unique, the one nearest to 0.
    ///
    /// Default: bisection on the derivative; for a loss that is not convex on the grid of
    /// [`proximal`](Self::proximal).
    fn population_minimizer(&self, eta: f64) -> f64 {
        let slope = |u: f64| eta * self.derivative(u) - (1.0 - eta) * self.derivative(-u);
        if self.is_convex() {
            return monotone_root(slope, 0.0, FAR);
        }
        let part = |share: f64, u: f64| if share > 0.0 { share * self.value(u) } else { 0.0 };
        lowest_minimum(|u| part(eta, u) + part(1.0 - eta, -u), slope, 0.0)
    }

    /// Returns the probability of the positive class that makes `score` a population minimiser:
    /// `L'(-f) / (L'(f) + L'(-f))`, clipped to [0, 1]. `None` where the population minimiser says
    /// no more than the class (hinge, LeakyReLU) or is not characterised by its derivative.
    fn probability(&self, score: f64) -> Option<f64> {
        if !(self.is_convex() && self.is_classification_calibrated()) {
            return None;
        }
        // Past a stationary point of L the ratio would leave [0, 1]: there the class is certain.
        let odds_against = self.derivative(score).min(0.0) / self.derivative(-score).min(0.0);
        // The sign of a zero is not the loss's: both slopes are at most 0.
        Some(if odds_against.is_nan() { 0.5 } else { 1.0 / (1.0 + odds_against.abs()) })
    }

    /// Returns the scores that stand for even odds and for nothing more: every minimiser of the
    /// conditional risk at `eta = 1/2`, an interval around 0, [-1, 1] for the leaky hockey stick.
    /// `None` where [`probability`](Self::probability) is.
    ///
    /// Default: by bisection the largest `u` with `L'(u) = L'(-u)`.
    fn undecided_scores(&self) -> Option<Interval> {
        self.probability(0.0)?;
        let end = last_zero(|u| self.derivative(u) - self.derivative(-u), FAR);
        Some(Interval::new(-end, end))
    }

    /// Returns the Psi-transform of Bartlett, Jordan and McAuliffe (2006) at `a` in [0, 1], where
    /// it has a closed form: with `H(eta)` the lowest conditional risk, `Psi(a) = L(0) - H((1 +
    /// a)/2)` for a convex calibrated loss. An excess surrogate risk of `Psi(a)` bounds the excess
    /// misclassification risk by `a`. A closed form must be accurate relative to its value, as the
    /// inverse at a small risk depends on `Psi` near 0. `None` without a closed form: the
    /// calibration crate then computes the transform.
    fn psi_transform(&self, _a: f64) -> Option<f64> {
        None
    }

    /// Returns the tail on which scaling the margins scales the derivative, if there is one: it
    /// makes a lambda path beyond separation a ray in closed form.
    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        None
    }

    /// Returns which loss of this crate this is, if solvers or theory treat it specially: by a solver
    /// for it alone, or by a closed form that needs its parameters. Default: `None`. The name does
    /// not decide this, because any loss may have any name.
    fn special_case(&self) -> Option<SpecialCase> {
        None
    }

    /// Fills `out[i] = L(margins[i])`; the slices are of equal length.
    fn values(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.value(u);
        }
    }

    /// Fills `out[i] = L'(margins[i])`; the slices are of equal length.
    fn derivatives(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.derivative(u);
        }
    }

    /// Fills `out[i] = L''(margins[i])`; the slices are of equal length.
    fn second_derivatives(&self, margins: &[f64], out: &mut [f64]) {
        for (o, &u) in out.iter_mut().zip(margins) {
            *o = self.second_derivative(u);
        }
    }
}

/// Returns the slopes of a loss on the left and on the right of 0 where they differ by more than
/// rounding.
pub fn kink_at_zero<L: MarginLoss + ?Sized>(loss: &L) -> Option<(f64, f64)> {
    const ROUNDING: f64 = 1e-9;
    let (left, right) = (loss.derivative(-f64::MIN_POSITIVE), loss.derivative(f64::MIN_POSITIVE));
    let differ = (left - right).abs() > ROUNDING * left.abs().max(right.abs());
    differ.then_some((left, right))
}

/// A tail of a loss with `L'(k u) = k^(-degree) L'(u)` for all `u >= from` and `k >= 1`.
///
/// Then, once every margin of the minimiser at lambda is at least `from`, the minimiser at a
/// smaller lambda' is `c = (lambda/lambda')^(1/(1+degree))` times it, intercept included, and its
/// duality gap is `c^(1-degree)` times as large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HomogeneousTail {
    /// The margin where the tail begins.
    pub from: f64,
    /// The degree with which the slope decays: 1 for the leaky hockey stick, `1 - 1/r` for `L_r`.
    pub degree: f64,
}

impl HomogeneousTail {
    /// Returns true if the slope falls on the tail, which begins at a positive margin.
    pub fn falls(&self) -> bool {
        self.degree > 0.0 && self.from > 0.0
    }
}

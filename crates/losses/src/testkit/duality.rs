//! Claims of a loss about its conjugate and the steps that follow from it.

use super::{Examination, within_hull};

/// The steps of the proximal points.
const STEPS: [f64; 5] = [1e-3, 0.1, 1.0, 10.0, 1e3];

impl Examination<'_> {
    /// Returns `t = -L'(u)`, put back onto the end of the domain that rounding has carried it
    /// across.
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

    /// Returns the points within the domain of the conjugate, its ends excluded.
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

    pub(super) fn conjugate(&mut self) {
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

    pub(super) fn proximal(&mut self) {
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

    pub(super) fn dual_step(&mut self) {
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

    pub(super) fn lower_bound(&mut self) {
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
}

//! Claims of a loss about its shape: derivatives, kinks, convexity, curvature, slope, tail.

use super::{Examination, within_hull};

impl Examination<'_> {
    pub(super) fn derivative(&mut self) {
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

    pub(super) fn second_derivative(&mut self) {
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

    /// Returns a jump of the derivative between two margins: the half with the larger increment,
    /// again and again, until the two are neighbours.
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

    pub(super) fn differentiability(&mut self) {
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

    pub(super) fn convexity(&mut self) {
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

    /// Returns the steepest rise of the derivative that bisection finds between two margins.
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

    pub(super) fn curvature(&mut self) {
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

    /// Returns the largest `L''` near the margin of the grid where it is largest, looked for in
    /// ever smaller surroundings: its supremum may be at a kink of `L'` between two margins.
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

    pub(super) fn lipschitz(&mut self) {
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

    pub(super) fn homogeneous_tail(&mut self) {
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
}

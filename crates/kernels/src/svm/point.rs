//! Points of the dual, and their objective.

use margins_optim::{Certificate, Lambda, Report};

use super::Scored;
use super::extremes::Extremes;
use super::problem::{Drift, Problem, UNITS};
use crate::KernelFit;

/// A point of the dual: coefficients with what they are worth.
#[derive(Clone)]
pub(super) struct SvmPoint {
    pub(super) coef: Vec<f64>,
    /// The gradient `y - K a`.
    pub(super) gradient: Vec<f64>,
    /// What rounding may have done to the gradient, beside that of a product with all coefficients.
    pub(super) drift: Drift,
    pub(super) intercept: f64,
    pub(super) objective: f64,
    /// The difference of the two objectives, as computed.
    pub(super) gap: f64,
    /// A bound on how far rounding can have moved the objective.
    pub(super) rounding: f64,
    pub(super) violation: f64,
}

impl SvmPoint {
    /// Returns everything about these coefficients, from K itself; what rounding made of their sum
    /// is first taken from a free one.
    ///
    /// With an intercept that minimises the hinge risk the gap is `F - D = (1/n) sum_i c_i (max(0,
    /// 1 - u_i) - s_i (1 - u_i))`, `u_i = y_i (b + f_i)`: no term is negative, so nothing cancels.
    /// It uses `2 lambda a'K a = (1/n) sum_i c_i s_i y_i f_i` and `sum_i a_i = 0`. The rounding of
    /// f is that of both objectives. What it would cost to take the rest r of the sum that rounding
    /// has left from one coefficient is added: `2 lambda |r| |g_i - b|` to first order, for the
    /// worst i.
    pub(super) fn of(problem: &Problem<'_>, lambda: Lambda, mut coef: Vec<f64>) -> Self {
        let excess = if problem.intercept { balance(problem, lambda, &mut coef) } else { 0.0 };
        let mut gradient = vec![0.0; coef.len()];
        problem.entries.multiply_sparse(&coef, &mut gradient);
        gradient.iter_mut().zip(problem.signs).for_each(|(g, y)| *g = y - *g);
        Self::with_gradient(problem, lambda, coef, (gradient, Drift::default()), excess)
    }

    /// Returns the point where all coefficients are 0, which needs no product with K.
    pub(super) fn origin(problem: &Problem<'_>, lambda: Lambda) -> Self {
        let (coef, gradient) = (vec![0.0; problem.len()], problem.signs.to_vec());
        Self::with_gradient(problem, lambda, coef, (gradient, Drift::default()), 0.0)
    }

    /// Returns the better in the dual at another lambda of the coefficients, which belong to `last`,
    /// and those scaled by the ratio of the lambdas, with the scale.
    fn carried(&self, problem: &Problem<'_>, last: Lambda, lambda: Lambda) -> (Vec<f64>, f64) {
        let ratio = last.get() / lambda.get();
        let signs = problem.signs;
        let linear: f64 = self.coef.iter().zip(signs).map(|(a, y)| a * y).sum();
        let fitted = signs.iter().zip(&self.gradient).map(|(y, g)| y - g);
        let quadratic: f64 = self.coef.iter().zip(fitted).map(|(a, f)| a * f).sum();
        let dual = |scale: f64| scale * linear - 0.5 * scale * scale * quadratic;
        let scale = if dual(ratio) > dual(1.0) { ratio } else { 1.0 };
        let scaled = |(i, &a): (usize, &f64)| {
            let (lower, upper) = problem.bounds(i, lambda);
            let bounded = a != 0.0 && {
                let (old_lower, old_upper) = problem.bounds(i, last);
                a == old_lower || a == old_upper
            };
            // Rounding must not take a coefficient off its bound.
            if bounded && scale != 1.0 { lower + upper } else { (scale * a).clamp(lower, upper) }
        };
        (self.coef.iter().enumerate().map(scaled).collect(), scale)
    }

    /// Returns the start that this solution is for another lambda, with the number of entries of K
    /// that it takes. Where all coefficients scale alike, no column of K is needed.
    pub(super) fn carried_to(
        mut self,
        problem: &Problem<'_>,
        at: Lambda,
        lambda: Lambda,
    ) -> (Self, f64) {
        let (coef, scale) = self.carried(problem, at, lambda);
        self.drift.by_norm *= scale;
        self.drift.absolute *= scale;
        for (g, y) in self.gradient.iter_mut().zip(problem.signs) {
            *g = y - scale * (y - *g);
        }
        self.drift.of_sums(&self.gradient);
        // Changes by rounding alone are no changes.
        let changed = |new: f64, old: f64| (new - old).abs() > 2.0 * f64::EPSILON * new.abs();
        self.drift.by_norm += problem.product_error(&coef);
        let steps = coef.iter().zip(&self.coef).map(|(&new, old)| {
            let old = scale * old;
            if changed(new, old) { new - old } else { 0.0 }
        });
        let step: Vec<f64> = steps.collect();
        let entries = problem.entries_read(&step);
        (self.moved_to(problem, lambda, coef, &step), entries)
    }

    /// Returns the same with changes of the coefficients to `coef`, by the columns of K of those
    /// that change: `step` is their changes, but for a rounding that `drift` allows for.
    pub(super) fn moved_to(
        mut self,
        problem: &Problem<'_>,
        lambda: Lambda,
        coef: Vec<f64>,
        step: &[f64],
    ) -> Self {
        let mut image = vec![0.0; coef.len()];
        problem.entries.multiply_sparse(step, &mut image);
        self.gradient.iter_mut().zip(&image).for_each(|(g, k)| *g -= k);
        self.drift.by_norm += problem.product_error(step);
        self.drift.of_sums(&self.gradient);
        let excess = if problem.intercept { compensated_sum(coef.iter().copied()) } else { 0.0 };
        Self::with_gradient(problem, lambda, coef, (self.gradient, self.drift), excess)
    }

    /// Returns everything about coefficients whose gradient is known and whose sum is `excess`.
    fn with_gradient(
        problem: &Problem<'_>,
        lambda: Lambda,
        coef: Vec<f64>,
        (gradient, drift): (Vec<f64>, Drift),
        excess: f64,
    ) -> Self {
        let intercept = if problem.intercept { problem.best_intercept(&gradient) } else { 0.0 };
        let (mut risk, mut gap, mut square, mut farthest) = (0.0, 0.0, 0.0, 0.0f64);
        let error_of = problem.margin_errors(&coef, intercept, drift);
        let mut rounding = 0.0;
        let mut extremes = Extremes::NONE;
        for &i in &problem.samples {
            let (a, g, y, c) = (coef[i], gradient[i], problem.signs[i], problem.weights[i]);
            let (lower, upper) = problem.bounds(i, lambda);
            // 1 - u_i, since y_i g_i = 1 - y_i f_i.
            let shortfall = y * (g - intercept);
            let at_bound =
                if upper > lower { a / (upper + lower) } else { f64::from(shortfall > 0.0) };
            let s = at_bound.clamp(0.0, 1.0);
            risk += c * shortfall.max(0.0);
            let above = if shortfall > 0.0 { (1.0 - s) * shortfall } else { -s * shortfall };
            gap += c * above;
            let error = error_of(i);
            let slope = if shortfall > -error { 1.0 } else { s };
            rounding += (c * slope + lambda.get() * a.abs()) * error;
            farthest = farthest.max(shortfall.abs());
            square += a * (y - g);
            extremes.include((lower, upper), a, g);
        }
        let penalty = lambda.get() * square;
        rounding += UNITS * f64::EPSILON * (risk + penalty.abs());
        SvmPoint {
            objective: risk + penalty,
            coef,
            gradient,
            drift,
            intercept,
            gap: gap + 2.0 * excess.abs() * farthest * lambda.get(),
            rounding,
            violation: extremes.violation(problem.intercept),
        }
    }

    pub(super) fn certificate(&self) -> Certificate {
        Certificate::new(self.objective, self.gap, self.rounding, self.violation)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.gap.is_finite() && self.violation.is_finite()
    }
}

/// A point that a solver has ended at.
pub(super) struct Solution {
    pub(super) lambda: Lambda,
    pub(super) point: SvmPoint,
    pub(super) report: Report,
}

impl Solution {
    /// Returns the fit with the scores that it gives all samples.
    pub(super) fn scored(self, problem: &Problem<'_>) -> Scored {
        let Solution { lambda, point, report } = self;
        let SvmPoint { intercept, coef, gradient, .. } = point;
        // The gradient of sample i is y_i - (K a)_i.
        let score = |(g, y): (f64, &f64)| y - g + intercept;
        let scores = gradient.into_iter().zip(problem.signs).map(score).collect();
        Scored { fit: KernelFit { lambda, intercept, coef, report }, scores }
    }
}

/// Takes the sum of the coefficients, which rounding lets drift, from the ones that have the room,
/// and returns what is left of it.
pub(super) fn balance(problem: &Problem<'_>, lambda: Lambda, coef: &mut [f64]) -> f64 {
    let mut excess = compensated_sum(coef.iter().copied());
    for &i in &problem.samples {
        if excess == 0.0 {
            return 0.0;
        }
        let (lower, upper) = problem.bounds(i, lambda);
        if lower < coef[i] && coef[i] < upper {
            let moved = (coef[i] - excess).clamp(lower, upper);
            excess -= coef[i] - moved;
            coef[i] = moved;
        }
    }
    excess
}

/// Returns the sum with what rounding takes from it on the way (Neumaier 1974): many equal
/// coefficients at a bound and as many at the other one add up to 0.
fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::Gram;

    #[test]
    fn what_no_coefficient_can_take_of_the_sum_is_told() {
        let gram = Gram::precomputed(DMatrix::identity(200, 200)).expect("positive semidefinite");
        let signs: Vec<f64> = (0..200).map(|i| if i < 100 { 1.0 } else { -1.0 }).collect();
        let problem = Problem::new(&gram, &signs, None, true).expect("a problem");
        let lambda = Lambda::new(0.1 / 0.28).expect("positive");
        let bound = problem.bounds(0, lambda).1;
        let at_bounds: Vec<f64> = signs.iter().map(|y| y * bound).collect();
        // One after the other these do not add up to 0.
        assert_ne!(at_bounds.iter().sum::<f64>(), 0.0);
        let mut coef = at_bounds.clone();
        assert_eq!(balance(&problem, lambda, &mut coef), 0.0);
        assert_eq!(coef, at_bounds);
        coef[199] = 0.0;
        assert_eq!(balance(&problem, lambda, &mut coef), bound);
        coef[199] = -0.5 * bound;
        assert_eq!(balance(&problem, lambda, &mut coef), 0.0);
        assert_eq!(coef, at_bounds);
    }
}

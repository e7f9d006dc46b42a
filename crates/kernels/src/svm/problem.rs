//! The problem of a support vector machine, and the worth of coefficients.

use margins_optim::{Certificate, Lambda, MarginSummary};
use nalgebra::DMatrix;

use crate::rkhs_norm::SampleNorms;
use crate::{Error, Gram};

/// The least curvature, as a share: curvatures count as at least this times the largest size of a
/// diagonal entry of K, a little above the rounding of `K_ii + K_jj - 2 K_ij`: duplicate samples
/// have none.
const LEAST_CURVATURE: f64 = 1e-14;

/// The units of roundoff that a few operations lose.
pub(super) const UNITS: f64 = 16.0;

/// The part of the problem that does not depend on lambda.
pub(super) struct Problem<'a> {
    pub(super) gram: &'a DMatrix<f64>,
    pub(super) signs: &'a [f64],
    /// The weights `c_i / n`.
    pub(super) weights: Vec<f64>,
    /// The weights by which summaries of margins count the samples.
    counts: Vec<f64>,
    pub(super) intercept: bool,
    /// The samples of positive weight.
    pub(super) samples: Vec<usize>,
    norms: SampleNorms,
    pub(super) least_curvature: f64,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        gram: &'a Gram,
        signs: &'a [f64],
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, Error> {
        let n = signs.len();
        check_size("rows of the kernel matrix", n, gram.len())?;
        let gram = gram.matrix();
        if let Some(row) = signs.iter().position(|y| y.abs() != 1.0) {
            return Err(Error::Sign { row, value: signs[row] });
        }
        let mut mean_weights = vec![1.0 / n as f64; n];
        if let Some(weights) = weights {
            check_size("sample weights", n, weights.len())?;
            if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
                let value = weights[row];
                return Err(margins_optim::Error::Weight { row, value }.into());
            }
            mean_weights = weights.iter().map(|c| c / n as f64).collect();
        }
        let samples: Vec<usize> = (0..n).filter(|&i| mean_weights[i] > 0.0).collect();
        for sign in [1.0, -1.0] {
            if !samples.iter().any(|&i| signs[i] == sign) {
                return Err(margins_optim::Error::OneClass(format!("{sign:+}")).into());
            }
        }
        let largest_diagonal = gram.diagonal().iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        let least_curvature = (LEAST_CURVATURE * largest_diagonal).max(f64::MIN_POSITIVE);
        Ok(Problem {
            gram,
            signs,
            counts: mean_weights.clone(),
            weights: mean_weights,
            intercept,
            samples,
            norms: SampleNorms::of(gram),
            least_curvature,
        })
    }

    /// Counts samples by weights of their own in summaries of margins.
    pub(super) fn counted_by(mut self, counts: &[f64]) -> Self {
        self.counts = counts.to_vec();
        self
    }

    /// Returns what the margins of a point are like, of the samples that count.
    pub(super) fn summary(&self, point: &DualPoint) -> MarginSummary {
        // y_i g_i = 1 - y_i f_i.
        let margin = |i: usize| 1.0 - self.signs[i] * (point.gradient[i] - point.intercept);
        let margins: Vec<f64> = self.samples.iter().map(|&i| margin(i)).collect();
        let of = |values: &[f64]| self.samples.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        MarginSummary::new(&margins, &of(self.signs), &of(&self.counts))
    }

    pub(super) fn len(&self) -> usize {
        self.signs.len()
    }

    pub(super) fn column(&self, i: usize) -> &'a [f64] {
        let n = self.len();
        &self.gram.as_slice()[i * n..(i + 1) * n]
    }

    /// Returns the least and greatest value of a coefficient.
    pub(super) fn bounds(&self, i: usize, lambda: Lambda) -> (f64, f64) {
        let size = self.weights[i] / (2.0 * lambda.get());
        if self.signs[i] > 0.0 { (0.0, size) } else { (-size, 0.0) }
    }

    /// Returns how far rounding can have moved each margin of a point, given its intercept.
    pub(super) fn margin_errors<'s>(
        &'s self,
        coef: &[f64],
        intercept: f64,
    ) -> impl Fn(usize) -> f64 + use<'s, 'a> {
        let own = UNITS * f64::EPSILON * (1.0 + intercept.abs());
        let product_error = self.norms.product_error(coef);
        move |i| own + product_error * self.norms.norm(i)
    }

    /// Returns the minimiser over b of `sum_i c_i max(0, 1 - y_i (b + f_i))`, from `g_i = y_i -
    /// f_i`.
    ///
    /// The hinge of a positive sample has slope -c_i below g_i, that of a negative one c_i above
    /// it. The slope of the sum is therefore the weight of all `g_i < b` minus the weight of the
    /// positive class: b is the quantile of the `g_i` at the weight of the positive class.
    pub(super) fn best_intercept(&self, gradient: &[f64]) -> f64 {
        let mut order = self.samples.clone();
        order.sort_unstable_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
        let total: f64 = order.iter().map(|&i| self.weights[i]).sum();
        let positive: f64 =
            order.iter().filter(|&&i| self.signs[i] > 0.0).map(|&i| self.weights[i]).sum();
        // Sums of weights that should be equal differ by rounding.
        let rounding = order.len() as f64 * f64::EPSILON * total;
        let mut below = 0.0;
        for (k, &i) in order.iter().enumerate() {
            below += self.weights[i];
            if below >= positive - rounding {
                let flat = below <= positive + rounding;
                let next = order.get(k + 1).filter(|_| flat).map_or(i, |&j| j);
                return gradient[i] + 0.5 * (gradient[next] - gradient[i]);
            }
        }
        0.0
    }
}

fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

/// A point of the dual: coefficients with what they are worth.
#[derive(Clone)]
pub(super) struct DualPoint {
    pub(super) coef: Vec<f64>,
    /// The gradient `y - K a`, recomputed from the coefficients.
    pub(super) gradient: Vec<f64>,
    pub(super) intercept: f64,
    pub(super) objective: f64,
    /// The difference of the two objectives, as computed.
    pub(super) gap: f64,
    /// A bound on how far rounding can have moved the objective.
    pub(super) rounding: f64,
    pub(super) violation: f64,
}

impl DualPoint {
    pub(super) fn certificate(&self) -> Certificate {
        Certificate::new(self.objective, self.gap, self.rounding, self.violation)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.gap.is_finite() && self.violation.is_finite()
    }
}

/// The gradients that decide about optimality: the largest of a coefficient that can rise, the
/// smallest of one that can fall.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes {
    pub(super) rising: f64,
    pub(super) falling: f64,
}

impl Extremes {
    pub(super) const NONE: Extremes =
        Extremes { rising: f64::NEG_INFINITY, falling: f64::INFINITY };

    pub(super) fn violation(self, intercept: bool) -> f64 {
        let violation =
            if intercept { self.rising - self.falling } else { self.rising.max(-self.falling) };
        violation.max(0.0)
    }

    /// Returns the numbers between which a gradient may yet matter: a coefficient at its upper
    /// bound with a gradient above the second one, or at its lower bound with one below the first,
    /// stays there.
    pub(super) fn window(self, intercept: bool) -> (f64, f64) {
        if intercept {
            (self.falling, self.rising)
        } else {
            let violation = self.violation(false);
            (-violation, violation)
        }
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
    use super::*;

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

//! The problem of a support vector machine, and the worth of coefficients.

use margins_optim::{Lambda, MarginSummary};

use super::extremes::Extremes;
use super::frame::Frame;
use crate::gram::Entries;
use crate::rkhs_norm::SampleNorms;
use crate::symmetric::number::Number;
use crate::{Error, Gram};

/// The units of roundoff that a few operations lose.
pub(super) const UNITS: f64 = 16.0;

/// The part of the problem that does not depend on lambda.
pub(super) struct Problem<'a> {
    pub(super) entries: &'a Entries,
    pub(super) signs: &'a [f64],
    /// The weights `c_i / n`.
    pub(super) weights: Vec<f64>,
    /// The weights by which summaries of margins count the samples.
    counts: Vec<f64>,
    pub(super) intercept: bool,
    pub(super) samples: Vec<usize>,
    norms: SampleNorms,
    largest_diagonal: f64,
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
        let entries = gram.entries();
        let diagonal = entries.diagonal();
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
        let largest_diagonal = diagonal.iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        Ok(Problem {
            entries,
            signs,
            counts: mean_weights.clone(),
            weights: mean_weights,
            intercept,
            samples,
            norms: SampleNorms::new(diagonal),
            largest_diagonal,
        })
    }

    /// Counts samples by weights of their own in summaries of margins.
    pub(super) fn counted_by(mut self, counts: &[f64]) -> Self {
        self.counts = counts.to_vec();
        self
    }

    /// Returns what the margins are like, of the samples that count, given the gradient `y - K a`.
    pub(super) fn summary(&self, gradient: &[f64], intercept: f64) -> MarginSummary {
        // y_i g_i = 1 - y_i f_i.
        let margin = |i: usize| 1.0 - self.signs[i] * (gradient[i] - intercept);
        MarginSummary::of(self.samples.iter().map(|&i| (margin(i), self.signs[i], self.counts[i])))
    }

    pub(super) fn len(&self) -> usize {
        self.signs.len()
    }

    /// Returns the least and greatest value of a coefficient.
    pub(super) fn bounds(&self, i: usize, lambda: Lambda) -> (f64, f64) {
        let size = self.weights[i] / (2.0 * lambda.get());
        if self.signs[i] > 0.0 { (0.0, size) } else { (-size, 0.0) }
    }

    /// Returns the least curvature of the dual along two coefficients that counts in this precision:
    /// a little above the rounding of `K_ii + K_jj - 2 K_ij`, as duplicate samples have none.
    pub(super) fn least_curvature<P: Number>(&self) -> f64 {
        (45.0 * P::EPSILON * self.largest_diagonal).max(f64::MIN_POSITIVE)
    }

    /// Returns the frame for steps in single precision from these coefficients and their gradient: the
    /// middle between the extreme gradients for the center, if there is an intercept, and the
    /// violation for the unit.
    pub(super) fn frame(
        &self,
        lambda: Lambda,
        (coef, gradient): (&[f64], &[f64]),
        scale: f64,
    ) -> Frame {
        /// The most units that a gradient may be away from the center: its square over the least
        /// curvature is still a number in single precision.
        const FARTHEST: f64 = 1e15;
        let extremes = self.extremes(lambda, coef, gradient);
        let center = if self.intercept { extremes.middle() } else { 0.0 };
        let farthest = gradient.iter().map(|g| (g - center).abs()).fold(0.0, f64::max);
        let unit = extremes.violation(self.intercept).max(farthest / FARTHEST);
        Frame { center, unit: if unit > 0.0 { unit } else { 1.0 }, scale }
    }

    fn extremes(&self, lambda: Lambda, coef: &[f64], gradient: &[f64]) -> Extremes {
        let mut extremes = Extremes::NONE;
        self.samples.iter().for_each(|&i| {
            extremes.include(self.bounds(i, lambda), coef[i], gradient[i]);
        });
        extremes
    }

    /// Returns the number of entries of K that the products with coefficients need.
    pub(super) fn entries_read(&self, coef: &[f64]) -> f64 {
        coef.iter().filter(|a| **a != 0.0).count() as f64 * self.len() as f64
    }

    /// Returns the problem in some of the coefficients alone, with the entries of their matrix.
    pub(super) fn restricted<'s>(
        &self,
        to: &[usize],
        entries: &'s Entries,
        signs: &'s [f64],
    ) -> Problem<'s> {
        let of = |all: &[f64]| to.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        Problem {
            entries,
            signs,
            weights: of(&self.weights),
            counts: of(&self.counts),
            intercept: self.intercept,
            samples: (0..to.len()).collect(),
            norms: self.norms.select(to),
            largest_diagonal: self.largest_diagonal,
        }
    }

    /// Returns how far rounding can have moved each margin of a point, given its intercept.
    pub(super) fn margin_errors<'s>(
        &'s self,
        coef: &[f64],
        intercept: f64,
        drift: Drift,
    ) -> impl Fn(usize) -> f64 + use<'s, 'a> {
        let own = UNITS * f64::EPSILON * (1.0 + intercept.abs()) + drift.absolute;
        let by_norm = self.product_error(coef) + drift.by_norm;
        move |i| own + by_norm * self.norms.norm(i)
    }

    /// Returns the rounding of products with K, by the norm of a sample.
    pub(super) fn product_error(&self, coef: &[f64]) -> f64 {
        self.entries.rounding_factor() * self.norms.product_error(coef)
    }

    pub(super) fn with_total_weight_of(mut self, other: &Problem<'_>) -> Self {
        let total = |weights: &[f64]| weights.iter().sum::<f64>();
        let ratio = total(&other.weights) / total(&self.weights);
        self.weights.iter_mut().for_each(|c| *c *= ratio);
        self
    }

    /// Returns true if there are samples of either class.
    pub(super) fn has_both_classes(&self) -> bool {
        [1.0, -1.0].iter().all(|sign| self.signs.contains(sign))
    }

    /// Returns the coefficients that are at their upper bound above a threshold of the gradient
    /// `y_i - f_i` and at their lower one below it, as they are at the minimum; with an intercept
    /// the threshold is where they add up to 0, and the one there fills the sum.
    pub(super) fn settled(&self, lambda: Lambda, gradient: &[f64]) -> Vec<f64> {
        let mut coef = vec![0.0; self.len()];
        if !self.intercept {
            for &i in &self.samples {
                let (lower, upper) = self.bounds(i, lambda);
                coef[i] = if gradient[i] > 0.0 { upper } else { lower };
            }
            return coef;
        }
        let mut order = self.samples.clone();
        order.sort_unstable_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
        // What is left of the sum when all others are at their upper bounds.
        let mut sum: f64 = order.iter().map(|&i| self.bounds(i, lambda).1).sum();
        for &i in &order {
            let (lower, upper) = self.bounds(i, lambda);
            let fall = sum.clamp(0.0, upper - lower);
            coef[i] = if fall == upper - lower { lower } else { upper - fall };
            sum -= fall;
        }
        coef
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

/// A bound on the rounding of a gradient: that of sample i is at most
/// `by_norm sqrt(K_ii) + absolute`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drift {
    pub(super) by_norm: f64,
    pub(super) absolute: f64,
}

impl Drift {
    /// Allows for the rounding of sums of these sizes.
    pub(super) fn of_sums(&mut self, sums: &[f64]) {
        let largest = sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
        self.absolute += f64::EPSILON * largest;
    }
}

fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

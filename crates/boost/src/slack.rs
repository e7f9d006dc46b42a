//! Slack variables: room for outliers in the maximal loss.

use margins_losses::OutOfRange;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::Error;

/// How slack lowers the loss of a sample, and the bound on its total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlackKind {
    /// The loss `l - xi_i`, `0 <= xi_i <= 1`, `sum_i xi_i <= K`.
    AdditiveSum,
    /// The loss `l - xi_i`, `xi_i >= 0`, `sum_i xi_i^2 <= K`.
    AdditiveEuclidean,
    /// The loss `(1 - xi_i) l`, `0 <= xi_i <= 1`, `sum_i xi_i <= K`: the relaxed form of leaving
    /// out K samples, `xi_i` in {0, 1}.
    Multiplicative,
}

/// The slack variables, one per sample, learned along with the classifier; those of outliers come to
/// be large.
///
/// `xi` belongs to the minimising player, who descends along the gradient of the loss of the sample
/// drawn (never below 0): a step on one coordinate, then the projection onto the constraint. Both
/// take constant time. For the Euclidean ball the projection is a common factor. For the sum it is
/// lazy: the steps accumulate in `v`, `xi_i = min(1, max(0, v_i - theta))`, and `theta` is recomputed
/// by [`projection_threshold`] after every m rounds and at the end.
///
/// Source: Shalev-Shwartz and Wexler (2016), section 4.2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slack {
    kind: SlackKind,
    budget: f64,
    step: f64,
    /// The vector `v`: `xi_i = clamp(v_i - theta)` for a sum, `scale v_i` for the Euclidean ball.
    steps: Vec<f64>,
    theta: f64,
    scale: f64,
    /// The squared norm of `xi`, for the Euclidean ball.
    squared_norm: f64,
    /// The number of steps since `theta` was computed.
    pending: usize,
}

impl Slack {
    /// Returns slack of which none is used yet, with the step size `sqrt(2 K/T)` of online gradient
    /// descent.
    ///
    /// # Errors
    /// No rows or rounds, or a budget K that is not a finite positive number.
    pub fn new(kind: SlackKind, rows: usize, budget: f64, rounds: u64) -> Result<Self, Error> {
        let positive = |value: f64| value > 0.0;
        OutOfRange::check("the number of slack variables", rows as f64, "at least 1", positive)?;
        OutOfRange::check("the number of rounds", rounds as f64, "at least 1", positive)?;
        OutOfRange::check("the slack budget", budget, "greater than 0", positive)?;
        let step = (2.0 * budget / rounds as f64).sqrt().min(1.0);
        let steps = vec![0.0; rows];
        Ok(Slack {
            kind,
            budget,
            step,
            steps,
            theta: 0.0,
            scale: 1.0,
            squared_norm: 0.0,
            pending: 0,
        })
    }

    /// Returns `3/(2 sqrt 2) sqrt K`, by which the losses less Euclidean slack over T rounds sum to at most
    /// `sqrt T` times more than with any fixed slack of the budget K: with xi = 1 for K outliers, than the
    /// losses of all other samples drawn.
    ///
    /// The loss `max(0, l - xi_i)` is convex in xi with a gradient of norm at most 1, and a step has the
    /// length `sqrt(2K/T)`, so that the regret of projected gradient is at most
    /// `K/(2 sqrt(2K/T)) + T sqrt(2K/T)/2`. The lazy projection of a sum is not covered.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a negative or infinite budget.
    pub fn regret(budget: f64) -> Result<f64, Error> {
        OutOfRange::check("the slack budget", budget, "at least 0", |budget| budget >= 0.0)?;
        Ok(1.5 / std::f64::consts::SQRT_2 * budget.sqrt())
    }

    /// Returns the number of variables m.
    pub fn rows(&self) -> usize {
        self.steps.len()
    }

    /// Returns `xi_i`; for a sum up to the steps of the last m rounds.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn value(&self, row: usize) -> f64 {
        match self.kind {
            SlackKind::AdditiveEuclidean => self.scale * self.steps[row],
            SlackKind::AdditiveSum | SlackKind::Multiplicative => {
                (self.steps[row] - self.theta).clamp(0.0, 1.0)
            }
        }
    }

    /// Returns the loss of a sample with its slack, and true if slack took all of it: then there is
    /// nothing to learn from the sample.
    pub(crate) fn excuse(&self, row: usize, loss: f64) -> (f64, bool) {
        let xi = self.value(row);
        let left = match self.kind {
            SlackKind::Multiplicative => (1.0 - xi).max(0.0) * loss,
            SlackKind::AdditiveSum | SlackKind::AdditiveEuclidean => (loss - xi).max(0.0),
        };
        (left, left == 0.0 && xi > 0.0)
    }

    /// Takes a step, for the loss that [`excuse`](Self::excuse) left.
    pub(crate) fn observe(&mut self, row: usize, left: f64) {
        if left <= 0.0 {
            return;
        }
        match self.kind {
            SlackKind::AdditiveEuclidean => {
                let (before, after) = (self.value(row), self.value(row) + self.step);
                self.squared_norm += after * after - before * before;
                self.steps[row] = after / self.scale;
                if self.squared_norm > self.budget {
                    self.scale *= (self.budget / self.squared_norm).sqrt();
                    self.squared_norm = self.budget;
                }
                // The factor only shrinks: carry it out before it underflows.
                if self.scale < 1e-100 {
                    self.steps.iter_mut().for_each(|v| *v *= self.scale);
                    self.scale = 1.0;
                }
            }
            SlackKind::AdditiveSum => self.step_and_project(row, self.step),
            SlackKind::Multiplicative => {
                // The gradient is the loss before slack.
                let loss = left / (1.0 - self.value(row)).max(f64::EPSILON);
                self.step_and_project(row, self.step * loss.min(1.0));
            }
        }
    }

    fn step_and_project(&mut self, row: usize, step: f64) {
        self.steps[row] += step;
        self.pending = self.pending.saturating_add(1);
        if self.pending >= self.rows() {
            self.theta = projection_threshold(&self.steps, self.budget);
            self.pending = 0;
        }
    }

    /// Returns every `xi_i`, projected.
    pub fn values(&self) -> Vec<f64> {
        let mut projected = self.clone();
        if self.pending > 0 {
            projected.theta = projection_threshold(&self.steps, self.budget);
        }
        (0..self.rows()).map(|row| projected.value(row)).collect()
    }

    /// Returns the flagged samples, those with `xi_i >= 1/2`, the largest first.
    pub fn outliers(&self) -> Vec<usize> {
        let values = self.values();
        let mut rows: Vec<usize> = (0..self.rows()).filter(|&row| values[row] >= 0.5).collect();
        rows.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        rows
    }
}

/// Returns the `theta` of the projection of `v` onto `{xi in [0, 1]^m, sum_i xi_i <= K}`, which is
/// `xi_i = min(1, max(0, v_i - theta))`; 0 if no more than K is left of it then.
///
/// The sum is a decreasing, piecewise linear function of theta with the kinks `v_i` and `v_i - 1`.
/// The kinks are searched as in quickselect: a random one halves, on average, those that are left,
/// and samples without a kink in between are summed up once. Expected time `O(m)`.
///
/// Source: the method of Duchi, Shalev-Shwartz, Singer and Chandra (2008) for the simplex, with a
/// second kink for the upper bound.
pub fn projection_threshold(v: &[f64], budget: f64) -> f64 {
    let at = |v: f64, theta: f64| (v - theta).clamp(0.0, 1.0);
    if v.iter().map(|&v| at(v, 0.0)).sum::<f64>() <= budget {
        return 0.0;
    }
    // The threshold is between these.
    let (mut low, mut high) = (0.0, v.iter().copied().fold(0.0, f64::max));
    // Samples whose part is 1 all over the interval, and those whose part is v - theta.
    let (mut full, mut linear, mut linear_sum) = (0.0, 0.0, 0.0);
    let mut open: Vec<f64> = v.iter().copied().filter(|&v| v > 0.0).collect();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    while !open.is_empty() {
        let inside = |kink: f64| low < kink && kink < high;
        let pivot = open[random.random_range(0..open.len())];
        let pivot = if inside(pivot) { pivot } else { pivot - 1.0 };
        if inside(pivot) {
            let parts: f64 = open.iter().map(|&v| at(v, pivot)).sum();
            if full + linear_sum - linear * pivot + parts > budget {
                low = pivot;
            } else {
                high = pivot;
            }
        }
        open.retain(|&v| {
            let has_kink = (low < v && v < high) || (low < v - 1.0 && v - 1.0 < high);
            if !has_kink {
                if v - 1.0 >= high {
                    full += 1.0;
                } else if v >= high {
                    linear += 1.0;
                    linear_sum += v;
                }
            }
            has_kink
        });
    }
    ((full + linear_sum - budget) / linear).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn projected(v: &[f64], budget: f64) -> Vec<f64> {
        let theta = projection_threshold(v, budget);
        v.iter().map(|v| (v - theta).clamp(0.0, 1.0)).collect()
    }

    proptest! {
        #[test]
        fn the_projection_is_the_nearest_point(
            v in prop::collection::vec(prop_oneof![0.0..3.0f64, Just(1.0), Just(0.25), Just(2.0)], 1..60),
            budget in 0.01..20.0f64, seed: u64,
        ) {
            let xi = projected(&v, budget);
            let total: f64 = xi.iter().sum();
            prop_assert!(total <= budget * (1.0 + 1e-12));
            // The variational inequality <v - xi, z - xi> <= 0 for points z of the set.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for _ in 0..20 {
                let mut z: Vec<f64> = v.iter().map(|_| random.random::<f64>()).collect();
                let sum: f64 = z.iter().sum();
                z.iter_mut().for_each(|z| *z *= (budget / sum).min(1.0));
                let product: f64 =
                    v.iter().zip(&xi).zip(&z).map(|((v, x), z)| (v - x) * (z - x)).sum();
                prop_assert!(product <= 1e-9, "{}", product);
            }
        }

        #[test]
        fn slack_stays_within_its_budget(
            kind in prop_oneof![
                Just(SlackKind::AdditiveSum), Just(SlackKind::AdditiveEuclidean),
                Just(SlackKind::Multiplicative)
            ],
            rows in prop::collection::vec(0usize..9, 0..400), budget in 0.1..4.0f64,
        ) {
            let mut slack = Slack::new(kind, 9, budget, 50).unwrap();
            for row in rows {
                let (left, excused) = slack.excuse(row, 1.0);
                prop_assert!((0.0..=1.0).contains(&left) && excused == (left == 0.0));
                slack.observe(row, left);
            }
            let values = slack.values();
            prop_assert!(values.iter().all(|&xi| xi >= 0.0));
            let used: f64 = match kind {
                SlackKind::AdditiveEuclidean => values.iter().map(|xi| xi * xi).sum(),
                _ => values.iter().sum(),
            };
            prop_assert!(used <= budget * (1.0 + 1e-9));
        }

        /// Section 4.2: a step on one coordinate, then the projection on the ball `sum xi^2 <= K`, which is
        /// `xi min(1, sqrt(K)/||xi||)`, also after so many steps that the factor is carried out.
        #[test]
        fn the_euclidean_projection_is_a_factor(
            rows in prop::collection::vec(0usize..7, 1..3000), budget in 0.1..4.0f64, rounds in 1u64..400,
        ) {
            let mut slack = Slack::new(SlackKind::AdditiveEuclidean, 7, budget, rounds).unwrap();
            let step = (2.0 * budget / rounds as f64).sqrt().min(1.0);
            let mut xi = [0.0f64; 7];
            for row in rows {
                slack.observe(row, 1.0);
                xi[row] += step;
                let norm = xi.iter().map(|xi| xi * xi).sum::<f64>().sqrt();
                xi.iter_mut().for_each(|xi| *xi *= (budget.sqrt() / norm).min(1.0));
                for (row, xi) in xi.iter().enumerate() {
                    prop_assert!((slack.value(row) - xi).abs() < 1e-9, "{} {}", slack.value(row), xi);
                }
            }
        }

        /// The losses less Euclidean slack sum to at most those less the ideal slack, 1 for K outliers, plus
        /// the regret, for losses of any kind on rows in any order.
        #[test]
        fn slack_keeps_to_its_regret(
            rows in prop::collection::vec((0usize..12, 0.0..1.0f64, any::<bool>()), 20..2000),
            outliers in 1usize..6,
        ) {
            let (rounds, budget) = (rows.len() as u64, outliers as f64);
            let mut slack = Slack::new(SlackKind::AdditiveEuclidean, 12, budget, rounds).unwrap();
            let (mut left_of_ours, mut left_of_ideal) = (0.0, 0.0);
            for (row, loss, heavy) in rows {
                // Outliers are mostly wrong.
                let loss = if row < outliers && heavy { 1.0 } else { loss };
                let (left, _) = slack.excuse(row, loss);
                slack.observe(row, left);
                left_of_ours += left;
                left_of_ideal += if row < outliers { 0.0 } else { loss };
            }
            let regret = Slack::regret(budget).unwrap() * (rounds as f64).sqrt();
            prop_assert!(left_of_ours <= left_of_ideal + regret + 1e-9, "{left_of_ours} {left_of_ideal}");
        }
    }
}

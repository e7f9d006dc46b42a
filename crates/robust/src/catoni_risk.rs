//! Catoni's estimate of the mean loss, minimised.

use margins_losses::catoni::{location, psi_prime};
use margins_losses::{MarginLoss, OutOfRange};

use crate::Error;
use crate::Restarts;
use crate::estimated_risk::{EstimatedObjective, MeanEstimate};
use margins_optim::problem::weighted;
use margins_optim::{Fit, Lambda, Objective, Options};

/// Minimises Catoni's estimate of the mean loss.
///
/// With `l_i = L(y_i (b + <w, x_i>))` the estimate `theta(b, w)` is the root of
/// `sum_i c_i psi(alpha (theta - l_i)) = 0`, `psi` of [`margins_losses::catoni`], and the objective
///
/// `F(b, w) = (sum_i c_i/n) theta(b, w) + lambda ||w||^2`.
///
/// A loss farther than `sqrt(2)/alpha` from the estimate counts by its side alone. For alpha to 0
/// the estimate tends to the mean and F to the objective of empirical risk minimisation; `1/alpha`
/// is the scale of the `catoni_location` of the calibration crate, in the unit of the loss.
/// Implicit differentiation gives
///
/// `d theta/d l_i = c_i psi'(alpha (theta - l_i)) / sum_j c_j psi'(alpha (theta - l_j))`.
///
/// F need not be convex, even if the loss is: an outlier that determines the first steps may hold a
/// descent in a valley of its own. Hence the [`Restarts`]; no fit is certified.
///
/// Source: Brownlees, Joly and Lugosi, *Empirical risk minimization for heavy-tailed losses*,
/// Annals of Statistics 43 (2015), who prove bounds for the minimiser and leave open how to find
/// it; the function `psi` is by Catoni and Giulini (2017), one of those that the source allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CatoniRisk {
    alpha: f64,
    /// The points at which descents begin.
    pub restarts: Restarts,
}

impl CatoniRisk {
    /// Returns the learner without random restarts.
    ///
    /// # Errors
    /// [`Error::Parameter`]: alpha, in the inverse unit of the loss, is not within 1e-100 to 1e100.
    pub fn new(alpha: f64) -> Result<Self, Error> {
        let requirement = "a number from 1e-100 to 1e100";
        let valid = |alpha| (1e-100..=1e100).contains(&alpha);
        let alpha = OutOfRange::check("alpha", alpha, requirement, valid)?;
        Ok(CatoniRisk { alpha, restarts: Restarts { count: 0, seed: 1 } })
    }

    /// Returns alpha, the inverse of the distance from the estimate at which losses begin to count
    /// less.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the classifier of least F among those that the descents end at.
    ///
    /// The tolerance is the share of F that the last twenty steps may have gained, and the largest
    /// number of iterations is that of one descent (1000 by default); deadline and callback hold
    /// for every descent.
    ///
    /// # Errors
    /// The tolerance is not positive.
    pub fn fit<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<Fit, Error> {
        self.restarts.best(objective, lambda, CatoniMean::new(self.alpha), options)
    }

    /// Returns `F` at any classifier and its gradient, the derivative in the intercept first.
    ///
    /// # Errors
    /// The coefficients are not as many as the features.
    pub fn objective<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        intercept: f64,
        coef: &[f64],
    ) -> Result<(f64, Vec<f64>), Error> {
        let (expected, found) = (objective.design().columns(), coef.len());
        if expected != found {
            return Err(
                margins_optim::Error::Shape { what: "coefficients", expected, found }.into()
            );
        }
        let mut problem = EstimatedObjective::new(objective, lambda, CatoniMean::new(self.alpha));
        let point = [&[intercept], coef].concat();
        let mut gradient = vec![0.0; point.len()];
        let value = problem.value_and_gradient(&point, &mut gradient);
        Ok((value, gradient))
    }
}

/// Catoni's estimate at one sample of losses after another.
struct CatoniMean {
    /// The scale `1/alpha`.
    scale: f64,
    /// The estimate before, where the next search begins.
    last: Option<f64>,
}

impl CatoniMean {
    fn new(alpha: f64) -> Self {
        CatoniMean { scale: 1.0 / alpha, last: None }
    }
}

impl MeanEstimate for CatoniMean {
    fn estimate(&mut self, losses: &[f64], weights: &[f64], influence: &mut [f64]) -> f64 {
        let sample = losses.iter().copied().zip(weights.iter().copied()).filter(|(_, d)| *d > 0.0);
        let smallest = sample.clone().map(|(l, _)| l).fold(f64::INFINITY, f64::min);
        let largest = sample.clone().map(|(l, _)| l).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = weights.iter().sum();
        influence.copy_from_slice(weights);
        let spread = largest - smallest;
        let sum: f64 = sample.clone().map(|(l, d)| d * l).sum();
        if !spread.is_finite() || sum.is_nan() {
            return f64::INFINITY;
        }
        if spread == 0.0 {
            return total * smallest;
        }
        // At larger scales the root is the mean to rounding, and the arguments of psi could
        // underflow.
        let scale = self.scale.min(1e9 * spread);
        let start = self.last.unwrap_or(sum / total).clamp(smallest, largest);
        let root = location(&sample, scale, start, (smallest, largest));
        self.last = Some(root);
        for (influence, l) in influence.iter_mut().zip(losses) {
            *influence = weighted(*influence, psi_prime((root - l) / scale));
        }
        let slope: f64 = influence.iter().sum();
        if slope > 0.0 {
            influence.iter_mut().for_each(|share| *share *= total / slope);
            return total * root;
        }
        // Every loss is saturated, with half of the weight on either side: the roots are an
        // interval, whose middle is the middle of the two losses next to it.
        let positive = || (0..losses.len()).filter(|&i| weights[i] > 0.0);
        let below = positive().filter(|&i| losses[i] <= root);
        let above = positive().filter(|&i| losses[i] > root);
        let by_loss = |&i: &usize, &j: &usize| losses[i].total_cmp(&losses[j]);
        match (below.max_by(by_loss), above.min_by(by_loss)) {
            (Some(i), Some(j)) => {
                influence.fill(0.0);
                influence[i] = 0.5 * total;
                influence[j] = 0.5 * total;
                total * f64::midpoint(losses[i], losses[j])
            }
            _ => total * root,
        }
    }
}

#[cfg(test)]
mod tests {
    use margins_test_support::reference;
    use serde::Deserialize;

    use super::{CatoniMean, MeanEstimate};

    #[derive(Deserialize)]
    struct Row {
        scale: f64,
        sample: Vec<f64>,
        location_min: f64,
        location_max: f64,
    }

    fn estimate(sample: &[f64], scale: f64) -> (f64, Vec<f64>) {
        let n = sample.len();
        let mut influence = vec![0.0; n];
        let weights = vec![1.0 / n as f64; n];
        let value = CatoniMean::new(1.0 / scale).estimate(sample, &weights, &mut influence);
        (value, influence)
    }

    #[test]
    fn estimates_are_the_reference_locations() {
        let rows: Vec<Row> = reference("catoni_location.json");
        assert!(!rows.is_empty());
        for row in rows {
            let (value, influence) = estimate(&row.sample, row.scale);
            let slack = 1e-10 * value.abs().max(1.0);
            assert!(
                row.location_min - slack <= value && value <= row.location_max + slack,
                "{value} outside {} to {}, scale {}",
                row.location_min,
                row.location_max,
                row.scale
            );
            assert!((influence.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(influence.iter().all(|&share| share >= 0.0));
        }
    }

    #[test]
    fn saturated_halves_meet_in_the_middle() {
        let (value, influence) = estimate(&[0.0, 100.0, 1.0, 103.0], 0.5);
        assert_eq!((value, influence), (50.5, vec![0.0, 0.5, 0.5, 0.0]));
    }

    #[test]
    fn losses_beyond_floating_point_have_no_estimate() {
        assert_eq!(estimate(&[0.0, f64::INFINITY], 1.0).0, f64::INFINITY);
        assert_eq!(estimate(&[0.0, f64::NAN, 1.0], 1.0).0, f64::INFINITY);
    }
}

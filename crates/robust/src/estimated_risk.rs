//! Objectives with a robust estimate of the mean loss instead of the empirical mean.

use margins_losses::MarginLoss;

use margins_optim::problem::summation::dot;
use margins_optim::problem::weighted;
use margins_optim::{Lambda, Objective};

/// An estimate of the mean of losses `l_i` with weights `d_i = c_i/n`.
pub(super) trait MeanEstimate {
    /// Returns the estimate, in the scale of `sum_i d_i l_i`, and writes its derivatives in the
    /// losses to `influence`. Losses that are not finite give an estimate that is not finite.
    fn estimate(&mut self, losses: &[f64], weights: &[f64], influence: &mut [f64]) -> f64;
}

/// The mean `sum_i d_i l_i` itself.
pub(super) struct EmpiricalMean;

impl MeanEstimate for EmpiricalMean {
    fn estimate(&mut self, losses: &[f64], weights: &[f64], influence: &mut [f64]) -> f64 {
        influence.copy_from_slice(weights);
        losses.iter().zip(weights).map(|(l, d)| weighted(*d, *l)).sum()
    }
}

/// The objective `R(l_1, ..., l_n) + lambda ||w||^2` with `l_i = L(y_i (b + <w, x_i>))` and an
/// estimate R of their mean, in memory of its own. A point is `(b, w)`, the intercept first.
pub(super) struct EstimatedObjective<'o, 'a, L: MarginLoss + ?Sized, R> {
    objective: &'o Objective<'a, L>,
    lambda: Lambda,
    pub(super) estimate: R,
    margins: Vec<f64>,
    losses: Vec<f64>,
    influence: Vec<f64>,
    slopes: Vec<f64>,
    /// The number of products with the design or its transpose so far.
    pub(super) passes: usize,
}

impl<'o, 'a, L: MarginLoss + ?Sized, R: MeanEstimate> EstimatedObjective<'o, 'a, L, R> {
    pub(super) fn new(objective: &'o Objective<'a, L>, lambda: Lambda, estimate: R) -> Self {
        let zeros = vec![0.0; objective.design().rows()];
        EstimatedObjective {
            objective,
            lambda,
            estimate,
            margins: zeros.clone(),
            losses: zeros.clone(),
            influence: zeros.clone(),
            slopes: zeros,
            passes: 0,
        }
    }

    /// Returns the number of coordinates of a point.
    pub(super) fn dimension(&self) -> usize {
        self.objective.design().columns() + 1
    }

    /// Returns the objective and writes its gradient, by the chain rule through the estimate: the
    /// derivative in the score of sample i is `dR/dl_i L'(u_i) y_i`.
    pub(super) fn value_and_gradient(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let objective = self.objective;
        let (risk, design) = (objective.risk(), objective.design());
        let (intercept, coef) = (point[0], &point[1..]);
        design.multiply(coef, &mut self.margins);
        for (u, y) in self.margins.iter_mut().zip(risk.signs()) {
            *u = y * (*u + intercept);
        }
        risk.loss().values(&self.margins, &mut self.losses);
        risk.loss().derivatives(&self.margins, &mut self.slopes);
        let mean = self.estimate.estimate(&self.losses, risk.weights(), &mut self.influence);
        let factors = self.slopes.iter_mut().zip(risk.signs()).zip(&self.influence);
        for ((pull, y), influence) in factors {
            // The slope of a sample without influence may be beyond floating point.
            *pull = if *influence == 0.0 { 0.0 } else { y * influence * *pull };
        }
        let (slope, coef_gradient) = gradient.split_at_mut(1);
        slope[0] = if risk.has_intercept() { self.slopes.iter().sum() } else { 0.0 };
        design.multiply_transposed(&self.slopes, coef_gradient);
        self.passes += 2;
        for (g, w) in coef_gradient.iter_mut().zip(coef) {
            *g += 2.0 * self.lambda.get() * w;
        }
        mean + self.lambda.get() * dot(coef, coef)
    }
}

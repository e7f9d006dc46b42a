//! Preconditioned conjugate gradients.

use crate::problem::summation::dot;

/// How a preconditioner M is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exactness {
    /// The same matrix multiplies every residual.
    Exact,
    /// Nearly the same matrix: directions are made conjugate by products of residuals and their changes.
    Rough,
}

/// The state of conjugate gradients for `H x = b`, H symmetric and positive definite.
///
/// The caller has the matrix, the preconditioner, the solution and the rule that ends the steps. A
/// step is [`along`](Self::along) the direction, then a [`turn`](Self::turn) to the next one.
///
/// ```
/// use margins_optim::problem::summation::dot;
/// use margins_optim::method::{ConjugateGradients, Exactness};
///
/// let (matrix, right) = ([[4.0, 1.0], [1.0, 3.0]], vec![1.0, 2.0]);
/// let mut solution = [0.0; 2];
/// let mut state = ConjugateGradients::new(right.clone(), right);
/// while state.energy > 1e-20 {
///     state.image = matrix.iter().map(|row| dot(row, &state.direction)).collect();
///     let curvature = dot(&state.direction, &state.image);
///     let Some(step) = state.along(curvature) else { break };
///     solution.iter_mut().zip(&state.direction).for_each(|(x, d)| *x += step * d);
///     state.turn(&state.residual.clone(), Exactness::Exact);
/// }
/// assert!((solution[0] - 1.0 / 11.0).abs() < 1e-12 && (solution[1] - 7.0 / 11.0).abs() < 1e-12);
/// ```
#[derive(Debug)]
pub struct ConjugateGradients {
    /// The residual `r = b - H x`.
    pub residual: Vec<f64>,
    /// The direction d of the next step.
    pub direction: Vec<f64>,
    /// The product `H d`, which the caller writes.
    pub image: Vec<f64>,
    /// The product `r'M r`.
    pub energy: f64,
    step: f64,
}

impl ConjugateGradients {
    /// Returns the state for a residual r with its `M r`.
    pub fn new(residual: Vec<f64>, conditioned: Vec<f64>) -> Self {
        let (image, energy) = (vec![0.0; residual.len()], dot(&residual, &conditioned));
        ConjugateGradients { residual, direction: conditioned, image, energy, step: 0.0 }
    }

    /// Returns the length of the step along a direction with this `d'H d`, by which the residual
    /// changes; `None` if rounding leaves no step.
    pub fn along(&mut self, curvature: f64) -> Option<f64> {
        self.step = self.energy / curvature;
        if !(self.step.is_finite() && self.step > 0.0) {
            return None;
        }
        self.residual.iter_mut().zip(&self.image).for_each(|(r, h)| *r -= self.step * h);
        Some(self.step)
    }

    /// Makes the direction of the next step, from the `M r` of the residual.
    pub fn turn(&mut self, conditioned: &[f64], exactness: Exactness) {
        let next = dot(&self.residual, conditioned);
        // The residual before was this one and what the step took away.
        let old = match exactness {
            Exactness::Exact => 0.0,
            Exactness::Rough => next + self.step * dot(&self.image, conditioned),
        };
        let ratio = (next - old) / self.energy;
        self.energy = next;
        self.direction.iter_mut().zip(conditioned).for_each(|(d, c)| *d = c + ratio * *d);
    }
}

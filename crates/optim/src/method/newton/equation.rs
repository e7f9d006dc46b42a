//! The Newton equation at a point, and its solution by conjugate gradients.

use std::time::Instant;

use crate::method::{ConjugateGradients, Exactness, is_over};
use crate::problem::summation::dot;
use crate::space::Samples;

/// The equation `H d = -g` at one point.
pub(super) struct Equation<'a, S> {
    /// The samples, with the curvatures D that they keep.
    pub(super) samples: &'a mut S,
    /// The factor `2 lambda`.
    pub(super) ridge: f64,
    /// The diagonal of the penalty's second derivative, one number per coefficient: the ridge, but for
    /// free columns, which have none but what keeps H definite.
    pub(super) ridges: &'a [f64],
    /// True if there are free columns.
    pub(super) has_free: bool,
    /// The gradient in the coefficients; the one in the intercept is zero.
    pub(super) gradient: &'a [f64],
    /// The norm of a residual that is small enough.
    pub(super) enough: f64,
    /// The time at which steps end.
    pub(super) deadline: Option<Instant>,
}

/// The result of conjugate gradients.
pub(super) struct Iterated {
    pub(super) solution: (f64, Vec<f64>),
    pub(super) steps: usize,
    /// True if the residual is as small as it was to be.
    pub(super) reached: bool,
}

impl<S: Samples> Equation<'_, S> {
    /// Returns true if there is a deadline and less time until it than this.
    pub(super) fn has_no_time_for(&self, seconds: f64) -> bool {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        self.deadline.is_some_and(|deadline| left(deadline).as_secs_f64() < seconds)
    }

    pub(super) fn gradient_norm(&self) -> f64 {
        dot(self.gradient, self.gradient).sqrt()
    }

    /// Returns the diagonal of H, the intercept's entry first; infinite where the intercept does
    /// not move.
    pub(super) fn diagonal(&mut self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.gradient.len() + 1];
        self.samples.diagonal(&mut diagonal);
        diagonal[1..].iter_mut().zip(self.ridges).for_each(|(entry, ridge)| *entry += ridge);
        if !self.samples.has_intercept() || diagonal[0] <= 0.0 {
            diagonal[0] = f64::INFINITY;
        }
        diagonal
    }

    /// Writes `H direction`.
    fn multiply(&mut self, direction: &[f64], out: &mut [f64]) {
        let (first, rest) = out.split_at_mut(1);
        let (shift, direction) = (direction[0], &direction[1..]);
        first[0] = self.samples.normal(shift, direction, rest);
        for ((o, d), ridge) in rest.iter_mut().zip(direction).zip(self.ridges) {
            *o += ridge * d;
        }
    }

    /// Returns the result of preconditioned conjugate gradients, which end when the norm of the
    /// residual is at most `target`, or small enough.
    pub(super) fn iterate(
        &mut self,
        precondition: impl Fn(&[f64]) -> Vec<f64>,
        exactness: Exactness,
        target: f64,
        most_steps: usize,
        passes: &mut usize,
    ) -> Iterated {
        let target = target.max(self.enough);
        let moves_intercept = self.samples.has_intercept() && self.samples.curvature() > 0.0;
        let right: Vec<f64> =
            std::iter::once(0.0).chain(self.gradient.iter().map(|g| -g)).collect();
        let mut solution = vec![0.0; right.len()];
        let conditioned = precondition(&right);
        let mut state = ConjugateGradients::new(right, conditioned);
        let (mut steps, mut reached) = (0, false);
        while steps < most_steps && !is_over(self.deadline) {
            self.multiply(&state.direction, &mut state.image);
            steps += 1;
            *passes += 2;
            if !moves_intercept {
                state.image[0] = 0.0;
            }
            let Some(step) = state.along(dot(&state.direction, &state.image)) else { break };
            solution.iter_mut().zip(&state.direction).for_each(|(x, d)| *x += step * d);
            reached = dot(&state.residual, &state.residual).sqrt() <= target;
            if reached {
                break;
            }
            state.turn(&precondition(&state.residual), exactness);
        }
        let coef = solution.split_off(1);
        Iterated { solution: (solution[0], coef), steps, reached }
    }
}

//! A preconditioner from a subsample in memory, for distributed samples.

use margins_data::Design;

use crate::method::{ConjugateGradients, Exactness};
use crate::problem::summation::dot;
use crate::space::SampledCurvatures;

/// The inverse of H over a subsample in memory, for samples that are distributed. It preconditions
/// conjugate gradients, each step of which takes a round of messages
/// (Zhang and Lin, *DiSCO: distributed optimization for self-concordant empirical loss*, 2015).
///
/// Equations with it are solved by conjugate gradients as well, here and as exactly as a preconditioner
/// needs to be.
pub(super) struct SampledInverse {
    sample: SampledCurvatures,
    /// The ridges of the penalty, plus a term for the samples outside the subsample.
    ridges: Vec<f64>,
    /// The diagonal of H; infinite where the intercept does not move.
    diagonal: Vec<f64>,
}

impl SampledInverse {
    /// Returns the inverse for a penalty with these ridges.
    ///
    /// Each of m samples of n stands for n/m. Along a sample outside the subsample H has the term
    /// `d_i ||x_i||^2`, which this matrix lacks: the mean of these terms is added to the ridge.
    pub(super) fn new(sample: SampledCurvatures, ridges: &[f64], moves_intercept: bool) -> Self {
        let SampledCurvatures { design, curvatures, share } = &sample;
        let mut diagonal = vec![0.0; design.columns() + 1];
        let (mut own, mut count) = (0.0, 0);
        for (x, &d) in design.samples().zip(curvatures).filter(|(_, d)| **d > 0.0) {
            x.for_each(|column, value| diagonal[column + 1] += d * value * value);
            (own, count) = (own + d * x.squared_norm(), count + 1);
        }
        let total: f64 = curvatures.iter().sum();
        let of_one = share * own / count.max(1) as f64;
        let outside = (1.0 - share) * of_one;
        let ridges: Vec<f64> = ridges.iter().map(|ridge| ridge + outside).collect();
        diagonal[1..].iter_mut().zip(&ridges).for_each(|(entry, ridge)| *entry += ridge);
        diagonal[0] = if moves_intercept && total > 0.0 { total } else { f64::INFINITY };
        SampledInverse { sample, ridges, diagonal }
    }

    /// Returns `H^(-1) right`, roughly.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        /// The part of the right side that may be left.
        const SHARE: f64 = 0.05;
        const MOST_STEPS: usize = 50;
        let condition = |r: &[f64]| -> Vec<f64> {
            r.iter().zip(&self.diagonal).map(|(r, entry)| r / entry).collect()
        };
        let mut solution = vec![0.0; right.len()];
        let mut residual = right.to_vec();
        if self.diagonal[0].is_infinite() {
            residual[0] = 0.0;
        }
        let target = SHARE * SHARE * dot(&residual, &residual);
        let conditioned = condition(&residual);
        let mut state = ConjugateGradients::new(residual, conditioned);
        for _ in 0..MOST_STEPS {
            self.multiply(&state.direction, &mut state.image);
            let Some(step) = state.along(dot(&state.direction, &state.image)) else { break };
            solution.iter_mut().zip(&state.direction).for_each(|(x, d)| *x += step * d);
            if dot(&state.residual, &state.residual) <= target {
                break;
            }
            state.turn(&condition(&state.residual), Exactness::Exact);
        }
        solution
    }

    /// Writes `H direction`.
    fn multiply(&self, direction: &[f64], out: &mut [f64]) {
        let design: &Design = &self.sample.design;
        let (first, rest) = out.split_at_mut(1);
        rest.fill(0.0);
        let curvatures = &self.sample.curvatures;
        first[0] = design.multiply_normal(curvatures, direction[0], &direction[1..], rest);
        if self.diagonal[0].is_infinite() {
            first[0] = 0.0;
        }
        for ((o, d), ridge) in rest.iter_mut().zip(&direction[1..]).zip(&self.ridges) {
            *o += ridge * d;
        }
    }
}

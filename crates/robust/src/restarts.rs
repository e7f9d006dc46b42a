//! Runs descents from several starts and returns the best result.

use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Error;
use crate::estimated_risk::{EstimatedObjective, MeanEstimate};
use crate::quasi_newton::{Descended, descend};
use crate::uncertified;
use margins_optim::method::{Elapsed, Ending, Monitor};
use margins_optim::problem::summation::dot;
use margins_optim::{Fit, Lambda, Objective, Options, Status};

const DEFAULT_ITERATIONS: usize = 1000;

/// The points at which descents on an objective that need not be convex begin: the origin, the
/// difference of the means of `x_i/||x_i||` over the two classes, and `count` directions drawn
/// uniformly from the unit sphere. A direction is scaled by the power of two from 2^-10 to 2^10 at
/// which the objective is least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    /// The number of random directions. More of them never give a worse result.
    pub count: usize,
    /// The seed of the directions.
    pub seed: u64,
}

impl Restarts {
    /// Returns the fit of lowest objective among those of all starts, the first of equals.
    pub(super) fn best<L: MarginLoss + ?Sized, R: MeanEstimate>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        estimate: R,
        options: &Options,
    ) -> Result<Fit, Error> {
        options.check()?;
        let mut problem = EstimatedObjective::new(objective, lambda, estimate);
        // The history of one descent among many would say little.
        let quiet = Options { history: false, ..*options };
        let p = objective.design().columns();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let drawn = (0..self.count)
            .map(|_| unit((0..p).map(|_| StandardNormal.sample(&mut random)).collect()));
        let directions = std::iter::once(robust_direction(objective)).chain(drawn);
        let mut iterations = 0;
        let mut elapsed = Elapsed::default();
        let mut descend = |problem: &mut EstimatedObjective<'_, '_, L, R>, start: Vec<f64>| {
            let function = |point: &[f64], out: &mut [f64]| problem.value_and_gradient(point, out);
            let monitor = Monitor::new(&quiet, lambda, DEFAULT_ITERATIONS);
            let minimum = descend(function, start, options.tolerance, |_, _| None, monitor);
            iterations += minimum.ending.iterations;
            elapsed = elapsed + minimum.ending.elapsed;
            minimum
        };
        let origin = vec![0.0; problem.dimension()];
        let mut best: Descended = descend(&mut problem, origin);
        let mut stopped = stop_of(&best);
        for direction in directions {
            if stopped.is_some() {
                break;
            }
            let start = scaled_to_least(&mut problem, &direction);
            let minimum = descend(&mut problem, start);
            stopped = stop_of(&minimum);
            let value = |minimum: &Descended| minimum.ending.certificate.objective;
            if value(&minimum) < value(&best) || !value(&best).is_finite() {
                best = minimum;
            }
        }
        let status = stopped.unwrap_or(best.ending.status);
        let ending = Ending { status, iterations, elapsed, ..best.ending };
        Ok(uncertified(lambda, &best.point, ending, problem.passes))
    }
}

/// Returns the status of a descent that the clock or the callback has ended, and so all that would
/// follow it.
fn stop_of(minimum: &Descended) -> Option<Status> {
    let status = minimum.ending.status;
    status.is_cut_short().then_some(status)
}

/// Returns `(0, t v)` for the t among the powers of two from `2^-10` to `2^10` that has the least
/// objective.
fn scaled_to_least<L: MarginLoss + ?Sized, R: MeanEstimate>(
    problem: &mut EstimatedObjective<'_, '_, L, R>,
    direction: &[f64],
) -> Vec<f64> {
    let mut gradient = vec![0.0; problem.dimension()];
    let mut least = (f64::INFINITY, Vec::new());
    for exponent in -10..=10 {
        let scale = 2f64.powi(exponent);
        let point: Vec<f64> =
            std::iter::once(0.0).chain(direction.iter().map(|v| scale * v)).collect();
        let value = problem.value_and_gradient(&point, &mut gradient);
        if value < least.0 || least.1.is_empty() {
            least = (value, point);
        }
    }
    least.1
}

/// Returns the unit vector along the difference of the means of `x_i/||x_i||` over the two classes,
/// weighted: no sample can move it by more than its weight, however large its features.
pub(super) fn robust_direction<L: MarginLoss + ?Sized>(objective: &Objective<'_, L>) -> Vec<f64> {
    let (risk, design) = (objective.risk(), objective.design());
    let weight_of = |sign: f64| -> f64 {
        risk.signs().iter().zip(risk.weights()).filter(|(y, _)| **y == sign).map(|(_, d)| d).sum()
    };
    let (positive, negative) = (weight_of(1.0), weight_of(-1.0));
    let mut direction = vec![0.0; design.columns()];
    for ((x, &y), d) in design.samples().zip(risk.signs()).zip(risk.weights()) {
        let norm = x.squared_norm().sqrt();
        if norm > 0.0 && norm.is_finite() {
            let class = if y > 0.0 { positive } else { negative };
            x.add_to(y * (d / class) / norm, &mut direction);
        }
    }
    unit(direction)
}

fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = dot(&vector, &vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    vector
}

//! Random instances with exactly known errors.

use margins::data::Design;
use margins::data::generate::MassartDistribution;
use margins::massart::baselines::{partition, proper};
use margins::massart::{
    CutOptions, Plan, Problem, Sphere, SphereSample, learn_by_cuts, learn_from,
};
use margins::optim::method::Limits;
use margins::optim::online::Scorer;

use crate::Failure;

pub(super) const ADVERSARIES: [&str; 5] = ["random", "far", "near", "greedy", "trap"];

/// The adversary of [`rare_trap`], at rates so small that its masses are positive.
pub(super) const RARE_TRAP: &str = "rare-trap";

/// Points of an instance: enough for d = 200.
const POINTS: usize = 1000;

/// Returns the instance of a seed.
pub(super) fn instance(
    d: usize,
    gamma: f64,
    eta: f64,
    adversary: &str,
    seed: u64,
) -> Result<MassartDistribution, Failure> {
    if adversary == RARE_TRAP {
        return rare_trap(d, &Problem::new(eta, gamma)?, seed);
    }
    Ok(MassartDistribution::simulated(d, gamma, eta, adversary, POINTS, seed)?.1)
}

/// Returns the points of the trap, all with the noise eta and those of its noisy region rare: their
/// mass is `3 epsilon/(1 - 2 eta)`, so that a classifier that follows the other points errs by `eta + 3 epsilon`.
pub(super) fn rare_trap(
    d: usize,
    problem: &Problem,
    seed: u64,
) -> Result<MassartDistribution, Failure> {
    let (gamma, eta) = (problem.margin.get(), problem.noise.get());
    let trap = instance(d, gamma, eta, "trap", seed)?;
    let rare = 3.0 * problem.target.epsilon() / (1.0 - 2.0 * eta);
    let in_region = trap.rates().iter().filter(|&&rate| rate > 0.0).count() as f64;
    let others = POINTS as f64 - in_region;
    let mass = |rate: &f64| if *rate > 0.0 { rare / in_region } else { (1.0 - rare) / others };
    let masses = trap.rates().iter().map(mass).collect();
    let (design, clean) = (trap.design().clone(), trap.clean().to_vec());
    Ok(MassartDistribution::new(design, Some(masses), clean, vec![eta; POINTS])?)
}

/// Draws from a distribution, equal ones counted.
pub(super) struct Drawn {
    design: Design,
    signs: Vec<f64>,
    counts: Vec<f64>,
}

impl Drawn {
    pub(super) fn new(noisy: &MassartDistribution, n: usize, seed: u64) -> Self {
        let (rows, signs, counts) = noisy.draw(n, seed).tally();
        Drawn { design: noisy.design().select(&rows), signs, counts }
    }

    /// Returns the sum of y x.
    pub(super) fn sum(&self) -> Vec<f64> {
        let weights: Vec<f64> = self.signs.iter().zip(&self.counts).map(|(y, c)| y * c).collect();
        let mut sum = vec![0.0; self.design.columns()];
        self.design.multiply_transposed(&weights, &mut sum);
        sum
    }

    pub(super) fn sample(&self) -> Result<SphereSample<'_>, Failure> {
        let sample = SphereSample::new(&self.design, &self.signs)?;
        Ok(sample.with_weights(self.counts.clone())?)
    }
}

/// Returns the exact error of algorithm 1 with a plan.
pub(super) fn sgd(
    noisy: &MassartDistribution,
    problem: &Problem,
    plan: &Plan,
    seed: u64,
) -> Result<f64, Failure> {
    let points = Sphere::new(noisy.design())?;
    let draws = noisy.draw(plan.steps, 3 * seed);
    let selection = Drawn::new(noisy, plan.selection, 3 * seed + 1);
    let pairs = draws.rows.into_iter().zip(draws.signs);
    let found = learn_from(problem, plan, &points, pairs, &selection.sample()?, seed)?;
    Ok(noisy.linear_error(&found.classifier.coef)?)
}

/// Returns the number of samples for the learners that take them all at once: `4 min(d,
/// 1/gamma^2)/epsilon^2`, with at least 10 instead of d.
pub(super) fn batch_size(problem: &Problem, d: usize) -> usize {
    let epsilon = problem.target.epsilon();
    let dimension = (d as f64).min(problem.margin.get().powi(-2)).max(10.0);
    (4.0 * dimension / (epsilon * epsilon)) as usize
}

/// A learner that takes all samples at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Batch {
    Cuts,
    Partition,
    Proper,
}

impl Batch {
    /// Returns the exact error of the learner, from `n` draws.
    pub(super) fn error(
        self,
        noisy: &MassartDistribution,
        problem: &Problem,
        n: usize,
        seed: u64,
    ) -> Result<f64, Failure> {
        /// Evaluations of the surrogate for one halfspace of the list.
        const MOST_CALLS: usize = 300;
        let drawn = Drawn::new(noisy, n, 3 * seed + 2);
        let (sample, options) = (drawn.sample()?, CutOptions::default());
        let found = match self {
            Batch::Cuts => learn_by_cuts(problem, &options, &sample),
            Batch::Proper => proper::learn(problem, &options, &sample),
            Batch::Partition => {
                let list = partition::learn(problem, &sample, MOST_CALLS, &Limits::default())?;
                let scores: Vec<f64> = noisy.design().samples().map(|x| list.score(&x)).collect();
                return Ok(noisy.error(&scores)?);
            }
        };
        Ok(noisy.linear_error(&found.classifier.coef)?)
    }
}

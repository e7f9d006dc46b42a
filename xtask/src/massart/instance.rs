//! Random instances with exactly known errors.

use margins::data::Design;
use margins::data::generate::{Adversary, MarginHalfspace, MassartDistribution};
use margins::optim::massart::{
    CutOptions, Problem, Schedule, Sphere, SphereSample, learn_by_cuts, learn_from,
};

use crate::Failure;

pub(super) const ADVERSARIES: [&str; 5] = ["random", "far", "near", "greedy", "trap"];

/// Points of an instance: enough for d = 200.
const POINTS: usize = 1000;

/// The instance of a seed.
pub(super) fn instance(
    d: usize,
    gamma: f64,
    eta: f64,
    adversary: &str,
    seed: u64,
) -> Result<MassartDistribution, Failure> {
    let halfspace = MarginHalfspace::new(d, gamma, seed)?;
    let (points, adversary) = if adversary == "trap" {
        halfspace.trap(POINTS, eta, seed)?
    } else {
        let adversary = match adversary {
            "random" => Adversary::Random,
            "far" => Adversary::FarAway,
            "near" => Adversary::NearBoundary,
            "greedy" => Adversary::Greedy,
            other => return Err(format!("there is no adversary '{other}'").into()),
        };
        (halfspace.points(POINTS, seed)?, adversary)
    };
    Ok(MassartDistribution::of_halfspace(&halfspace, points, &adversary, eta)?)
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

    pub(super) fn sample(&self) -> Result<SphereSample<'_>, Failure> {
        let sample = SphereSample::new(&self.design, &self.signs)?;
        Ok(sample.with_weights(self.counts.clone())?)
    }
}

/// The exact error of algorithm 1 with a schedule.
pub(super) fn sgd(
    noisy: &MassartDistribution,
    problem: &Problem,
    schedule: &Schedule,
    seed: u64,
) -> Result<f64, Failure> {
    let points = Sphere::new(noisy.design())?;
    let draws = noisy.draw(schedule.steps, 3 * seed);
    let selection = Drawn::new(noisy, schedule.selection, 3 * seed + 1);
    let pairs = draws.rows.into_iter().zip(draws.signs);
    let found = learn_from(problem, schedule, &points, pairs, &selection.sample()?, seed)?;
    Ok(noisy.linear_error(&found.classifier.coef)?)
}

/// Samples for the cutting planes: `4 min(d, 1/gamma^2)/epsilon^2`, with at least 10 in the place of d.
pub(super) fn cutting_sample_size(problem: &Problem, d: usize) -> usize {
    let epsilon = problem.target.epsilon();
    let dimension = (d as f64).min(problem.margin.get().powi(-2)).max(10.0);
    (4.0 * dimension / (epsilon * epsilon)) as usize
}

/// The exact error of the cutting planes, and their calls of the oracle.
pub(super) fn cuts(
    noisy: &MassartDistribution,
    problem: &Problem,
    seed: u64,
) -> Result<(f64, usize), Failure> {
    let n = cutting_sample_size(problem, noisy.design().columns());
    let training = Drawn::new(noisy, n, 3 * seed + 2);
    let found = learn_by_cuts(problem, &CutOptions::default(), &training.sample()?);
    Ok((noisy.linear_error(&found.classifier.coef)?, found.calls))
}

//! Halfspaces of earlier learners, with their errors on rows held out.

use margins_data::metrics::HeldOutError;
use margins_losses::{LeakyRelu, OutOfRange};
use margins_optim::method::Limits;
use margins_optim::online::{Direction, LinearClassifier};

use super::{plane, proper, surrogate};
use crate::cuts::tested;
use crate::cutting_planes::{End, Method};
use crate::split::Split;
use crate::{CutOptions, Error, LearnedHalfspace, Plan, Problem, SphereSample};

/// A learner of halfspaces that is older than algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The last iterate of the perceptron after as many draws as [`Plan::practical`] takes: a row on
    /// the wrong side, or on the boundary, is added with its sign (Rosenblatt 1958).
    Perceptron,
    /// The minimiser of the LeakyReLU loss with the slope eta in the unit ball, to a gap of
    /// `epsilon gamma/4`.
    LeakyRelu,
    /// The cutting planes of [`proper`] (Chen, Koehler, Moitra and Yau 2020).
    Proper,
    /// The lowest 0-1 error in the [`plane`].
    Plane,
}

/// Returns the halfspace of an earlier learner from some rows of a sample, with its error on the
/// others: at most a fifth of the rows, and no more than N of [`Plan::practical`], are held out at
/// random.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::baselines::{Baseline, learn_tested};
/// use margins_massart::{Problem, SphereSample};
/// use margins_optim::method::Limits;
///
/// let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
/// let points = halfspace.points(2000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let draws = noisy.draw(8000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let (problem, limits) = (Problem::new(0.1, 0.2)?, Limits::default());
/// let (found, held_out) = learn_tested(Baseline::Proper, &problem, &sample, 1, &limits)?;
/// assert!(noisy.linear_error(&found.classifier.coef)? <= held_out.bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`]: there are fewer than two samples of positive weight. [`Error::Parameter`]: eta
/// is 0 for [`Baseline::LeakyRelu`]. [`Error::Plane`]: there are not two features for
/// [`Baseline::Plane`].
pub fn learn_tested(
    baseline: Baseline,
    problem: &Problem,
    sample: &SphereSample<'_>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<(LearnedHalfspace, HeldOutError), Error> {
    let plan = Plan::practical(problem);
    let split = Split::new(sample.weights(), plan.selection, seed)?;
    let training = sample.clone().with_weights(split.training_weights(sample.weights()))?;
    let found = match baseline {
        Baseline::Perceptron => {
            let draws = split.draws(sample.weights(), sample.signs(), plan.steps, seed);
            perceptron(&training, draws, limits)
        }
        Baseline::LeakyRelu => leaky_relu(problem, &training, limits)?,
        Baseline::Proper => {
            let options = CutOptions { limits: *limits, ..CutOptions::default() };
            proper::learn(problem, &options, &training)
        }
        Baseline::Plane => plane::learn(&training)?,
    };
    let held_out = tested(problem, &found, &split.selection_sample(sample)?);
    Ok((found, held_out))
}

fn perceptron(
    training: &SphereSample<'_>,
    draws: impl Iterator<Item = (usize, f64)>,
    limits: &Limits<'_>,
) -> LearnedHalfspace {
    /// The number of steps between checks of the limits.
    const STEPS_A_LOOK: usize = 256;
    let (mut w, mut calls, mut end) = (vec![0.0; training.columns()], 0usize, End::Accepted);
    for (row, y) in draws {
        if calls.is_multiple_of(STEPS_A_LOOK)
            && let Some(status) = limits.reached()
        {
            end = End::Stopped(status);
            break;
        }
        calls += 1;
        let x = training.points().sample(row);
        if y * x.dot(&w) <= 0.0 {
            x.add_to(y, &mut w);
        }
    }
    learned(w, training, end, calls)
}

fn leaky_relu(
    problem: &Problem,
    training: &SphereSample<'_>,
    limits: &Limits<'_>,
) -> Result<LearnedHalfspace, Error> {
    let (eta, epsilon) = (problem.noise.get(), problem.target.epsilon());
    let requirement = "greater than 0 for the LeakyReLU loss, which w = 0 minimises otherwise";
    let slope = OutOfRange::check("eta", eta, requirement, |eta| eta > 0.0)?;
    let loss = LeakyRelu::new(slope).expect("a noise rate is below 1/2, and so a slope");
    let tolerance = epsilon * problem.margin.get() / 4.0;
    let most_calls = CutOptions::default().most_calls(problem, training.columns());
    let method = Method::AnalyticCentre;
    let minimum = surrogate::minimize(method, &loss, 1.0, training, tolerance, most_calls, limits);
    let end = minimum.stopped.map_or(End::Accepted, End::Stopped);
    Ok(learned(minimum.point, training, end, minimum.calls))
}

/// Returns a halfspace with its error on the rows learned from.
fn learned(
    coef: Vec<f64>,
    training: &SphereSample<'_>,
    end: End,
    calls: usize,
) -> LearnedHalfspace {
    let error = training.error(&coef);
    LearnedHalfspace { classifier: LinearClassifier { intercept: 0.0, coef }, error, end, calls }
}

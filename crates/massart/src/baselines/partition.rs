//! The learner of Diakonikolas, Gouleakis and Tzamos, *Distribution-independent PAC learning of
//! halfspaces with Massart noise*, NeurIPS 2019.

use margins_data::Sample;
use margins_data::metrics::HeldOutError;
use margins_losses::{LeakyRelu, OutOfRange};
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::Scorer;

use super::surrogate;
use crate::cutting_planes::Method;
use crate::sphere::{UnitSample, is_wrong};
use crate::split::Split;
use crate::{CutOptions, Error, Plan, Problem, SphereSample};

/// A decision list of halfspaces: the first one with `|<w_k, x>| >= t_k` on the scaled sample
/// decides, and the last one where none does.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionList {
    rules: Vec<(Vec<f64>, f64)>,
    /// The number that the samples were divided by; `None` if it was the norm of each.
    divisor: Option<f64>,
    /// The evaluations of the loss.
    calls: usize,
    /// The reason why a minimum was not found to its gap, if one was not.
    stopped: Option<Status>,
}

impl DecisionList {
    /// Returns the number of evaluations of the LeakyReLU loss that the rules took.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Returns the reason why a minimum was not found to its gap, if one was not: a limit of evaluations,
    /// rounding, or a limit that ended the search, so that the last rule decides on more samples than
    /// the theory allows.
    pub fn stopped(&self) -> Option<Status> {
        self.stopped
    }

    /// Returns the halfspaces with their thresholds; the last threshold is 0.
    pub fn rules(&self) -> &[(Vec<f64>, f64)] {
        &self.rules
    }
}

impl Scorer for DecisionList {
    /// Returns the score of the halfspace that decides on the sample, divided as the samples were
    /// that the list was learned from; 0 for a sample that cannot be divided.
    fn score(&self, x: &Sample<'_>) -> f64 {
        let Ok(scaled) = UnitSample::divided(*x, self.divisor) else { return 0.0 };
        let mut scores = self.rules.iter().map(|(w, threshold)| (scaled.dot(w), *threshold));
        scores.find(|(score, threshold)| score.abs() >= *threshold).map_or(0.0, |(score, _)| score)
    }
}

/// Returns the decision list of a sample.
///
/// The learner minimises the LeakyReLU loss with `lambda = eta + epsilon/2` on the samples that are
/// left, finds the smallest threshold beyond which the minimiser errs at a rate of at most lambda,
/// gives the samples beyond it to this rule, and continues until a share of epsilon is left or no
/// threshold will do. Each minimum is found to a gap of `epsilon gamma/4`, or as near as `most_calls`
/// evaluations or the limits come.
///
/// # Errors
/// [`Error::Parameter`]: `eta + epsilon/2` is above 1/2.
pub fn learn(
    problem: &Problem,
    sample: &SphereSample<'_>,
    most_calls: usize,
    limits: &Limits<'_>,
) -> Result<DecisionList, Error> {
    let (eta, epsilon) = (problem.noise.get(), problem.target.epsilon());
    let lambda = eta + epsilon / 2.0;
    let loss = LeakyRelu::new(lambda).map_err(|_| OutOfRange {
        parameter: "eta + epsilon/2",
        value: lambda,
        requirement: "at most 1/2",
    })?;
    let mut left = sample.weights().to_vec();
    let mut rules: Vec<(Vec<f64>, f64)> = Vec::new();
    let divisor = sample.points().divisor();
    let (mut calls, mut stopped) = (0, None);
    loop {
        let mass: f64 = left.iter().sum();
        if !rules.is_empty() && mass <= epsilon * sample.total() {
            break;
        }
        let part = sample.clone().with_weights(left.clone())?;
        // A minimum need be no more accurate than the target, on the scale of the margin.
        let tolerance = epsilon * problem.margin.get() / 4.0;
        let method = Method::AnalyticCentre;
        let found = surrogate::minimize(method, &loss, 1.0, &part, tolerance, most_calls, limits);
        let w = found.point;
        (calls, stopped) = (calls + found.calls, stopped.or(found.stopped));
        let scores = part.points().scores(&w);
        let is_over = matches!(found.stopped, Some(Status::TimeLimit | Status::Interrupted));
        let threshold = threshold(&part, &scores, lambda).filter(|_| !is_over);
        let Some(threshold) = threshold else {
            rules.push((w, 0.0));
            break;
        };
        for (weight, score) in left.iter_mut().zip(&scores) {
            if score.abs() >= threshold {
                *weight = 0.0;
            }
        }
        rules.push((w, threshold));
    }
    if let Some((_, threshold)) = rules.last_mut() {
        *threshold = 0.0;
    }
    Ok(DecisionList { rules, divisor, calls, stopped })
}

/// Returns the decision list of some rows of a sample, with its error on the others: at most a fifth
/// of the rows, and no more than N of [`Plan::practical`], are held out at random. A minimum takes no
/// more evaluations than the cutting planes.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::baselines::partition;
/// use margins_massart::{Problem, SphereSample};
/// use margins_optim::method::Limits;
/// use margins_optim::online::Scorer;
///
/// let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
/// let points = halfspace.points(2000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let draws = noisy.draw(8000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let (problem, limits) = (Problem::new(0.1, 0.2)?, Limits::default());
/// let (list, held_out) = partition::learn_tested(&problem, &sample, 1, &limits)?;
/// let scores: Vec<f64> = noisy.design().samples().map(|x| list.score(&x)).collect();
/// assert!(noisy.error(&scores)? <= held_out.bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`learn`]. [`Error::TooFew`]: fewer than two samples of positive weight.
pub fn learn_tested(
    problem: &Problem,
    sample: &SphereSample<'_>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<(DecisionList, HeldOutError), Error> {
    let split = Split::new(sample.weights(), Plan::practical(problem).selection, seed)?;
    let training = sample.clone().with_weights(split.training_weights(sample.weights()))?;
    let most_calls = CutOptions::default().most_calls(problem, sample.columns());
    let list = learn(problem, &training, most_calls, limits)?;
    let held_out = split.selection_sample(sample)?;
    let scores: Vec<f64> = held_out.points().design().samples().map(|x| list.score(&x)).collect();
    let error = held_out.wrong(&scores) / held_out.total();
    let held_out = HeldOutError::new(error, 1, problem.target.delta(), held_out.weights());
    Ok((list, held_out))
}

/// A threshold is a score times this number, so that it stays below that score whatever the order of
/// the sums in which it is computed again.
const LOWERED: f64 = 1.0 - 1e-9;

/// Returns the lowest threshold for `|score|` beyond which the weighted error rate is at most lambda, or
/// `None` if the rate is larger beyond every score.
fn threshold(sample: &SphereSample<'_>, scores: &[f64], lambda: f64) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| sample.weights()[i] > 0.0).collect();
    order.sort_unstable_by(|&a, &b| scores[b].abs().total_cmp(&scores[a].abs()));
    let (mut wrong, mut mass, mut found) = (0.0, 0.0, None);
    for (at, &i) in order.iter().enumerate() {
        let weight = sample.weights()[i];
        mass += weight;
        if is_wrong(scores[i], sample.signs()[i]) {
            wrong += weight;
        }
        // Samples whose scores differ by rounding are on one side of the threshold.
        let lowered = LOWERED * scores[i].abs();
        let next = order.get(at + 1).map(|&j| scores[j].abs());
        if wrong <= lambda * mass && next.is_none_or(|next| next < lowered) {
            found = Some(lowered);
        }
    }
    found
}

//! The learner of Diakonikolas, Gouleakis and Tzamos, *Distribution-independent PAC learning of
//! halfspaces with Massart noise*, NeurIPS 2019.

use margins_data::Sample;
use margins_losses::{LeakyRelu, OutOfRange};

use super::surrogate;
use crate::Error;
use crate::cutting_planes::Method;
use crate::sphere::{UnitSample, is_wrong};
use crate::{Problem, SphereSample};
use margins_optim::method::Limits;
use margins_optim::online::Scorer;

/// A decision list of halfspaces: the first one with `|<w_k, x>| >= t_k` on the scaled sample
/// decides, and the last one where none does.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionList {
    rules: Vec<(Vec<f64>, f64)>,
    /// The number that the samples were divided by; `None` if it was the norm of each.
    divisor: Option<f64>,
}

impl DecisionList {
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
/// threshold will do.
///
/// # Errors
/// [`Error::Parameter`]: `eta + epsilon/2` is above 1/2.
pub fn learn(
    problem: &Problem,
    sample: &SphereSample<'_>,
    most_calls: usize,
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
    loop {
        let mass: f64 = left.iter().sum();
        if !rules.is_empty() && mass <= epsilon * sample.total() {
            break;
        }
        let part = sample.clone().with_weights(left.clone())?;
        // A minimum need be no more accurate than the target, on the scale of the margin.
        let tolerance = epsilon * problem.margin.get() / 4.0;
        let method = Method::AnalyticCentre;
        let limits = Limits::default();
        let found = surrogate::minimize(method, &loss, 1.0, &part, tolerance, most_calls, &limits);
        let w = found.point;
        let scores = part.points().scores(&w);
        let Some(threshold) = threshold(&part, &scores, lambda) else {
            rules.push((w, 0.0));
            return Ok(DecisionList { rules, divisor });
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
    Ok(DecisionList { rules, divisor })
}

/// Returns the smallest `|score|` from which on the weighted error rate is at most lambda; `None`
/// if there is none.
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
        // Samples of one score are on one side of the threshold.
        let next = order.get(at + 1).map(|&j| scores[j].abs());
        if wrong <= lambda * mass && next != Some(scores[i].abs()) {
            found = Some(scores[i].abs());
        }
    }
    found
}

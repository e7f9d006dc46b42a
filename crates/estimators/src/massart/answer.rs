//! Turns the halfspace of a learner into a result for the features as given.

use margins_data::metrics::HeldOutError;
use margins_losses::LeakyRelu;
use margins_massart::baselines::Baseline;
use margins_massart::baselines::partition;
use margins_massart::cutting_planes::End;
use margins_massart::{Adaptive, Learned, LearnedHalfspace, Problem, Target};
use margins_model::{DecisionList, Divisor, Model, TrainingSummary};
use margins_optim::Status;

use super::features::{FeatureScaling, distance};
use super::{FittedHalfspace, Selection};
use crate::linear_model::linear_member;
use crate::{Error, Evidence, linear_model};

/// The answer of a learner about the features that it sees.
pub(super) struct Answer {
    /// The halfspace, or the first one of a decision list.
    pub(super) halfspace: Vec<f64>,
    /// The halfspaces of a decision list with their thresholds; empty for a halfspace alone.
    rules: Vec<(Vec<f64>, f64)>,
    /// The slope of the LeakyReLU loss that the learner reweights or descends on.
    slope: f64,
    evidence: Evidence,
    problem: Problem,
    selection: Selection,
    steps: usize,
    dimensions: Option<usize>,
    pub(super) status: Status,
}

/// The facts about the data that a result keeps.
pub(super) struct Source<'a> {
    pub(super) classes: (&'a str, &'a str),
    pub(super) feature_names: Option<Vec<String>>,
    pub(super) rows: usize,
    /// The share of the weight of the smaller class.
    pub(super) baseline: f64,
    /// The number that all rows were divided by, if it was one.
    pub(super) divisor: Option<f64>,
}

impl Answer {
    pub(super) fn by_cuts(
        problem: Problem,
        dimensions: Option<usize>,
        learned: (LearnedHalfspace, HeldOutError),
    ) -> Self {
        Answer { dimensions, ..Self::tested(problem, problem.noise.get(), learned) }
    }

    /// Returns the answer of an earlier learner. The perceptron descends on LeakyReLU of the slope 0.
    pub(super) fn by_baseline(
        problem: Problem,
        baseline: Baseline,
        learned: (LearnedHalfspace, HeldOutError),
    ) -> Self {
        let slope = if baseline == Baseline::Perceptron { 0.0 } else { problem.noise.get() };
        Self::tested(problem, slope, learned)
    }

    /// Returns the answer of the partition, whose rules descend on LeakyReLU of the slope
    /// `eta + epsilon/2`.
    pub(super) fn by_partition(
        problem: Problem,
        (list, held_out): (partition::DecisionList, HeldOutError),
    ) -> Self {
        let rules = list.rules().to_vec();
        Answer {
            halfspace: rules[0].0.clone(),
            rules,
            slope: problem.noise.get() + problem.target.epsilon() / 2.0,
            evidence: Evidence::ErrorBound { bound: held_out.bound, delta: problem.target.delta() },
            problem,
            selection: Selection::of_one(&held_out),
            steps: list.calls(),
            dimensions: None,
            status: list.stopped().unwrap_or(Status::RuleMet),
        }
    }

    /// Returns the answer of a learner without candidates.
    fn tested(
        problem: Problem,
        slope: f64,
        (learned, held_out): (LearnedHalfspace, HeldOutError),
    ) -> Self {
        let status = match learned.end {
            End::Accepted => Status::RuleMet,
            End::Empty => Status::Infeasible,
            End::CallLimit => Status::IterationLimit,
            End::Stopped(status) => status,
        };
        Answer {
            halfspace: learned.classifier.coef,
            rules: Vec::new(),
            slope,
            evidence: Evidence::ErrorBound { bound: held_out.bound, delta: problem.target.delta() },
            problem,
            selection: Selection::of_one(&held_out),
            steps: learned.calls,
            dimensions: None,
            status,
        }
    }

    pub(super) fn adaptively(target: Target, found: Adaptive) -> Self {
        let problem = Problem { noise: found.noise, margin: found.margin, target };
        Answer::by_gradient(problem, found.learned)
    }

    pub(super) fn by_gradient(problem: Problem, learned: Learned) -> Self {
        let (bound, delta) = (learned.held_out.bound, problem.target.delta());
        Answer {
            halfspace: learned.classifier.coef,
            rules: Vec::new(),
            slope: problem.noise.get(),
            evidence: Evidence::ErrorBound { bound, delta },
            problem,
            selection: Selection {
                candidates: learned.selected.candidates,
                held_out: learned.held_out.rows,
                error: learned.selected.error,
                index: learned.selected.index,
                candidate_errors: learned.candidate_errors,
            },
            steps: learned.steps,
            dimensions: None,
            status: learned.stopped.unwrap_or(Status::RuleMet),
        }
    }

    /// Returns the result, with the classifier of the features as given.
    pub(super) fn fitted(
        self,
        features: &FeatureScaling,
        source: Source<'_>,
    ) -> Result<FittedHalfspace, Error> {
        let loss = LeakyRelu::new(self.slope)?;
        let Source { classes, feature_names, rows, baseline, divisor } = source;
        let is_list = !self.rules.is_empty();
        let classifier = features.classifier(&self.halfspace);
        let standardize = features.standardization.is_some();
        let training = TrainingSummary { standardize, ..TrainingSummary::uncertified(rows) };
        let gamma = self.problem.margin.get();
        let of = |divisor| distance(gamma, divisor, &self.halfspace, &classifier);
        let distance = divisor.map(of).filter(|distance| distance.is_finite() && !is_list);
        let model = match is_list {
            true => {
                let (negative, positive) = classes;
                let classes = vec![negative.to_owned(), positive.to_owned()];
                let of_rule = |(w, _): &(Vec<f64>, f64)| {
                    linear_member(None, features.classifier(w), training.clone())
                };
                let members = self.rules.iter().map(of_rule).collect();
                let list = self.decision_list(features, divisor);
                Model::from_decision_list(&loss, classes, feature_names, members, list)?
            }
            false => linear_model(&loss, None, classes, feature_names, training, &classifier)?,
        };
        Ok(FittedHalfspace {
            model,
            evidence: self.evidence,
            problem: self.problem,
            selection: self.selection,
            rows,
            steps: self.steps,
            dimensions: self.dimensions,
            divisor,
            distance,
            training_error: None,
            baseline,
            status: self.status,
        })
    }

    /// Returns the rule of a decision list.
    fn decision_list(&self, features: &FeatureScaling, divisor: Option<f64>) -> DecisionList {
        let constant = if features.intercept { 1.0 } else { 0.0 };
        DecisionList {
            thresholds: self.rules.iter().map(|rule| rule.1).collect(),
            divisor: divisor.map_or(Divisor::Norm(constant), Divisor::Number),
        }
    }
}

impl Selection {
    /// Returns the choice of the only candidate.
    fn of_one(held_out: &HeldOutError) -> Self {
        Selection {
            candidates: 1,
            held_out: held_out.rows,
            error: held_out.error,
            index: 0,
            candidate_errors: vec![(0, held_out.error)],
        }
    }
}

//! The decision between two classes.

use margins::losses::MarginLoss;
use margins::{Model, Scheme};

use crate::arguments::predict::{Costs, DecisionArguments};
use crate::failure::Failure;

/// The rule that makes a class of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decision {
    /// The model's own.
    OfTheModel,
    /// The positive class where the score is greater.
    Score(f64),
    /// The positive class where its probability is greater.
    Probability(f64),
}

impl Decision {
    /// Returns the rule that was asked for, if the model can follow it.
    pub(super) fn new(
        arguments: &DecisionArguments,
        model: &Model,
        loss: &dyn MarginLoss,
    ) -> Result<Self, Failure> {
        let (option, rule) = match (arguments.threshold, arguments.cost) {
            (Some(at), _) if arguments.probability => ("--probability", Decision::Probability(at)),
            (Some(at), _) => ("--threshold", Decision::Score(at)),
            (None, Some(costs)) => ("--cost", Decision::Probability(Costs::threshold(costs))),
            (None, None) => return Ok(Decision::OfTheModel),
        };
        let scores = model.scores_per_sample();
        if scores > 1 {
            return Err(Failure::Usage(format!(
                "{option} decides between two classes by one score, but the model has {scores} scores"
            )));
        }
        let has_probabilities = model.probability(loss, 0.0).is_some();
        if matches!(rule, Decision::Probability(_)) && !has_probabilities {
            let whose = match model.scheme() {
                scheme if scheme.is_vote() => "a majority".to_owned(),
                Scheme::DecisionList => "a decision list".to_owned(),
                _ => format!("the loss '{}'", model.loss()),
            };
            return Err(Failure::Usage(format!(
                "{option} needs probabilities, which {whose} does not have. Fit the model with --probability platt"
            )));
        }
        Ok(rule)
    }

    /// Returns the class of a score and its probability, counted from 0.
    pub(super) fn class(self, model: &Model, score: f64, probability: Option<f64>) -> usize {
        match (self, probability) {
            (Decision::Score(at), _) => usize::from(score > at),
            (Decision::Probability(at), Some(probability)) => usize::from(probability > at),
            _ => model.decide(&[score]),
        }
    }
}

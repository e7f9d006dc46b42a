//! How rules decide samples in shards.

use margins_calibration::probability::Scheme;
use margins_data::metrics::{self, Measure};

use crate::Error;
use crate::path::Measured;
use crate::shards::workers::sums;
use crate::shards::{
    Ask, BinaryProblem, FeatureSource, Message, Request, Rule, Weighting, Workers,
};

/// How a rule decides samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleOutcome {
    /// The share of the samples that it decides wrongly, by weight.
    pub error: f64,
    /// The values of measures of the samples.
    pub measured: Measured,
}

/// Returns the weight of the samples that a problem holds out, or of all if it holds out none, and how
/// each rule decides them, by the weights that samples come with times the costs of the problem. The
/// functions of every rule decide between so many classes by a scheme; `partitions` has the number of rows
/// of each partition. Without a measure nothing is measured but the error, and no shard computes
/// probabilities.
///
/// A round of messages asks for as many rules as have a million coefficients. Only the area under the
/// curve brings numbers of single samples to the driver, four million in a round or those of one rule:
/// the weight and the score of each sample held out.
///
/// # Errors
/// [`Error::Shards`]: a round of messages failed, or the area under the curve is asked of rules for
/// more than two classes.
pub fn errors_over_shards(
    workers: &mut dyn Workers,
    partitions: &[usize],
    problem: &BinaryProblem,
    measure: Option<Measure>,
    (scheme, classes): (Scheme, usize),
    rules: &[Rule],
) -> Result<(f64, Vec<RuleOutcome>), Error> {
    const COEFFICIENTS: usize = 1 << 20;
    const SCORES: usize = 1 << 22;
    let Some(first) = rules.first() else { return Ok((0.0, Vec::new())) };
    let scores = measure == Some(Measure::Auc);
    let probabilities = measure.is_some();
    let size: usize = first.0.iter().map(|(_, w)| w.len()).sum();
    let rows = if scores { partitions.iter().sum() } else { 0 };
    let most = (COEFFICIENTS / size.max(1)).min(SCORES / rows.max(1)).max(1);
    let of_rule = 2 * classes + if probabilities { 2 } else { 0 };
    let mut weight = 0.0;
    let mut outcomes = Vec::with_capacity(rules.len());
    for some in rules.chunks(most) {
        let request = Request {
            reset: false,
            define: Vec::new(),
            forget: Vec::new(),
            features: FeatureSource::Same,
            weighting: Weighting {
                costs: problem.costs.clone(),
                draw: problem.draw,
                ..Weighting::default()
            },
            ask: Ask::Errors {
                fold: problem.held_out,
                scheme,
                classes,
                rules: some.to_vec(),
                probabilities,
                scores,
            },
        };
        let replies = workers.round(&Message::of(&request)).map_err(Error::Shards)?;
        let sums = sums(replies, partitions.len()).map_err(Error::Shards)?;
        let is_whole = sums.added.len() == of_rule * some.len()
            && sums.listed.len().is_multiple_of(some.len() + 1);
        if !is_whole {
            return Err(Error::Shards("a shard answered another question".into()));
        }
        for (k, of_rule) in sums.added.chunks(of_rule).enumerate() {
            let (of_classes, costs) = of_rule.split_at(2 * classes);
            weight = of_classes.iter().step_by(2).sum();
            let mean = |sum: f64| if weight > 0.0 { sum / weight } else { 0.0 };
            let known = |k: usize| costs.get(k).map(|sum| mean(*sum)).filter(|mean| !mean.is_nan());
            let log_loss = known(0);
            let value = match measure {
                None | Some(Measure::Error) => None,
                Some(Measure::BalancedError) => mean_rate(of_classes),
                Some(Measure::LogLoss) => log_loss,
                Some(Measure::Brier) => known(1),
                Some(Measure::Auc) => area(&sums.listed, some.len(), k),
            };
            let wrong = of_classes.iter().skip(1).step_by(2).sum();
            let measured = Measured { log_loss, value };
            outcomes.push(RuleOutcome { error: mean(wrong), measured });
        }
    }
    Ok((weight, outcomes))
}

/// Returns the mean error rate of the classes that have weight, given the weight of each class and of
/// its samples decided wrongly.
fn mean_rate(of_classes: &[f64]) -> Option<f64> {
    let with_weight = of_classes.chunks(2).filter(|of_class| of_class[0] > 0.0);
    let rates: Vec<f64> = with_weight.map(|of_class| of_class[1] / of_class[0]).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Returns the area under the curve of the k-th of some rules, given the samples that
/// [`Ask::Errors`] lists; `None` unless both classes have weight.
fn area(listed: &[f64], rules: usize, k: usize) -> Option<f64> {
    let samples = || listed.chunks(rules + 1);
    let scores: Vec<f64> = samples().map(|of_row| of_row[k + 1]).collect();
    let signs: Vec<f64> = samples().map(|of_row| of_row[0].signum()).collect();
    let weights: Vec<f64> = samples().map(|of_row| of_row[0].abs()).collect();
    metrics::auc(&scores, &signs, Some(&weights)).ok()
}

//! The state of one fold along the path, and which lambdas are hopeless.

use margins_data::metrics::MistakeTally;
use margins_data::{ClassLabels, Dataset};

use super::error_curve::{FoldError, FoldErrors, least};
use super::folds::HeldOut;
use super::held_out::FoldOutcome;

pub(super) struct Fold {
    /// The weights of the samples held out.
    weights: Vec<f64>,
    /// The outcome of the samples held out at each lambda; `None` where it was not fitted.
    at: Vec<Option<FoldOutcome>>,
}

impl Fold {
    /// Returns a fold that holds these rows out and was not fitted at any of this number of lambdas.
    pub(super) fn new<Y: ClassLabels>(
        data: &Dataset<Y>,
        held_out: &[usize],
        lambdas: usize,
    ) -> Self {
        let weight_of = |&i: &usize| data.weights().map_or(1.0, |weights| weights[i]);
        let weights = held_out.iter().map(weight_of).collect();
        Fold { weights, at: vec![None; lambdas] }
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns the share of the samples misclassified, by weight; 0 where none has any.
    fn error(&self, k: usize) -> f64 {
        self.at[k].as_ref().map_or(0.0, |at| self.share(&at.wrong))
    }

    /// Returns the share of the samples held out for which this is true, by weight; 0 where none has
    /// any.
    fn share(&self, is_true: &[bool]) -> f64 {
        let mut tally = MistakeTally::default();
        self.weights.iter().zip(is_true).for_each(|(&weight, &is_true)| tally.add(is_true, weight));
        tally.rate().unwrap_or(0.0)
    }
}

impl HeldOut for Fold {
    type Outcome = FoldOutcome;

    fn set(&mut self, at: &[usize], outcomes: Vec<FoldOutcome>) {
        for (&k, outcome) in at.iter().zip(outcomes) {
            self.at[k] = Some(outcome);
        }
    }

    fn errors(&self) -> FoldErrors {
        let at = |at: &Option<FoldOutcome>| {
            let FoldOutcome { wrong, unproven, measured, relative_gap, converged, .. } =
                at.as_ref()?;
            Some(FoldError {
                error: self.share(wrong),
                unproven: unproven.as_ref().map(|unproven| self.share(unproven)),
                measured: *measured,
                relative_gap: *relative_gap,
                converged: *converged,
            })
        };
        FoldErrors { weight: self.weight(), at: self.at.iter().map(at).collect() }
    }

    fn hopeless(folds: &[Fold], count: usize) -> Vec<bool> {
        hopeless(folds, count)
    }
}

/// Returns true for every lambda, among the first `count`, that is wrong on far more of the weight than
/// the one of the lowest error: the difference is a sum over the samples on which the two disagree, each of which counts
/// its weight to either side.
fn hopeless(folds: &[Fold], count: usize) -> Vec<bool> {
    const DEVIATIONS: f64 = 4.0;
    let errors = |k: usize| -> f64 { folds.iter().map(|fold| fold.weight() * fold.error(k)).sum() };
    let errors: Vec<f64> = (0..count).map(errors).collect();
    let best = least(&errors, |_| true);
    (0..count)
        .map(|k| {
            let (mut difference, mut square) = (0.0, 0.0f64);
            for fold in folds {
                let (Some(here), Some(there)) = (&fold.at[k], &fold.at[best]) else { continue };
                let pairs = here.wrong.iter().zip(&there.wrong).zip(&fold.weights);
                for ((here, _), weight) in pairs.filter(|((here, there), _)| here != there) {
                    difference += if *here { *weight } else { -weight };
                    square += weight * weight;
                }
            }
            difference > DEVIATIONS * square.sqrt()
        })
        .collect()
}

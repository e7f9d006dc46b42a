//! Plays a game on a data set, and returns its ensemble.

use std::borrow::Cow;

use margins_boost::{Evaluation, GameOutcome, Subsample};
use margins_data::metrics::HeldOutError;
use margins_data::{ClassLabels, Dataset, Standardizer};
use margins_model::{Model, TrainingSummary};
use margins_optim::{ClassWeights, Status};

use super::committee::Committee;
use super::game::{Outcome, SeenLosses, Table};
use super::game_file::GameFile;
use super::learner::FocusedLearner;
use super::output::Output;
use super::settings::{EnsembleSettings, Guarantee, SlackBudget};
use super::weights::{share_of, weighted};
use crate::massart::baseline;
use crate::standardization::Standardization;
use crate::{Error, Evidence};

/// The ensemble at the end of a game.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedEnsemble {
    /// The ensemble of linear classifiers or of combinations of kernel sections; `None` of stumps and
    /// networks, which no model holds, and before the first classifier was taken. No probabilities
    /// follow from a game, so that its loss is the 0-1 loss.
    pub model: Option<Model>,
    /// The ensemble judged on all samples.
    pub evidence: Evidence,
    /// The end of the game; the steps and losses of two games are added.
    pub ending: GameOutcome,
    /// The loss of every sample, multiplied by its weight in the game, and the mistakes.
    pub evaluation: Evaluation,
    /// The share of samples that the ensemble gets wrong, by weight.
    pub training_error: f64,
    /// The share of samples that are not of the larger class, by weight, which the decision for that
    /// class alone gets wrong.
    pub baseline: f64,
    /// Which classifier of the game it is.
    pub output: Output,
    /// The choice of that classifier on rows held out; `None` unless the output is validated.
    pub validation: Option<HeldOutError>,
    /// The steps and classifiers of theorem 1, and how likely it fails.
    pub guarantee: Guarantee,
    /// The evidence of theorem 1: what the losses that were seen say of the learner.
    pub seen: SeenLosses,
    /// The classifiers of the game, or the single one.
    pub ensemble: Committee,
    /// The number of samples learned from.
    pub samples: usize,
    /// The most steps of the games played: of one, or of two if the second had slack.
    pub max_steps: u64,
    /// Why the game ended: [`Status::RuleMet`] if the largest loss was at most epsilon,
    /// [`Status::IterationLimit`] after the most steps, [`Status::Paused`] or [`Status::TimeLimit`].
    pub status: Status,
    /// The slack of the game, given or for the samples that a game without it got wrong.
    pub slack: Option<SlackBudget>,
    /// The rows with slack, from 0, the largest first; `None` without slack.
    pub outliers: Option<Vec<usize>>,
    /// The specification of the learner that played the game.
    pub learner: String,
    /// The specification of the kernel of the learner.
    pub kernel: Option<String>,
}

impl FittedEnsemble {
    /// Returns true if the game ended by consistency or by the most steps, and not by a pause or the
    /// clock.
    pub fn is_finished(&self) -> bool {
        matches!(self.status, Status::RuleMet | Status::IterationLimit)
    }
}

impl EnsembleSettings {
    /// Plays the game on data of two classes.
    ///
    /// # Errors
    /// [`check`](Self::check) says which settings are refused. [`Error::Contradiction`]: balanced
    /// classes of which one costs at most epsilon of the other. [`Error::Boost`], [`Error::Optim`]:
    /// a number outside its range, or a learner whose numbers overflow. [`Error::Boost`] too: the
    /// function of [`iterations`](Self::iterations) ended the game. `Error::Checkpoint`: a file that
    /// is not the state of this game.
    pub fn fit(&self, data: &Dataset) -> Result<FittedEnsemble, Error> {
        self.check()?;
        let weighed = self.weighed(data)?;
        let data = &*weighed;
        let (guarantee, rows, mut outcome) =
            self.play(data, |data| Ok(Cow::Borrowed(data)), None)?;
        if let (true, Committee::Linear(unscaled)) = (self.standardize, &outcome.ensemble) {
            let limits = self.iterations.limits(self.time_limit);
            let (design, labels) = (data.design(), data.labels());
            let evaluation = Evaluation::within(unscaled, design, labels, &*self.loss, &limits)?;
            outcome.evaluation = weighted(evaluation, data)?;
        }
        let baseline = baseline(data.labels().signs(), data.own_weights());
        self.fitted(data, baseline, rows, guarantee, outcome)
    }

    /// Plays the game on data, which are posed for the learner: as they are of two classes, with their
    /// classes of so many. Returns the outcome with classifiers of the features as given, and the number
    /// of rows learned from.
    pub(super) fn play<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
        pose: fn(&Dataset<Y>) -> Result<Cow<'_, Dataset>, Error>,
        classes: Option<usize>,
    ) -> Result<(Guarantee, usize, Outcome), Error> {
        let split = self.held_out(data)?;
        let learned = split.as_ref().map(|(rows, _)| data.select(rows));
        let standardization = self.standardization(learned.as_ref().unwrap_or(data));
        let scaled = match &standardization {
            Some(standardization) => {
                data.design().check_fits(1, 1, 0)?;
                let design = standardization.apply(data.design())?;
                Some(data.clone().with_design(design)?)
            }
            None => None,
        };
        let all = scaled.as_ref().unwrap_or(data);
        all.design().check_fits(1, 0, 0)?;
        let posed = pose(all)?;
        let all = &*posed;
        let limits = self.iterations.limits(self.time_limit);
        let subsample = self.subsample(data.rows())?;
        let rows = match &split {
            Some((learned, _)) => Some(learned.clone()),
            None => subsample.as_ref().map(|subsample| subsample.draw(self.seed)),
        };
        let part = rows.map(|rows| all.select(&rows));
        let held_out = split.as_ref().map(|(_, rows)| all.select(rows));
        let chosen = part.as_ref().unwrap_or(all);
        let of_subsample = subsample.as_ref().map(Subsample::failure);
        let guarantee = Guarantee { of_subsample, ..self.guarantee(chosen, classes)? };
        let table = Table {
            settings: self,
            data: chosen,
            all,
            held_out: held_out.as_ref(),
            classes,
            scales: standardization.as_ref().map(Standardization::factors),
            guarantee,
            limits,
            file: GameFile::of(self, data, classes, &guarantee.horizon),
        };
        let mut outcome = table.play()?;
        if let Some(standardization) = &standardization {
            outcome.ensemble = outcome.ensemble.unscaled(|c| standardization.unscale(c));
        }
        Ok((guarantee, chosen.rows(), outcome))
    }

    /// Returns the data with the weights v_i of the game, if samples or classes have weights.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: balanced classes of which one would be spared as a whole.
    pub(super) fn weighed<'d, Y: ClassLabels>(
        &self,
        data: &'d Dataset<Y>,
    ) -> Result<Cow<'d, Dataset<Y>>, Error> {
        let balanced = self.class_weights == ClassWeights::Balanced;
        if data.weights().is_none() && self.class_costs.first().is_none() && !balanced {
            return Ok(Cow::Borrowed(data));
        }
        let data = self.class_costs.weigh(data.clone())?;
        let (weights, labels) = (data.weights(), data.labels());
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let mut sums = vec![0.0; labels.names().len()];
        (0..data.rows()).for_each(|row| sums[labels.index(row)] += weight(row));
        let factor = |row: usize| match sums[labels.index(row)] {
            sum if balanced && sum > 0.0 => sum.recip(),
            _ => 1.0,
        };
        let products: Vec<f64> = (0..data.rows()).map(|row| factor(row) * weight(row)).collect();
        let mut largest_of = vec![0.0f64; sums.len()];
        for (row, &product) in products.iter().enumerate() {
            let largest = &mut largest_of[labels.index(row)];
            *largest = largest.max(product);
        }
        let largest = largest_of.iter().copied().fold(0.0, f64::max);
        // A class without weight takes no part in the game.
        let spared = |of: f64| of > 0.0 && of / largest <= self.epsilon;
        if balanced && largest_of.into_iter().any(spared) {
            return Err(Error::contradiction(
                "balanced classes".to_owned(),
                format!("an epsilon of {}", self.epsilon),
                "every row of the larger class would be spared: lower epsilon or give costs",
            ));
        }
        let costs: Vec<f64> = (0..data.rows()).map(|row| factor(row) / largest).collect();
        Ok(Cow::Owned(data.with_costs(&costs)?))
    }

    /// Returns the scaling of the features for the learner, if there is one.
    fn standardization<Y: ClassLabels>(&self, data: &Dataset<Y>) -> Option<Standardization> {
        // The thresholds of stumps move with the features.
        if !self.standardize || matches!(self.learner, FocusedLearner::Stump { .. }) {
            return None;
        }
        let standardizer = Standardizer::fit(data.design(), data.own_weights());
        let centred = self.learner.is_linear() && self.intercept && !data.design().is_sparse();
        Some(Standardization::new(standardizer, centred))
    }

    /// Returns the end of a game on some of the rows.
    pub(super) fn fitted<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
        baseline: f64,
        rows: usize,
        guarantee: Guarantee,
        outcome: Outcome,
    ) -> Result<FittedEnsemble, Error> {
        let (ending, evaluation) = (outcome.ending, outcome.evaluation);
        let weights = data.own_weights();
        let status = match outcome.stopped {
            Some(limit) => limit,
            None if ending.consistent_at.is_some() => Status::RuleMet,
            None => Status::IterationLimit,
        };
        Ok(FittedEnsemble {
            model: self.model(data, rows, &outcome.ensemble)?,
            evidence: Evidence::Played {
                max_loss: evaluation.max_loss(),
                consistent_at: ending.consistent_at,
            },
            status,
            ending,
            training_error: share_of(&evaluation.wrong, weights, data.rows()),
            evaluation,
            baseline,
            output: self.output,
            validation: outcome.validation,
            // Theorem 1 says nothing of a game with slack, be it the second one.
            guarantee: Guarantee {
                failure: guarantee.failure.filter(|_| outcome.slack.is_none()),
                ..guarantee
            },
            seen: outcome.seen,
            ensemble: outcome.ensemble,
            samples: rows,
            max_steps: outcome.most,
            slack: outcome.slack,
            outliers: outcome.outliers,
            learner: outcome.learner,
            kernel: outcome.kernel,
        })
    }

    /// Returns the model of an ensemble that has learned from `rows` rows, if a model can represent it.
    pub(super) fn model<Y: ClassLabels>(
        &self,
        data: &Dataset<Y>,
        rows: usize,
        ensemble: &Committee,
    ) -> Result<Option<Model>, Error> {
        let training =
            TrainingSummary { standardize: self.standardize, ..TrainingSummary::uncertified(rows) };
        let parts = ensemble.parts(&training, data.columns(), self.learner.registry())?;
        let Some(parts) = parts else { return Ok(None) };
        let names = data.feature_names().map(<[String]>::to_vec);
        let model = parts.model(data.labels().names().to_vec(), names)?;
        Ok(Some(model.with_encoding(data.encoding().cloned())?))
    }
}

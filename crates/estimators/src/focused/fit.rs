//! Plays a game on a data set, and returns its ensemble.

use std::borrow::Cow;

use margins_boost::{Ensemble, Evaluation, GameOutcome, Subsample};
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
        let guarantee = Guarantee { of_subsample, ..self.guarantee(chosen)? };
        let table = Table {
            settings: self,
            data: chosen,
            all,
            held_out: held_out.as_ref(),
            scales: standardization.as_ref().map(Standardization::factors),
            guarantee,
            limits,
            file: GameFile::of(self, data, &guarantee.horizon),
        };
        let mut outcome = table.play()?;
        if let (Some(standardization), Committee::Linear(ensemble)) =
            (&standardization, &outcome.ensemble)
        {
            let members = ensemble.members().iter().map(|c| standardization.unscale(c)).collect();
            let unscaled = Ensemble::new(self.output.combination(), members);
            let (design, labels) = (data.design(), data.labels());
            let evaluation = Evaluation::within(&unscaled, design, labels, &*self.loss, &limits)?;
            outcome.evaluation = weighted(evaluation, data)?;
            outcome.ensemble = Committee::Linear(unscaled);
        }
        let rows = chosen.rows();
        self.fitted(data, rows, guarantee, outcome)
    }

    /// Returns the data with the weights v_i of the game, if samples or classes have weights.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: balanced classes of which one would be spared as a whole.
    fn weighed<'d>(&self, data: &'d Dataset) -> Result<Cow<'d, Dataset>, Error> {
        let balanced = self.class_weights == ClassWeights::Balanced;
        if data.weights().is_none() && self.class_costs.first().is_none() && !balanced {
            return Ok(Cow::Borrowed(data));
        }
        let data = self.class_costs.weigh(data.clone())?;
        let (weights, signs) = (data.weights(), data.labels().signs());
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let of_side = |positive: bool| -> f64 {
            (0..signs.len()).filter(|&row| (signs[row] > 0.0) == positive).map(weight).sum()
        };
        let [negative, positive] = [of_side(false), of_side(true)].map(|sum| match balanced {
            true if sum > 0.0 => sum.recip(),
            _ => 1.0,
        });
        let factor = |row: usize| if signs[row] > 0.0 { positive } else { negative };
        let largest_of = |positive: bool| {
            let rows = (0..signs.len()).filter(|&row| (signs[row] > 0.0) == positive);
            rows.map(|row| factor(row) * weight(row)).fold(0.0, f64::max)
        };
        let sides = [largest_of(false), largest_of(true)];
        let largest = sides[0].max(sides[1]);
        // A class without weight takes no part in the game.
        let spared = |side: f64| side > 0.0 && side / largest <= self.epsilon;
        if balanced && sides.into_iter().any(spared) {
            return Err(Error::contradiction(
                "balanced classes".to_owned(),
                format!("an epsilon of {}", self.epsilon),
                "every row of the larger class would be spared: lower epsilon or give costs",
            ));
        }
        let costs: Vec<f64> = (0..signs.len()).map(|row| factor(row) / largest).collect();
        Ok(Cow::Owned(data.with_costs(&costs)?))
    }

    /// Returns the scaling of the features for the learner, if there is one.
    fn standardization(&self, data: &Dataset) -> Option<Standardization> {
        // The thresholds of stumps move with the features.
        if !self.standardize || matches!(self.learner, FocusedLearner::Stump { .. }) {
            return None;
        }
        let standardizer = Standardizer::fit(data.design(), data.own_weights());
        let centred = self.learner.is_linear() && self.intercept && !data.design().is_sparse();
        Some(Standardization::new(standardizer, centred))
    }

    /// Returns the end of a game on some of the rows.
    fn fitted(
        &self,
        data: &Dataset,
        rows: usize,
        guarantee: Guarantee,
        outcome: Outcome,
    ) -> Result<FittedEnsemble, Error> {
        let (ending, evaluation) = (outcome.ending, outcome.evaluation);
        let weights = data.own_weights();
        let baseline = baseline(data.labels().signs(), weights);
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

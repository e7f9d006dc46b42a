//! Plays a game on a data set, and returns its ensemble.

use margins_boost::{Ensemble, Evaluation, GameOutcome, Subsample};
use margins_data::{ClassLabels, Dataset, Standardizer};
use margins_losses::ZeroOne;
use margins_model::{Model, TrainingSummary};
use margins_optim::Status;

use super::committee::{Committee, Parts};
use super::game::{Outcome, SeenLosses, Table};
use super::game_file::GameFile;
use super::learner::FocusedLearner;
use super::output::{Output, Validation};
use super::settings::{EnsembleSettings, Guarantee, SlackBudget};
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
    /// The loss of every sample, and the mistakes.
    pub evaluation: Evaluation,
    /// The share of samples that are not of the larger class, which the decision for that class
    /// alone gets wrong.
    pub baseline: f64,
    /// Which classifier of the game it is.
    pub output: Output,
    /// The choice of that classifier on rows held out; `None` unless the output is validated.
    pub validation: Option<Validation>,
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
    /// [`check`](Self::check) says which settings are refused. [`Error::Boost`], [`Error::Optim`]:
    /// a number outside its range, or a learner whose numbers overflow. [`Error::Boost`] too: the
    /// function of [`iterations`](Self::iterations) ended the game. `Error::Checkpoint`: a file that
    /// is not the state of this game.
    pub fn fit(&self, data: &Dataset) -> Result<FittedEnsemble, Error> {
        self.check()?;
        let split = self.held_out(data.rows())?;
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
            outcome.evaluation =
                Evaluation::within(&unscaled, data.design(), data.labels(), &*self.loss, &limits)?;
            outcome.ensemble = Committee::Linear(unscaled);
        }
        let rows = chosen.rows();
        self.fitted(data, rows, guarantee, outcome)
    }

    /// Returns the scaling of the features for the learner, if there is one.
    fn standardization(&self, data: &Dataset) -> Option<Standardization> {
        // The thresholds of stumps move with the features.
        if !self.standardize || matches!(self.learner, FocusedLearner::Stump { .. }) {
            return None;
        }
        let standardizer = Standardizer::fit(data.design(), None);
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
        let positives = data.labels().signs().iter().filter(|&&sign| sign > 0.0).count();
        let share = positives as f64 / data.rows() as f64;
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
            evaluation,
            baseline: share.min(1.0 - share),
            output: self.output,
            validation: outcome.validation,
            guarantee,
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
    fn model(
        &self,
        data: &Dataset,
        rows: usize,
        ensemble: &Committee,
    ) -> Result<Option<Model>, Error> {
        let training =
            TrainingSummary { standardize: self.standardize, ..TrainingSummary::uncertified(rows) };
        let parts = ensemble.parts(&training, data.columns(), self.learner.registry())?;
        let Some(Parts { scheme, basis, members }) = parts else { return Ok(None) };
        let classes = data.labels().names().to_vec();
        let names = data.feature_names().map(<[String]>::to_vec);
        let model = Model::from_members(&ZeroOne, classes, scheme, names, basis, members)?;
        Ok(Some(model.with_encoding(data.encoding().cloned())?))
    }
}

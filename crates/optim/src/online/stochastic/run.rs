use std::time::Instant;

use margins_data::{Labels, split};
use margins_losses::MarginLoss;

use super::epochs::Epochs;
use super::settings::StochasticGradient;
use crate::certificate::Evaluator;
use crate::online::{LinearClassifier, OnlineGradient, OnlineLearner, Scorer};
use crate::problem::{EmpiricalRisk, Point};
use crate::solve::{Elapsed, Ending, HistoryEntry, Status};
use crate::{Error, Fit, Lambda, Objective};

/// A run in progress.
pub(super) struct Run<'d> {
    settings: StochasticGradient,
    lambda: Lambda,
    pub(super) epochs: Epochs<'d>,
    pub(super) held_out: Option<Validation>,
    began: Instant,
    history: Vec<HistoryEntry>,
}

/// Rows with their weights.
pub(super) type Weighed = Vec<(usize, f64)>;

/// The rows held out, ascending and with their weights, with the best classifier so far.
pub(super) struct Validation {
    rows: Weighed,
    best: LinearClassifier,
    least_loss: f64,
    epochs_since: usize,
}

impl Validation {
    fn of(rows: Weighed) -> Option<Self> {
        let best = LinearClassifier::zero(0);
        let begin = Validation { rows, best, least_loss: f64::INFINITY, epochs_since: 0 };
        (!begin.rows.is_empty()).then_some(begin)
    }

    /// Keeps the classifier of an epoch if it is the best so far.
    fn judge<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        now: LinearClassifier,
    ) {
        let EmpiricalRisk { loss, signs, .. } = &objective.risk;
        let value = |i: usize| loss.value(signs[i] * now.score(&objective.design.sample(i)));
        let counted = self.rows.iter().filter(|(_, c)| *c > 0.0);
        let total: f64 = counted.map(|&(i, c)| c * value(i)).sum();
        if total < self.least_loss || self.best.coef.is_empty() {
            (self.best, self.least_loss, self.epochs_since) = (now, total, 0);
        } else {
            self.epochs_since += 1;
        }
    }
}

impl StochasticGradient {
    /// Returns the objective on the samples to train on, in which the others have weight 0, and the
    /// rows of the others with the weights that they had.
    pub(super) fn set_aside<'a, L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'a, L>,
    ) -> Result<(Objective<'a, L>, Weighed), Error> {
        self.check()?;
        let Some(early) = self.early_stopping else { return Ok((objective.clone(), Vec::new())) };
        let labels = Labels::from_signs(objective.risk.signs.to_vec())?;
        let (train, held_out) = split::hold_out(&labels, early.hold_out, self.seed)?;
        let mut weights = vec![labels.len() as f64 / train.len() as f64; labels.len()];
        held_out.iter().for_each(|&i| weights[i] = 0.0);
        let own = objective.risk.weights();
        let held_out = held_out.into_iter().map(|i| (i, own[i])).collect();
        Ok((objective.clone().with_weights(&weights)?, held_out))
    }
}

impl<'d> Run<'d> {
    pub(super) fn new<L: MarginLoss + ?Sized>(
        objective: &'d Objective<'_, L>,
        held_out: Weighed,
        lambda: Lambda,
        settings: &StochasticGradient,
    ) -> Result<Self, Error> {
        let rows: Vec<usize> = held_out.iter().map(|(row, _)| *row).collect();
        let epochs = Epochs::new(objective, &rows, settings);
        let held_out = Validation::of(held_out);
        Ok(Run {
            settings: *settings,
            lambda,
            epochs,
            held_out,
            began: Instant::now(),
            history: Vec::new(),
        })
    }

    pub(super) fn total_steps(&self) -> u64 {
        self.settings.epochs as u64 * self.epochs.steps_per_epoch()
    }

    pub(super) fn learner<'l, L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'l, L>,
    ) -> Result<OnlineGradient<&'l L>, Error> {
        let EmpiricalRisk { loss, intercept, .. } = objective.risk;
        let features = objective.design.columns();
        self.settings.learner(loss, features, self.lambda, intercept, self.total_steps())
    }

    /// Takes a learner to a step, or to where it stops early.
    pub(super) fn follow<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        learner: &mut OnlineGradient<&L>,
        until: u64,
    ) -> Result<(), Error> {
        while learner.steps() < until {
            let epoch_over = self.epochs.advance(learner, until - learner.steps())?;
            if !epoch_over {
                continue;
            }
            if self.settings.history {
                self.record(objective, learner.snapshot());
            }
            if let Some(held_out) = &mut self.held_out {
                held_out.judge(objective, learner.snapshot());
                let patience = self.settings.early_stopping.map_or(usize::MAX, |e| e.patience);
                if held_out.epochs_since >= patience {
                    break;
                }
            }
        }
        Ok(())
    }

    fn record<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        now: LinearClassifier,
    ) {
        let mut evaluator = Evaluator::in_memory(objective);
        let point = Point::at(&objective.design, now.intercept, now.coef);
        let certificate = evaluator.appraise(self.lambda, &point);
        let (epochs, passes) = (self.epochs.done, 2 * self.epochs.done);
        let margins = objective.risk.margin_summary(&point.products, point.intercept);
        self.history.push(HistoryEntry::new(epochs, passes, &certificate, margins));
    }

    /// Takes a learner to the end of the run.
    pub(super) fn finish<L: MarginLoss + ?Sized>(
        mut self,
        objective: &Objective<'_, L>,
        mut learner: OnlineGradient<&L>,
    ) -> Result<Fit, Error> {
        self.follow(objective, &mut learner, self.total_steps())?;
        let LinearClassifier { intercept, coef } =
            self.held_out.map_or_else(|| learner.snapshot(), |held_out| held_out.best);
        let mut evaluator = Evaluator::in_memory(objective);
        let point = Point::at(&objective.design, intercept, coef);
        let certificate = evaluator.appraise(self.lambda, &point);
        let converged = certificate.relative_gap() <= self.settings.tolerance;
        let status = if converged { Status::Converged } else { Status::RuleMet };
        let iterations = self.epochs.done;
        let elapsed = Elapsed(self.began.elapsed());
        let ending = Ending { iterations, status, certificate, elapsed, history: self.history };
        let ending = ending.examined(&objective.risk, &point.products, point.intercept);
        let Point { intercept, coef, .. } = point;
        let report = ending.report(2 * iterations + 2);
        Ok(Fit { lambda: self.lambda, intercept, coef, report })
    }
}

//! A run of a stochastic method over data in memory, with early stopping.

use margins_data::{Labels, split};
use margins_losses::MarginLoss;

use super::StochasticLearner;
use super::epochs::Epochs;
use super::settings::StochasticGradient;
use crate::certificate::Evaluator;
use crate::method::{Monitor, Rule, Status};
use crate::online::{LinearClassifier, OnlineLearner, Scorer};
use crate::problem::{EmpiricalRisk, Point};
use crate::{Certificate, Error, Fit, Lambda, Objective, Options};

/// A run in progress.
pub(super) struct Run<'d> {
    settings: StochasticGradient,
    lambda: Lambda,
    pub(super) epochs: Epochs<'d>,
    pub(super) held_out: Option<Validation>,
    monitor: Monitor<'d>,
    /// The reason why the run ended before its last epoch, if it did.
    stopped: Option<Status>,
}

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
        let value = |i: usize| loss.value(signs.get(i) * now.score(&objective.design.sample(i)));
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
        let labels = Labels::from_signs(objective.risk.signs().to_vec())?;
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
        options: &'d Options<'_>,
    ) -> Self {
        let rows: Vec<usize> = held_out.iter().map(|(row, _)| *row).collect();
        let epochs = Epochs::new(objective, &rows, settings);
        let held_out = Validation::of(held_out);
        let monitor = Monitor::new(options, lambda, settings.epochs);
        Run { settings: *settings, lambda, epochs, held_out, monitor, stopped: None }
    }

    pub(super) fn total_steps(&self) -> u64 {
        self.settings.epochs as u64 * self.epochs.steps_per_epoch()
    }

    pub(super) fn learner<'l, L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'l, L>,
    ) -> Result<StochasticLearner<&'l L>, Error> {
        let EmpiricalRisk { loss, intercept, .. } = objective.risk;
        let features = objective.design.columns();
        self.settings.learner(loss, features, self.lambda, intercept, self.total_steps())
    }

    /// Takes a learner to a step, or to where it stops early.
    pub(super) fn follow<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        learner: &mut StochasticLearner<&L>,
        until: u64,
    ) -> Result<(), Error> {
        while learner.steps() < until && self.stopped.is_none() {
            let epoch_over = self.epochs.advance(learner, until - learner.steps())?;
            if !epoch_over {
                continue;
            }
            self.monitor.count(1);
            self.stopped = self.judge(objective, learner);
            if let Some(held_out) = &mut self.held_out {
                held_out.judge(objective, learner.snapshot());
                let patience = self.settings.early_stopping.map_or(usize::MAX, |e| e.patience);
                if held_out.epochs_since >= patience {
                    self.stopped = self.stopped.or(Some(Status::RuleMet));
                }
            }
        }
        Ok(())
    }

    /// Returns the reason to end the run after an epoch, if there is one. A certificate is made for
    /// the history and the callback alone.
    fn judge<L: MarginLoss + ?Sized>(
        &mut self,
        objective: &Objective<'_, L>,
        learner: &StochasticLearner<&L>,
    ) -> Option<Status> {
        if !self.monitor.is_watched() {
            return self.monitor.exhausted();
        }
        let LinearClassifier { intercept, coef } = learner.snapshot();
        let (point, certificate) = self.appraise(objective, intercept, coef);
        let margins = || objective.risk.margin_summary(&point.products, point.intercept);
        let passes = 2 * self.epochs.done;
        let unmet = Rule::Own { met: false };
        self.monitor.judge_by(unmet, passes, &certificate, &certificate, margins)
    }

    fn appraise<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        intercept: f64,
        coef: Vec<f64>,
    ) -> (Point, Certificate) {
        let point = Point::at(&objective.design, intercept, coef);
        let certificate = Evaluator::in_memory(objective).appraise(self.lambda, &point);
        (point, certificate)
    }

    /// Takes a learner to the end of the run.
    pub(super) fn finish<L: MarginLoss + ?Sized>(
        mut self,
        objective: &Objective<'_, L>,
        learner: &mut StochasticLearner<&L>,
    ) -> Result<Fit, Error> {
        self.follow(objective, learner, self.total_steps())?;
        let LinearClassifier { intercept, coef } =
            self.held_out.take().map_or_else(|| learner.snapshot(), |held_out| held_out.best);
        let (point, certificate) = self.appraise(objective, intercept, coef);
        let cut = self.epochs.done < self.settings.epochs;
        let passes = 2 * self.epochs.done + 2;
        let tolerance = self.monitor.tolerance();
        let ending = self.monitor.end_by_rule(self.stopped.filter(|_| cut), certificate);
        let ending = ending.examined(&objective.risk, &point.products, point.intercept);
        let Point { intercept, coef, .. } = point;
        let report = ending.report(passes, tolerance);
        Ok(Fit { lambda: self.lambda, intercept, coef, report })
    }
}

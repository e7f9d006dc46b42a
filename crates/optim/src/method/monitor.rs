//! The rule that ends a solver: one for all of them.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::Certificate;
use crate::method::Status;
use crate::method::report::{Ending, HistoryEntry};
use crate::method::{Elapsed, Iteration, Options};
use crate::problem::{Lambda, MarginSummary};

/// The rule that ends a solver before its limits do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A relative duality gap within the tolerance ends the solver.
    Gap,
    /// A rule of the method itself ends the solver, for any gap.
    Own {
        /// True if the rule is met.
        met: bool,
    },
}

/// Judges the points that an iterative solver reaches, and keeps count.
///
/// The order of the questions is part of the rule: numbers that overflowed or contradict the loss
/// end a solver whatever else is true; a certified point is never reported as cut short; then come
/// the limit and the deadline, and the callback last.
#[derive(Debug)]
pub struct Monitor<'o> {
    options: &'o Options<'o>,
    lambda: Lambda,
    limit: usize,
    iterations: usize,
    step: Option<f64>,
    /// The iteration that the callback saw last.
    shown: Option<Iteration>,
    began: Instant,
    history: Vec<HistoryEntry>,
}

impl<'o> Monitor<'o> {
    /// Returns a monitor of a solver at one lambda, whose default limit of iterations is
    /// `default_limit`.
    pub fn new(options: &'o Options<'o>, lambda: Lambda, default_limit: usize) -> Self {
        Monitor {
            options,
            lambda,
            limit: options.max_iterations.unwrap_or(default_limit),
            iterations: 0,
            step: None,
            shown: None,
            began: Instant::now(),
            history: Vec::new(),
        }
    }

    /// Returns the status of a solver that ends, whose best point has this certificate and whose
    /// iterate has these margins; `None` if it continues. The history and the callback see every
    /// point that is judged.
    pub fn judge(
        &mut self,
        passes: usize,
        certificate: &Certificate,
        margins: impl FnOnce() -> MarginSummary,
    ) -> Option<Status> {
        self.judge_by(Rule::Gap, passes, certificate, certificate, margins)
    }

    /// Returns the status of a solver that ends by this rule, or `None` if it continues; the history
    /// and the callback see another certificate than [`judge`](Self::judge) shows them, `shown`.
    pub fn judge_by(
        &mut self,
        rule: Rule,
        passes: usize,
        certificate: &Certificate,
        shown: &Certificate,
        margins: impl FnOnce() -> MarginSummary,
    ) -> Option<Status> {
        if self.options.history {
            let entry = HistoryEntry::new(self.iterations, passes, shown, margins());
            self.history.push(entry);
        }
        let watched = self.watched(passes, shown);
        self.decide(rule, certificate).or(watched)
    }

    fn decide(&self, rule: Rule, certificate: &Certificate) -> Option<Status> {
        let by_gap = rule != Rule::Own { met: false };
        if certificate.is_broken() {
            Some(Status::NumericalTrouble)
        } else if certificate.contradicted {
            Some(Status::Contradicted)
        } else if by_gap && certificate.relative_gap() <= self.options.tolerance {
            Some(Status::Converged)
        } else if rule == (Rule::Own { met: true }) {
            Some(Status::RuleMet)
        } else {
            self.exhausted()
        }
    }

    /// Shows the callback an iteration; returns the status of a solver that it stops.
    fn watched(&mut self, passes: usize, certificate: &Certificate) -> Option<Status> {
        let watch = self.options.watch?;
        let iteration = Iteration {
            lambda: self.lambda,
            iteration: self.iterations,
            passes,
            objective: certificate.objective,
            relative_gap: certificate.relative_gap(),
            step: self.step,
            elapsed: self.began.elapsed(),
        };
        self.shown = Some(iteration);
        match watch.see(&iteration) {
            ControlFlow::Continue(()) => None,
            ControlFlow::Break(()) => Some(Status::Interrupted),
        }
    }

    /// Returns true if the callback, which sees the last iteration again, stops the solver: a method
    /// inside of an iteration asks.
    pub(crate) fn is_stopped(&self) -> bool {
        let seen = self.options.watch.zip(self.shown);
        seen.is_some_and(|(watch, iteration)| watch.see(&iteration).is_break())
    }

    /// Returns the options of a solver inside of an iteration: a share of the tolerance and what is
    /// left of the limit, without history and callback.
    pub(crate) fn within(&self, share: f64) -> Options<'o> {
        Options {
            tolerance: share * self.options.tolerance,
            max_iterations: Some(self.left()),
            history: false,
            watch: None,
            ..*self.options
        }
    }

    /// Returns the limit that has been reached, if one has.
    pub fn exhausted(&self) -> Option<Status> {
        if self.iterations >= self.limit {
            Some(Status::IterationLimit)
        } else {
            self.options.is_late().then_some(Status::TimeLimit)
        }
    }

    /// Counts iterations.
    pub fn count(&mut self, iterations: usize) {
        self.iterations += iterations;
    }

    /// Records the length of the last step along its direction, for the callback.
    pub fn stepped(&mut self, length: f64) {
        self.step = Some(length);
    }

    /// Returns the relative duality gap to reach.
    pub(crate) fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    /// Returns the number of iterations so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Returns the number of iterations that are left.
    pub fn left(&self) -> usize {
        self.limit.saturating_sub(self.iterations)
    }

    /// Returns true if the history or the callback sees every point that is judged: a solver that
    /// needs no certificate of its own makes one for them alone.
    pub fn is_watched(&self) -> bool {
        self.options.history || self.options.watch.is_some()
    }

    /// Returns the end of a method whose own rule is to take so many steps, at a point with this
    /// certificate, which decides first; `cut` is the reason why the method took fewer.
    pub fn end_by_rule(self, cut: Option<Status>, certificate: Certificate) -> Ending {
        let status = match self.decide(Rule::Own { met: true }, &certificate) {
            Some(Status::RuleMet) | None => cut.unwrap_or(Status::RuleMet),
            Some(status) => status,
        };
        self.end(status, certificate)
    }

    /// Returns the end of the solver.
    pub fn end(self, status: Status, certificate: Certificate) -> Ending {
        let Monitor { iterations, history, began, .. } = self;
        Ending { iterations, status, certificate, elapsed: Elapsed(began.elapsed()), history }
    }
}

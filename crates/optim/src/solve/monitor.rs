//! When a solver ends, and why: one rule for all of them.

use crate::problem::MarginSummary;
use crate::solve::{Ending, HistoryEntry, Status};
use crate::{Certificate, Options};

/// Judges the points that an iterative solver reaches, and keeps count.
///
/// The order of the questions is part of the rule: numbers that overflowed or contradict the loss end a solver whatever
/// else is true, a certified point is never reported as cut short, and a limit comes last.
#[derive(Debug)]
pub struct Monitor<'o> {
    options: &'o Options,
    limit: usize,
    iterations: usize,
    history: Vec<HistoryEntry>,
}

impl<'o> Monitor<'o> {
    /// Returns a monitor of a solver that takes `default_limit` iterations at most unless told otherwise.
    pub fn new(options: &'o Options, default_limit: usize) -> Self {
        let limit = options.max_iterations.unwrap_or(default_limit);
        Monitor { options, limit, iterations: 0, history: Vec::new() }
    }

    /// Returns how a solver ends whose best point has this certificate; `None` if it goes on.
    pub fn judge(&self, certificate: &Certificate) -> Option<Status> {
        if certificate.is_broken() {
            Some(Status::NumericalTrouble)
        } else if certificate.contradicted {
            Some(Status::Contradicted)
        } else if certificate.relative_gap() <= self.options.tolerance {
            Some(Status::Converged)
        } else {
            self.exhausted()
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

    /// Returns the number of iterations so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Returns the number of iterations that are left.
    pub fn left(&self) -> usize {
        self.limit.saturating_sub(self.iterations)
    }

    /// Adds an entry to the history, if one is asked for.
    pub fn record(
        &mut self,
        passes: usize,
        certificate: &Certificate,
        margins: impl FnOnce() -> MarginSummary,
    ) {
        if self.options.history {
            let entry = HistoryEntry::new(self.iterations, passes, certificate, margins());
            self.history.push(entry);
        }
    }

    /// Returns the end of the solver.
    pub fn end(self, status: Status, certificate: Certificate) -> Ending {
        let Monitor { iterations, history, .. } = self;
        Ending { iterations, status, certificate, history }
    }
}

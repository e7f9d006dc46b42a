//! The numbers of a trial, and what the trials of a row have shown.

use margins_experiments::{Mean, Numbers};

use crate::leaky_hockey_stick::comparison::Row;
use crate::leaky_hockey_stick::data_sets::DATA_SETS;

/// The number of a rule that stands at a place before its errors.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Seconds,
    /// The index of the largest lambda of the lowest cross-validated error.
    Largest,
    /// The index of the one with the lowest log-loss among them, the choice of `margins cv`.
    LogLoss,
    /// The index of the smallest.
    Smallest,
    /// The index of the largest lambda within one standard error.
    OneStandardError,
    /// The number of lambdas that all paths reach.
    Reached,
    /// The number of these at which a fit is not certified.
    Open,
}

/// The count of these numbers.
pub(super) const HEAD: usize = Head::Open as usize + 1;

/// The rules, by their place in a trial.
pub(super) const CERTIFIED: usize = 0;
pub(super) const PUBLISHED: usize = 1;

/// Certified fits less the published rule, at the largest lambda.
pub(super) const BY_RULE: [(usize, Head); 2] =
    [(CERTIFIED, Head::Largest), (PUBLISHED, Head::Largest)];

/// The largest lambda less the one of the lowest log-loss, of certified fits.
pub(super) const BY_CHOICE: [(usize, Head); 2] =
    [(CERTIFIED, Head::Largest), (CERTIFIED, Head::LogLoss)];

/// What the trials of a row have shown.
pub(super) struct Shown<'a> {
    pub(super) row: &'a Row,
    pub(super) trials: &'a [Numbers],
    /// The number of lambdas.
    pub(super) count: usize,
}

impl Shown<'_> {
    pub(super) fn head(&self, trial: &Numbers, rule: usize, at: Head) -> f64 {
        trial.0[rule * (HEAD + self.count) + at as usize]
    }

    /// Returns the error at a lambda.
    pub(super) fn error(&self, trial: &Numbers, rule: usize, lambda: usize) -> f64 {
        trial.0[rule * (HEAD + self.count) + HEAD + lambda]
    }

    /// Returns the error at the lambda of a choice.
    pub(super) fn chosen(&self, trial: &Numbers, rule: usize, choice: Head) -> f64 {
        self.error(trial, rule, self.head(trial, rule, choice) as usize)
    }

    pub(super) fn machine(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count)]
    }

    pub(super) fn machine_seconds(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count) + 1]
    }

    /// Returns the seconds of the leaky hockey stick classifier and of the machine in the source.
    pub(super) fn published_seconds(&self) -> [f64; 2] {
        DATA_SETS[self.row.stream as usize].published_seconds(self.row.space)
    }

    /// Returns the error of certified fits at the largest lambda of those that the published rule reaches.
    pub(super) fn limited(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count) + 2]
    }

    /// Returns the paired differences that the parts of the rule make: the limit of iterations (certified
    /// fits at the lambdas that the rule reaches, less those at all), and the tolerance (the rest).
    pub(super) fn parts(&self) -> [Mean; 2] {
        let limit = |t: &Numbers| self.limited(t) - self.chosen(t, CERTIFIED, Head::Largest);
        let tolerance = |t: &Numbers| self.chosen(t, PUBLISHED, Head::Largest) - self.limited(t);
        [self.mean(limit), self.mean(tolerance)]
    }

    /// Returns the numbers of the trials that have them.
    pub(super) fn numbers(&self, of: impl Fn(&Numbers) -> f64) -> impl Iterator<Item = f64> {
        self.trials.iter().map(of).filter(|number| !number.is_nan())
    }

    pub(super) fn mean(&self, of: impl Fn(&Numbers) -> f64) -> Mean {
        Mean::percent(self.numbers(of))
    }

    pub(super) fn of(&self, rule: usize, choice: Head) -> Mean {
        self.mean(|trial| self.chosen(trial, rule, choice))
    }

    /// Returns the paired difference of two rules, each with its choice of lambda.
    pub(super) fn difference(&self, one: (usize, Head), other: (usize, Head)) -> Mean {
        self.mean(|t| self.chosen(t, one.0, one.1) - self.chosen(t, other.0, other.1))
    }

    /// Returns the lambda with the lowest mean error of certified fits on the test rows.
    pub(super) fn hindsight(&self) -> usize {
        let mean = |k: usize| self.mean(|trial| self.error(trial, CERTIFIED, k)).mean;
        (0..self.count).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
    }

    /// Returns the mean of a number over the trials, as it is, or a dash if it is missing.
    pub(super) fn plain(&self, digits: usize, of: impl Fn(&Numbers) -> f64) -> String {
        let Mean { mean, .. } = Mean::of(self.numbers(of));
        if mean.is_nan() { "-".to_owned() } else { format!("{mean:.digits$}") }
    }

    pub(super) fn name(&self) -> String {
        let title = self.row.title.split(',').next().unwrap_or_default();
        format!("{title} {}", self.row.space.name())
    }
}

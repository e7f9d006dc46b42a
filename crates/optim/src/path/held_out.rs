//! The outcomes of held-out samples, and where finished folds are kept.

use margins_data::metrics::{Judged, Measure};

use crate::{Error, Lambda, Report};

/// The values of measures of the samples held out of a fold, at one lambda.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// The log-loss, which decides between lambdas of equal error; `None` without probabilities.
    pub log_loss: Option<f64>,
    /// The value of the measure that chooses lambda; `None` where it is not defined, and for the error,
    /// which [`FoldOutcome::wrong`] has.
    pub value: Option<f64>,
}

impl Measured {
    /// Returns what a choice by this measure needs of the samples.
    pub fn of(judged: &Judged<'_>, measure: Measure) -> Self {
        let log_loss = judged.measure(Measure::LogLoss);
        let value = match measure {
            Measure::Error => None,
            Measure::LogLoss => log_loss,
            other => judged.measure(other),
        };
        Measured { log_loss, value }
    }
}

/// The outcome of the samples held out of a fold, at one lambda.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldOutcome {
    /// The misclassification of each sample: true if it is wrong.
    pub wrong: Vec<bool>,
    /// True for each sample whose class the gap leaves open: an exact minimiser might decide
    /// otherwise. `None` if that was not checked.
    pub unproven: Option<Vec<bool>>,
    /// The values of measures of the samples.
    pub measured: Measured,
    /// The largest relative duality gap of the fits that judged them.
    pub relative_gap: f64,
    /// True if all of these fits converged.
    pub converged: bool,
    /// True if the deadline or the callback of the options ended one of these fits, so that another
    /// run may judge the samples otherwise.
    pub cut_short: bool,
}

impl FoldOutcome {
    /// Returns the outcome of samples that fits with these reports have judged.
    pub fn new(
        wrong: Vec<bool>,
        unproven: Option<Vec<bool>>,
        measured: Measured,
        reports: &[&Report],
    ) -> Self {
        FoldOutcome {
            wrong,
            unproven,
            measured,
            relative_gap: reports.iter().map(|report| report.relative_gap).fold(0.0, f64::max),
            converged: reports.iter().all(|report| report.converged()),
            cut_short: reports.iter().any(|report| report.status.is_cut_short()),
        }
    }
}

/// The folds of a cross-validation that are finished, kept where a later run of the same
/// cross-validation finds them. [`Training::finished`](crate::Training::finished) has them.
pub trait FinishedFolds: Sync {
    /// Returns the outcomes of the samples held out of a fold at these lambdas, if they were kept.
    fn find(&self, fold: usize, lambdas: &[Lambda]) -> Option<Vec<FoldOutcome>>;

    /// Keeps the outcomes of the samples held out of a fold at these lambdas. Threads that finish
    /// folds call it at any time; it never gets outcomes that were [cut short](FoldOutcome::cut_short).
    ///
    /// # Errors
    /// [`Error::Keeping`]: the outcomes cannot be kept.
    fn keep(&self, fold: usize, lambdas: &[Lambda], outcomes: &[FoldOutcome]) -> Result<(), Error>;
}

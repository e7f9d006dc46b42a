//! Certificates of solvers, as models and evidence keep them.

use margins_model::TrainingSummary;
use margins_optim::{Report, Status};

use crate::Evidence;

/// Returns true of a method without certificate, which has no bound to report, however it ended;
/// any other that has none has met numbers that overflowed, and says so.
fn is_uncertified(report: &Report) -> bool {
    report.status != Status::NumericalTrouble && report.duality_gap == f64::INFINITY
}

/// Returns the certificate of a fit to `rows` samples, for a file.
pub(crate) fn summary(report: &Report, rows: usize, standardize: bool) -> TrainingSummary {
    let bound = |value: f64| (!is_uncertified(report)).then_some(value);
    TrainingSummary {
        rows,
        standardize,
        objective: Some(report.objective),
        dual_objective: bound(report.dual_objective),
        relative_gap: bound(report.relative_gap),
        converged: report.status == Status::Converged,
    }
}

/// Returns the largest gap, if every fit has one.
pub(crate) fn evidence(reports: &[&Report]) -> Evidence {
    if reports.iter().copied().any(is_uncertified) {
        return Evidence::None;
    }
    Evidence::Gap {
        relative: reports.iter().map(|report| report.relative_gap).fold(0.0, f64::max),
        certified: reports.iter().all(|report| report.converged()),
    }
}

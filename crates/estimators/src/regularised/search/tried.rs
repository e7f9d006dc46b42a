//! What the searches in several spaces and with several losses have found.

use std::borrow::Cow;

use margins_optim::ErrorCurve;

use super::Found;
use crate::regularised::prepared::Prepared;
use crate::regularised::report::CandidateReport;
use crate::regularised::settings::ClassifierSettings;

/// What the searches so far have found.
pub(super) struct Tried<'d> {
    is_among_kernels: bool,
    /// The best space, with the index of the best loss and the end of the search there.
    pub(super) best: Option<(Prepared<'d>, (usize, Found))>,
    /// The error along the lambdas of each loss, with its best kernel.
    pub(super) curves: Vec<Option<ErrorCurve>>,
    /// The kernels with each loss, if there are several.
    pub(super) kernels: Vec<Vec<CandidateReport>>,
}

impl<'d> Tried<'d> {
    pub(super) fn new(spaces: usize, losses: usize) -> Self {
        let (curves, kernels) = (vec![None; losses], vec![Vec::new(); losses]);
        Tried { is_among_kernels: spaces > 1, best: None, curves, kernels }
    }

    /// Adds a space with the ends of the searches in it. Of equally good ends that of the first loss is
    /// taken, and with one loss that in the first space.
    pub(super) fn add(&mut self, prepared: Prepared<'d>, ends: Vec<(usize, Found)>) {
        let mut best_here: Option<(usize, Found)> = None;
        for (loss, found) in ends {
            if self.is_among_kernels {
                self.kernels[loss].extend(found.report_on(&prepared));
            }
            if let Some(curve) = &found.curve
                && self.curves[loss].as_ref().is_none_or(|best| is_better(Some(curve), Some(best)))
            {
                self.curves[loss] = Some(curve.clone());
            }
            let is_best = |(other, best): &(usize, Found)| {
                found.is_better_than(best) || (loss < *other && !best.is_better_than(&found))
            };
            let best = best_here.as_ref().or(self.best.as_ref().map(|(_, best)| best));
            if best.is_none_or(is_best) {
                best_here = Some((loss, found));
            }
        }
        if let Some(best) = best_here {
            self.best = Some((prepared, best));
        }
    }
}

/// Returns the reports on the losses that have a curve.
pub(super) fn reports(
    alone: &[Cow<'_, ClassifierSettings>],
    curves: Vec<Option<ErrorCurve>>,
) -> Vec<CandidateReport> {
    let report = |(settings, curve): (&Cow<'_, ClassifierSettings>, Option<ErrorCurve>)| {
        Some(CandidateReport { specification: settings.loss.specification(), curve: curve? })
    };
    alone.iter().zip(curves).filter_map(report).collect()
}

impl Found {
    /// Returns the error at the best lambda.
    pub(super) fn least_error(&self) -> Option<f64> {
        self.curve.as_ref().map(|curve| curve.mean_error[curve.best])
    }

    /// Returns true if the best lambda is better here than there.
    fn is_better_than(&self, other: &Found) -> bool {
        is_better(self.curve.as_ref(), other.curve.as_ref())
    }

    /// Returns the report on the kernel of the space, if it has one and was cross-validated.
    fn report_on(&self, prepared: &Prepared<'_>) -> Option<CandidateReport> {
        let (specification, curve) = (prepared.kernel_specification()?, self.curve.clone()?);
        Some(CandidateReport { specification, curve })
    }
}

/// Returns true if the best lambda of the cross-validation is better here than there.
pub(in crate::regularised) fn is_better(
    here: Option<&ErrorCurve>,
    there: Option<&ErrorCurve>,
) -> bool {
    let rank = |curve: &ErrorCurve| curve.rank(curve.best);
    here.zip(there).is_some_and(|(here, there)| rank(here) < rank(there))
}

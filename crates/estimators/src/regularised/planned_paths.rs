//! The paths that a search for lambda is going to run, by which memory is estimated before it is taken.

use margins_data::{ClassLabels, parallel};
use margins_kernels::{PlannedPaths, Route};
use margins_losses::MarginLoss;
use margins_robust::RobustLearner;

use super::contests::Contests;
use super::cross_validation::Folds;
use super::settings::{ClassifierSettings, Probabilities, Regularisation};

impl ClassifierSettings {
    /// Returns the paths of the search in one space, beside the matrices of so many others.
    pub(super) fn planned_paths(
        &self,
        contests: &Contests,
        folds: Option<&Folds>,
        others: usize,
    ) -> PlannedPaths {
        /// The bytes an entry of a matrix, in both precisions.
        const BYTES: usize = size_of::<f64>() + size_of::<f32>();
        let data = contests.classes();
        let is_joint = contests.scheme().is_joint();
        let members = if is_joint { 1 } else { contests.len() };
        let (rows, threads) = (data.rows(), parallel::threads());
        let classes = data.labels().names().len();
        let of_others = rows.saturating_mul(rows).saturating_mul(BYTES).saturating_mul(others);
        let of_members = self.bytes_of_members(contests.scheme(), classes, data);
        let at_once = members.min(threads);
        let (lambdas, leaves_one_out) = match &self.regularisation {
            Regularisation::Single(_) => (1, false),
            Regularisation::Path { index, .. } => (index + 1, false),
            Regularisation::CrossValidated(how) => (how.lambdas.len(), how.leave_one_out.is_some()),
        };
        let route = if is_joint { Route::Eigenspace } else { self.route(leaves_one_out) };
        let mut planned = PlannedPaths {
            whole: at_once,
            beside: of_others.saturating_add(of_members),
            ..PlannedPaths::one(route, lambdas)
        };
        if let Some(folds) = folds.filter(|_| !leaves_one_out) {
            planned = planned.with_folds(folds.splits(), rows);
            if members > 1 {
                planned.parts = folds.count.saturating_mul(members).min(threads);
                // The contests of a fold share a copy.
                planned.copies = folds.count.min(threads);
            }
        }
        let largest = contests.largest();
        if largest < rows {
            // Every contest copies its own rows.
            (planned.parts, planned.copies, planned.whole) = (at_once, at_once, 0);
            planned.samples = largest;
        }
        if let Probabilities::Platt { .. } = self.probabilities {
            planned.parts = planned.parts.max(at_once);
            planned.copies = planned.copies.max(1);
            planned.samples = planned.samples.max(largest);
        }
        planned
    }

    /// Returns the route of the paths on a kernel matrix; of those with several losses the one that takes
    /// most memory, since all have the same matrix.
    fn route(&self, leaves_one_out: bool) -> Route {
        let losses = self.losses();
        let mut routes = losses.iter().map(|loss| self.route_of(&***loss, leaves_one_out));
        let other = routes.find(|route| *route != Route::SupportVectors);
        other.unwrap_or(Route::SupportVectors)
    }

    /// Returns the route of the paths with a loss.
    fn route_of(&self, loss: &dyn MarginLoss, leaves_one_out: bool) -> Route {
        match Route::of(loss, self.options.solver) {
            _ if matches!(self.learner, Some(RobustLearner::MarginDistribution(_))) => {
                Route::Eigenspace
            }
            Ok(Route::SampleSpace) if leaves_one_out => Route::LeaveOneOut,
            Ok(route) => route,
            // No matrix is made: the fits are refused.
            Err(_) => Route::SampleSpace,
        }
    }
}

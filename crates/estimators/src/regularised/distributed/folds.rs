//! The errors of folds that workers hold.

use margins_data::metrics::Measure;
use margins_optim::path::{FoldError, FoldErrors, Pace, curve_of_folds};
use margins_optim::shards::{BinaryProblem, Rule, RuleOutcome, errors_over_shards};
use margins_optim::{Fit, Lambda, Status};

use super::{Distributed, folds};
use crate::Error;
use crate::regularised::cross_validation::CrossValidation;
use crate::regularised::prepared::approach_to;
use crate::regularised::search::{Found, Search};
use crate::regularised::time_limit::TimeLimit;

impl Distributed<'_> {
    /// Returns the weight of the samples held out, or of all, and how the fits at each lambda decide them.
    pub(super) fn errors(
        &mut self,
        problem: &BinaryProblem,
        measure: Option<Measure>,
        path: &[Vec<Fit>],
    ) -> Result<(f64, Vec<RuleOutcome>), Error> {
        let rule = |fits: &Vec<Fit>| {
            Rule(fits.iter().map(|fit| (fit.intercept, fit.coef.clone())).collect())
        };
        let rules: Vec<Rule> = path.iter().map(rule).collect();
        let (partitions, of) = (&self.table.partitions, (self.scheme, self.table.classes.len()));
        Ok(errors_over_shards(&mut *self.workers, partitions, problem, measure, of, &rules)?)
    }
}

impl Search for Distributed<'_> {
    fn along(&mut self, approach: Vec<Lambda>) -> Result<Found, Error> {
        let path = Some(self.paths(None, &approach, self.deadline())?);
        Ok(Found { approach, path, curve: None })
    }

    /// Returns the error along the lambdas, with one fold held out after another, and notes the folds
    /// that lack a class. Under a limit on the time folds advance in [rounds](margins_optim::path::Rounds).
    fn cross_validate(&mut self, how: &CrossValidation) -> Result<Found, Error> {
        let lambdas = Lambda::descending(&how.lambdas)?;
        let limit = self.limit;
        let deadline = limit.and_then(|limit| limit.of_folds());
        let count = folds(how, self.table);
        let each = vec![FoldErrors { weight: 0.0, at: vec![None; lambdas.len()] }; count];
        // The workers hold one fold at a time.
        let pace = Pace { deadline, at_once: 1, abandon_hopeless: false };
        let curve = curve_of_folds(how.measure, lambdas.clone(), each, pace, |batch| {
            batch.in_turn(|fold, at, round| {
                let lambdas: Vec<Lambda> = at.iter().map(|&k| lambdas[k]).collect();
                let mut path = self.paths(Some(fold), &lambdas, round.begin())?;
                let is_late =
                    |fits: &Vec<Fit>| fits.iter().any(|fit| fit.report.status == Status::TimeLimit);
                path.truncate(path.iter().position(is_late).unwrap_or(path.len()));
                self.note = self.note_on_folds(count)?;
                let (weight, errors) =
                    self.errors(&self.problem(Some(fold)), Some(how.measure), &path)?;
                if weight <= 0.0 {
                    return Err(margins_optim::Error::EmptyFold(self.fold_name(fold)).into());
                }
                let at = path.iter().zip(errors).map(|(fits, RuleOutcome { error, measured })| {
                    let gaps = fits.iter().map(|fit| fit.report.relative_gap);
                    let converged = fits.iter().all(|fit| fit.report.converged());
                    let relative_gap = gaps.fold(0.0, f64::max);
                    let unproven = None;
                    (weight, FoldError { error, unproven, measured, relative_gap, converged })
                });
                Ok::<_, Error>(at.collect())
            })
        })?;
        let curve = how.defined(curve)?;
        let at = TimeLimit::choose(limit, how.selection, &curve)?;
        Ok(Found { approach: approach_to(&curve.lambdas, at), path: None, curve: Some(curve) })
    }
}

//! The errors of folds that workers hold.

use margins_data::metrics::Measure;
use margins_optim::path::{FoldError, FoldErrors};
use margins_optim::shards::{BinaryProblem, Rule, RuleOutcome, errors_over_shards};
use margins_optim::{ErrorCurve, Fit, Lambda};

use super::{Search, folds};
use crate::Error;
use crate::regularised::cross_validation::CrossValidation;
use crate::regularised::time_limit::TimeLimit;

impl Search<'_> {
    /// Returns the weight of the samples held out, or of all, and how the fits at each lambda decide them.
    pub(super) fn errors(
        &mut self,
        problem: &BinaryProblem,
        measure: Measure,
        path: &[Vec<Fit>],
    ) -> Result<(f64, Vec<RuleOutcome>), Error> {
        let rule = |fits: &Vec<Fit>| {
            Rule(fits.iter().map(|fit| (fit.intercept, fit.coef.clone())).collect())
        };
        let rules: Vec<Rule> = path.iter().map(rule).collect();
        let partitions = &self.table.partitions;
        Ok(errors_over_shards(&mut *self.workers, partitions, problem, measure, &rules)?)
    }

    /// Returns the error along the lambdas, with one fold held out after another, and a sentence on the
    /// folds that lack a class, if some do.
    pub(super) fn cross_validate(
        &mut self,
        how: &CrossValidation,
        limit: Option<TimeLimit>,
    ) -> Result<(ErrorCurve, Option<String>), Error> {
        let lambdas = Lambda::descending(&how.lambdas)?;
        let deadline = limit.and_then(|limit| limit.of_folds());
        let (mut each, mut note) = (Vec::new(), None);
        let count = folds(how, self.table);
        for fold in 0..count {
            let path = self.paths(Some(fold), &lambdas, deadline)?;
            note = self.note_on_folds(count)?;
            let (weight, errors) = self.errors(&self.problem(Some(fold)), how.measure, &path)?;
            if weight <= 0.0 {
                return Err(margins_optim::Error::EmptyFold(self.fold_name(fold)).into());
            }
            let at = path.iter().zip(errors).map(|(fits, RuleOutcome { error, measured })| {
                let gaps = fits.iter().map(|fit| fit.report.relative_gap);
                let converged = fits.iter().all(|fit| fit.report.converged());
                let relative_gap = gaps.fold(0.0, f64::max);
                Some(FoldError { error, unproven: None, measured, relative_gap, converged })
            });
            each.push(FoldErrors { weight, at: at.collect() });
        }
        Ok((how.defined(ErrorCurve::of_folds(how.measure, lambdas, &each))?, note))
    }
}

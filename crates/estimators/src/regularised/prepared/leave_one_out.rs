//! Leave-one-out for prepared data.

use margins_kernels::KernelObjective;
use margins_losses::MarginLoss;
use margins_optim::{ErrorCurve, Fit, Lambda, Options, Training};

use super::kernel::into_fit;
use super::{Form, Prepared};
use crate::Error;
use crate::regularised::cross_validation::{LeaveOneOut, Selection};
use crate::regularised::time_limit::TimeLimit;

impl Prepared<'_> {
    /// Returns the leave-one-out error along the lambdas, the index of the one that the rule takes,
    /// and the fit there on all of the data; after the limit on the time lambdas that are not certified
    /// count as not reached. The method is for exact kernel classifiers with a differentiable loss.
    ///
    /// # Errors
    /// [`Error::LeaveOneOut`]: another kind of classifier, or a loss with a kink. [`Error::TimeLimit`]: no lambda was
    /// certified in time. [`margins_kernels::leave_one_out`] says which others.
    pub(in crate::regularised) fn leave_one_out<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
        method: LeaveOneOut,
        rule: Selection,
        limit: Option<TimeLimit>,
    ) -> Result<(ErrorCurve, usize, Fit), Error> {
        let gram = match &self.form {
            Form::Kernel(form) => form.gram(),
            Form::Linear => None,
        };
        let gram = gram.ok_or(Error::LeaveOneOut)?;
        if !training.loss.is_differentiable() {
            return Err(Error::LeaveOneOut);
        }
        let objective = KernelObjective::from_risk(training.risk(&self.data)?, gram)?;
        let deadline = limit.map_or(training.options.deadline, |limit| limit.of_folds());
        let (options, observer) = (&Options { deadline, ..training.options }, training.observer);
        let mut fits = margins_kernels::path(&objective, lambdas, options, observer)?;
        let mut scores = Vec::with_capacity(fits.len());
        let mut converged = Vec::with_capacity(fits.len());
        for fit in &fits {
            let (without, all) = match method {
                LeaveOneOut::Exact => margins_kernels::leave_one_out(&objective, fit, options)?,
                LeaveOneOut::OneStep => {
                    let scores = margins_kernels::one_step_leave_one_out(&objective, fit)?;
                    (scores, fit.report.converged())
                }
            };
            scores.push(without);
            converged.push(all);
        }
        let mut curve =
            ErrorCurve::of_scores(training.loss, &self.data, &fits, &scores, &converged)?;
        if limit.is_some_and(|limit| limit.is_late()) {
            let is_certified = curve.certified.clone();
            curve.leave_out(|k| !is_certified[k]);
        }
        let at = TimeLimit::choose(limit, rule, &curve)?;
        let fit = fits.swap_remove(at);
        Ok((curve, at, into_fit(fit)))
    }
}

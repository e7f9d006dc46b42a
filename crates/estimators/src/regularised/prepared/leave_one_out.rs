//! Leave-one-out for prepared data.

use margins_kernels::KernelObjective;
use margins_losses::MarginLoss;
use margins_optim::{ErrorCurve, Fit, Lambda, Training};

use super::{Form, Prepared};
use crate::Error;
use crate::regularised::cross_validation::LeaveOneOut;

impl Prepared<'_> {
    /// Returns the leave-one-out error along the lambdas, and the fits on all of the data. The method is
    /// for exact kernel classifiers with a differentiable loss.
    ///
    /// # Errors
    /// [`Error::LeaveOneOut`]: another kind of classifier, or a loss with a kink.
    /// [`margins_kernels::leave_one_out`] says which others.
    pub(in crate::regularised) fn leave_one_out<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
        method: LeaveOneOut,
    ) -> Result<(ErrorCurve, Option<Vec<Fit>>), Error> {
        let gram = match &self.form {
            Form::Kernel(form) => form.gram(),
            Form::Linear => None,
        };
        let gram = gram.ok_or(Error::LeaveOneOut)?;
        if !training.loss.is_differentiable() {
            return Err(Error::LeaveOneOut);
        }
        let objective = KernelObjective::from_risk(training.risk(&self.data)?, gram)?;
        let (options, observer) = (&training.options, training.observer);
        let fits = margins_kernels::path(&objective, lambdas, options, observer)?;
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
        let fits: Vec<Fit> = fits.into_iter().map(Fit::from).collect();
        let curve = ErrorCurve::of_scores(training.loss, &self.data, &fits, &scores, &converged)?;
        Ok((curve, Some(fits)))
    }
}

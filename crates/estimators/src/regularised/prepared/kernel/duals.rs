//! The dual variables of fits in the function space of a kernel.

use margins_losses::MarginLoss;
use margins_optim::certificate::{DualSolution, PrimalDual};
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{Fit, Objective};
use nalgebra::DMatrix;

use super::Form;
use super::feature_space::duals_of_coefficients;
use crate::Error;

impl Form {
    /// Returns the dual variables of a fit with its constrained form.
    pub(in super::super) fn dual_solution<L: MarginLoss + ?Sized>(
        &self,
        risk: EmpiricalRisk<'_, L>,
        fit: &Fit,
    ) -> Result<DualSolution, Error> {
        let gram = match self {
            Form::Features(space) => {
                return Ok(fit.dual_solution(&Objective::from_risk(risk, &space.features)?));
            }
            Form::Cholesky { factor, .. } => {
                let design = factor.coordinates();
                let mut coef = vec![0.0; design.columns()];
                design.multiply_transposed(&fit.coef, &mut coef);
                let (objective, duals) =
                    (Objective::from_risk(risk, design)?, fit.report.duals.as_deref());
                return Ok(objective.dual_solution(fit.lambda, fit.intercept, &coef, duals));
            }
            Form::Gram { gram, .. } => gram,
        };
        let scores_of = |coef: &[f64]| {
            let coef = DMatrix::from_column_slice(coef.len(), 1, coef);
            gram.multiply(&coef).as_slice().to_vec()
        };
        let scores = scores_of(&fit.coef);
        let duals = match risk.loss().is_differentiable() {
            true => risk.margins().settled_duals(&scores, fit.intercept),
            false => duals_of_coefficients(&risk, fit.lambda, &fit.coef),
        };
        let square = fit.coef.iter().zip(&scores).map(|(a, f)| a * f).sum::<f64>();
        let images = scores_of(&risk.pulls(&duals));
        for values in [&scores, &images] {
            margins_optim::Error::check_scores(values, 0..values.len())?;
        }
        Ok(risk.dual_solution(&PrimalDual {
            lambda: fit.lambda,
            intercept: fit.intercept,
            scores: &scores,
            square_norm: square.max(0.0),
            duals: &duals,
            images: &images,
        }))
    }
}

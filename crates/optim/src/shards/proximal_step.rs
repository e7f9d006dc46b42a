//! Applies proximal steps to duals.

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::problem::EmpiricalRisk;
use crate::shards::part::check_coefficients;
use crate::shards::{Failure, ProximalStep};

impl ProximalStep {
    /// Returns the duals of samples with these features and signs after the step, from those before
    /// it.
    pub(super) fn take<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        design: &Design,
        signs: &[f64],
        before: Vec<f64>,
    ) -> Result<Vec<f64>, Failure> {
        check_coefficients(&self.coef, design)?;
        if !(self.strength > 0.0 && self.strength.is_finite()) {
            return Err(format!("{} is no strength of a proximal step", self.strength).into());
        }
        let mut products = vec![0.0; signs.len()];
        design.multiply(&self.coef, &mut products);
        let risk = EmpiricalRisk::of_part(loss, signs, vec![1.0; signs.len()]);
        let risk = risk.smoothed(before, self.strength);
        let mut margins = risk.margins();
        margins.set(&products, self.intercept);
        Ok(margins.duals())
    }
}

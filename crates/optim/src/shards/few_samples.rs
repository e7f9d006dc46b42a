//! Samples that the driver itself keeps: the unmerged ones, and those it starts with.

use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::problem::{EmpiricalRisk, ScoresAt};
use crate::shards::{Failure, ProximalStep};
use crate::space::SampledCurvatures;

/// Some of the samples that the driver keeps, in the units of the fit.
#[derive(Debug)]
pub(super) struct FewSamples {
    pub(super) design: Arc<Design>,
    pub(super) signs: Vec<f64>,
    /// The weights, with which these samples stand for all.
    pub(super) weights: Vec<f64>,
    /// The share of all samples, by weight.
    pub(super) share: f64,
    /// The duals about which the loss is smoothed.
    pub(super) centre: Vec<f64>,
}

impl FewSamples {
    pub(super) fn risk<'f, L: MarginLoss + ?Sized>(&'f self, loss: &'f L) -> EmpiricalRisk<'f, L> {
        EmpiricalRisk::of_part(loss, &self.signs, self.weights.clone())
    }

    /// Makes the duals to which a step leads, given in the units of the fit, the centre of the smoothing.
    pub(super) fn take<L: MarginLoss + ?Sized>(
        &mut self,
        loss: &L,
        step: &ProximalStep,
    ) -> Result<(), Failure> {
        let before = std::mem::take(&mut self.centre);
        self.centre = step.take(loss, &self.design, &self.signs, before)?;
        Ok(())
    }

    pub(super) fn forget_centre(&mut self) {
        self.centre = vec![0.0; self.signs.len()];
    }

    /// Returns the samples with the curvatures of a loss, smoothed with a strength above 0, where
    /// coefficients are; no coefficients are zeros.
    pub(super) fn curved<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        coef: &[f64],
        intercept: f64,
        smoothing: f64,
    ) -> SampledCurvatures {
        let mut scores = vec![0.0; self.signs.len()];
        if !coef.is_empty() {
            self.design.multiply(coef, &mut scores);
        }
        let risk = self.risk(loss);
        let risk =
            if smoothing > 0.0 { risk.smoothed(self.centre.clone(), smoothing) } else { risk };
        let mut margins = risk.margins();
        margins.set_margins(ScoresAt::of(&scores), intercept);
        let curvatures = margins.curvatures();
        SampledCurvatures { design: Arc::clone(&self.design), curvatures, share: self.share }
    }
}

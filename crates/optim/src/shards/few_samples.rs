use margins_data::Design;
use margins_losses::MarginLoss;

use crate::problem::EmpiricalRisk;

/// Some of the samples that the driver keeps, in the units of the fit.
#[derive(Debug)]
pub(super) struct FewSamples {
    pub(super) design: Design,
    signs: Vec<f64>,
    /// The weights, with which these samples stand for all.
    weights: Vec<f64>,
}

impl FewSamples {
    /// The largest number of samples: the factor of their Gram matrix takes 32 MB, and a product with its
    /// inverse about as long as a round.
    const MOST: usize = 2000;

    /// Keeps some of these samples, spread evenly.
    pub(super) fn of(design: &Design, signs: &[f64], weights: &[f64]) -> Self {
        let step = signs.len().div_ceil(Self::MOST).max(1);
        let chosen: Vec<usize> = (0..signs.len()).step_by(step).collect();
        let of = |all: &[f64]| -> Vec<f64> { chosen.iter().map(|&i| all[i]).collect() };
        let (signs, few) = (of(signs), of(weights));
        let grown = weights.iter().sum::<f64>() / few.iter().sum::<f64>();
        let weights = few.into_iter().map(|c| grown * c).collect();
        FewSamples { design: design.select(&chosen), signs, weights }
    }

    /// Returns the curvatures of a loss, smoothed with a strength above 0, where coefficients are; no
    /// coefficients are zeros.
    pub(super) fn curvatures<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        coef: &[f64],
        intercept: f64,
        smoothing: f64,
    ) -> Vec<f64> {
        let mut scores = vec![0.0; self.signs.len()];
        if !coef.is_empty() {
            self.design.multiply(coef, &mut scores);
        }
        let risk = EmpiricalRisk::of_part(loss, &self.signs, self.weights.clone());
        let risk = if smoothing > 0.0 {
            risk.smoothed(vec![0.0; self.signs.len()], smoothing)
        } else {
            risk
        };
        let mut margins = risk.margins();
        margins.set_margins(&scores, intercept);
        margins.curvatures()
    }
}

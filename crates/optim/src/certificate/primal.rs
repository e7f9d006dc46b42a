//! The sums over margins that a primal point needs for its certificate.

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::Certificate;
use crate::problem::summation::UNIT;
use crate::problem::{Margins, Sums};

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns the certificate of a point with a settled intercept, from its objective, how far
    /// the rounding of the products that scores are made of can have moved that, the norm of the
    /// gradient in the coefficients and the largest norm R of a sample. Beyond those products
    /// scores are taken to be right to a few units of their size.
    pub fn certificate(
        &mut self,
        lambda: Lambda,
        objective: f64,
        product_rounding: f64,
        norm: f64,
        radius: f64,
    ) -> Certificate {
        let sums = self.sums();
        let rounding = sums.rounding_of_products(objective, product_rounding);
        sums.certificate(lambda, objective, rounding, norm, radius)
    }
}

impl Sums {
    /// Returns how far rounding can have moved an objective whose scores are made of products that are
    /// right to within a change of the objective by `product_rounding`.
    pub(super) fn rounding_of_products(&self, objective: f64, product_rounding: f64) -> f64 {
        const UNITS: f64 = 16.0;
        self.rounding(objective, UNITS * UNIT * self.largest) + product_rounding
    }

    /// Returns the certificate of a point with a settled intercept whose objective is right to
    /// `rounding`, from the norm of the gradient in the coefficients and the largest norm R of a
    /// sample.
    ///
    /// The slope `r` in the intercept that rounding left is allowed for: shifting every `s_i` by a
    /// share of `r` in proportion to `L''(u_i)` makes the dual point feasible. To first order that
    /// changes D by at most `|r| R ||g|| / (2 lambda)`, to second order by
    /// `r^2 R^2 / (4 lambda) + r^2 / (2 k)`, `k` the curvature of F in the intercept.
    pub fn certificate(
        &self,
        lambda: Lambda,
        objective: f64,
        rounding: f64,
        norm: f64,
        radius: f64,
    ) -> Certificate {
        let r = self.residual.abs();
        let gradient_norm = norm.hypot(r);
        if !gradient_norm.is_finite() {
            return Certificate::new(objective, f64::NAN, rounding, gradient_norm);
        }
        // In this order a square underflows only if the gap does.
        let mut duality_gap = (0.5 * (norm + r * radius) / lambda.get().sqrt()).powi(2);
        if r > 0.0 {
            // Without curvature nothing can be shifted: the bound moves by r times the distance to
            // a minimiser, for which the size of the scores stands in. Both are rounding.
            let shift = 0.5 * r * r / self.curvature;
            duality_gap += if shift.is_finite() { shift } else { r * self.largest.max(1.0) };
        }
        Certificate::new(objective, duality_gap, rounding, gradient_norm)
    }
}

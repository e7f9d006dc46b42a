//! Certifies a given classifier from outside of a solver.

use std::rc::Rc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::certificate::{Certificate, Evaluator, dual};
use crate::problem::summation::dot;
use crate::problem::{Objective, Point};
use crate::space::{Duals, Extent, InMemory};
use crate::{Error, Lambda};

impl<L: MarginLoss + ?Sized> Objective<'_, L> {
    /// Returns how far a given linear classifier can be from the minimum at `lambda`, which bounds
    /// the result of any program. The intercept is first re-optimised, which the bound allows for.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the loss is not convex. [`Error::Shape`]: the coefficients are not as
    /// many as the features. [`Error::Intercept`]: the classifier has an intercept where the
    /// objective has none.
    pub fn certificate(
        &self,
        lambda: Lambda,
        intercept: f64,
        coef: &[f64],
    ) -> Result<Certificate, Error> {
        self.risk.check_convex()?;
        if coef.len() != self.design.columns() {
            return Err(Error::Shape {
                what: "coefficients",
                expected: self.design.columns(),
                found: coef.len(),
            });
        }
        if !self.risk.intercept && intercept != 0.0 {
            return Err(Error::Intercept(intercept));
        }
        let offsets = Extent::of(&self.design).offsets().filter(|_| self.risk.intercept);
        let Some(offsets) = offsets else {
            let point = Point::at(&self.design, intercept, coef.to_vec());
            return Ok(Evaluator::in_memory(self).appraise(lambda, &point));
        };
        let mut design = Design::clone(&self.design);
        design.shift_columns(&offsets);
        let extent = Rc::new(Extent::of_shifted(&design, &offsets));
        let shifted = self.over(design);
        let intercept = intercept + dot(&offsets, coef);
        let point = Point::at(&shifted.design, intercept, coef.to_vec());
        Ok(Evaluator::with_extent(&shifted, extent).appraise(lambda, &point))
    }
}

impl<L: MarginLoss + ?Sized> Evaluator<InMemory<'_, '_, L>> {
    /// Returns how far a point as it is can be from the minimum: the bound of the point with the
    /// best intercept, and the distance of F above that. The bound is infinite where the loss is
    /// not convex or contradicts itself, and without a penalty.
    pub(crate) fn appraise(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        let objective = self.samples.objective;
        let value = self.value_at(lambda, point);
        let risk = &objective.risk;
        let contradicted = risk.is_contradicted(&point.products, point.intercept);
        if contradicted || !risk.loss.is_convex() || lambda == Lambda::NONE {
            // This sets the slopes, too, of which the gradient is made.
            let slope = self.intercept_slope(point);
            let slope = if objective.risk.intercept { slope } else { 0.0 };
            let gradient_norm = self.certificate(lambda, point).gradient_norm.hypot(slope);
            return Certificate {
                contradicted,
                ..Certificate::without_bound(value, gradient_norm)
            };
        }
        let mut settled = point.clone();
        self.settle_intercept(&mut settled);
        let certificate = self.appraise_settled(lambda, &settled);
        certificate.raised_to(value)
    }

    /// Returns the certificate of a point with a settled intercept by the slopes there; the slopes
    /// are balanced where the loss has kinks, on which the intercept may rest.
    pub(crate) fn appraise_settled(&mut self, lambda: Lambda, point: &Point) -> Certificate {
        let risk = &self.samples.objective.risk;
        if risk.loss.is_differentiable() {
            return dual::certificate_of(self, lambda, point);
        }
        let mut duals = self.samples.duals();
        risk.balance(&mut duals);
        dual::certify(self, lambda, point, &duals).0
    }
}

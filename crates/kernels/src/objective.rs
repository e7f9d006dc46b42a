//! The objective of a kernel classifier in sample space.

use margins_data::Labels;
use margins_losses::MarginLoss;
use margins_optim::path::Minimizer;
use margins_optim::problem::{EmpiricalRisk, Point};
use margins_optim::{Certificate, Lambda};

use crate::newton::SampleNewton;
use crate::{Error, Gram};

/// The objective `F(b, a) = (1/n) sum_i c_i L(y_i f_i) + lambda a'Ka`, `f = b 1 + Ka`, up to the
/// choice of lambda.
///
/// By the representer theorem its minimisers are those over the whole function space of the kernel.
/// n counts all samples, those of weight 0 included, whose coefficients are 0 at the minimum.
///
/// Source: Kwon and Zou 2023, section 4.1.
#[derive(Debug)]
pub struct KernelObjective<'a, L: MarginLoss + ?Sized> {
    pub(crate) risk: EmpiricalRisk<'a, L>,
    pub(crate) gram: &'a Gram,
}

impl<'a, L: MarginLoss + ?Sized> KernelObjective<'a, L> {
    /// Makes the objective with weight 1 for every sample, and an intercept.
    ///
    /// # Errors
    /// Another number of labels than of samples; labels of one class only.
    pub fn new(loss: &'a L, gram: &'a Gram, labels: &'a Labels) -> Result<Self, Error> {
        Self::from_risk(EmpiricalRisk::new(loss, labels)?, gram)
    }

    /// Makes the objective of a risk over the function space of a kernel.
    ///
    /// # Errors
    /// Another number of samples in the one than in the other.
    pub fn from_risk(risk: EmpiricalRisk<'a, L>, gram: &'a Gram) -> Result<Self, Error> {
        let (expected, found) = (gram.len(), risk.sample_count());
        if expected != found {
            return Err(Error::Shape { what: "labels, one per row", expected, found });
        }
        Ok(KernelObjective { risk, gram })
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// The errors of [`EmpiricalRisk::with_weights`].
    pub fn with_weights(self, weights: &[f64]) -> Result<Self, Error> {
        Ok(KernelObjective { risk: self.risk.with_weights(weights)?, ..self })
    }

    /// Returns the risk of scores.
    pub fn risk(&self) -> &EmpiricalRisk<'a, L> {
        &self.risk
    }

    /// Returns the kernel matrix.
    pub fn gram(&self) -> &'a Gram {
        self.gram
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(self) -> Self {
        KernelObjective { risk: self.risk.without_intercept(), ..self }
    }

    /// Bounds how far a given kernel classifier can be from the minimum at `lambda`, whatever
    /// program it comes from. The intercept is first re-optimised, which the bound allows for.
    ///
    /// # Errors
    /// A loss without duality; another number of coefficients than of samples.
    pub fn certificate(
        &self,
        lambda: Lambda,
        intercept: f64,
        coef: &[f64],
    ) -> Result<Certificate, Error> {
        self.risk.check_loss()?;
        let (expected, found) = (self.gram.len(), coef.len());
        if expected != found {
            return Err(Error::Shape { what: "coefficients", expected, found });
        }
        if !self.risk.has_intercept() && intercept != 0.0 {
            return Err(margins_optim::Error::Intercept(intercept).into());
        }
        let mut point = self.point(intercept, coef.to_vec());
        let mut solver = SampleNewton::new(&self.risk, self.gram.entries());
        let given = solver.value(lambda, &point);
        Ok(solver.certify_anew(lambda, &mut point).raised_to(given))
    }

    pub(crate) fn point(&self, intercept: f64, coef: Vec<f64>) -> Point {
        let mut products = vec![0.0; coef.len()];
        self.gram.entries().multiply(&coef, &mut products);
        Point { intercept, coef, products }
    }
}

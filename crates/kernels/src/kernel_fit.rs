//! A kernel classifier with its certificate.

use margins_optim::{Fit, Lambda, Report};
use nalgebra::{DMatrix, DVector};

/// A kernel classifier `f(x) = b + sum_i a_i k(x_i, x)` with the certificate of its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelFit {
    /// The regularisation.
    pub lambda: Lambda,
    /// The intercept `b`, 0 where the objective has none.
    pub intercept: f64,
    /// The coefficients `a`, one a training sample.
    pub coef: Vec<f64>,
    /// The certificate and the course of the fit.
    pub report: Report,
}

/// The fit with coefficients for kernel sections at the training samples.
impl From<KernelFit> for Fit {
    fn from(fit: KernelFit) -> Self {
        let KernelFit { lambda, intercept, coef, report } = fit;
        Fit { lambda, intercept, coef, report }
    }
}

impl KernelFit {
    /// Returns the training samples that the classifier is made of, those with `a_i` other than 0,
    /// ascending.
    pub fn support(&self) -> impl Iterator<Item = usize> + '_ {
        self.coef.iter().enumerate().filter(|(_, a)| **a != 0.0).map(|(i, _)| i)
    }

    /// Returns the scores of samples, given their kernel values with the training samples, one row
    /// a sample.
    ///
    /// # Panics
    /// If the matrix has another number of columns than there are training samples.
    pub fn scores(&self, cross: &DMatrix<f64>) -> Vec<f64> {
        assert_eq!(cross.ncols(), self.coef.len(), "one column a training sample");
        let mut scores = DVector::from_element(cross.nrows(), self.intercept);
        scores.gemv(1.0, cross, &DVector::from_column_slice(&self.coef), 1.0);
        scores.as_slice().to_vec()
    }
}

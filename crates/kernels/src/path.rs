use margins_losses::MarginLoss;
use margins_optim::solver_kit::{EmpiricalRisk, follow};
use margins_optim::{Lambda, Options, Report};
use nalgebra::DMatrix;

use crate::newton::SampleNewton;

/// A kernel classifier with the certificate of its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelFit {
    /// The regularisation.
    pub lambda: Lambda,
    /// `b`.
    pub intercept: f64,
    /// `a`.
    pub coef: Vec<f64>,
    /// How good it is.
    pub report: Report,
}

/// temporary
pub fn path_on<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    matrix: &DMatrix<f64>,
    lambdas: &[Lambda],
    options: &Options,
) -> Vec<KernelFit> {
    let mut solver = SampleNewton::new(risk, matrix);
    let mut fits = Vec::new();
    follow(&mut solver, lambdas, options, |_, lambda, point, ending, passes| {
        fits.push(KernelFit {
            lambda,
            intercept: point.intercept,
            coef: point.coef.clone(),
            report: ending.report(passes),
        });
    });
    fits
}

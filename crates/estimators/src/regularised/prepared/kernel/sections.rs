//! The kernel sections that fits use, and the scores of rows under these.

use margins_data::Design;
use margins_model::Functions;
use margins_optim::Fit;
use nalgebra::DMatrix;

use super::super::linear_scores_of;
use super::{Form, KernelBasis};
use crate::Error;

/// The coefficients of several fits together: a row per fit, a column per kernel section that any of them uses.
#[derive(Debug)]
pub(in super::super) struct Sections {
    used: Vec<usize>,
    coefs: DMatrix<f64>,
}

impl Default for Sections {
    fn default() -> Self {
        Sections { used: Vec::new(), coefs: DMatrix::zeros(0, 0) }
    }
}

impl Form {
    /// Returns the coefficients of fits together; nothing for fits that are linear in features.
    pub(in super::super) fn sections(&self, fits: &[Fit]) -> Sections {
        let used: Vec<usize> = match self {
            Form::Features(_) => return Sections::default(),
            Form::Gram { gram, .. } => {
                let is_used = |&i: &usize| fits.iter().any(|fit| fit.coef[i] != 0.0);
                (0..gram.len()).filter(is_used).collect()
            }
            Form::Cholesky { factor, .. } => factor.pivots().to_vec(),
        };
        let coefs = DMatrix::from_fn(fits.len(), used.len(), |k, i| fits[k].coef[used[i]]);
        Sections { used, coefs }
    }

    /// Returns the scores of some rows under fits, whose coefficients are together in `sections`.
    pub(in super::super) fn scores_of(
        &self,
        fits: &[Fit],
        Sections { used, coefs }: &Sections,
        rows: &[usize],
    ) -> Result<Vec<Vec<f64>>, Error> {
        let products = match self {
            Form::Features(space) => return Ok(linear_scores_of(&space.features, fits, rows)),
            Form::Gram { gram, .. } => gram.combine(rows, used, coefs),
            Form::Cholesky { basis: KernelBasis { kernel, design, .. }, .. } => {
                let (rows, columns) = (design.select(rows), design.select(used));
                margins_kernels::combine_all(&**kernel, &rows, &columns, coefs)?
            }
        };
        let with_intercept = |(k, fit): (usize, &Fit)| {
            products.row(k).iter().map(|product| product + fit.intercept).collect()
        };
        Ok(fits.iter().enumerate().map(with_intercept).collect())
    }
}

/// Returns the kernel sections that any of the fits has a use for, and the coefficients of each fit.
pub(super) fn used_sections(design: &Design, fits: &[&Fit]) -> (Functions, Vec<Vec<f64>>) {
    let used = |i: &usize| fits.iter().any(|fit| fit.coef[*i] != 0.0);
    let mut support: Vec<usize> = (0..design.rows()).filter(used).collect();
    if support.is_empty() {
        // Classifiers of no kernel section are constants; one sample keeps the model whole.
        support.push(0);
    }
    let coef = |fit: &&Fit| support.iter().map(|&i| fit.coef[i]).collect();
    (Functions::Sections(design.select(&support)), fits.iter().map(coef).collect())
}

//! Fits on the features of a map, which replace the features of the data.

use std::sync::OnceLock;

use margins_data::split::Splits;
use margins_data::{Dataset, Design, Memory};
use margins_kernels::{Gram, KernelFit, svm_path_of_rows};
use margins_losses::{Interval, MarginLoss};
use margins_optim::method::Route;
use margins_optim::problem::{EmpiricalRisk, PenaltyFactors};
use margins_optim::{
    CrossValidatedPath, ErrorCurve, Fit, FoldRows, Lambda, Options, ScoredFold, Sensitivity,
    Status, Training, cross_validate_by,
};
use margins_robust::RobustLearner;

use super::super::{linear_cross_validate, linear_path, linear_scores_of};
use super::{FeatureMap, KernelBasis};
use crate::Error;

/// Features of a map, which replace the features of the data.
#[derive(Debug)]
pub(in crate::regularised::prepared) struct FeatureSpace {
    pub(super) features: Design,
    pub(super) map: FeatureMap,
    pub(super) basis: KernelBasis,
    memory: Option<Memory>,
    /// The penalty factors of the features, where some stand beside the kernel.
    penalty: Option<PenaltyFactors>,
    /// The inner products of the samples, once a support vector machine asks for them; `None` where
    /// there is not the memory.
    products: OnceLock<Option<Gram>>,
}

impl FeatureSpace {
    /// Takes the features of the map and the memory that their inner products may have, by default half of
    /// the free memory. Features beside the kernel come before those of the map.
    pub(super) fn new(
        features: Design,
        map: FeatureMap,
        basis: KernelBasis,
        memory: Option<Memory>,
    ) -> Result<Self, Error> {
        let products = OnceLock::new();
        let Some(beside) = &basis.beside else {
            return Ok(FeatureSpace { features, map, basis, memory, penalty: None, products });
        };
        let mut factors = vec![0.0; beside.columns.len()];
        factors.resize(factors.len() + features.columns(), 1.0);
        let penalty = Some(PenaltyFactors::of_columns(factors)?);
        let features = beside.values.beside(&features)?;
        Ok(FeatureSpace { features, map, basis, memory, penalty, products })
    }

    /// Returns the settings for these features, which were scaled before the map.
    pub(super) fn own<'a, L: MarginLoss + ?Sized>(
        &'a self,
        training: &Training<'a, L>,
    ) -> Training<'a, L> {
        Training { standardize: false, penalty: self.penalty.as_ref(), ..*training }
    }

    /// Returns the inner products of the samples where steps along them are the faster way to a
    /// minimum.
    ///
    /// # Errors
    /// The fits were cancelled.
    fn products<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
    ) -> Result<Option<&Gram>, Error> {
        let shape = (self.features.rows(), self.features.columns());
        if self.penalty.is_some()
            || !Route::suits_features(training.loss, training.options.solver, shape)
        {
            return Ok(None);
        }
        if self.products.get().is_none() {
            // Made outside the lock: threads that wait for one another in a lock and in loops could
            // wait for ever. Two that come at the same time both make them, and the first counts.
            let products = self.make_products(&training.options)?;
            let _ = self.products.set(products);
        }
        Ok(self.products.get().and_then(Option::as_ref))
    }

    /// Returns the inner products, if there are the memory and the time.
    fn make_products(&self, options: &Options<'_>) -> Result<Option<Gram>, Error> {
        let n = self.features.rows();
        let memory = self.memory.or_else(|| Memory::free().map(Memory::half));
        // Products and features in single precision.
        let entries = n.saturating_mul(n.saturating_add(self.features.columns()));
        let fits = |memory: Memory| entries.saturating_mul(size_of::<f32>()) <= memory.bytes();
        if !memory.is_none_or(fits) {
            return Ok(None);
        }
        let is_over = || self.basis.kernel.is_interrupted() || options.is_late();
        match Gram::of_features(self.features.clone(), is_over) {
            Ok(gram) => Ok(Some(gram)),
            Err(error) if error.is_interrupted() && self.basis.kernel.is_interrupted() => {
                Err(error.into())
            }
            // Without enough memory or time the linear solver continues.
            Err(_) => Ok(None),
        }
    }

    /// Returns the fits of the learner, or of the regularised risk without one, to some of the rows,
    /// or to all if none are named, at every lambda, largest first.
    pub(super) fn path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        learner: Option<&RobustLearner>,
        data: &Dataset,
        rows: Option<&[usize]>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let training = &self.own(training);
        let linear = |lambdas: &[Lambda]| {
            let chosen = match rows {
                Some(rows) if learner.is_none() && self.is_shared() => {
                    return Ok(training.path_of_rows(data, rows, &self.features, lambdas)?);
                }
                Some(rows) => data.select_as(rows, self.features.select(rows)),
                None => data.over(self.features.clone()),
            };
            linear_path(training, learner, &chosen?, lambdas)
        };
        let products = if learner.is_none() { self.products(training)? } else { None };
        let Some(gram) = products else { return linear(lambdas) };
        let fits = svm_path_of_rows(training, data, gram, rows, lambdas)?;
        let risk = || match rows {
            Some(rows) => training.risk_of_rows(data, rows),
            None => training.risk(data),
        };
        let kept = training.options.keep_duals.then(risk).transpose()?;
        let in_features = |fit| self.in_features(fit, kept.as_ref());
        let mut fits: Vec<Fit> = fits.into_iter().map(in_features).collect();
        // Steps in single precision may end before the tolerance.
        let is_stuck = |fit: &Fit| {
            let status = fit.report.status;
            matches!(status, Status::Stalled | Status::RoundingLimit | Status::NumericalTrouble)
        };
        let stuck: Vec<Lambda> =
            fits.iter().filter(|fit| is_stuck(fit)).map(|fit| fit.lambda).collect();
        if !stuck.is_empty() {
            let others = linear(&stuck)?;
            fits.iter_mut()
                .filter(|fit| is_stuck(fit))
                .zip(others)
                .for_each(|(fit, other)| *fit = other);
        }
        Ok(fits)
    }

    fn is_shared(&self) -> bool {
        is_shared(self.features.rows(), self.features.columns())
    }

    /// Returns the fit in the coordinates of the features, with its duals if the risk is given.
    fn in_features<L: MarginLoss + ?Sized>(
        &self,
        fit: KernelFit,
        risk: Option<&EmpiricalRisk<'_, L>>,
    ) -> Fit {
        let KernelFit { lambda, intercept, coef, mut report } = fit;
        report.duals = risk.map(|risk| duals_of_coefficients(risk, lambda, &coef));
        let mut w = vec![0.0; self.features.columns()];
        self.features.multiply_transposed(&coef, &mut w);
        Fit { lambda, intercept, coef: w, report }
    }

    pub(super) fn squared_norms(&self) -> Vec<f64> {
        self.features.samples().map(|sample| sample.squared_norm()).collect()
    }

    /// Returns the cross-validated error along the lambdas, and the fits on all of the data if these
    /// come with it.
    pub(super) fn cross_validate<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        data: &Dataset,
        splits: Splits<'_>,
        lambdas: &[Lambda],
    ) -> Result<(ErrorCurve, Option<Vec<Fit>>), Error> {
        let training = &self.own(training);
        if self.products(training)?.is_none() && !self.is_shared() {
            let chosen = data.over(self.features.clone())?;
            return linear_cross_validate(training, &chosen, splits, lambdas);
        }
        let squares = self.squared_norms();
        let on_all = || self.path(training, None, data, None, lambdas);
        let CrossValidatedPath { curve, fits } = cross_validate_by(
            training,
            data,
            splits,
            lambdas,
            on_all,
            |training, FoldRows { rows, held_out, .. }, lambdas| {
                let fits = self.path(training, None, data, Some(rows), lambdas)?;
                let scores = linear_scores_of(&self.features, &fits, held_out);
                let sensitivity = Sensitivity::of_squares(&squares, rows, held_out);
                Ok::<_, Error>(ScoredFold { fits, scores, sensitivity })
            },
        )?;
        Ok((curve, (!fits.is_empty()).then_some(fits)))
    }
}

/// Returns true if folds share the matrix of features, where held-out rows have weight zero. Folds copy
/// their rows of a smaller matrix, since fewer rows take less time.
pub(super) fn is_shared(rows: usize, columns: usize) -> bool {
    const LARGE: usize = 1 << 28;
    rows.saturating_mul(columns).saturating_mul(size_of::<f64>()) > LARGE
}

/// Returns the duals `s_i = 2 lambda a_i y_i / (c_i/n)` of the coefficients of a minimum, in the domain
/// of the conjugate; 0 for a sample that weighs nothing.
pub(in crate::regularised) fn duals_of_coefficients<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    lambda: Lambda,
    coef: &[f64],
) -> Vec<f64> {
    let domain = risk.loss().conjugate_domain().unwrap_or(Interval::REALS);
    let dual = |((a, y), c): ((&f64, &f64), &f64)| {
        let s = 2.0 * lambda.get() * a * y / c;
        if *c > 0.0 { s.clamp(domain.lower, domain.upper) } else { 0.0 }
    };
    coef.iter().zip(risk.signs()).zip(risk.weights()).map(dual).collect()
}

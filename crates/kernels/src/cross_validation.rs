//! Cross-validation over the rows of one kernel matrix.

use std::cell::OnceCell;

use margins_data::Dataset;
use margins_data::split::Splits;
use margins_losses::MarginLoss;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{
    ErrorCurve, Fit, FoldRows, Lambda, Observed, Options, ScoredFold, Sensitivity, Training,
    error_curve,
};
use nalgebra::DMatrix;

use crate::gram::product;
use crate::path::{Solved, path, path_until};
use crate::svm::Scored;
use crate::{Error, Gram, KernelFit, KernelObjective, PlannedPaths, Route, svm};

/// Returns the cross-validated error of a path on a kernel matrix over all rows of the data: one
/// path a fold on the rows outside it, [in parallel](margins_data::parallel); the result does not
/// depend on the number of threads. Otherwise as [`margins_optim::error_curve`];
/// the matrix is taken as given, with any standardisation of its features.
///
/// # Errors
/// The errors of [`margins_optim::cross_validate`] and [`path`]; another number of rows than of
/// samples.
pub fn cross_validate<'s, L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
) -> Result<ErrorCurve, Error> {
    let splits = splits.into();
    let (expected, found) = (gram.len(), data.rows());
    if expected != found {
        return Err(Error::Shape { what: "rows", expected, found });
    }
    let route = Route::of(training.loss, training.options.solver)?;
    let path = PlannedPaths::one(route, lambdas.len());
    gram.check_paths(&path.with_folds(splits, found))?;
    let is_hinge = route == Route::SupportVectors;
    let squares = gram.diagonal();
    error_curve(training, data, splits, lambdas, |training, fold, lambdas| {
        let FoldRows { rows, held_out, .. } = fold;
        let sensitivity = Sensitivity::of_squares(&squares, rows, held_out);
        let (fits, scores) = if is_hinge && gram.has_columns() {
            svm_fold(training, data, gram, (rows, held_out), lambdas)?
        } else {
            let outside = HeldOutSamples::new(gram, rows, held_out);
            let fits = if is_hinge {
                training_path(training, &data.select(rows), &gram.select(rows), lambdas)?
            } else {
                smooth_fold(training, data, &outside, lambdas, &sensitivity)?
            };
            let scores = outside.scores_of(&fits);
            (fits, scores)
        };
        let fits = fits.into_iter().map(Fit::from).collect();
        Ok(ScoredFold { fits, scores, sensitivity })
    })
}

/// Returns the path of a smooth loss on some of the rows. A fit continues to a smaller gap if a
/// held-out row is so near the boundary that it may be on the other side at the minimum.
fn smooth_fold<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    outside: &HeldOutSamples<'_>,
    lambdas: &[Lambda],
    sensitivity: &Sensitivity,
) -> Result<Vec<KernelFit>, Error> {
    let (data, part) = (data.select(outside.rows), outside.gram.select(outside.rows));
    let objective = KernelObjective::from_risk(training.risk(&data)?, &part)?;
    let are_open = |path: &[Solved]| -> Vec<bool> {
        let functions = path.iter().map(|solved| (solved.point.intercept, &*solved.point.coef));
        let scores = outside.scores(&functions.collect::<Vec<_>>());
        let may_turn = |(solved, scores): (&Solved, &Vec<f64>)| {
            let gap = solved.ending.certificate.duality_gap;
            sensitivity.may_turn(gap, solved.lambda, training.intercept, scores)
        };
        path.iter().zip(&scores).map(may_turn).collect()
    };
    path_until(&objective, lambdas, &training.options, training.observer, &are_open)
}

/// Returns the path of support vector machines on some of the rows, and the scores of the rows held
/// out. Sequential minimal optimisation leaves samples of weight zero alone and keeps their scores,
/// so that all folds share the matrix; other solvers have a copy for their rows.
///
/// The fits aim at a hundredth of the tolerance: steps get there for a tenth more time, and rows held
/// out that lie on the boundary are then on the side where the minimiser has them.
fn svm_fold<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    (rows, held_out): (&[usize], &[usize]),
    lambdas: &[Lambda],
) -> Result<(Vec<KernelFit>, Vec<Vec<f64>>), Error> {
    const SHARE: f64 = 0.01;
    const SMALL: f64 = 1e-6;
    let risk = training.risk_of_rows(data, rows)?;
    let path = svm_path(training, &risk, gram, lambdas, SHARE)?;
    let of = |all: &[f64], some: &[usize]| some.iter().map(|&i| all[i]).collect::<Vec<f64>>();
    // The copies of a row that repeats share its coefficient.
    let mut copies = vec![0.0; gram.len()];
    rows.iter().for_each(|&row| copies[row] += 1.0);
    let shared = |coef: &[f64]| rows.iter().map(|&row| coef[row] / copies[row]).collect();
    let (fits, scores): (Vec<_>, Vec<_>) = path
        .into_iter()
        .map(|Scored { fit, scores }| {
            (KernelFit { coef: shared(&fit.coef), ..fit }, of(&scores, held_out))
        })
        .unzip();
    // Labels less gradients say little of functions far smaller than labels.
    let is_small = |(fit, scores): (&KernelFit, &Vec<f64>)| {
        scores.iter().all(|score| (score - fit.intercept).abs() <= SMALL)
    };
    let scores = if fits.iter().zip(&scores).any(is_small) {
        HeldOutSamples::new(gram, rows, held_out).scores_of(&fits)
    } else {
        scores
    };
    Ok((fits, scores))
}

/// The samples that a fold holds out, which functions over those of its rows give scores.
struct HeldOutSamples<'a> {
    gram: &'a Gram,
    rows: &'a [usize],
    held_out: &'a [usize],
    /// The part of a matrix in memory between the two.
    part: OnceCell<DMatrix<f64>>,
}

impl<'a> HeldOutSamples<'a> {
    fn new(gram: &'a Gram, rows: &'a [usize], held_out: &'a [usize]) -> Self {
        HeldOutSamples { gram, rows, held_out, part: OnceCell::new() }
    }

    fn scores_of(&self, fits: &[KernelFit]) -> Vec<Vec<f64>> {
        let functions = fits.iter().map(|fit| (fit.intercept, &*fit.coef));
        self.scores(&functions.collect::<Vec<_>>())
    }

    /// Returns the scores by functions, each an intercept and the coefficients of the rows.
    fn scores(&self, functions: &[(f64, &[f64])]) -> Vec<Vec<f64>> {
        let (rows, held_out) = (self.rows, self.held_out);
        let coefs = DMatrix::from_fn(functions.len(), rows.len(), |k, j| functions[k].1[j]);
        let products = match self.gram.matrix() {
            Some(_) => {
                let part = self.part.get_or_init(|| self.gram.cross_of(rows, held_out));
                product(&coefs, part)
            }
            None => self.gram.combine(held_out, rows, &coefs),
        };
        let all = products.row_iter().zip(functions);
        all.map(|(scores, (intercept, _))| scores.iter().map(|f| f + intercept).collect()).collect()
    }
}

/// Returns [`path`] for a data set and the kernel matrix over its rows; for the hinge loss
/// [`svm::path`](crate::svm::path).
///
/// # Errors
/// The errors of [`path`] and [`Training::risk`]; another number of rows than of samples.
pub fn training_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    lambdas: &[Lambda],
) -> Result<Vec<KernelFit>, Error> {
    match Route::of(training.loss, training.options.solver)? {
        Route::SupportVectors => svm_path_of_rows(training, data, gram, None, lambdas),
        _ => {
            let objective = KernelObjective::from_risk(training.risk(data)?, gram)?;
            path(&objective, lambdas, &training.options, training.observer)
        }
    }
}

/// Returns the path of support vector machines on some of the rows of the data, or on all if none are
/// named, given the kernel matrix over all rows: the coefficient of a row that is left out is 0.
/// The matrix is not copied.
///
/// # Errors
/// The errors of [`svm::path`](crate::svm::path) and [`Training::risk_of_rows`].
pub fn svm_path_of_rows<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    rows: Option<&[usize]>,
    lambdas: &[Lambda],
) -> Result<Vec<KernelFit>, Error> {
    let risk = match rows {
        Some(rows) => training.risk_of_rows(data, rows)?,
        None => training.risk(data)?,
    };
    let path = svm_path(training, &risk, gram, lambdas, 1.0)?;
    Ok(path.into_iter().map(|scored| scored.fit).collect())
}

/// Returns the path of support vector machines; fits aim at this share of the tolerance.
fn svm_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    risk: &EmpiricalRisk<'_, L>,
    gram: &Gram,
    lambdas: &[Lambda],
    share: f64,
) -> Result<Vec<Scored>, Error> {
    let tolerance = training.options.tolerance;
    let options = Options { tolerance: share * tolerance, ..training.options };
    let mut path = svm::path_of_risk(gram, risk, lambdas, &options)?;
    for Scored { fit, .. } in &mut path {
        fit.report.converge_to(tolerance);
        (training.observer)(&Observed::new(fit.lambda, &fit.report));
    }
    Ok(path)
}

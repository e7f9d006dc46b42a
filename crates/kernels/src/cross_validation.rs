use margins_data::Dataset;
use margins_losses::{Hinge, MarginLoss};
use margins_optim::{ErrorCurve, Lambda, Solver, Training, error_curve};

use crate::path::path;
use crate::{Error, Gram, KernelFit, KernelObjective, svm};

/// The cross-validated error of a path on a kernel matrix over all rows of the data: one path a fold on
/// the rows outside it, in parallel on the current rayon pool; the result does not depend on the number
/// of threads. As [`margins_optim::error_curve`] in all other respects; features and their
/// standardisation are the business of whoever made the matrix.
///
/// # Errors
/// As [`margins_optim::cross_validate`] and [`path`]; another number of rows than of samples.
pub fn cross_validate<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    folds: &[usize],
    lambdas: &[Lambda],
) -> Result<ErrorCurve, Error> {
    let (expected, found) = (gram.len(), data.rows());
    if expected != found {
        return Err(Error::Shape { what: "rows", expected, found });
    }
    error_curve(data, folds, lambdas, training.abandon_hopeless, |rows, held_out, lambdas| {
        let fits = training_path(training, &data.select(rows), &gram.select(rows), lambdas)?;
        let cross = gram.cross_of(held_out, rows);
        let scores = fits.iter().map(|fit| fit.scores(&cross)).collect();
        Ok((fits, scores))
    })
}

/// [`path`] for a data set and the kernel matrix over its rows; for the hinge loss that of
/// [`svm::path`](crate::svm::path).
///
/// # Errors
/// As [`path`] and [`Training::risk`]; another number of rows than of samples.
pub fn training_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    lambdas: &[Lambda],
) -> Result<Vec<KernelFit>, Error> {
    let risk = training.risk(data)?;
    let (options, observer) = (&training.options, training.observer);
    if training.loss.name() == Hinge.name() {
        if training.options.solver != Solver::Auto {
            return Err(margins_optim::Error::Unsuitable {
                loss: training.loss.specification(),
                lacks: "has a kink, which this solver cannot take",
                alternative: "the automatic choice takes it to sequential minimal optimisation",
            }
            .into());
        }
        let n = data.rows() as f64;
        let weights: Vec<f64> = risk.weights().iter().map(|c| c * n).collect();
        let (signs, intercept) = (risk.signs(), risk.has_intercept());
        let fits = svm::path(gram.matrix(), signs, Some(&weights), intercept, lambdas, options)?;
        fits.iter().for_each(|fit| observer(&fit.report));
        return Ok(fits);
    }
    path(&KernelObjective::from_risk(risk, gram)?, lambdas, options, observer)
}

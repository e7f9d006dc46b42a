use margins_data::Dataset;
use margins_losses::{MarginLoss, SpecialCase};
use margins_optim::problem::{EmpiricalRisk, Point};
use margins_optim::solve::{Reached, paths};
use margins_optim::{
    ErrorCurve, Lambda, Observed, Options, ScoredFold, Sensitivity, Solver, Training, error_curve,
    training_rows,
};
use nalgebra::DMatrix;

use crate::newton::SampleNewton;
use crate::path::path;
use crate::svm::Scored;
use crate::{Error, Gram, KernelFit, KernelObjective, svm};

/// Returns the cross-validated error of a path on a kernel matrix over all rows of the data: one
/// path a fold on the rows outside it, [in parallel](margins_data::parallel); the result does not
/// depend on the number of threads. As [`margins_optim::error_curve`] in all other respects;
/// features and their standardisation are the business of whoever made the matrix.
///
/// # Errors
/// The errors of [`margins_optim::cross_validate`] and [`path`]; another number of rows than of
/// samples.
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
    if training.options.solver == Solver::MmBatched {
        return batched(training, data, gram, folds, lambdas);
    }
    let is_hinge = training.loss.special_case() == Some(SpecialCase::Hinge);
    let squares = gram.diagonal();
    error_curve(training, data, folds, lambdas, |training, rows, held_out, lambdas| {
        let (fits, scores) = if is_hinge && gram.has_columns() {
            svm_fold(training, data, gram, (rows, held_out), lambdas)?
        } else {
            let fits = training_path(training, &data.select(rows), &gram.select(rows), lambdas)?;
            let scores = scores_of(&fits, gram, rows, held_out);
            (fits, scores)
        };
        let sensitivity = Sensitivity::of_squares(&squares, rows, held_out);
        Ok(ScoredFold { fits, scores, sensitivity })
    })
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
    let (fits, scores): (Vec<_>, Vec<_>) = path
        .into_iter()
        .map(|Scored { fit, scores }| {
            (KernelFit { coef: of(&fit.coef, rows), ..fit }, of(&scores, held_out))
        })
        .unzip();
    // Labels less gradients say little of functions far smaller than labels.
    let is_small = |(fit, scores): (&KernelFit, &Vec<f64>)| {
        scores.iter().all(|score| (score - fit.intercept).abs() <= SMALL)
    };
    let scores = if fits.iter().zip(&scores).any(is_small) {
        scores_of(&fits, gram, rows, held_out)
    } else {
        scores
    };
    Ok((fits, scores))
}

/// Returns the scores of the samples held out by every fit to the samples of some rows.
fn scores_of(fits: &[KernelFit], gram: &Gram, rows: &[usize], held_out: &[usize]) -> Vec<Vec<f64>> {
    let coefs = DMatrix::from_fn(fits.len(), rows.len(), |k, j| fits[k].coef[j]);
    let products = gram.combine(held_out, rows, &coefs);
    let all = products.row_iter().zip(fits);
    all.map(|(scores, fit)| scores.iter().map(|f| f + fit.intercept).collect()).collect()
}

/// Fits all folds at once, by the eigenspace of the kernel matrix over all rows: a held-out sample
/// is a sample of weight zero, so that the fits of the folds are functions in that space and score
/// their held-out samples on the way.
fn batched<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    gram: &Gram,
    folds: &[usize],
    lambdas: &[Lambda],
) -> Result<ErrorCurve, Error> {
    let options = &training.options;
    options.check()?;
    let descending = Lambda::descending(lambdas)?;
    let rows = training_rows(data, folds)?;
    let risks = (rows.iter().map(|rows| training.risk_of_rows(data, rows)))
        .collect::<Result<Vec<_>, _>>()?;
    let eigenspace = gram.eigenspace()?;
    let squares = gram.diagonal();
    let all = paths(&eigenspace.coordinates, &risks, &descending, options)?;
    // All fits are there: nothing is gained by abandoning some.
    let training = &Training { abandon_hopeless: false, ..*training };
    error_curve(training, data, folds, lambdas, |training, rows, held_out, lambdas| {
        let fold = folds[held_out[0]];
        let mut solver = SampleNewton::new(&risks[fold], gram.entries());
        let reached = all[fold].iter().filter(|reached| lambdas.contains(&reached.lambda));
        let (mut fits, mut scores) = (Vec::new(), Vec::new());
        for Reached { lambda, point, ending, passes } in reached {
            let mut point = Point { coef: eigenspace.lift(&point.coef), ..point.clone() };
            let certificate = solver.certify_anew(*lambda, &mut point);
            let ending = ending.clone().certified_by(certificate, options.tolerance);
            scores.push(held_out.iter().map(|&i| point.products[i] + point.intercept).collect());
            let Point { intercept, coef, products } = point;
            let ending = ending.examined(&risks[fold], &products, intercept);
            let report = ending.report(passes + 2);
            (training.observer)(&Observed::new(*lambda, &report));
            fits.push(KernelFit { lambda: *lambda, intercept, coef, report });
        }
        let sensitivity = Sensitivity::of_squares(&squares, rows, held_out);
        Ok(ScoredFold { fits, scores, sensitivity })
    })
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
    let risk = training.risk(data)?;
    match training.loss.special_case() {
        Some(SpecialCase::Hinge) => {
            let path = svm_path(training, &risk, gram, lambdas, 1.0)?;
            Ok(path.into_iter().map(|scored| scored.fit).collect())
        }
        _ => {
            let objective = KernelObjective::from_risk(risk, gram)?;
            path(&objective, lambdas, &training.options, training.observer)
        }
    }
}

/// Returns the path of support vector machines on some of the rows of the data, or on all if none are
/// named, given the kernel matrix over all rows: the coefficient of a row that is left out is 0.
/// The matrix is not copied.
///
/// # Errors
/// The errors of [`svm::path`](crate::svm::path) and [`Training::risk_of_rows`]; a solver other than
/// [`Solver::Auto`].
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

/// Returns the path of support vector machines, which only [`Solver::Auto`] stands for; fits aim at
/// this share of the tolerance.
fn svm_path<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    risk: &EmpiricalRisk<'_, L>,
    gram: &Gram,
    lambdas: &[Lambda],
    share: f64,
) -> Result<Vec<Scored>, Error> {
    match training.options.solver {
        Solver::Auto => {}
        solver if solver.is_linear_only() => {
            return Err(margins_optim::Error::LinearOnly.into());
        }
        _ => {
            return Err(margins_optim::Error::Unsuitable {
                loss: training.loss.specification(),
                lacks: "has a kink, which this solver cannot take",
                alternative: "the automatic choice takes it to sequential minimal optimisation",
            }
            .into());
        }
    }
    let tolerance = training.options.tolerance;
    let options = Options { tolerance: share * tolerance, ..training.options };
    let mut path = svm::path_of_risk(gram, risk, lambdas, &options)?;
    for Scored { fit, .. } in &mut path {
        fit.report.converge_to(tolerance);
        (training.observer)(&Observed::new(fit.lambda, &fit.report));
    }
    Ok(path)
}

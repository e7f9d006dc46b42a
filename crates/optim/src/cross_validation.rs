use margins_data::Dataset;
use margins_losses::MarginLoss;
use rayon::prelude::*;

use crate::{Error, Fit, Lambda, Report, Training};

/// What a path consists of.
pub trait Fitted: Send {
    /// The regularisation.
    fn lambda(&self) -> Lambda;

    /// How good the fit is.
    fn report(&self) -> &Report;
}

impl Fitted for Fit {
    fn lambda(&self) -> Lambda {
        self.lambda
    }

    fn report(&self) -> &Report {
        &self.report
    }
}

/// The cross-validated error along a lambda path.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorCurve {
    /// Lambdas, largest first; the other vectors run along them.
    pub lambdas: Vec<Lambda>,
    /// Share of held-out samples misclassified, by weight.
    pub mean_error: Vec<f64>,
    /// Standard error of the mean over the folds.
    pub standard_error: Vec<f64>,
    /// Largest relative duality gap of the fits.
    pub worst_relative_gap: Vec<f64>,
    /// Whether all fits converged.
    pub certified: Vec<bool>,
    /// Index of the least mean error; of several the largest lambda.
    pub best: usize,
    /// Index of the largest lambda whose mean error is within one standard error of the least.
    pub one_standard_error: usize,
}

impl ErrorCurve {
    /// The curve of scores that samples got without having been trained on, `scores[k][i]` that of sample i
    /// at the k-th lambda, beside the fits on all of the data: every sample is a fold. `converged[k]` says
    /// whether the fits that the scores come from did.
    ///
    /// # Panics
    /// If there is not one list of scores and one `converged` a fit, and one score a sample.
    pub fn of_scores<F: Fitted>(
        data: &Dataset,
        fits: &[F],
        scores: &[Vec<f64>],
        converged: &[bool],
    ) -> Self {
        assert_eq!((scores.len(), converged.len()), (fits.len(), fits.len()), "one a fit");
        let lambdas: Vec<Lambda> = fits.iter().map(Fitted::lambda).collect();
        let signs = data.labels().signs();
        let held_out = |i: usize| HeldOut {
            weight: data.weights().map_or(1.0, |weights| weights[i]),
            lambdas: lambdas.clone(),
            errors: (scores.iter())
                .map(|scores| f64::from((scores[i] > 0.0) != (signs[i] > 0.0)))
                .collect(),
            relative_gaps: vec![0.0; fits.len()],
            converged: converged.to_vec(),
        };
        let mut curve = summarize(&(0..signs.len()).map(held_out).collect::<Vec<_>>());
        curve.include(fits);
        curve
    }

    /// Takes the fits on all of the data, one a lambda, into the gaps.
    fn include<F: Fitted>(&mut self, fits: &[F]) {
        for (k, fit) in fits.iter().enumerate() {
            // Gaps are never NaN: what cannot be bounded has an infinite one.
            self.worst_relative_gap[k] = self.worst_relative_gap[k].max(fit.report().relative_gap);
            self.certified[k] &= fit.report().converged();
        }
    }
}

/// A cross-validated path and the path on all of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The errors; gaps are those of the fits of all folds and of the one on all data.
    pub curve: ErrorCurve,
    /// The fits on all of the data.
    pub fits: Vec<Fit>,
}

/// Cross-validates a path: one path a fold on the rows outside it, and one on all rows, in parallel
/// on the current rayon pool; the result does not depend on the number of threads.
///
/// `folds[i]` is the fold of row i, counted from 0. Standard deviations of features and weights of
/// classes are taken from the training rows alone; held-out errors count the weights of the data set
/// but not those of the classes. The mean weighs folds by their size, the standard error is that of
/// the weighted mean of K fold errors, as is usual for lambda paths.
///
/// # Errors
/// Another number of folds than of rows, fewer than two folds, an empty fold, a fold without whose
/// rows a class is missing, and as [`Training::path`].
pub fn cross_validate<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
) -> Result<CrossValidation, Error> {
    check_folds(data, folds)?;
    // The path on all rows is the largest task and goes first.
    let (fits, curve) = rayon::join(
        || training.path(data, lambdas),
        || {
            error_curve(data, folds, |rows, held_out| {
                let fits = training.path(&data.select(rows), lambdas)?;
                let design = data.design().select(held_out);
                let scores = fits.iter().map(|fit| fit.decision_function(&design)).collect();
                Ok::<_, Error>((fits, scores))
            })
        },
    );
    let (fits, mut curve) = (fits?, curve?);
    curve.include(&fits);
    Ok(CrossValidation { curve, fits })
}

/// The cross-validated error of any solver: `solve(rows, held_out)` returns a path on these rows with
/// the scores that each of its fits gives to the rows held out. Folds run in parallel on the current
/// rayon pool; errors are pooled as in [`cross_validate`].
///
/// # Errors
/// As [`cross_validate`], and what `solve` says.
pub fn error_curve<F: Fitted, E: From<Error> + Send>(
    data: &Dataset,
    folds: &[usize],
    solve: impl Fn(&[usize], &[usize]) -> Result<(Vec<F>, Vec<Vec<f64>>), E> + Sync,
) -> Result<ErrorCurve, E> {
    let count = check_folds(data, folds)?;
    let held_out: Vec<Result<HeldOut, E>> = (0..count)
        .into_par_iter()
        .with_max_len(1)
        .map(|fold| hold_out(data, folds, fold, &solve))
        .collect();
    Ok(summarize(&held_out.into_iter().collect::<Result<Vec<HeldOut>, E>>()?))
}

/// The number of folds, one a row of the data.
fn check_folds(data: &Dataset, folds: &[usize]) -> Result<usize, Error> {
    if folds.len() != data.rows() {
        return Err(Error::Shape { what: "folds", expected: data.rows(), found: folds.len() });
    }
    count_folds(folds)
}

/// The number of folds, each of which has rows.
fn count_folds(folds: &[usize]) -> Result<usize, Error> {
    let last = folds.iter().copied().max().unwrap_or(0);
    let mut seen = vec![false; folds.len()];
    // A number beyond that of the rows leaves a gap among the smaller ones.
    for &fold in folds.iter().filter(|&&fold| fold < folds.len()) {
        seen[fold] = true;
    }
    if let Some(empty) = seen.iter().take(last).position(|seen| !seen) {
        return Err(Error::EmptyFold(empty));
    }
    if last == 0 { Err(Error::TooFewFolds(1)) } else { Ok(last + 1) }
}

/// One fold along the path.
struct HeldOut {
    /// Total weight of the held-out samples.
    weight: f64,
    lambdas: Vec<Lambda>,
    errors: Vec<f64>,
    relative_gaps: Vec<f64>,
    converged: Vec<bool>,
}

fn hold_out<F: Fitted, E: From<Error>>(
    data: &Dataset,
    folds: &[usize],
    fold: usize,
    solve: &impl Fn(&[usize], &[usize]) -> Result<(Vec<F>, Vec<Vec<f64>>), E>,
) -> Result<HeldOut, E> {
    let (test, rest): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
    let labels = data.labels();
    let weight_of = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    for sign in [1.0, -1.0] {
        if !rest.iter().any(|&i| labels.signs()[i] == sign && weight_of(i) > 0.0) {
            return Err(Error::Fold { fold, class: labels.class_name(sign).to_owned() }.into());
        }
    }
    let (fits, scores) = solve(&rest, &test)?;
    let weight: f64 = test.iter().map(|&i| weight_of(i)).sum();
    let error = |scores: &Vec<f64>| {
        let wrong: f64 = (test.iter().zip(scores))
            .filter(|&(&i, &score)| (score > 0.0) != (labels.signs()[i] > 0.0))
            .map(|(&i, _)| weight_of(i))
            .fold(0.0, |sum, weight| sum + weight);
        if weight > 0.0 { wrong / weight } else { 0.0 }
    };
    Ok(HeldOut {
        weight,
        lambdas: fits.iter().map(Fitted::lambda).collect(),
        errors: scores.iter().map(error).collect(),
        relative_gaps: fits.iter().map(|fit| fit.report().relative_gap).collect(),
        converged: fits.iter().map(|fit| fit.report().converged()).collect(),
    })
}

fn summarize(folds: &[HeldOut]) -> ErrorCurve {
    let total: f64 = folds.iter().map(|fold| fold.weight).sum();
    let count = folds.len() as f64;
    let lambdas = folds[0].lambdas.clone();
    let along = |at: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..lambdas.len()).map(at).collect() };
    let mean_error =
        along(&|k| folds.iter().map(|fold| fold.weight * fold.errors[k]).sum::<f64>() / total);
    let standard_error = along(&|k| {
        let square = |fold: &HeldOut| fold.weight * (fold.errors[k] - mean_error[k]).powi(2);
        (folds.iter().map(square).sum::<f64>() / total / (count - 1.0)).sqrt()
    });
    let worst_relative_gap =
        along(&|k| folds.iter().map(|fold| fold.relative_gaps[k]).fold(0.0, f64::max));
    let certified =
        (0..lambdas.len()).map(|k| folds.iter().all(|fold| fold.converged[k])).collect();
    let best = (0..lambdas.len())
        .fold(0, |best, k| if mean_error[k] < mean_error[best] { k } else { best });
    let bound = mean_error[best] + standard_error[best];
    let one_standard_error = mean_error.iter().position(|&error| error <= bound).unwrap_or(best);
    ErrorCurve {
        lambdas,
        mean_error,
        standard_error,
        worst_relative_gap,
        certified,
        best,
        one_standard_error,
    }
}

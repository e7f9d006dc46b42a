use margins_data::Dataset;
use margins_losses::MarginLoss;
use rayon::prelude::*;

use crate::{Error, Fit, Lambda, Training};

/// The cross-validated error along a lambda path, and the path on all of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// Lambdas, largest first; the other vectors run along them.
    pub lambdas: Vec<Lambda>,
    /// Share of held-out samples misclassified, by weight.
    pub mean_error: Vec<f64>,
    /// Standard error of the mean over the folds.
    pub standard_error: Vec<f64>,
    /// Largest relative duality gap of the fits of all folds and of the one on all data.
    pub worst_relative_gap: Vec<f64>,
    /// Whether the fits of all folds and the one on all data converged.
    pub certified: Vec<bool>,
    /// Index of the least mean error; of several the largest lambda.
    pub best: usize,
    /// Index of the largest lambda whose mean error is within one standard error of the least.
    pub one_standard_error: usize,
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
    if folds.len() != data.rows() {
        return Err(Error::Shape { what: "folds", expected: data.rows(), found: folds.len() });
    }
    let count = count_folds(folds)?;
    // The path on all rows is the largest task and goes first.
    let results: Vec<Result<Outcome, Error>> = (0..count + 1)
        .into_par_iter()
        .with_max_len(1)
        .map(|task| match task.checked_sub(1) {
            None => training.path(data, lambdas).map(Outcome::All),
            Some(fold) => hold_out(training, data, folds, fold, lambdas).map(Outcome::Fold),
        })
        .collect();

    let mut fits = Vec::new();
    let mut held_out = Vec::with_capacity(count);
    for result in results {
        match result? {
            Outcome::All(path) => fits = path,
            Outcome::Fold(fold) => held_out.push(fold),
        }
    }
    Ok(summarize(fits, &held_out))
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

enum Outcome {
    All(Vec<Fit>),
    Fold(HeldOut),
}

/// One fold along the path.
struct HeldOut {
    /// Total weight of the held-out samples.
    weight: f64,
    errors: Vec<f64>,
    relative_gaps: Vec<f64>,
    converged: Vec<bool>,
}

fn hold_out<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    fold: usize,
    lambdas: &[Lambda],
) -> Result<HeldOut, Error> {
    let (test, rest): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
    let labels = data.labels();
    let weight_of = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    for sign in [1.0, -1.0] {
        if !rest.iter().any(|&i| labels.signs()[i] == sign && weight_of(i) > 0.0) {
            return Err(Error::Fold { fold, class: labels.class_name(sign).to_owned() });
        }
    }
    let fits = training.path(&data.select(&rest), lambdas)?;

    let design = data.design().select(&test);
    let weight: f64 = test.iter().map(|&i| weight_of(i)).sum();
    let error = |fit: &Fit| {
        let scores = fit.decision_function(&design);
        let wrong: f64 = (test.iter().zip(&scores))
            .filter(|&(&i, &score)| (score > 0.0) != (labels.signs()[i] > 0.0))
            .map(|(&i, _)| weight_of(i))
            .fold(0.0, |sum, weight| sum + weight);
        if weight > 0.0 { wrong / weight } else { 0.0 }
    };
    Ok(HeldOut {
        weight,
        errors: fits.iter().map(error).collect(),
        relative_gaps: fits.iter().map(|fit| fit.report.relative_gap).collect(),
        converged: fits.iter().map(|fit| fit.report.converged()).collect(),
    })
}

fn summarize(fits: Vec<Fit>, folds: &[HeldOut]) -> CrossValidation {
    let total: f64 = folds.iter().map(|fold| fold.weight).sum();
    let count = folds.len() as f64;
    let along = |at: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..fits.len()).map(at).collect() };
    let mean_error =
        along(&|k| folds.iter().map(|fold| fold.weight * fold.errors[k]).sum::<f64>() / total);
    let standard_error = along(&|k| {
        let square = |fold: &HeldOut| fold.weight * (fold.errors[k] - mean_error[k]).powi(2);
        (folds.iter().map(square).sum::<f64>() / total / (count - 1.0)).sqrt()
    });
    // Gaps are never NaN: what cannot be bounded has an infinite one.
    let worst_relative_gap = along(&|k| {
        let gaps = folds.iter().map(|fold| fold.relative_gaps[k]);
        gaps.fold(fits[k].report.relative_gap, f64::max)
    });
    let certified = (fits.iter().enumerate())
        .map(|(k, fit)| fit.report.converged() && folds.iter().all(|fold| fold.converged[k]))
        .collect();
    let best =
        (0..fits.len()).fold(0, |best, k| if mean_error[k] < mean_error[best] { k } else { best });
    let bound = mean_error[best] + standard_error[best];
    let one_standard_error = mean_error.iter().position(|&error| error <= bound).unwrap_or(best);
    CrossValidation {
        lambdas: fits.iter().map(|fit| fit.lambda).collect(),
        mean_error,
        standard_error,
        worst_relative_gap,
        certified,
        best,
        one_standard_error,
        fits,
    }
}

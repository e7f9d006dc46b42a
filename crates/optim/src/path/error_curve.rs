use margins_data::Dataset;
use margins_data::metrics::is_mistake;

use crate::{Error, Fit, Lambda, Report};

/// An element of a path.
pub trait Fitted: Send {
    /// Returns the regularisation.
    fn lambda(&self) -> Lambda;

    /// Returns how good the fit is.
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

/// The errors of a fold along a lambda path.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldErrors {
    /// The weight of the samples held out.
    pub weight: f64,
    /// The error at every lambda, largest first; `None` where the fold was not fitted.
    pub at: Vec<Option<FoldError>>,
}

/// The error of a fold at one lambda.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldError {
    /// The share of the samples held out that is misclassified, by weight.
    pub error: f64,
    /// The share of the samples held out, by weight, whose class an exact minimiser might decide
    /// otherwise; `None` where that was not looked at.
    pub unproven: Option<f64>,
    /// The largest relative duality gap of the fits that judged them.
    pub relative_gap: f64,
    /// True if all of these fits converged.
    pub converged: bool,
}

/// The cross-validated error along a lambda path.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorCurve {
    /// Lambdas, largest first; the other vectors run along them.
    pub lambdas: Vec<Lambda>,
    /// The share of held-out samples misclassified, by weight.
    pub mean_error: Vec<f64>,
    /// The standard error of the mean over the folds.
    pub standard_error: Vec<f64>,
    /// A bound on the distance between the mean error and that of exact minimisers: the share of the
    /// held-out samples, by weight, whose class the gap of their fit leaves open, as
    /// [`Sensitivity`](crate::Sensitivity) has it. `None` where that was not looked at: for several
    /// classes, for samples left out one by one, and for samples that are not in memory.
    pub unproven: Vec<Option<f64>>,
    /// The largest relative duality gap of the fits.
    pub worst_relative_gap: Vec<f64>,
    /// True if all fits converged.
    pub certified: Vec<bool>,
    /// True if cross-validation gave the lambda up after the first folds, as
    /// [`Training::abandon_hopeless`](crate::Training::abandon_hopeless) allows. The errors then come from these folds alone, and no
    /// index points at the lambda.
    pub abandoned: Vec<bool>,
    /// The index of the least mean error; of several the largest lambda.
    pub best: usize,
    /// The index of the largest lambda whose mean error is within one standard error of the least.
    pub one_standard_error: usize,
}

impl ErrorCurve {
    /// Returns the curve of scores that samples got without having been trained on, beside the fits
    /// on all of the data; every sample is a fold. The score of sample i at the k-th lambda is
    /// `scores[k][i]`, and `converged[k]` is true if the fits that the scores come from converged.
    ///
    /// # Errors
    /// [`Error::Score`]: a score is NaN or infinite.
    ///
    /// # Panics
    /// The function panics unless there is one list of scores and one `converged` a fit, and one
    /// score a sample.
    pub fn of_scores<F: Fitted>(
        data: &Dataset,
        fits: &[F],
        scores: &[Vec<f64>],
        converged: &[bool],
    ) -> Result<Self, Error> {
        assert_eq!((scores.len(), converged.len()), (fits.len(), fits.len()), "one a fit");
        scores.iter().try_for_each(|scores| Error::check_scores(scores, 0..scores.len()))?;
        let lambdas: Vec<Lambda> = fits.iter().map(Fitted::lambda).collect();
        let signs = data.labels().signs();
        let fold = |i: usize| {
            let weight = data.weights().map_or(1.0, |weights| weights[i]);
            let at = |(scores, &converged): (&Vec<f64>, &bool)| {
                let is_wrong = weight > 0.0 && is_mistake(scores[i], signs[i]);
                let error = if is_wrong { 1.0 } else { 0.0 };
                Some(FoldError { error, unproven: None, relative_gap: 0.0, converged })
            };
            FoldErrors { weight, at: scores.iter().zip(converged).map(at).collect() }
        };
        let folds: Vec<FoldErrors> = (0..signs.len()).map(fold).collect();
        let mut curve = summarize(lambdas, &folds);
        curve.include(fits);
        Ok(curve)
    }

    /// Returns the curve of the errors of folds along lambdas, largest first.
    ///
    /// # Panics
    /// The function panics unless every fold has an entry a lambda, and every lambda was fitted in
    /// at least one fold.
    pub fn of_folds(lambdas: Vec<Lambda>, folds: &[FoldErrors]) -> Self {
        assert!(folds.iter().all(|fold| fold.at.len() == lambdas.len()), "one entry a lambda");
        summarize(lambdas, folds)
    }

    /// Takes the fits on all of the data, one a lambda, into the gaps.
    pub(super) fn include<F: Fitted>(&mut self, fits: &[F]) {
        for (k, fit) in fits.iter().enumerate() {
            // Gaps are never NaN: without a bound they are infinite.
            self.worst_relative_gap[k] = self.worst_relative_gap[k].max(fit.report().relative_gap);
            self.certified[k] &= fit.report().converged();
        }
    }
}

/// Returns the first index of the least value among those that count.
pub(super) fn least(values: &[f64], counts: impl Fn(usize) -> bool) -> usize {
    let mut at = (0..values.len()).filter(|&k| counts(k));
    let first = at.next().unwrap_or(0);
    at.fold(first, |best, k| if values[k] < values[best] { k } else { best })
}

fn summarize(lambdas: Vec<Lambda>, folds: &[FoldErrors]) -> ErrorCurve {
    let fitted = |k: usize| {
        folds.iter().filter_map(move |fold| Some((fold.weight, fold.at[k].as_ref()?.error)))
    };
    let along = |at: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..lambdas.len()).map(at).collect() };
    let total = |k: usize| fitted(k).map(|(weight, _)| weight).sum::<f64>();
    let mean_error =
        along(&|k| fitted(k).map(|(weight, error)| weight * error).sum::<f64>() / total(k));
    let standard_error = along(&|k| {
        let square = |(weight, error): (f64, f64)| weight * (error - mean_error[k]).powi(2);
        (fitted(k).map(square).sum::<f64>() / total(k) / (fitted(k).count() as f64 - 1.0)).sqrt()
    });
    let unproven = (0..lambdas.len())
        .map(|k| {
            let weighted = |fold: &FoldErrors| Some(fold.weight * fold.at[k].as_ref()?.unproven?);
            let open = folds.iter().filter(|fold| fold.at[k].is_some()).map(weighted);
            Some(open.sum::<Option<f64>>()? / total(k))
        })
        .collect();
    let results = |k: usize| folds.iter().filter_map(move |fold| fold.at[k].as_ref());
    let worst_relative_gap = along(&|k| results(k).map(|at| at.relative_gap).fold(0.0, f64::max));
    let certified = (0..lambdas.len()).map(|k| results(k).all(|at| at.converged)).collect();
    let abandoned: Vec<bool> =
        (0..lambdas.len()).map(|k| folds.iter().any(|fold| fold.at[k].is_none())).collect();
    let best = least(&mean_error, |k| !abandoned[k]);
    let bound = mean_error[best] + standard_error[best];
    let one_standard_error =
        (0..lambdas.len()).find(|&k| !abandoned[k] && mean_error[k] <= bound).unwrap_or(best);
    ErrorCurve {
        lambdas,
        mean_error,
        standard_error,
        unproven,
        worst_relative_gap,
        certified,
        abandoned,
        best,
        one_standard_error,
    }
}

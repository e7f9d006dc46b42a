//! Cross-validated errors along a path, and the choice of lambda by them.

use margins_data::metrics::{Measure, is_mistake};
use margins_data::{ClassLabels, Dataset};
use margins_losses::MarginLoss;

use super::held_out::Measured;
use crate::{Error, Fit, Lambda};

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
    /// otherwise; `None` where that was not checked.
    pub unproven: Option<f64>,
    /// The values of measures of the samples held out.
    pub measured: Measured,
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
    /// The measure by which `best` and `one_standard_error` are chosen.
    pub measure: Measure,
    /// The mean of the measure over the folds in which it is defined, by their weight; NaN where it is
    /// defined in none. `mean_error` if the measure is the error.
    pub mean_measure: Vec<f64>,
    /// The standard error of that mean.
    pub measure_standard_error: Vec<f64>,
    /// The mean log-loss of held-out samples; `None` where the loss has no probabilities, or a fold was
    /// not fitted in time.
    pub mean_log_loss: Vec<Option<f64>>,
    /// A bound on the distance between the mean error and that of exact minimisers: the share of the
    /// held-out samples, by weight, whose class the gap of their fit leaves open, by
    /// [`Sensitivity`](crate::Sensitivity). `None` if that was not checked: for several
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
    /// True if there was time for the lambda in every fold, and no path ended before it, as a path of
    /// [`Solver::MmPublished`](crate::Solver::MmPublished) may. If not, the errors come from the folds that
    /// reached it, and are NaN without any; no index points at the lambda, unless none was reached.
    pub reached: Vec<bool>,
    /// The index of the best mean of the measure; of several the one with the smallest log-loss, and of
    /// these the largest lambda.
    pub best: usize,
    /// The index of the largest lambda whose mean is within one standard error of the best.
    pub one_standard_error: usize,
}

impl ErrorCurve {
    /// Returns the curve of scores that samples got without having been trained on, beside the fits
    /// on all of the data; every sample is a fold. The score of sample i at the k-th lambda is
    /// `scores[k][i]`, and `converged[k]` is true if the fits that the scores come from converged. The
    /// loss gives the probabilities for the log-loss.
    ///
    /// # Errors
    /// [`Error::Score`]: a score is NaN or infinite.
    ///
    /// # Panics
    /// The function panics unless there is one list of scores and one `converged` a fit, and one
    /// score per sample.
    pub fn of_scores<L: MarginLoss + ?Sized>(
        loss: &L,
        data: &Dataset,
        fits: &[Fit],
        scores: &[Vec<f64>],
        converged: &[bool],
    ) -> Result<Self, Error> {
        assert_eq!((scores.len(), converged.len()), (fits.len(), fits.len()), "one per fit");
        scores.iter().try_for_each(|scores| Error::check_scores(scores, 0..scores.len()))?;
        let lambdas: Vec<Lambda> = fits.iter().map(|fit| fit.lambda).collect();
        let signs = data.labels().signs();
        let fold = |i: usize| {
            let weight = data.weights().map_or(1.0, |weights| weights[i]);
            let at = |(scores, &converged): (&Vec<f64>, &bool)| {
                let is_wrong = weight > 0.0 && is_mistake(scores[i], signs[i]);
                let error = if is_wrong { 1.0 } else { 0.0 };
                let log_loss = loss.probability(scores[i]).and_then(|p| {
                    Measure::LogLoss.of_sample(data.labels().index(i), &[1.0 - p, p])
                });
                let measured = Measured { log_loss, value: None };
                Some(FoldError { error, unproven: None, measured, relative_gap: 0.0, converged })
            };
            FoldErrors { weight, at: scores.iter().zip(converged).map(at).collect() }
        };
        let folds: Vec<FoldErrors> = (0..signs.len()).map(fold).collect();
        let mut curve = summarize(Measure::Error, lambdas, &folds);
        curve.include(fits);
        Ok(curve)
    }

    /// Returns the curve of the errors of folds along lambdas, largest first.
    ///
    /// # Panics
    /// The function panics unless every fold has an entry per lambda.
    pub fn of_folds(measure: Measure, lambdas: Vec<Lambda>, folds: &[FoldErrors]) -> Self {
        assert!(folds.iter().all(|fold| fold.at.len() == lambdas.len()), "one entry per lambda");
        summarize(measure, lambdas, folds)
    }

    /// Returns the index of the best mean of the measure among the lambdas for which `counts` is true,
    /// and that of the largest lambda within one standard error of it; `None` if no lambda counts. Of
    /// equal means the one with the smallest log-loss is best, and of these the largest lambda.
    pub fn choose(&self, counts: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let value = |k: usize| self.rank(k).0;
        let counted = (0..self.lambdas.len()).filter(|&k| counts(k) && !value(k).is_nan());
        let better = |best, k| if self.rank(k) < self.rank(best) { k } else { best };
        let best = counted.clone().reduce(better)?;
        let bound = value(best) + self.measure_standard_error[best];
        let near = counted.into_iter().find(|&k| value(k) <= bound).unwrap_or(best);
        Some((best, near))
    }

    /// Returns numbers that are the smaller, in their order, the better the lambda at an index is: the
    /// mean of the measure, or its negative if larger is better, and the mean log-loss, infinite if it
    /// is unknown.
    pub fn rank(&self, k: usize) -> (f64, f64) {
        let sign = if self.measure.larger_is_better() { -1.0 } else { 1.0 };
        (sign * self.mean_measure[k], self.mean_log_loss[k].unwrap_or(f64::INFINITY))
    }

    /// Marks the lambdas for which time or the path was too short as not reached and not certified, and chooses among
    /// the others.
    pub fn leave_out(&mut self, is_beyond: impl Fn(usize) -> bool) {
        for k in (0..self.lambdas.len()).filter(|&k| is_beyond(k)) {
            (self.reached[k], self.certified[k]) = (false, false);
            (self.worst_relative_gap[k], self.unproven[k]) = (f64::INFINITY, None);
        }
        self.select();
    }

    /// Chooses among the lambdas that are reached and not abandoned.
    fn select(&mut self) {
        let chosen = self.choose(|k| self.reached[k] && !self.abandoned[k]);
        (self.best, self.one_standard_error) = chosen.unwrap_or_default();
    }

    /// Takes the fits on all of the data, one per lambda, into the gaps.
    pub(super) fn include(&mut self, fits: &[Fit]) {
        for (k, fit) in fits.iter().enumerate() {
            // Gaps are never NaN: without a bound they are infinite.
            self.worst_relative_gap[k] = self.worst_relative_gap[k].max(fit.report.relative_gap);
            self.certified[k] &= fit.report.converged();
        }
    }
}

/// Returns the first index of the smallest value among those that count.
pub(super) fn least(values: &[f64], counts: impl Fn(usize) -> bool) -> usize {
    let mut at = (0..values.len()).filter(|&k| counts(k));
    let first = at.next().unwrap_or(0);
    at.fold(first, |best, k| if values[k] < values[best] { k } else { best })
}

/// Returns the mean of values, each with a weight, and its standard error.
fn mean_of(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let total = values.clone().map(|(weight, _)| weight).sum::<f64>();
    let mean = values.clone().map(|(weight, value)| weight * value).sum::<f64>() / total;
    let square = |(weight, value): (f64, f64)| weight * (value - mean).powi(2);
    let count = values.clone().count() as f64;
    (mean, (values.map(square).sum::<f64>() / total / (count - 1.0)).sqrt())
}

fn summarize(measure: Measure, lambdas: Vec<Lambda>, folds: &[FoldErrors]) -> ErrorCurve {
    let fitted = |k: usize| folds.iter().filter_map(move |fold| Some((fold, fold.at[k].as_ref()?)));
    let all = 0..lambdas.len();
    let error = |k: usize| mean_of(fitted(k).map(|(fold, at)| (fold.weight, at.error)));
    let (mean_error, standard_error) = all.clone().map(error).unzip();
    let value = |k: usize| match measure {
        Measure::Error => error(k),
        _ => mean_of(fitted(k).filter_map(|(fold, at)| Some((fold.weight, at.measured.value?)))),
    };
    let (mean_measure, measure_standard_error) = all.clone().map(value).unzip();
    // `None` where a fold lacks it.
    let mean = |k: usize, of: &dyn Fn(&FoldError) -> Option<f64>| {
        let total = fitted(k).map(|(fold, _)| fold.weight).sum::<f64>();
        let sum = fitted(k).map(|(fold, at)| Some(fold.weight * of(at)?)).sum::<Option<f64>>()?;
        Some(sum / total)
    };
    let mut curve = ErrorCurve {
        mean_error,
        standard_error,
        measure,
        mean_measure,
        measure_standard_error,
        mean_log_loss: all.clone().map(|k| mean(k, &|at| at.measured.log_loss)).collect(),
        unproven: all.clone().map(|k| mean(k, &|at| at.unproven)).collect(),
        worst_relative_gap: (all.clone())
            .map(|k| fitted(k).map(|(_, at)| at.relative_gap).fold(0.0, f64::max))
            .collect(),
        certified: all.clone().map(|k| fitted(k).all(|(_, at)| at.converged)).collect(),
        reached: vec![true; lambdas.len()],
        abandoned: all.map(|k| folds.iter().any(|fold| fold.at[k].is_none())).collect(),
        lambdas,
        best: 0,
        one_standard_error: 0,
    };
    curve.select();
    curve
}

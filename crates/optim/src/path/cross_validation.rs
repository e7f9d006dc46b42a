use std::ops::Range;

use margins_data::metrics::{MistakeTally, is_mistake};
use margins_data::{ClassLabels, Dataset, parallel};
use margins_losses::MarginLoss;

use super::held_out::HeldOut;
use crate::{Error, Fit, Lambda, Observed, Report, Training};

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

/// The cross-validated error along a lambda path.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorCurve {
    /// Lambdas, largest first; the other vectors run along them.
    pub lambdas: Vec<Lambda>,
    /// The share of held-out samples misclassified, by weight.
    pub mean_error: Vec<f64>,
    /// The standard error of the mean over the folds.
    pub standard_error: Vec<f64>,
    /// The largest relative duality gap of the fits.
    pub worst_relative_gap: Vec<f64>,
    /// True if all fits converged.
    pub certified: Vec<bool>,
    /// True if cross-validation gave the lambda up after the first folds, as
    /// [`Training::abandon_hopeless`] allows. The errors then come from these folds alone, and no
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
        let held_out = |i: usize| Fold {
            weights: vec![data.weights().map_or(1.0, |weights| weights[i])],
            at: (scores.iter().zip(converged))
                .map(|(scores, &converged)| HeldOut {
                    wrong: vec![is_mistake(scores[i], signs[i])],
                    relative_gap: 0.0,
                    converged,
                    cut_short: false,
                })
                .map(Some)
                .collect(),
        };
        let mut curve = summarize(lambdas, &(0..signs.len()).map(held_out).collect::<Vec<_>>());
        curve.include(fits);
        Ok(curve)
    }

    /// Takes the fits on all of the data, one a lambda, into the gaps.
    fn include<F: Fitted>(&mut self, fits: &[F]) {
        for (k, fit) in fits.iter().enumerate() {
            // Gaps are never NaN: without a bound they are infinite.
            self.worst_relative_gap[k] = self.worst_relative_gap[k].max(fit.report().relative_gap);
            self.certified[k] &= fit.report().converged();
        }
    }
}

/// A cross-validated path and the path on all of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The errors, with the gaps of the fits of all folds and of the fit on all data.
    pub curve: ErrorCurve,
    /// The fits on all of the data.
    pub fits: Vec<Fit>,
}

/// Returns the cross-validated error and the path on all rows: one path a fold on the rows outside
/// it, and one on all rows, [in parallel](margins_data::parallel). The result does not depend on
/// the number of threads.
///
/// `folds[i]` is the fold of row i, counted from 0. The encoding of raw tables, standard deviations
/// of features and weights of classes are learned from the training rows alone; held-out errors
/// count the weights of the data set but not those of the classes. The mean weighs folds by their
/// size, the standard error is that of the weighted mean of K fold errors, as is usual for lambda
/// paths.
///
/// # Errors
/// The folds are not one a row, are fewer than two, are empty, or hold all rows of a class. The
/// errors of [`Training::path`].
pub fn cross_validate<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
) -> Result<CrossValidation, Error> {
    check_folds(data, folds)?;
    // The path on all rows is the largest task and goes first.
    let (fits, curve) = parallel::join(
        || training.path(data, lambdas),
        || {
            error_curve(training, data, folds, lambdas, |training, rows, held_out, lambdas| {
                let data = data.learned_on(rows)?;
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

/// Returns the cross-validated error of any solver: `solve(training, rows, held_out, lambdas)`
/// returns a path on these rows with the scores that each of its fits gives to the rows held out.
/// Its `training` is the one given, but that observers are told the fold. Folds run [in
/// parallel](margins_data::parallel); errors are pooled like those of [`cross_validate`].
///
/// If [`abandon_hopeless`](Training::abandon_hopeless) is set, the later half of the folds goes
/// without the lambdas that the earlier half, of two folds at least, has shown to be hopeless.
/// Compared with the lambda of the least error so far, these are wrong on so many more of the
/// samples that only one of the two gets right, that a fair coin would be four standard deviations
/// off.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`.
pub fn error_curve<L: MarginLoss + ?Sized, F: Fitted, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
    solve: impl Fn(
        &Training<'_, L>,
        &[usize],
        &[usize],
        &[Lambda],
    ) -> Result<(Vec<F>, Vec<Vec<f64>>), E>
    + Sync,
) -> Result<ErrorCurve, E> {
    held_out_curve(training, data, folds, lambdas, |rows, test, lambdas| {
        let observer = |made: &Observed<'_>| (training.observer)(&made.without(folds[test[0]]));
        let training = &Training { observer: &observer, ..*training };
        let (fits, scores) = solve(training, rows, test, lambdas)?;
        scores.iter().try_for_each(|scores| Error::check_scores(scores, test.iter().copied()))?;
        let signs = data.labels().signs();
        let wrong = |scores: &Vec<f64>| {
            let pairs = scores.iter().zip(test);
            pairs.map(|(&score, &i)| is_mistake(score, signs[i])).collect()
        };
        let at = |(fit, scores): (&F, &Vec<f64>)| HeldOut::new(wrong(scores), &[fit.report()]);
        Ok(fits.iter().zip(&scores).map(at).collect())
    })
}

/// Returns the cross-validated error of any classifier of any number of classes:
/// `solve(rows, held_out, lambdas)` learns from the rows and returns the outcome of the rows held
/// out at each lambda. All else is done like in [`error_curve`]; of the training only
/// [`abandon_hopeless`](Training::abandon_hopeless) and [`finished`](Training::finished) count.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`, and of [`FinishedFolds::keep`](crate::FinishedFolds::keep).
pub fn held_out_curve<L: MarginLoss + ?Sized, Y: ClassLabels, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset<Y>,
    folds: &[usize],
    lambdas: &[Lambda],
    solve: impl Fn(&[usize], &[usize], &[Lambda]) -> Result<Vec<HeldOut>, E> + Sync,
) -> Result<ErrorCurve, E> {
    let count = check_folds(data, folds)?;
    let lambdas = Lambda::descending(lambdas)?;
    let finished = training.finished;
    let solve = |fold: usize, rows: &[usize], test: &[usize], lambdas: &[Lambda]| {
        let fits_here = |found: &Vec<HeldOut>| {
            found.len() == lambdas.len() && found.iter().all(|at| at.wrong.len() == test.len())
        };
        let found = finished.and_then(|finished| finished.find(fold, lambdas)).filter(fits_here);
        if let Some(found) = found {
            return Ok(found);
        }
        let made = solve(rows, test, lambdas)?;
        if let Some(finished) = finished.filter(|_| !made.iter().any(|at| at.cut_short)) {
            finished.keep(fold, lambdas, &made)?;
        }
        Ok::<_, E>(made)
    };
    let first = if training.abandon_hopeless { count.div_ceil(2).max(2) } else { count };
    let hold_out_each = |some: Range<usize>, of: &[usize]| -> Result<Vec<Fold>, E> {
        let chosen: Vec<Lambda> = of.iter().map(|&k| lambdas[k]).collect();
        parallel::try_map(some, |fold| {
            let (test, rest) = split_at(data, folds, fold)?;
            let at = solve(fold, &rest, &test, &chosen)?.into_iter().map(Some).collect();
            let weight_of = |&i: &usize| data.weights().map_or(1.0, |weights| weights[i]);
            let weights = test.iter().map(weight_of).collect();
            Ok(Fold { weights, at }.spread_over(lambdas.len(), of))
        })
    };
    let mut of: Vec<usize> = (0..lambdas.len()).collect();
    let mut held_out = hold_out_each(0..first, &of)?;
    if first < count {
        let hopeless = hopeless(&held_out, lambdas.len());
        of.retain(|&k| !hopeless[k]);
        held_out.extend(hold_out_each(first..count, &of)?);
    }
    Ok(summarize(lambdas, &held_out))
}

/// Returns true for every lambda that is wrong on far more of the weight than the one of the least
/// error: the difference is a sum over the samples on which the two disagree, each of which counts
/// its weight to either side.
fn hopeless(folds: &[Fold], count: usize) -> Vec<bool> {
    const DEVIATIONS: f64 = 4.0;
    let errors = |k: usize| -> f64 { folds.iter().map(|fold| fold.weight() * fold.error(k)).sum() };
    let errors: Vec<f64> = (0..count).map(errors).collect();
    let best = least(&errors, |_| true);
    (0..count)
        .map(|k| {
            let (mut difference, mut square) = (0.0, 0.0f64);
            for fold in folds {
                let (Some(here), Some(there)) = (&fold.at[k], &fold.at[best]) else { continue };
                let pairs = here.wrong.iter().zip(&there.wrong).zip(&fold.weights);
                for ((here, _), weight) in pairs.filter(|((here, there), _)| here != there) {
                    difference += if *here { *weight } else { -weight };
                    square += weight * weight;
                }
            }
            difference > DEVIATIONS * square.sqrt()
        })
        .collect()
}

/// Returns the first index of the least value among those that count.
fn least(values: &[f64], counts: impl Fn(usize) -> bool) -> usize {
    let mut at = (0..values.len()).filter(|&k| counts(k));
    let first = at.next().unwrap_or(0);
    at.fold(first, |best, k| if values[k] < values[best] { k } else { best })
}

/// Returns the rows outside every fold.
///
/// # Errors
/// The folds are refused for the reasons of [`cross_validate`].
pub fn training_rows(data: &Dataset, folds: &[usize]) -> Result<Vec<Vec<usize>>, Error> {
    let count = check_folds(data, folds)?;
    (0..count).map(|fold| Ok(split_at(data, folds, fold)?.1)).collect()
}

/// Returns the rows of a fold, and the others.
fn split_at<Y: ClassLabels>(
    data: &Dataset<Y>,
    folds: &[usize],
    fold: usize,
) -> Result<(Vec<usize>, Vec<usize>), Error> {
    let (test, rest): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
    let labels = data.labels();
    let counts = |i: usize| data.weights().is_none_or(|weights| weights[i] > 0.0);
    let mut trained = vec![false; labels.names().len()];
    rest.iter().filter(|&&i| counts(i)).for_each(|&i| trained[labels.index(i)] = true);
    match trained.iter().rposition(|trained| !trained) {
        Some(class) => Err(Error::Fold { fold, class: labels.names()[class].clone() }),
        None => Ok((test, rest)),
    }
}

/// Returns the number of folds, given one fold a row of the data.
fn check_folds<Y: ClassLabels>(data: &Dataset<Y>, folds: &[usize]) -> Result<usize, Error> {
    if folds.len() != data.rows() {
        return Err(Error::Shape {
            what: "folds, one a row",
            expected: data.rows(),
            found: folds.len(),
        });
    }
    count_folds(folds)
}

/// Returns the number of folds, each of which has rows.
fn count_folds(folds: &[usize]) -> Result<usize, Error> {
    let last = folds.iter().copied().max().unwrap_or(0);
    let mut seen = vec![false; folds.len()];
    // A number beyond the rows leaves a gap among the smaller ones.
    for &fold in folds.iter().filter(|&&fold| fold < folds.len()) {
        seen[fold] = true;
    }
    if let Some(empty) = seen.iter().take(last).position(|seen| !seen) {
        return Err(Error::EmptyFold(empty));
    }
    if last == 0 { Err(Error::TooFewFolds(1)) } else { Ok(last + 1) }
}

/// One fold along the path.
struct Fold {
    /// The weights of the samples held out.
    weights: Vec<f64>,
    /// The outcome of the samples held out at each lambda; `None` where it was not fitted.
    at: Vec<Option<HeldOut>>,
}

impl Fold {
    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns the share of the samples misclassified, by weight; 0 where none has any.
    fn error(&self, k: usize) -> f64 {
        let mut tally = MistakeTally::default();
        let wrong = self.at[k].iter().flat_map(|at| &at.wrong);
        self.weights.iter().zip(wrong).for_each(|(&weight, &wrong)| tally.add(wrong, weight));
        tally.rate().unwrap_or(0.0)
    }

    /// Returns the outcomes among `count` lambdas, of which those at the indices given were fitted.
    fn spread_over(self, count: usize, indices: &[usize]) -> Self {
        let mut at: Vec<Option<HeldOut>> = (0..count).map(|_| None).collect();
        for (&k, result) in indices.iter().zip(self.at) {
            at[k] = result;
        }
        Fold { at, ..self }
    }
}

fn summarize(lambdas: Vec<Lambda>, folds: &[Fold]) -> ErrorCurve {
    let fitted = |k: usize| folds.iter().filter(move |fold| fold.at[k].is_some());
    let along = |at: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..lambdas.len()).map(at).collect() };
    let total = |k: usize| fitted(k).map(Fold::weight).sum::<f64>();
    let mean_error =
        along(&|k| fitted(k).map(|fold| fold.weight() * fold.error(k)).sum::<f64>() / total(k));
    let standard_error = along(&|k| {
        let square = |fold: &Fold| fold.weight() * (fold.error(k) - mean_error[k]).powi(2);
        (fitted(k).map(square).sum::<f64>() / total(k) / (fitted(k).count() as f64 - 1.0)).sqrt()
    });
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
        worst_relative_gap,
        certified,
        abandoned,
        best,
        one_standard_error,
    }
}

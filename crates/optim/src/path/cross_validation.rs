use std::ops::Range;

use margins_data::metrics::{MistakeTally, is_mistake};
use margins_data::{ClassLabels, Dataset, Design, parallel};
use margins_losses::MarginLoss;

use super::error_curve::{ErrorCurve, Fitted, FoldError, FoldErrors, least};
use super::held_out::HeldOut;
use super::sensitivity::Sensitivity;
use crate::{Error, Fit, Lambda, Observed, Training};

/// The fits to the rows outside a fold.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredFold<F> {
    /// The fits, largest lambda first.
    pub fits: Vec<F>,
    /// The scores that each fit gives to the rows held out.
    pub scores: Vec<Vec<f64>>,
    /// How far these scores can move with the functions of the fits.
    pub sensitivity: Sensitivity,
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
    check_room(training, data.design(), folds)?;
    let on_all = || training.path(data, lambdas);
    cross_validate_by(
        training,
        data,
        folds,
        lambdas,
        on_all,
        |training, rows, held_out, lambdas| {
            let data = data.learned_on(rows)?;
            let (chosen, design) = (data.select(rows), data.design().select(held_out));
            let fits = training.path(&chosen, lambdas)?;
            let scores = fits.iter().map(|fit| fit.decision_function(&design)).collect();
            let sensitivity = training.sensitivity(&chosen, &design);
            Ok(ScoredFold { fits, scores, sensitivity })
        },
    )
}

/// Refuses paths in the folds if memory has no room for the copies of the table of those that run at the
/// same time: each makes one of its rows, and others of that.
fn check_room<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    design: &Design,
    folds: &[usize],
) -> Result<(), Error> {
    let paths = folds.iter().max().map_or(1, |last| last.saturating_add(2));
    let copies = 1 + training.copies(design);
    Ok(match paths.min(parallel::threads()) {
        0 | 1 => design.check_fits(1, copies),
        // The path on all rows makes no copy of them.
        several => design.check_fits(several, several.saturating_mul(copies) - 1),
    }?)
}

/// Returns the cross-validated error of any solver, as [`error_curve`] does, and the path on all rows,
/// which `on_all` makes at the same time.
///
/// # Errors
/// The errors of [`error_curve`] and of `on_all`.
pub fn cross_validate_by<L: MarginLoss + ?Sized, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
    on_all: impl FnOnce() -> Result<Vec<Fit>, E> + Send,
    solve: impl Fn(&Training<'_, L>, &[usize], &[usize], &[Lambda]) -> Result<ScoredFold<Fit>, E> + Sync,
) -> Result<CrossValidation, E> {
    check_folds(data, folds)?;
    // The path on all rows is the largest task and goes first.
    let of_folds = || error_curve(training, data, folds, lambdas, &solve);
    let (fits, curve) = parallel::join(on_all, of_folds);
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
/// A fold that begins after the deadline of the options is judged by the largest class of its rows.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`.
pub fn error_curve<L: MarginLoss + ?Sized, F: Fitted, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
    solve: impl Fn(&Training<'_, L>, &[usize], &[usize], &[Lambda]) -> Result<ScoredFold<F>, E> + Sync,
) -> Result<ErrorCurve, E> {
    held_out_curve(training, data, folds, lambdas, |rows, test, lambdas| {
        let observer = |made: &Observed<'_>| (training.observer)(&made.without(folds[test[0]]));
        let training = &Training { observer: &observer, ..*training };
        let ScoredFold { fits, scores, sensitivity } = solve(training, rows, test, lambdas)?;
        scores.iter().try_for_each(|scores| Error::check_scores(scores, test.iter().copied()))?;
        let signs = data.labels().signs();
        let wrong = |scores: &Vec<f64>| {
            let pairs = scores.iter().zip(test);
            pairs.map(|(&score, &i)| is_mistake(score, signs[i])).collect()
        };
        let at = |(fit, scores): (&F, &Vec<f64>)| {
            let unproven = sensitivity.unproven(fit, training.intercept, scores);
            HeldOut::new(wrong(scores), Some(unproven), &[fit.report()])
        };
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
        if training.options.is_late() {
            return Ok(vec![by_largest_class(data, rows, test); lambdas.len()]);
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
    Ok(ErrorCurve::of_folds(lambdas, &held_out.iter().map(Fold::errors).collect::<Vec<_>>()))
}

/// Returns the outcome of the samples held out if every one is taken to be of the largest class of the
/// rows, by weight, as a fit that the deadline ends at once takes them.
fn by_largest_class<Y: ClassLabels>(data: &Dataset<Y>, rows: &[usize], test: &[usize]) -> HeldOut {
    let labels = data.labels();
    let mut weights = vec![0.0; labels.names().len()];
    let weight_of = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    rows.iter().for_each(|&i| weights[labels.index(i)] += weight_of(i));
    let largest = least(&weights.iter().map(|weight| -weight).collect::<Vec<_>>(), |_| true);
    HeldOut {
        wrong: test.iter().map(|&i| labels.index(i) != largest).collect(),
        unproven: None,
        relative_gap: f64::INFINITY,
        converged: false,
        cut_short: true,
    }
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
    // A class without any weight is missing from no training set.
    let held = test.iter().filter(|&&i| counts(i)).map(|&i| labels.index(i));
    match held.filter(|&class| !trained[class]).max() {
        Some(class) => {
            let own = data.fold_names().filter(|_| data.folds() == Some(folds));
            let fold = own.map_or_else(|| fold.to_string(), |names| names[fold].clone());
            Err(Error::Fold { fold, class: labels.names()[class].clone() })
        }
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
        return Err(Error::EmptyFold(empty.to_string()));
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
        self.at[k].as_ref().map_or(0.0, |at| self.share(&at.wrong))
    }

    /// Returns the share of the samples held out for which this is true, by weight; 0 where none has
    /// any.
    fn share(&self, is_true: &[bool]) -> f64 {
        let mut tally = MistakeTally::default();
        self.weights.iter().zip(is_true).for_each(|(&weight, &is_true)| tally.add(is_true, weight));
        tally.rate().unwrap_or(0.0)
    }

    /// Returns what the curve needs of the fold.
    fn errors(&self) -> FoldErrors {
        let at = |at: &Option<HeldOut>| {
            let HeldOut { wrong, unproven, relative_gap, converged, .. } = at.as_ref()?;
            Some(FoldError {
                error: self.share(wrong),
                unproven: unproven.as_ref().map(|unproven| self.share(unproven)),
                relative_gap: *relative_gap,
                converged: *converged,
            })
        };
        FoldErrors { weight: self.weight(), at: self.at.iter().map(at).collect() }
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

//! Cross-validation of paths in memory.

use std::ops::Range;
use std::time::Instant;

use margins_data::split::{Split, Splits};
use margins_data::{ClassLabels, Dataset, Design, parallel};
use margins_losses::MarginLoss;

use super::error_curve::{ErrorCurve, FoldErrors, PathFit, least};
use super::fold::{Fold, hopeless};
use super::held_out::{FoldOutcome, Measured};
use super::judge::Judge;
use super::sensitivity::Sensitivity;
use super::splits::{check_splits, check_training};
use super::time_shares::TimeShares;
use crate::{Error, Fit, Lambda, Observed, Options, Training};

/// The rows of a fold.
#[derive(Debug, Clone, Copy)]
pub struct FoldRows<'a> {
    /// The index of the fold.
    pub fold: usize,
    /// The rows to fit to.
    pub rows: &'a [usize],
    /// The rows held out.
    pub held_out: &'a [usize],
}

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
pub struct CrossValidatedPath {
    /// The errors, with the gaps of the fits of all folds and of the fit on all data.
    pub curve: ErrorCurve,
    /// The fits on all of the data; none if the deadline of the options came before them.
    pub fits: Vec<Fit>,
}

/// Returns the cross-validated error and the path on all rows: one path a fold on the rows outside
/// it, and one on all rows, [in parallel](margins_data::parallel). The result does not depend on
/// the number of threads. If there is a deadline, the path on all rows comes after the folds.
///
/// `splits` are the fold of every row, counted from 0, or any [`Splits`]. The encoding of raw tables,
/// standard deviations of features and weights of classes are learned from the training rows alone;
/// held-out errors count the weights of the data set but not those of the classes. The mean weighs
/// folds by their size, the standard error is that of the weighted mean of K fold errors, as is usual
/// for lambda paths.
///
/// # Errors
/// The folds are not one a row, are fewer than two, are empty, or hold all rows of a class. The
/// errors of [`Training::path`].
pub fn cross_validate<'s, L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    data: &Dataset,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
) -> Result<CrossValidatedPath, Error> {
    let splits = splits.into();
    check_room(training, data.design(), splits)?;
    let on_all = || training.path(data, lambdas);
    cross_validate_by(training, data, splits, lambdas, on_all, |training, fold, lambdas| {
        let data = data.learned_on(fold.rows)?;
        let (chosen, design) = (data.select(fold.rows), data.design().select(fold.held_out));
        let fits = training.path(&chosen, lambdas)?;
        let scores = fits.iter().map(|fit| fit.decision_function(&design)).collect();
        let sensitivity = training.sensitivity(&chosen, &design);
        Ok(ScoredFold { fits, scores, sensitivity })
    })
}

/// Returns an error if the paths of the folds that run at the same time do not fit in memory: each
/// copies its rows of the table, and its fits copy that again.
fn check_room<L: MarginLoss + ?Sized>(
    training: &Training<'_, L>,
    design: &Design,
    splits: Splits<'_>,
) -> Result<(), Error> {
    let paths = splits.count().saturating_add(1);
    let copies = 1 + training.copies(design);
    let squares = training.options.solver.squares(design.rows(), design.columns());
    Ok(match paths.min(parallel::threads()) {
        0 | 1 => design.check_fits(1, copies, squares),
        // The path on all rows makes no copy of them.
        several => design.check_fits(several, several.saturating_mul(copies) - 1, squares),
    }?)
}

/// Returns the cross-validated error of any solver, as [`error_curve`] does, and the path on all rows
/// by `on_all`: at the same time, or after the folds if there is a deadline, unless it has passed.
///
/// # Errors
/// The errors of [`error_curve`] and of `on_all`.
pub fn cross_validate_by<'s, L: MarginLoss + ?Sized, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
    on_all: impl FnOnce() -> Result<Vec<Fit>, E> + Send,
    solve: impl Fn(&Training<'_, L>, FoldRows<'_>, &[Lambda]) -> Result<ScoredFold<Fit>, E> + Sync,
) -> Result<CrossValidatedPath, E> {
    let splits = splits.into();
    check_training(data, splits)?;
    let of_folds = || error_curve(training, data, splits, lambdas, &solve);
    let options = &training.options;
    let (mut curve, fits) = if options.deadline.is_some() {
        let curve = of_folds()?;
        (curve, if options.is_late() { Vec::new() } else { on_all()? })
    } else {
        // The path on all rows is the largest task and goes first.
        let (fits, curve) = parallel::join(on_all, of_folds);
        (curve?, fits?)
    };
    if !options.is_late() {
        curve.include(&fits);
    }
    Ok(CrossValidatedPath { curve, fits })
}

/// Returns the cross-validated error of any solver: `solve(training, fold, lambdas)` returns a path on
/// the rows of the fold with the scores that each of its fits gives to the rows held out.
/// Its `training` is the one given, with an observer that knows the fold and the deadline of the
/// fold. Folds run [in parallel](margins_data::parallel); errors are pooled like those of
/// [`cross_validate`].
///
/// If [`abandon_hopeless`](Training::abandon_hopeless) is set, the later half of the folds goes
/// without the lambdas that the earlier half, of two folds at least, has shown to be hopeless.
/// A lambda is hopeless if, among the samples that only one of it and the best lambda so far gets
/// right, it is wrong on more than a fair coin would be at four standard deviations.
///
/// Folds [share the time](crate::path::TimeShares) until the deadline of the options, so that one that ends
/// the search early finds about as many lambdas solved in every fold. Where a fold has left time, folds
/// that were cut short go on. A fold that begins after the deadline is judged by the largest class of
/// its rows.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`.
pub fn error_curve<'s, L: MarginLoss + ?Sized, F: PathFit, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
    solve: impl Fn(&Training<'_, L>, FoldRows<'_>, &[Lambda]) -> Result<ScoredFold<F>, E> + Sync,
) -> Result<ErrorCurve, E> {
    let splits = splits.into();
    check_training(data, splits)?;
    held_out_curve(training, data, splits, lambdas, |fold, lambdas, deadline| {
        let observer = |made: &Observed<'_>| (training.observer)(&made.without(fold.fold));
        let options = Options { deadline, ..training.options };
        let training = &Training { observer: &observer, options, ..*training };
        let ScoredFold { fits, scores, sensitivity } = solve(training, fold, lambdas)?;
        let held_out = fold.held_out;
        scores.iter().try_for_each(|of| Error::check_scores(of, held_out.iter().copied()))?;
        let judge = Judge::new(training, data, held_out);
        let at = |(fit, scores): (&F, &Vec<f64>)| {
            let unproven = sensitivity.unproven(fit, training.intercept, scores);
            let (wrong, measured) = judge.judge(scores);
            FoldOutcome::new(wrong, Some(unproven), measured, &[fit.report()])
        };
        Ok(fits.iter().zip(&scores).map(at).collect())
    })
}

/// Returns the cross-validated error of any classifier of any number of classes:
/// `solve(fold, lambdas, deadline)` learns from the rows of the fold and returns the outcome of the rows
/// held out at each lambda, or none at all if the deadline left no time for a classifier. It may learn
/// from rows that lack a class. All else is done like in [`error_curve`]; of the training only
/// [`abandon_hopeless`](Training::abandon_hopeless), [`measure`](Training::measure),
/// [`finished`](Training::finished) and the deadline count.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`, and of [`FinishedFolds::keep`](crate::FinishedFolds::keep).
pub fn held_out_curve<'s, L: MarginLoss + ?Sized, Y: ClassLabels, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset<Y>,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
    solve: impl Fn(FoldRows<'_>, &[Lambda], Option<Instant>) -> Result<Vec<FoldOutcome>, E> + Sync,
) -> Result<ErrorCurve, E> {
    let splits = splits.into();
    let count = check_splits(data, splits)?;
    let lambdas = Lambda::descending(lambdas)?;
    let Training { finished, abandon_hopeless, options, .. } = *training;
    // The outcomes in a fold at the lambdas of these indices.
    let judge = |fold: usize, at: &[usize], shares: &TimeShares| -> Result<Vec<FoldOutcome>, E> {
        let Split { train: rows, test } = splits.get(fold);
        let lambdas: Vec<Lambda> = at.iter().map(|&k| lambdas[k]).collect();
        let fits_here = |found: &Vec<FoldOutcome>| {
            found.len() == lambdas.len() && found.iter().all(|at| at.wrong.len() == test.len())
        };
        let found = finished.and_then(|finished| finished.find(fold, &lambdas)).filter(fits_here);
        if let Some(found) = found {
            return Ok(found);
        }
        let deadline = shares.begin();
        let made = match options.is_late() {
            true => Vec::new(),
            false => solve(FoldRows { fold, rows: &rows, held_out: &test }, &lambdas, deadline)?,
        };
        if made.is_empty() {
            return Ok(vec![by_largest_class(data, &rows, &test); lambdas.len()]);
        }
        if let Some(finished) = finished.filter(|_| !made.iter().any(|at| at.cut_short)) {
            finished.keep(fold, &lambdas, &made)?;
        }
        Ok(made)
    };
    let shares = TimeShares::new(options.deadline, count);
    let hold_out_each = |some: Range<usize>, at: &[usize]| -> Result<Vec<Fold>, E> {
        parallel::try_map_large(some, |fold| {
            let mut held_out = Fold::new(data, &splits.get(fold).test, lambdas.len());
            held_out.set(at, judge(fold, at, &shares)?);
            Ok(held_out)
        })
    };
    let first = if abandon_hopeless { count.div_ceil(2).max(2) } else { count };
    let mut at: Vec<usize> = (0..lambdas.len()).collect();
    let mut held_out = hold_out_each(0..first, &at)?;
    if first < count {
        let hopeless = hopeless(&held_out, lambdas.len());
        at.retain(|&k| !hopeless[k]);
        held_out.extend(hold_out_each(first..count, &at)?);
    }
    go_on(&mut held_out, &options, judge)?;
    let errors: Vec<FoldErrors> = held_out.iter().map(Fold::errors).collect();
    Ok(ErrorCurve::of_folds(training.measure, lambdas, &errors))
}

/// Judges folds that the deadline has cut short at the lambdas that they lack, as long as there is
/// time and that leads on.
fn go_on<E: Send>(
    held_out: &mut [Fold],
    options: &Options<'_>,
    judge: impl Fn(usize, &[usize], &TimeShares) -> Result<Vec<FoldOutcome>, E> + Sync,
) -> Result<(), E> {
    let mut leads_on = options.deadline.is_some();
    while leads_on && !options.is_late() {
        let lacking = |(fold, held_out): (usize, &Fold)| Some((fold, held_out.cut_short()?));
        let cut: Vec<(usize, Vec<usize>)> =
            held_out.iter().enumerate().filter_map(lacking).collect();
        let shares = TimeShares::new(options.deadline, cut.len());
        let made = parallel::try_map_large(0..cut.len(), |k| judge(cut[k].0, &cut[k].1, &shares))?;
        leads_on = made.iter().any(|made| made.first().is_some_and(|first| !first.cut_short));
        for ((fold, at), made) in cut.into_iter().zip(made) {
            held_out[fold].set(&at, made);
        }
    }
    Ok(())
}

/// Returns the outcome of the samples held out if every one is taken to be of the largest class of the
/// rows, by weight, as a fit that the deadline ends at once takes them.
fn by_largest_class<Y: ClassLabels>(
    data: &Dataset<Y>,
    rows: &[usize],
    test: &[usize],
) -> FoldOutcome {
    let labels = data.labels();
    let mut weights = vec![0.0; labels.names().len()];
    let weight_of = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
    rows.iter().for_each(|&i| weights[labels.index(i)] += weight_of(i));
    let largest = least(&weights.iter().map(|weight| -weight).collect::<Vec<_>>(), |_| true);
    FoldOutcome {
        wrong: test.iter().map(|&i| labels.index(i) != largest).collect(),
        unproven: None,
        measured: Measured::default(),
        relative_gap: f64::INFINITY,
        converged: false,
        cut_short: true,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use margins_data::{Dataset, Design, Labels};
    use margins_losses::Logistic;

    use super::{FoldRows, held_out_curve};
    use crate::path::Measured;
    use crate::{Error, FoldOutcome, Options, Training, lambda_grid};

    /// Fits that take some time each leave a search with lambdas that are certified in all folds when
    /// the deadline comes, and all of them where it does not.
    #[test]
    fn a_deadline_leaves_lambdas_that_are_certified_in_all_folds() {
        const FOLDS: usize = 5;
        const STEP: Duration = Duration::from_millis(4);
        let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i)]).collect();
        let signs = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let data = Dataset::new(design, Labels::from_signs(signs).expect("two")).expect("fits");
        let folds: Vec<usize> = (0..20).map(|i| i / 2 % FOLDS).collect();
        let lambdas = lambda_grid(1.0, 1e-3, 100).expect("a grid");
        let certified = |limit: Duration| {
            let options = Options { deadline: Some(Instant::now() + limit), ..Options::default() };
            let training = Training { options, ..Training::new(&Logistic) };
            let solve = |fold: FoldRows<'_>, lambdas: &[_], deadline: Option<Instant>| {
                let at = |_| {
                    let cut_short = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if !cut_short {
                        std::thread::sleep(STEP);
                    }
                    let (wrong, converged) = (vec![false; fold.held_out.len()], !cut_short);
                    let measured = Measured::default();
                    FoldOutcome {
                        wrong,
                        unproven: None,
                        measured,
                        relative_gap: 0.0,
                        converged,
                        cut_short,
                    }
                };
                Ok::<_, Error>(lambdas.iter().map(at).collect())
            };
            let curve = held_out_curve(&training, &data, &folds, &lambdas, solve).expect("solved");
            curve.certified.iter().filter(|&&certified| certified).count()
        };
        let few = certified(FOLDS as u32 * 10 * STEP);
        assert!((1..100).contains(&few), "{few}");
        assert_eq!(certified(Duration::from_secs(3600)), 100);
    }
}

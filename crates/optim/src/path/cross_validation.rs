//! Cross-validation of paths in memory.

use std::time::Instant;

use margins_data::split::{Split, Splits};
use margins_data::{ClassLabels, Dataset, Design, parallel};
use margins_losses::MarginLoss;

use super::error_curve::ErrorCurve;
use super::fold::Fold;
use super::folds::{Pace, curve_of_folds};
use super::held_out::FoldOutcome;
use super::judge::Judge;
use super::rounds::Round;
use super::sensitivity::Sensitivity;
use super::splits::{check_splits, check_training};
use crate::problem::PenaltyFactors;
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
pub struct ScoredFold {
    /// The fits, largest lambda first.
    pub fits: Vec<Fit>,
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
    /// The fits on all of the data, up to the end of a path that ends before; none if the deadline of the
    /// options came before them.
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
/// The folds are not one per row, are fewer than two, are empty, or hold all rows of a class. The
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
        let sensitivity = training.sensitivity(&chosen, &design)?;
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
    solve: impl Fn(&Training<'_, L>, FoldRows<'_>, &[Lambda]) -> Result<ScoredFold, E> + Sync,
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
    if options.solver.ends_paths() {
        curve.leave_out(|k| k >= fits.len());
    }
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
/// If the options have a deadline, folds advance in [rounds](crate::path::Rounds): lambdas that are not
/// solved in every fold by then are not [reached](ErrorCurve::reached).
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`.
pub fn error_curve<'s, L: MarginLoss + ?Sized, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    splits: impl Into<Splits<'s>>,
    lambdas: &[Lambda],
    solve: impl Fn(&Training<'_, L>, FoldRows<'_>, &[Lambda]) -> Result<ScoredFold, E> + Sync,
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
        // Without a penalty a gap does not bound how far coefficients are from those of the minimum.
        let is_known = !training.penalty.is_some_and(PenaltyFactors::has_free);
        let at = |(fit, scores): (&Fit, &Vec<f64>)| {
            let unproven = is_known.then(|| sensitivity.unproven(fit, training.intercept, scores));
            let (wrong, measured) = judge.judge(scores);
            FoldOutcome::new(wrong, unproven, measured, &[&fit.report])
        };
        Ok(fits.iter().zip(&scores).map(at).collect())
    })
}

/// Returns the cross-validated error of any classifier of any number of classes:
/// `solve(fold, lambdas, deadline)` learns from the rows of the fold and returns the outcome of the rows
/// held out at each lambda, up to the end of a path that ends before; none at all if the deadline left no
/// time for a classifier. It may learn
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
    // The outcomes in a fold at the lambdas of these indices, or at those that there was time for.
    let judge = |fold: usize, at: &[usize], round: &Round| -> Result<Vec<FoldOutcome>, E> {
        let Split { train: rows, test } = splits.get(fold);
        let lambdas: Vec<Lambda> = at.iter().map(|&k| lambdas[k]).collect();
        let fits_here = |found: &Vec<FoldOutcome>| {
            found.len() == lambdas.len() && found.iter().all(|at| at.wrong.len() == test.len())
        };
        let found = finished.and_then(|finished| finished.find(fold, &lambdas)).filter(fits_here);
        if let Some(found) = found {
            return Ok(found);
        }
        let deadline = round.begin();
        if options.is_late() {
            return Ok(Vec::new());
        }
        let mut made = solve(FoldRows { fold, rows: &rows, held_out: &test }, &lambdas, deadline)?;
        let cut = made.iter().position(|at| at.cut_short);
        if let Some(finished) = finished.filter(|_| cut.is_none()) {
            finished.keep(fold, &lambdas, &made)?;
        }
        if let Some(cut) = cut.filter(|_| options.deadline.is_some()) {
            made.truncate(cut);
        }
        Ok(made)
    };
    let of_fold = |fold| Fold::new(data, &splits.get(fold).test, lambdas.len());
    let folds: Vec<Fold> = (0..count).map(of_fold).collect();
    let (deadline, at_once) = (options.deadline, parallel::threads());
    let pace = Pace { deadline, at_once, abandon_hopeless };
    let measure = training.measure;
    curve_of_folds(measure, lambdas.clone(), folds, pace, |batch| batch.in_parallel(judge))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use margins_data::{Dataset, Design, Labels};
    use margins_losses::Logistic;

    use super::{FoldRows, held_out_curve};
    use crate::path::Measured;
    use crate::{Error, FoldOutcome, Options, Training, lambda_grid};

    /// Fits that take some time, more in some folds than in others, leave a search with the largest
    /// lambdas solved in all folds when the deadline comes, and with all of them where it does not.
    #[test]
    fn a_deadline_leaves_the_largest_lambdas_solved_in_all_folds() {
        const FOLDS: usize = 5;
        const STEP: Duration = Duration::from_millis(2);
        let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i)]).collect();
        let signs = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let data = Dataset::new(design, Labels::from_signs(signs).expect("two")).expect("fits");
        let folds: Vec<usize> = (0..20).map(|i| i / 2 % FOLDS).collect();
        let lambdas = lambda_grid(1.0, 1e-3, 40).expect("a grid");
        let reached = |limit: Duration| {
            let options = Options { deadline: Some(Instant::now() + limit), ..Options::default() };
            let training = Training { options, ..Training::new(&Logistic) };
            let solve = |fold: FoldRows<'_>, lambdas: &[_], deadline: Option<Instant>| {
                let at = |_| {
                    let cut_short = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if !cut_short {
                        std::thread::sleep(STEP * (1 + fold.fold as u32));
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
            assert_eq!(curve.certified, curve.reached);
            assert!(curve.reached[curve.best] && curve.reached.is_sorted_by(|a, b| a >= b));
            curve.reached.iter().filter(|&&reached| reached).count()
        };
        let few = reached(FOLDS as u32 * 30 * STEP);
        assert!((1..40).contains(&few), "{few}");
        assert_eq!(reached(Duration::from_secs(3600)), 40);
    }
}

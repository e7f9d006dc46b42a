use std::ops::Range;
use std::time::Instant;

use margins_data::metrics::is_mistake;
use margins_data::{ClassLabels, Dataset, Design, parallel};
use margins_losses::MarginLoss;

use super::error_curve::{ErrorCurve, Fitted, least};
use super::fold::{Fold, hopeless};
use super::held_out::HeldOut;
use super::sensitivity::Sensitivity;
use super::time_shares::TimeShares;
use crate::{Error, Fit, Lambda, Observed, Options, Training};

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
    /// The fits on all of the data; none if the deadline of the options came before them.
    pub fits: Vec<Fit>,
}

/// Returns the cross-validated error and the path on all rows: one path a fold on the rows outside
/// it, and one on all rows, [in parallel](margins_data::parallel). The result does not depend on
/// the number of threads. If there is a deadline, the path on all rows comes after the folds.
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
    let (copies, squares) = (1 + training.copies(design), training.options.solver.squares(design));
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
pub fn cross_validate_by<L: MarginLoss + ?Sized, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset,
    folds: &[usize],
    lambdas: &[Lambda],
    on_all: impl FnOnce() -> Result<Vec<Fit>, E> + Send,
    solve: impl Fn(&Training<'_, L>, &[usize], &[usize], &[Lambda]) -> Result<ScoredFold<Fit>, E> + Sync,
) -> Result<CrossValidation, E> {
    check_folds(data, folds)?;
    let of_folds = || error_curve(training, data, folds, lambdas, &solve);
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
    Ok(CrossValidation { curve, fits })
}

/// Returns the cross-validated error of any solver: `solve(training, rows, held_out, lambdas)`
/// returns a path on these rows with the scores that each of its fits gives to the rows held out.
/// Its `training` is the one given, with an observer that knows the fold and the deadline of the
/// fold. Folds run [in parallel](margins_data::parallel); errors are pooled like those of
/// [`cross_validate`].
///
/// If [`abandon_hopeless`](Training::abandon_hopeless) is set, the later half of the folds goes
/// without the lambdas that the earlier half, of two folds at least, has shown to be hopeless.
/// Compared with the lambda of the least error so far, these are wrong on so many more of the
/// samples that only one of the two gets right, that a fair coin would be four standard deviations
/// off.
///
/// Folds [share the time](crate::path::TimeShares) until the deadline of the options, so that one that ends
/// the search early finds about as many lambdas solved in every fold. Where a fold has left time, folds
/// that were cut short go on. A fold that begins after the deadline is judged by the largest class of
/// its rows.
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
    held_out_curve(training, data, folds, lambdas, |rows, test, lambdas, deadline| {
        let observer = |made: &Observed<'_>| (training.observer)(&made.without(folds[test[0]]));
        let options = Options { deadline, ..training.options };
        let training = &Training { observer: &observer, options, ..*training };
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
/// `solve(rows, held_out, lambdas, deadline)` learns from the rows and returns the outcome of the rows
/// held out at each lambda, or none at all if the deadline left no time for a classifier. All else is
/// done like in [`error_curve`]; of the training only
/// [`abandon_hopeless`](Training::abandon_hopeless), [`finished`](Training::finished) and the deadline
/// count.
///
/// # Errors
/// The errors of [`cross_validate`] and of `solve`, and of [`FinishedFolds::keep`](crate::FinishedFolds::keep).
pub fn held_out_curve<L: MarginLoss + ?Sized, Y: ClassLabels, E: From<Error> + Send>(
    training: &Training<'_, L>,
    data: &Dataset<Y>,
    folds: &[usize],
    lambdas: &[Lambda],
    solve: impl Fn(&[usize], &[usize], &[Lambda], Option<Instant>) -> Result<Vec<HeldOut>, E> + Sync,
) -> Result<ErrorCurve, E> {
    let count = check_folds(data, folds)?;
    let lambdas = Lambda::descending(lambdas)?;
    let Training { finished, abandon_hopeless, options, .. } = *training;
    // The outcomes in a fold at the lambdas of these indices.
    let judge = |fold: usize, at: &[usize], shares: &TimeShares| -> Result<Vec<HeldOut>, E> {
        let (test, rows) = split_at(data, folds, fold)?;
        let lambdas: Vec<Lambda> = at.iter().map(|&k| lambdas[k]).collect();
        let fits_here = |found: &Vec<HeldOut>| {
            found.len() == lambdas.len() && found.iter().all(|at| at.wrong.len() == test.len())
        };
        let found = finished.and_then(|finished| finished.find(fold, &lambdas)).filter(fits_here);
        if let Some(found) = found {
            return Ok(found);
        }
        let deadline = shares.begin();
        let made = match options.is_late() {
            true => Vec::new(),
            false => solve(&rows, &test, &lambdas, deadline)?,
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
        parallel::try_map(some, |fold| {
            let mut held_out = Fold::new(data, folds, fold, lambdas.len());
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
    Ok(ErrorCurve::of_folds(lambdas, &held_out.iter().map(Fold::errors).collect::<Vec<_>>()))
}

/// Judges folds that the deadline has cut short at the lambdas that they lack, as long as there is
/// time and that leads on.
fn go_on<E: Send>(
    held_out: &mut [Fold],
    options: &Options<'_>,
    judge: impl Fn(usize, &[usize], &TimeShares) -> Result<Vec<HeldOut>, E> + Sync,
) -> Result<(), E> {
    let mut leads_on = options.deadline.is_some();
    while leads_on && !options.is_late() {
        let lacking = |(fold, held_out): (usize, &Fold)| Some((fold, held_out.cut_short()?));
        let cut: Vec<(usize, Vec<usize>)> =
            held_out.iter().enumerate().filter_map(lacking).collect();
        let shares = TimeShares::new(options.deadline, cut.len());
        let made = parallel::try_map(0..cut.len(), |k| judge(cut[k].0, &cut[k].1, &shares))?;
        leads_on = made.iter().any(|made| made.first().is_some_and(|first| !first.cut_short));
        for ((fold, at), made) in cut.into_iter().zip(made) {
            held_out[fold].set(&at, made);
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use margins_data::{Dataset, Design, Labels};
    use margins_losses::Logistic;

    use super::held_out_curve;
    use crate::{Error, HeldOut, Options, Training, lambda_grid};

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
            let solve = |_: &[usize], test: &[usize], lambdas: &[_], deadline: Option<Instant>| {
                let at = |_| {
                    let cut_short = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if !cut_short {
                        std::thread::sleep(STEP);
                    }
                    let (wrong, converged) = (vec![false; test.len()], !cut_short);
                    HeldOut { wrong, unproven: None, relative_gap: 0.0, converged, cut_short }
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

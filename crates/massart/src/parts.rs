//! Learners on samples that are read in parts, such as a file that does not fit in memory.

use std::sync::Arc;

use margins_data::Design;
use margins_data::metrics::HeldOutError;
use margins_optim::method::Limits;
use margins_optim::online::LinearClassifier;

use crate::cuts::{tested, try_search};
use crate::fresh_cuts::{CutPlan, Fresh};
use crate::sgd::{Learned, Plan, SgdRun};
use crate::sphere::is_wrong;
use crate::split::Split;
use crate::{
    CutOptions, Error, LearnedHalfspace, Problem, Projection, Separation, Sphere, SphereSample,
};

/// Samples whose features are read in parts; signs and weights are in memory.
///
/// The learners of such samples draw the rows that those in memory draw. Steps of the stochastic gradient
/// are therefore the same, at the price of a pass over the samples for as many steps as memory holds rows.
pub trait SamplesInParts {
    /// Returns the number of features d.
    fn columns(&self) -> usize;

    /// Returns the signs, +1 or -1, one per row.
    fn signs(&self) -> Arc<[f64]>;

    /// Returns the weights, one per row: finite and at least 0.
    fn weights(&self) -> Arc<[f64]>;

    /// Returns the number of rows that may be in memory at once.
    fn most_rows(&self) -> usize;

    /// Returns the number that all rows are divided by; `None`, unless another one is written, if it
    /// is the norm of each.
    fn divisor(&self) -> Option<f64> {
        None
    }

    /// Returns the features of some rows, which ascend.
    ///
    /// # Errors
    /// A part cannot be read.
    fn select(&mut self, rows: &[usize]) -> Result<Design, Error>;

    /// Shows the features of all rows, part after part, each with the number of its first row.
    ///
    /// # Errors
    /// A part cannot be read; the errors of `see`.
    fn each(&mut self, see: &mut SeePart<'_>) -> Result<(), Error>;
}

/// A function of a part of the samples: the number of its first row and its features.
pub type SeePart<'s> = dyn FnMut(usize, &Design) -> Result<(), Error> + 's;

/// Returns the halfspace of algorithm 1 as [`learn`](crate::learn) does, from samples that are read in
/// parts: the same halfspace.
///
/// # Errors
/// The errors of [`learn`](crate::learn); a part that cannot be read.
pub fn learn_from_parts<S: SamplesInParts + ?Sized>(
    problem: &Problem,
    plan: &Plan,
    sample: &mut S,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<Learned, Error> {
    let split = Split::new(&sample.weights(), plan.selection.min(sample.most_rows()), seed)?;
    let mut run = SgdRun::new(problem, plan, sample.columns(), seed)?;
    run_over_parts(sample, &split, plan.steps, seed, |points, draws| {
        run.take(points, draws.iter().copied(), limits)?;
        Ok(run.is_complete())
    })?;
    let (design, signs, weights) = rows_of(sample, &split.into_selection())?;
    let selection = SphereSample::scaled(&design, &signs, sample.divisor())?;
    let selection = selection.with_weights(weights)?;
    Ok(Learned::new(&run.finish(), &selection, problem.target.delta(), limits))
}

/// Shows the draws of a split, at most `count`, as many at once as memory holds, until `take` says that
/// there were enough. Draws are rows of the points shown.
pub(super) fn run_over_parts<S: SamplesInParts + ?Sized>(
    sample: &mut S,
    split: &Split,
    count: usize,
    seed: u64,
    mut take: impl FnMut(&Sphere<'_>, &[(usize, f64)]) -> Result<bool, Error>,
) -> Result<(), Error> {
    let (signs, weights, most) = (sample.signs(), sample.weights(), sample.most_rows().max(1));
    let mut draws = split.draws(&weights, &signs, count, seed);
    loop {
        let some: Vec<(usize, f64)> = draws.by_ref().take(most).collect();
        let mut rows: Vec<usize> = some.iter().map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.is_empty() {
            return Ok(());
        }
        let design = sample.select(&rows)?;
        let points = Sphere::scaled(&design, sample.divisor());
        let points = points.map_err(|error| of_row(error, |row| rows[row]))?;
        let place = |row: &usize| rows.partition_point(|other| other < row);
        let placed: Vec<(usize, f64)> = some.iter().map(|(row, y)| (place(row), *y)).collect();
        if take(&points, &placed)? {
            return Ok(());
        }
    }
}

/// Returns the features, signs and weights of some rows, which ascend.
pub(super) fn rows_of<S: SamplesInParts + ?Sized>(
    sample: &mut S,
    rows: &[usize],
) -> Result<(Design, Vec<f64>, Vec<f64>), Error> {
    let design = sample.select(rows)?;
    let (signs, weights) = (sample.signs(), sample.weights());
    let of = |all: &[f64]| rows.iter().map(|&row| all[row]).collect();
    Ok((design, of(&signs), of(&weights)))
}

/// Returns an error of some rows with the number that a row has among all.
fn of_row(error: Error, number: impl Fn(usize) -> usize) -> Error {
    match error {
        Error::Direction { row, norm } => Error::Direction { row: number(row), norm },
        other => other,
    }
}

/// The features that a projection makes of samples, if there is one, and the number that all of them
/// are divided by, unless it is the norm of each.
#[derive(Clone, Copy)]
struct View<'p> {
    projection: Option<&'p Projection>,
    divisor: Option<f64>,
}

/// Shows all samples, part after part, as points in the ball with their signs and weights.
fn each_on_sphere<S: SamplesInParts + ?Sized>(
    sample: &mut S,
    view: View<'_>,
    mut see: impl FnMut(&Sphere<'_>, &[f64], &[f64]),
) -> Result<(), Error> {
    let (signs, weights) = (sample.signs(), sample.weights());
    sample.each(&mut |first, design| {
        let projected = view.projection.map(|projection| projection.project(design)).transpose()?;
        let points = Sphere::scaled(projected.as_ref().unwrap_or(design), view.divisor);
        let points = points.map_err(|error| of_row(error, |row| first + row))?;
        let rows = first..first + design.rows();
        see(&points, &signs[rows.clone()], &weights[rows]);
        Ok(())
    })
}

/// Returns the weight of the samples that scores get wrong.
fn wrong_weight(scores: &[f64], signs: &[f64], weights: &[f64]) -> f64 {
    let of_sample =
        |((&score, &y), &c): ((&f64, &f64), &f64)| if is_wrong(score, y) { c } else { 0.0 };
    scores.iter().zip(signs).zip(weights).map(of_sample).sum()
}

/// Returns the error of a halfspace, and the mean of `factor(<w, x>, y) x`.
fn inspect<S: SamplesInParts + ?Sized>(
    sample: &mut S,
    view: View<'_>,
    w: &[f64],
    factor: &dyn Fn(f64, f64) -> f64,
) -> Result<Inspected, Error> {
    let total: f64 = sample.weights().iter().sum();
    let (mut wrong, mut mean) = (0.0, vec![0.0; w.len()]);
    each_on_sphere(sample, view, |points, signs, weights| {
        let scores = points.scores(w);
        wrong += wrong_weight(&scores, signs, weights);
        let terms = scores.iter().zip(signs).zip(weights).zip(points.inverse_norms());
        let z: Vec<f64> = terms
            .map(|(((&score, &y), &c), &inverse)| c / total * inverse * factor(score, y))
            .collect();
        let mut part = vec![0.0; w.len()];
        points.design().multiply_transposed(&z, &mut part);
        mean.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    })?;
    Ok(Inspected { error: wrong / total, mean })
}

struct Inspected {
    error: f64,
    mean: Vec<f64>,
}

/// Returns the answer of the oracle about a halfspace, or the average.
fn ask<S: SamplesInParts + ?Sized>(
    problem: &Problem,
    sample: &mut S,
    view: View<'_>,
    w: Option<&[f64]>,
) -> Result<Separation, Error> {
    let Some(w) = w else {
        let columns = view.projection.map_or(sample.columns(), Projection::dimensions);
        let average = inspect(sample, view, &vec![0.0; columns], &|_, y| -y)?;
        return Ok(Separation::by(average.mean));
    };
    let factor = |score, y| problem.gradient_factor(score, y);
    let Inspected { error, mean } = inspect(sample, view, w, &factor)?;
    Ok(Separation::of(problem, error, || mean))
}

/// A sample with other weights.
struct Reweighted<'s, S: ?Sized> {
    sample: &'s mut S,
    weights: Arc<[f64]>,
}

impl<S: SamplesInParts + ?Sized> SamplesInParts for Reweighted<'_, S> {
    fn columns(&self) -> usize {
        self.sample.columns()
    }

    fn signs(&self) -> Arc<[f64]> {
        self.sample.signs()
    }

    fn weights(&self) -> Arc<[f64]> {
        Arc::clone(&self.weights)
    }

    fn most_rows(&self) -> usize {
        self.sample.most_rows()
    }

    fn divisor(&self) -> Option<f64> {
        self.sample.divisor()
    }

    fn select(&mut self, rows: &[usize]) -> Result<Design, Error> {
        self.sample.select(rows)
    }

    fn each(&mut self, see: &mut SeePart<'_>) -> Result<(), Error> {
        self.sample.each(see)
    }
}

/// Returns the halfspace of cutting planes with its error on rows held out, as
/// [`learn_by_tested_cuts`](crate::learn_by_tested_cuts) does, from samples that are read in parts.
/// No more rows are held out than may be in memory.
///
/// # Errors
/// The errors of [`learn_by_cuts_from_parts`]. [`Error::TooFew`]: there are fewer than two samples
/// of positive weight.
pub fn learn_by_tested_cuts_from_parts<S: SamplesInParts + ?Sized>(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &mut S,
    projection: Option<&Projection>,
    seed: u64,
) -> Result<(LearnedHalfspace, HeldOutError), Error> {
    let most = Plan::practical(problem).selection.min(sample.most_rows());
    let split = Split::new(&sample.weights(), most, seed)?;
    let weights = split.training_weights(&sample.weights()).into();
    let mut training = Reweighted { sample: &mut *sample, weights };
    let found = learn_by_cuts_from_parts(problem, options, &mut training, projection)?;
    let (design, signs, weights) = rows_of(sample, &split.into_selection())?;
    let selection = SphereSample::scaled(&design, &signs, sample.divisor())?;
    let held_out = tested(problem, &found, &selection.with_weights(weights)?);
    Ok((found, held_out))
}

/// Returns the halfspace of cutting planes as [`learn_by_cuts`](crate::learn_by_cuts) does, in the
/// dimensions of a projection if there is one, from samples that are read in parts: a pass for every call
/// of the oracle.
///
/// # Errors
/// [`Error::Direction`]: a row has no direction. A part that cannot be read.
pub fn learn_by_cuts_from_parts<S: SamplesInParts + ?Sized>(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &mut S,
    projection: Option<&Projection>,
) -> Result<LearnedHalfspace, Error> {
    let problem = match projection {
        Some(_) => Problem { margin: problem.margin.half(), ..*problem },
        None => *problem,
    };
    let columns = projection.map_or(sample.columns(), Projection::dimensions);
    let mut view = View { projection, divisor: sample.divisor() };
    if let (Some(projection), Some(_)) = (projection, view.divisor) {
        let mut largest: f64 = 0.0;
        sample.each(&mut |_, design| {
            largest = largest.max(Sphere::largest_norm(&projection.project(design)?)?);
            Ok(())
        })?;
        view.divisor = Some(largest);
    }
    let mut found = try_search(&problem, options, columns, |w| ask(&problem, sample, view, w))?;
    if let Some(projection) = projection {
        let coef = projection.pull_back(&found.classifier.coef);
        found.classifier = LinearClassifier { intercept: 0.0, coef };
    }
    Ok(found)
}

/// Returns the halfspace of cutting planes with fresh rows in each call, as
/// [`learn_by_fresh_cuts`](crate::learn_by_fresh_cuts) does, with its error on rows held out, from
/// samples that are read in parts: a pass for every call of the oracle. No more rows are held out than
/// may be in memory.
///
/// # Errors
/// [`Error::Direction`]: a row has no direction. A part that cannot be read. [`Error::TooFew`]: there
/// are fewer than two samples of positive weight.
pub fn learn_by_fresh_cuts_from_parts<S: SamplesInParts + ?Sized>(
    problem: &Problem,
    plan: &CutPlan,
    sample: &mut S,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<(LearnedHalfspace, HeldOutError), Error> {
    let (signs, weights) = (sample.signs(), sample.weights());
    let split = Split::new(&weights, plan.selection.min(sample.most_rows()), seed)?;
    let view = View { projection: None, divisor: sample.divisor() };
    let mut fresh = Fresh::new(plan, &split, &weights, &signs, seed);
    let found = try_search(problem, &plan.options(limits), sample.columns(), |w| {
        let weights = fresh.next_weights().into();
        ask(problem, &mut Reweighted { sample: &mut *sample, weights }, view, w)
    })?;
    drop(fresh);
    let (design, signs, weights) = rows_of(sample, &split.into_selection())?;
    let selection = SphereSample::scaled(&design, &signs, sample.divisor())?;
    let held_out = tested(problem, &found, &selection.with_weights(weights)?);
    Ok((found, held_out))
}

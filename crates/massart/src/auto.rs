//! Chooses the noise rate and the margin: runs the learner for each pair of a grid and selects among
//! the results on samples that no run has seen.

use std::sync::{Mutex, PoisonError};

use margins_data::parallel;
use margins_losses::OutOfRange;
use margins_optim::method::Limits;

use crate::Error;
use crate::parts::{SamplesInParts, rows_of, run_over_parts};
use crate::selection::{Candidates, inverse_norm, select_within};
use crate::sgd::{Learned, Plan, SgdRun, Trajectory};
use crate::split::Split;
use crate::{MarginBound, NoiseRate, Problem, SphereSample, Target};

/// The result of [`learn_adaptively`].
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    /// The halfspace, with the bound on its error that the selection sample gives.
    pub learned: Learned,
    /// The eta that it was learned with, or the smallest one of several runs that were averaged; not
    /// an estimate of the noise.
    pub noise: NoiseRate,
    /// The gamma that goes with this eta; not an estimate of the margin.
    pub margin: MarginBound,
}

/// The largest number of passes over the training rows for one pair of parameters, unless that makes
/// fewer than [`LEAST_STEPS`].
const PASSES: usize = 8;

/// The number of steps for one pair of parameters that no limit of passes goes below.
const LEAST_STEPS: usize = 8192;

/// Returns the best halfspace of algorithm 1 where neither eta nor gamma is known.
///
/// The learner runs for every eta of a grid with steps of `epsilon/2` and every
/// `gamma = 1/2, 1/4, ...` down to `1/sqrt n` on the same training rows. Every run leaves its
/// iterates and the mean of those in the later half of its steps. The result is the mean with the
/// lowest error on the rows held out; if several have it, the average of the directions of all
/// means in the grid from the first of them to the last. An iterate is returned instead if its error
/// is lower by more than two standard errors: the best of thousands of iterates is more likely than
/// a mean to be good on few rows by chance.
///
/// The bound on the error counts the iterates and the averages of all `k(k+1)/2` ranges of a grid of
/// k pairs as candidates: the rows held out choose among these, and do not form new ones.
///
/// A learner whose noise bound is at most `epsilon/2` too large and whose margin is at least half
/// the true one has its guarantee with these, so that one of the runs succeeds if algorithm 1 would
/// with `epsilon/2` and `gamma/2`. The choice among all takes a selection sample larger by the
/// logarithm of their number, and that is all that is lost but constants. The time grows with the
/// size of the grid, about `log2(n)/epsilon`. The limits are those of [`learn`](crate::learn): the
/// deadline ends every run, and the runs that have not begun leave the iterate that they begin at.
///
/// # Errors
/// [`Error::TooFew`]: there are fewer than two samples. [`Error::Parameter`]: epsilon is below
/// 0.0005.
pub fn learn_adaptively(
    target: Target,
    sample: &SphereSample<'_>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<Adaptive, Error> {
    let grid = grid(target, sample.weights())?;
    let split = Split::new(sample.weights(), usize::MAX, seed)?;
    let runs: Vec<Trajectory> = parallel::try_map(0..grid.len(), |k| {
        let plan = plan(&grid[k], &split);
        let mut run = SgdRun::new(&grid[k], &plan, sample.columns(), seed)?.averaged();
        let draws = split.draws(sample.weights(), sample.signs(), plan.steps, seed);
        run.take(sample.points(), draws, limits)?;
        Ok::<_, Error>(run.finish())
    })?;
    let selection = split.selection_sample(sample)?;
    Ok(best(&grid, runs, &selection, target, limits))
}

/// Returns the best halfspace of an unknown eta and gamma as [`learn_adaptively`] does, from samples
/// that are read in parts.
///
/// # Errors
/// The errors of [`learn_adaptively`]; a part that cannot be read.
pub fn learn_adaptively_from_parts<S: SamplesInParts + ?Sized>(
    target: Target,
    sample: &mut S,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<Adaptive, Error> {
    let grid = grid(target, &sample.weights())?;
    let split = Split::new(&sample.weights(), sample.most_rows(), seed)?;
    let mut runs = Vec::with_capacity(grid.len());
    for problem in &grid {
        let plan = plan(problem, &split);
        runs.push(Mutex::new(SgdRun::new(problem, &plan, sample.columns(), seed)?.averaged()));
    }
    let longest = grid.iter().map(|problem| plan(problem, &split).steps).max().unwrap_or(0);
    run_over_parts(sample, &split, longest, seed, |points, draws| {
        parallel::try_map(0..runs.len(), |k| {
            let mut run = runs[k].lock().unwrap_or_else(PoisonError::into_inner);
            run.take(points, draws.iter().copied(), limits)
        })?;
        Ok(runs
            .iter_mut()
            .all(|run| run.get_mut().unwrap_or_else(PoisonError::into_inner).is_complete()))
    })?;
    let finish = |run: Mutex<SgdRun>| run.into_inner().unwrap_or_else(PoisonError::into_inner);
    let runs = runs.into_iter().map(|run| finish(run).finish()).collect();
    let (design, signs, weights) = rows_of(sample, &split.into_selection())?;
    let selection = SphereSample::scaled(&design, &signs, sample.divisor())?;
    let selection = selection.with_weights(weights)?;
    Ok(best(&grid, runs, &selection, target, limits))
}

/// Returns the constants of a run: no more steps than so many passes take.
fn plan(problem: &Problem, split: &Split) -> Plan {
    let plan = Plan::practical(problem);
    let most = (PASSES * split.training_rows().len()).max(LEAST_STEPS);
    Plan { steps: plan.steps.min(most), ..plan }
}

/// Returns the best halfspace of all runs, one for each pair of the grid.
fn best(
    grid: &[Problem],
    runs: Vec<Trajectory>,
    selection: &SphereSample<'_>,
    target: Target,
    limits: &Limits<'_>,
) -> Adaptive {
    let ends: Vec<usize> = runs
        .iter()
        .scan(0, |end, run| {
            *end += run.candidates.len();
            Some(*end)
        })
        .collect();
    let candidates = Candidates::new(selection.columns());
    let mut all = Trajectory { steps: 0, candidates, mean: Vec::new(), stopped: None };
    let mut means = Vec::with_capacity(runs.len());
    for run in runs {
        all.steps += run.steps;
        all.candidates.append(run.candidates);
        all.stopped = all.stopped.or(run.stopped);
        means.push(run.mean);
    }
    let iterates = all.candidates.len();
    let mut selected = select_within(&all.candidates, selection, limits);
    let mut run = ends.partition_point(|&end| end <= selected.index);
    // The result of an interrupted search is not used, so that its means are not compared.
    if !limits.is_interrupted() {
        let errors = parallel::map(0..means.len(), |k| selection.error(&means[k]));
        let lowest = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let is_best = |error: &f64| *error == lowest;
        let first = errors.iter().position(is_best).unwrap_or_default();
        let last = errors.iter().rposition(is_best).unwrap_or_default();
        let average = average(&means[first..=last]);
        let error = selection.error(&average);
        all.candidates.push(&average);
        if error <= selected.error + 2.0 * standard_error(selected.error, selection) {
            (selected.index, selected.error, run) = (iterates, error, first);
        }
    }
    selected.candidates = iterates + grid.len() * (grid.len() + 1) / 2;
    let learned = Learned::of(&all, selected, selection, target.delta());
    Adaptive { learned, noise: grid[run].noise, margin: grid[run].margin }
}

/// Returns the average of the directions of vectors of one length.
fn average(vectors: &[Vec<f64>]) -> Vec<f64> {
    let mut average = vec![0.0; vectors[0].len()];
    for vector in vectors {
        let inverse_norm = inverse_norm(vector);
        average.iter_mut().zip(vector).for_each(|(sum, w)| *sum += w * inverse_norm);
    }
    average
}

/// Returns the standard error of a share of mistakes, with one mistake and one success more, so that
/// it is not 0 where there are none.
fn standard_error(error: f64, sample: &SphereSample<'_>) -> f64 {
    let n = sample.effective_size();
    let share = (error * n + 1.0) / (n + 2.0);
    (share * (1.0 - share) / n).sqrt()
}

/// Returns every pair of the grid, each with half of the target.
fn grid(target: Target, weights: &[f64]) -> Result<Vec<Problem>, Error> {
    let target = Target::new(target.epsilon() / 2.0, target.delta() / 2.0)?;
    /// The largest number of etas; each is learned, and its iterates kept.
    const MOST_ETAS: f64 = 1000.0;
    if 0.5 / target.epsilon() > MOST_ETAS {
        return Err(OutOfRange {
            parameter: "epsilon",
            value: target.epsilon(),
            requirement: "at least 0.0005 where the noise rate is to be found",
        }
        .into());
    }
    let etas = (0..).map(|k| f64::from(k) * target.epsilon()).take_while(|&eta| eta < 0.5);
    let rows = weights.iter().filter(|&&weight| weight > 0.0).count();
    let least = (rows as f64).sqrt().recip();
    let halvings = std::iter::successors(Some(0.5), |gamma| Some(gamma / 2.0));
    let gammas: Vec<f64> =
        std::iter::once(0.5).chain(halvings.skip(1).take_while(|&gamma| gamma >= least)).collect();
    etas.flat_map(|eta| gammas.iter().map(move |&gamma| (eta, gamma)))
        .map(|(eta, gamma)| Ok(Problem::new(eta, gamma)?.with_target(target)))
        .collect()
}

use margins_data::parallel;
use margins_losses::OutOfRange;
use margins_optim::solve::Limits;

use crate::Error;
use crate::selection::Candidates;
use crate::sgd::{Learned, Plan, Trajectory, trajectory};
use crate::split::Split;
use crate::{MarginBound, NoiseRate, Problem, SphereSample, Target};

/// The result of [`learn_adaptively`].
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    /// The halfspace, with the bound on its error that the selection sample gives.
    pub learned: Learned,
    /// The eta that it was learned with, which is no estimate of the noise.
    pub noise: NoiseRate,
    /// The gamma that it was learned with, which is no estimate of the margin.
    pub margin: MarginBound,
}

/// The largest number of passes over the training rows for one pair of parameters.
const PASSES: usize = 8;

/// Returns the best halfspace of algorithm 1 where neither eta nor gamma is known.
///
/// The learner runs for every eta of a grid with steps of `epsilon/2` and every
/// `gamma = 1/2, 1/4, ...` down to `1/sqrt n` on the same training rows; the best iterate of all on
/// held-out rows is chosen.
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
    let half = Target::new(target.epsilon() / 2.0, target.delta() / 2.0)?;
    let grid = grid(half, sample.rows())?;
    let split = Split::new(sample, usize::MAX, seed)?;
    let steps = PASSES * split.training_rows().len();
    let runs: Vec<Trajectory> = parallel::try_map(0..grid.len(), |k| {
        let plan = Plan::practical(&grid[k]);
        let plan = Plan { steps: plan.steps.min(steps), ..plan };
        let draws = split.draws(sample, plan.steps, seed);
        trajectory(&grid[k], &plan, sample.points(), draws, seed, limits)
    })?;
    let ends: Vec<usize> = runs
        .iter()
        .scan(0, |end, run| {
            *end += run.candidates.len();
            Some(*end)
        })
        .collect();
    let candidates = Candidates::new(sample.columns());
    let mut all = Trajectory { steps: 0, candidates, stopped: None };
    for run in runs {
        all.steps += run.steps;
        all.candidates.append(run.candidates);
        all.stopped = all.stopped.or(run.stopped);
    }
    let selection = split.selection_sample(sample)?;
    let learned = Learned::new(&all, &selection, target.delta(), limits);
    let problem = grid[ends.partition_point(|&end| end <= learned.selected.index)];
    Ok(Adaptive { learned, noise: problem.noise, margin: problem.margin })
}

/// Returns every pair of the grid.
fn grid(target: Target, rows: usize) -> Result<Vec<Problem>, Error> {
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
    let least = (rows as f64).sqrt().recip();
    let halvings = std::iter::successors(Some(0.5), |gamma| Some(gamma / 2.0));
    let gammas: Vec<f64> =
        std::iter::once(0.5).chain(halvings.skip(1).take_while(|&gamma| gamma >= least)).collect();
    etas.flat_map(|eta| gammas.iter().map(move |&gamma| (eta, gamma)))
        .map(|(eta, gamma)| Ok(Problem::new(eta, gamma)?.with_target(target)))
        .collect()
}

//! Reweighted stochastic gradient descent, algorithm 1 of the paper, on samples in memory.

mod plan;

use std::cell::Cell;
use std::iter::Peekable;

use margins_data::Sample;
use margins_data::metrics::HeldOutError;
use margins_losses::OutOfRange;
use pulp::{Arch, Simd, WithSimd};

use crate::Error;
use crate::Problem;
use crate::selection::{Candidates, Selected, select_within};
use crate::sphere::{Sphere, SphereSample, UnitSample};
use crate::split::Split;
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::Iterate;
use margins_optim::online::{LinearClassifier, OnlineLearner, Scorer};

pub use plan::{CandidateRule, Plan};

/// The online part of algorithm 1: every sample, scaled to norm 1, makes a step
/// `w <- w - step g(w, w, x, y)`, projected on the unit ball, from `w = e_1`.
///
/// An [`OnlineLearner`], it takes samples from any source, one at a time; the error of its
/// snapshots goes up and down, so that some of them have to be kept and selected from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sgd {
    iterate: Iterate,
    problem: Problem,
    step: f64,
}

impl Sgd {
    /// Returns a learner at `e_1`.
    ///
    /// # Errors
    /// [`Error::Parameter`]: the step is not a finite number greater than 0. [`Error::TooFew`]:
    /// there are no features.
    pub fn new(problem: Problem, columns: usize, step: f64) -> Result<Self, Error> {
        let step = OutOfRange::check_positive("the step", step)?;
        if columns == 0 {
            return Err(Error::TooFew { what: "features", needed: 1, found: 0 });
        }
        let mut first_axis = LinearClassifier::zero(columns);
        first_axis.coef[0] = 1.0;
        Ok(Sgd { iterate: Iterate::new(first_axis), problem, step })
    }

    /// Returns the present `w`.
    pub fn coef(&self) -> Vec<f64> {
        self.iterate.last().coef
    }

    /// Returns the present iterate.
    pub(super) fn iterate(&self) -> &Iterate {
        &self.iterate
    }

    /// Returns the learner at another iterate.
    pub(super) fn at(self, iterate: Iterate) -> Self {
        Sgd { iterate, ..self }
    }

    /// Lets the mean of the iterates begin with the next one.
    fn start_averaging(&mut self) {
        self.iterate.start_averaging();
    }

    /// Returns the mean of the iterates, or the present one before the mean has begun.
    fn mean(&self) -> Vec<f64> {
        self.iterate.classifier().coef
    }

    #[inline(always)]
    pub(super) fn take(&mut self, x: &UnitSample<'_>, y: f64) -> Result<(), Error> {
        let product = self.iterate.product(x);
        let g = self.problem.gradient_factor(product, y);
        self.iterate.advance(1.0, (-self.step * g, 0.0), x, product)?;
        self.iterate.finish(Some(1.0));
        Ok(())
    }

    /// Takes rows, each with a sign, in the order given.
    ///
    /// # Errors
    /// `Unbounded`: the step is so long that the norm of `w` overflows.
    ///
    /// # Panics
    /// The method panics if a row is not below n, or the points have another number of features.
    pub fn run(
        &mut self,
        points: &Sphere<'_>,
        draws: impl Iterator<Item = (usize, f64)>,
    ) -> Result<(), Error> {
        assert_eq!(points.columns(), self.iterate.features(), "features of the points");
        Arch::new().dispatch(Run { sgd: self, points, draws })
    }
}

/// The loop of [`Sgd::run`], dispatched once to the instruction set of the machine.
struct Run<'a, 'p, I> {
    sgd: &'a mut Sgd,
    points: &'a Sphere<'p>,
    draws: I,
}

impl<I: Iterator<Item = (usize, f64)>> WithSimd for Run<'_, '_, I> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<(), Error> {
        for (row, y) in self.draws {
            self.sgd.take(&self.points.sample(row), y)?;
        }
        Ok(())
    }
}

impl Scorer for Sgd {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.iterate.score(x)
    }
}

impl OnlineLearner for Sgd {
    type Snapshot = LinearClassifier;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let taken = UnitSample::new(*x).and_then(|x| self.take(&x, y));
        taken.map_err(|error| margins_optim::Error::Learner(Box::new(error)))
    }

    fn snapshot(&self) -> LinearClassifier {
        LinearClassifier { intercept: 0.0, coef: self.coef() }
    }
}

/// The result of [`learn`].
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The halfspace, with the intercept 0.
    pub classifier: LinearClassifier,
    /// The number of steps taken.
    pub steps: usize,
    /// The selection among the iterates.
    pub selected: Selected,
    /// The error on the rows held out for it, with a bound for all [candidates](Selected::candidates)
    /// at once.
    pub held_out: HeldOutError,
    /// Candidates by their index with the share of these rows that they get wrong: all of them, or a
    /// hundred that are spread evenly and the one selected.
    pub candidate_errors: Vec<(usize, f64)>,
    /// The limit that ended the steps before their time, if one did.
    pub stopped: Option<Status>,
}

impl Learned {
    pub(super) fn new(
        trajectory: &Trajectory,
        selection: &SphereSample<'_>,
        delta: f64,
        limits: &Limits<'_>,
    ) -> Self {
        let selected = select_within(&trajectory.candidates, selection, limits);
        Self::of(trajectory, selected, selection, delta)
    }

    /// Returns the result of a selection.
    pub(super) fn of(
        trajectory: &Trajectory,
        selected: Selected,
        selection: &SphereSample<'_>,
        delta: f64,
    ) -> Self {
        let Trajectory { steps, ref candidates, stopped, .. } = *trajectory;
        let coef = candidates.get(selected.index).to_vec();
        let Selected { error, candidates: count, .. } = selected;
        Learned {
            candidate_errors: some_errors(candidates, selected, selection),
            classifier: LinearClassifier { intercept: 0.0, coef },
            steps,
            held_out: HeldOutError::new(error, count, delta, selection.weights()),
            selected,
            stopped,
        }
    }
}

/// Returns the errors of candidates that are spread evenly, and of the one selected.
fn some_errors(
    candidates: &Candidates,
    selected: Selected,
    sample: &SphereSample<'_>,
) -> Vec<(usize, f64)> {
    const MOST: usize = 100;
    let shown = candidates.len().min(MOST);
    let mut indices: Vec<usize> = (0..shown).map(|k| k * candidates.len() / shown).collect();
    if let Err(place) = indices.binary_search(&selected.index) {
        indices.insert(place, selected.index);
    }
    indices.into_iter().map(|index| (index, sample.error(candidates.get(index)))).collect()
}

/// Returns the halfspace of algorithm 1 on a stream: draws are rows of `points`, each with its
/// sign; the run ends early if they end. The selection sample must be independent of them for the
/// guarantee.
///
/// # Errors
/// [`Error::Shape`]: the selection sample has another number of features. [`Error::Parameter`]: the
/// step is not positive. [`Error::Candidates`]: the candidates do not fit in memory.
pub fn learn_from(
    problem: &Problem,
    plan: &Plan,
    points: &Sphere<'_>,
    draws: impl IntoIterator<Item = (usize, f64)>,
    selection: &SphereSample<'_>,
    seed: u64,
) -> Result<Learned, Error> {
    let (expected, found) = (points.columns(), selection.columns());
    if expected != found {
        return Err(Error::Shape { what: "features of the selection sample", expected, found });
    }
    let limits = Limits::default();
    let run = trajectory(problem, plan, points, draws.into_iter(), seed, &limits)?;
    Ok(Learned::new(&run, selection, problem.target.delta(), &limits))
}

/// The outcome of the online part.
pub(super) struct Trajectory {
    pub(super) steps: usize,
    pub(super) candidates: Candidates,
    /// The mean of the iterates in the later half of the steps, or the last of them if the mean was
    /// not kept.
    pub(super) mean: Vec<f64>,
    /// The limit that ended the steps before their time, if one did.
    pub(super) stopped: Option<Status>,
}

/// Runs the online part; a limit ends it like the end of the draws.
pub(super) fn trajectory(
    problem: &Problem,
    plan: &Plan,
    points: &Sphere<'_>,
    draws: impl Iterator<Item = (usize, f64)>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<Trajectory, Error> {
    let mut run = SgdRun::new(problem, plan, points.columns(), seed)?;
    run.take(points, draws, limits)?;
    Ok(run.finish())
}

/// A run of stochastic gradient, which takes rows as they come.
pub(super) struct SgdRun {
    sgd: Sgd,
    /// The numbers of steps after which the iterate is a candidate.
    times: Peekable<Box<dyn Iterator<Item = usize> + Send>>,
    /// The number of steps after which the mean of the iterates begins, if there is to be one.
    averaged_from: Option<usize>,
    steps: usize,
    run: Trajectory,
}

impl SgdRun {
    pub(super) fn new(
        problem: &Problem,
        plan: &Plan,
        columns: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        let candidates = Candidates::with_capacity(columns, plan.most_candidates())?;
        let run = Trajectory { steps: 0, candidates, mean: Vec::new(), stopped: None };
        let sgd = Sgd::new(*problem, columns, plan.step)?;
        let times = plan.times(seed).peekable();
        Ok(SgdRun { sgd, times, averaged_from: None, steps: plan.steps, run })
    }

    /// Keeps the mean of the iterates in the later half of the steps too.
    pub(super) fn averaged(self) -> Self {
        SgdRun { averaged_from: Some(self.steps / 2), ..self }
    }

    /// Takes steps on draws until these end, or a limit is reached, or all steps of the plan are
    /// taken.
    pub(super) fn take(
        &mut self,
        points: &Sphere<'_>,
        draws: impl Iterator<Item = (usize, f64)>,
        limits: &Limits<'_>,
    ) -> Result<(), Error> {
        /// The number of steps between checks of the limits.
        const STEPS_A_LOOK: usize = 256;
        let stopped = Cell::new(self.run.stopped);
        let goes_on = |at: usize| {
            if stopped.get().is_none() && at.is_multiple_of(STEPS_A_LOOK) {
                stopped.set(limits.reached());
            }
            stopped.get().is_none().then_some(())
        };
        // The limits come first: draws are shuffled before the first of them is taken.
        let steps = (self.run.steps..).map_while(goes_on);
        let mut draws = steps.zip(draws).map(|((), draw)| draw);
        while let Some(&time) = self.times.peek() {
            let from = self.averaged_from.filter(|&from| self.run.steps < from);
            let until = from.map_or(time, |from| time.min(from));
            let (wanted, mut taken) = (until - self.run.steps, 0);
            self.sgd.run(points, draws.by_ref().take(wanted).inspect(|_| taken += 1))?;
            self.run.steps += taken;
            if taken < wanted {
                break;
            }
            if from == Some(until) {
                self.sgd.start_averaging();
            }
            if until < time {
                continue;
            }
            self.times.next();
            self.run.candidates.push(&self.sgd.coef());
        }
        self.run.stopped = stopped.get();
        Ok(())
    }

    /// Returns true if no more draws are needed.
    pub(super) fn is_complete(&mut self) -> bool {
        self.run.stopped.is_some() || self.times.peek().is_none()
    }

    /// Returns the outcome, with the last iterate among the candidates.
    pub(super) fn finish(mut self) -> Trajectory {
        if self.times.next().is_some() {
            self.run.candidates.push(&self.sgd.coef());
        }
        self.run.mean = self.sgd.mean();
        self.run
    }
}

/// Returns the halfspace of algorithm 1 on a fixed sample.
///
/// At most a fifth of the rows, and no more than the plan's N, are held out at random to select
/// with; the others are learned from in random order, again and again if there are fewer than T.
/// The guarantee is for T fresh samples. A row of weight c counts c times in the selection, and is
/// drawn with a probability in proportion to c if the weights differ. The deadline of the limits
/// ends the steps, and the best iterate so far is selected; their callback ends the selection too.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::{Problem, Plan, SphereSample, learn};
/// use margins_optim::method::Limits;
///
/// let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
/// let points = halfspace.points(2000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let draws = noisy.draw(4000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let problem = Problem::new(0.1, 0.2)?;
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let limits = Limits::default();
/// let learned = learn(&problem, &Plan::practical(&problem), &sample, 1, &limits)?;
/// assert!(noisy.linear_error(&learned.classifier.coef)? <= 0.1 + problem.target.epsilon());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`]: there are fewer than two samples of positive weight. [`Error::Parameter`]:
/// the step is not positive. [`Error::Candidates`]: the candidates do not fit in memory.
pub fn learn(
    problem: &Problem,
    plan: &Plan,
    sample: &SphereSample<'_>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<Learned, Error> {
    let split = Split::new(sample.weights(), plan.selection, seed)?;
    let draws = split.draws(sample.weights(), sample.signs(), plan.steps, seed);
    let run = trajectory(problem, plan, sample.points(), draws, seed, limits)?;
    let selection = split.selection_sample(sample)?;
    Ok(Learned::new(&run, &selection, problem.target.delta(), limits))
}

//! Learns a halfspace by cutting planes, whose cuts come from the separation oracle.

use crate::Error;
use crate::cutting_planes::{End, Method, localize};
use crate::oracle::Separation;
use crate::sgd::Plan;
use crate::split::Split;
use crate::{Problem, Projection, Sphere, SphereSample, separate};
use margins_data::metrics::HeldOutError;
use margins_optim::method::Limits;
use margins_optim::online::LinearClassifier;

/// The settings of the cutting planes.
#[derive(Debug, Clone, Copy)]
pub struct CutOptions<'w> {
    /// The localisation method.
    pub method: Method,
    /// The largest number of calls of the oracle; `None` for the [most cuts](Method::most_cuts) that
    /// leave a ball of radius `epsilon gamma/8`.
    pub most_calls: Option<usize>,
    /// The limits, which are checked after every halfspace that the oracle is asked about.
    pub limits: Limits<'w>,
}

impl Default for CutOptions<'_> {
    fn default() -> Self {
        let (method, limits) = (Method::AnalyticCentre, Limits::default());
        CutOptions { method, most_calls: None, limits }
    }
}

impl CutOptions<'_> {
    pub(super) fn most_calls(&self, problem: &Problem, columns: usize) -> usize {
        self.most_calls.unwrap_or_else(|| {
            let radius = problem.target.epsilon() * problem.margin.get() / 8.0;
            self.method.most_cuts(columns, radius)
        })
    }
}

/// The result of [`learn_by_cuts`], or of an [earlier learner](crate::baselines::learn_tested).
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedHalfspace {
    /// The best halfspace that the oracle was asked about, with the intercept 0.
    pub classifier: LinearClassifier,
    /// The error of the halfspace on the sample learned from, which is that of its call if each call
    /// has rows of its own. It is infinite, and the halfspace zero,
    /// if the oracle was not asked about any halfspace: the samples then average out to zero.
    pub error: f64,
    /// The reason why the search ended. A perceptron accepts its last iterate, and a minimum within
    /// its gap is accepted.
    pub end: End,
    /// The number of calls of the oracle, of evaluations of all rows, of draws of the perceptron, or of
    /// halfspaces compared in the plane.
    pub calls: usize,
}

/// Returns the halfspace of appendix B: cutting planes in the unit ball with the oracle
/// [`separate`] on one sample, until the error on it is at most `eta + epsilon/2`.
///
/// The halfspace of the lowest empirical error comes back in any case. A sample that is too small
/// for the problem may give cuts that contradict each other; then the search ends as
/// [`End::Empty`].
pub fn learn_by_cuts(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &SphereSample<'_>,
) -> LearnedHalfspace {
    search_sample(problem, options, sample, separate)
}

/// Returns the halfspace of [`learn_by_cuts`] in fewer dimensions, by remark B.2.
///
/// The sample is projected and scaled again, and gamma halved, which a large enough
/// [dimension](Projection::dimension) leaves of the margin; then the halfspace is pulled back. The
/// error on the sample is that of the projected halfspace.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::{
///     CutOptions, Problem, Projection, SphereSample, learn_by_projected_cuts,
/// };
///
/// let halfspace = MarginHalfspace::new(300, 0.7, 1)?;
/// let points = halfspace.points(100, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let signs = noisy.flip(1);
/// let sample = SphereSample::new(noisy.design(), &signs)?;
/// let (problem, options) = (Problem::new(0.1, 0.7)?, CutOptions::default());
/// let projection = Projection::new(300, 50, 1)?;
/// let found = learn_by_projected_cuts(&problem, &options, &sample, &projection)?;
/// assert_eq!(found.classifier.coef.len(), 300);
/// assert_eq!(sample.error(&found.classifier.coef), found.error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `Shape`: the projection is from another number of features. `Direction`: it maps a row to
/// infinity.
pub fn learn_by_projected_cuts(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &SphereSample<'_>,
    projection: &Projection,
) -> Result<LearnedHalfspace, Error> {
    let design = projection.project(sample.points().design())?;
    let divisor = sample.points().divisor().map(|_| Sphere::largest_norm(&design)).transpose()?;
    let projected = SphereSample::scaled(&design, sample.signs(), divisor)?;
    let projected = projected.with_weights(sample.weights().to_vec())?;
    let halved = Problem { margin: problem.margin.half(), ..*problem };
    let found = learn_by_cuts(&halved, options, &projected);
    let coef = projection.pull_back(&found.classifier.coef);
    Ok(LearnedHalfspace { classifier: LinearClassifier { intercept: 0.0, coef }, ..found })
}

/// Returns the error of the only candidate of a learner on rows held out.
pub(super) fn tested(
    problem: &Problem,
    found: &LearnedHalfspace,
    sample: &SphereSample<'_>,
) -> HeldOutError {
    let error = sample.error(&found.classifier.coef);
    HeldOutError::new(error, 1, problem.target.delta(), sample.weights())
}

/// Returns the halfspace of [`learn_by_cuts`], or of [`learn_by_projected_cuts`] if there is a
/// projection, from some rows of a sample, with its error on the others: at most a fifth of the
/// rows, and no more than N of [`Plan::practical`], are held out at random.
///
/// ```
/// use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
/// use margins_massart::{CutOptions, Problem, SphereSample, learn_by_tested_cuts};
///
/// let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
/// let points = halfspace.points(2000, 1)?;
/// let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
/// let draws = noisy.draw(8000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let (problem, options) = (Problem::new(0.1, 0.2)?, CutOptions::default());
/// let (found, held_out) = learn_by_tested_cuts(&problem, &options, &sample, None, 1)?;
/// assert!(noisy.linear_error(&found.classifier.coef)? <= held_out.bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`]: there are fewer than two samples of positive weight. The errors of
/// [`learn_by_projected_cuts`].
pub fn learn_by_tested_cuts(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &SphereSample<'_>,
    projection: Option<&Projection>,
    seed: u64,
) -> Result<(LearnedHalfspace, HeldOutError), Error> {
    let split = Split::new(sample.weights(), Plan::practical(problem).selection, seed)?;
    let training = sample.clone().with_weights(split.training_weights(sample.weights()))?;
    let found = match projection {
        None => learn_by_cuts(problem, options, &training),
        Some(projection) => learn_by_projected_cuts(problem, options, &training, projection)?,
    };
    let held_out = tested(problem, &found, &split.selection_sample(sample)?);
    Ok((found, held_out))
}

/// Returns the result of cutting planes with an oracle over a sample in memory.
pub(super) fn search_sample(
    problem: &Problem,
    options: &CutOptions<'_>,
    sample: &SphereSample<'_>,
    oracle: impl Fn(&Problem, &SphereSample<'_>, &[f64]) -> Separation,
) -> LearnedHalfspace {
    search(problem, options, sample.columns(), |w| Ok(ask(problem, sample, w, &oracle)))
}

/// Returns the answer of an oracle over a sample about a halfspace, or the average.
pub(super) fn ask(
    problem: &Problem,
    sample: &SphereSample<'_>,
    w: Option<&[f64]>,
    oracle: impl Fn(&Problem, &SphereSample<'_>, &[f64]) -> Separation,
) -> Separation {
    match w {
        Some(w) => oracle(problem, sample, w),
        None => Separation::by(sample.mean(&vec![0.0; sample.rows()], |_, y| -y)),
    }
}

/// Returns the result of [`search`] with an oracle that may fail.
pub(super) fn try_search(
    problem: &Problem,
    options: &CutOptions<'_>,
    columns: usize,
    mut oracle: impl FnMut(Option<&[f64]>) -> Result<Separation, Error>,
) -> Result<LearnedHalfspace, Error> {
    let mut failure = None;
    let found = search(problem, options, columns, |w| {
        oracle(w).map_err(|error| {
            failure = Some(error);
            End::Empty
        })
    });
    failure.map_or(Ok(found), Err)
}

/// Returns the result of cutting planes with any oracle, which is asked about a halfspace, or for the
/// average `mean -y x`.
///
/// The zero vector, the first centre, is no halfspace: it decides nothing, and its error would
/// depend on sign(0). The average cuts it off, because
/// `E y <w*, x> = E (1 - 2 eta(x)) |<w*, x>| > 0`.
fn search(
    problem: &Problem,
    options: &CutOptions<'_>,
    columns: usize,
    mut oracle: impl FnMut(Option<&[f64]>) -> Result<Separation, End>,
) -> LearnedHalfspace {
    let mut best = (f64::INFINITY, vec![0.0; columns]);
    let most_calls = options.most_calls(problem, columns);
    let (end, calls) = localize(options.method, columns, most_calls, &options.limits, |w| {
        let is_zero = w.iter().all(|&w| w == 0.0);
        let Separation { error, cut } = oracle((!is_zero).then_some(w))?;
        if error < best.0 {
            best = (error, w.to_vec());
        }
        let cut = cut.ok_or(End::Accepted)?;
        let reached = if is_zero { None } else { options.limits.reached() };
        reached.map_or(Ok(cut), |status| Err(End::Stopped(status)))
    });
    let (error, coef) = best;
    LearnedHalfspace { classifier: LinearClassifier { intercept: 0.0, coef }, error, end, calls }
}

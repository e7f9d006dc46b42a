//! The driver of cross-validation: takes folds along a path in rounds, wherever their samples are.

use std::time::Instant;

use margins_data::metrics::Measure;
use margins_data::parallel;

use super::error_curve::{ErrorCurve, FoldError, FoldErrors};
use super::rounds::{Round, Rounds};
use crate::Lambda;

/// The samples that a fold holds out, with their outcomes at the lambdas so far.
pub trait HeldOut {
    /// The outcome of the samples held out at one lambda.
    type Outcome;

    /// Takes over the outcomes at the lambdas of these indices.
    fn set(&mut self, at: &[usize], outcomes: Vec<Self::Outcome>);

    /// Returns the errors so far.
    fn errors(&self) -> FoldErrors;

    /// Returns true for each of the first `count` lambdas that these folds show to be hopeless; by
    /// default for none.
    fn hopeless(_folds: &[Self], count: usize) -> Vec<bool>
    where
        Self: Sized,
    {
        vec![false; count]
    }
}

/// Errors that are sums already: an outcome is the weight of the samples held out with their error.
impl HeldOut for FoldErrors {
    type Outcome = (f64, FoldError);

    fn set(&mut self, at: &[usize], outcomes: Vec<(f64, FoldError)>) {
        for (&k, (weight, error)) in at.iter().zip(outcomes) {
            self.weight = weight;
            self.at[k] = Some(error);
        }
    }

    fn errors(&self) -> FoldErrors {
        self.clone()
    }
}

/// Folds that are to continue along the path.
pub struct Batch<'a> {
    folds: &'a [usize],
    round: &'a Round,
    rounds: &'a Rounds,
    is_hopeless: &'a [bool],
}

/// A fold that has continued to a number of lambdas, with the outcomes at those of these indices.
pub struct Advanced<T> {
    fold: usize,
    at: Vec<usize>,
    outcomes: Vec<T>,
    reached: usize,
}

impl Batch<'_> {
    /// Continues all folds [in parallel](margins_data::parallel): `solve(fold, at, round)` returns the
    /// outcomes of a fold at the lambdas of these indices, or at those that there was time for.
    ///
    /// # Errors
    /// The errors of `solve`.
    pub fn in_parallel<T: Send, E: Send>(
        &self,
        solve: impl Fn(usize, &[usize], &Round) -> Result<Vec<T>, E> + Sync,
    ) -> Result<Vec<Advanced<T>>, E> {
        parallel::try_map_large(0..self.folds.len(), |i| self.advance(self.folds[i], &solve))
    }

    /// Continues one fold after another, as [`in_parallel`](Self::in_parallel) does all of them.
    ///
    /// # Errors
    /// The errors of `solve`.
    pub fn in_turn<T, E>(
        &self,
        mut solve: impl FnMut(usize, &[usize], &Round) -> Result<Vec<T>, E>,
    ) -> Result<Vec<Advanced<T>>, E> {
        self.folds.iter().map(|&fold| self.advance(fold, &mut solve)).collect()
    }

    fn advance<T, E>(
        &self,
        fold: usize,
        solve: impl FnOnce(usize, &[usize], &Round) -> Result<Vec<T>, E>,
    ) -> Result<Advanced<T>, E> {
        let goal = self.round.goal();
        let is_open = |&k: &usize| !self.is_hopeless[k];
        let at: Vec<usize> = (self.rounds.reached(fold)..goal).filter(is_open).collect();
        let outcomes = solve(fold, &at, self.round)?;
        let reached = at.get(outcomes.len()).copied().unwrap_or(goal);
        self.round.end(reached);
        Ok(Advanced { fold, at, outcomes, reached })
    }
}

/// How folds advance.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The time by which they end. Until then they advance in [rounds](Rounds), and lambdas that are not
    /// solved in every fold by then are not [reached](ErrorCurve::reached).
    pub deadline: Option<Instant>,
    /// The number of folds that continue at the same time.
    pub at_once: usize,
    /// True if the later half of the folds goes without the lambdas that the earlier half, of two folds
    /// at least, has shown to be [hopeless](HeldOut::hopeless).
    pub abandon_hopeless: bool,
}

/// Returns the errors of folds along lambdas, largest first; `solve` continues a batch of folds.
///
/// ```
/// use margins_data::metrics::Measure;
/// use margins_optim::path::{FoldError, FoldErrors, Measured, Pace, curve_of_folds};
/// use margins_optim::{Error, lambda_grid};
///
/// let lambdas = lambda_grid(1.0, 0.01, 3)?;
/// let folds = vec![FoldErrors { weight: 0.0, at: vec![None; 3] }; 2];
/// let pace = Pace { deadline: None, at_once: 1, abandon_hopeless: false };
/// let curve = curve_of_folds(Measure::Error, lambdas, folds, pace, |batch| {
///     batch.in_turn(|_fold, at, _round| {
///         // Ten samples of weight 1, of which two, then one, then none is misclassified.
///         let error = |&k: &usize| FoldError {
///             error: 0.1 * (2 - k) as f64,
///             unproven: None,
///             measured: Measured::default(),
///             relative_gap: 0.0,
///             converged: true,
///         };
///         Ok::<_, Error>(at.iter().map(|k| (10.0, error(k))).collect())
///     })
/// })?;
/// assert_eq!((curve.best, curve.mean_error[2]), (2, 0.0));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of `solve`.
pub fn curve_of_folds<H: HeldOut, E>(
    measure: Measure,
    lambdas: Vec<Lambda>,
    mut folds: Vec<H>,
    pace: Pace,
    mut solve: impl FnMut(&Batch<'_>) -> Result<Vec<Advanced<H::Outcome>>, E>,
) -> Result<ErrorCurve, E> {
    let count = folds.len();
    let mut is_hopeless = vec![false; lambdas.len()];
    let Pace { deadline, at_once, abandon_hopeless } = pace;
    let mut rounds = Rounds::new(deadline, count, lambdas.len());
    let mut earlier = if abandon_hopeless { count.div_ceil(2).max(2) } else { count };
    while let Some(round) = rounds.next(at_once) {
        let (first, later) = round.folds().split_at(earlier.min(round.folds().len()));
        for (part, has_later) in [(first, !later.is_empty()), (later, false)] {
            let batch =
                Batch { folds: part, round: &round, rounds: &rounds, is_hopeless: &is_hopeless };
            for Advanced { fold, at, outcomes, reached } in solve(&batch)? {
                folds[fold].set(&at, outcomes);
                rounds.end(fold, reached);
            }
            if has_later {
                let judged = first.iter().map(|&fold| rounds.reached(fold)).min().unwrap_or(0);
                is_hopeless[..judged].copy_from_slice(&H::hopeless(&folds[..earlier], judged));
            }
        }
        earlier = count;
    }
    let errors: Vec<FoldErrors> = folds.iter().map(HeldOut::errors).collect();
    let mut curve = ErrorCurve::of_folds(measure, lambdas, &errors);
    curve.leave_out(|k| k >= rounds.common());
    Ok(curve)
}

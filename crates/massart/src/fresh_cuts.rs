//! Cutting planes as theorem B.3 proves them: the oracle gets fresh rows in each call.

use margins_data::metrics::HeldOutError;
use margins_optim::method::Limits;

use crate::cuts::{CutOptions, LearnedHalfspace, ask, tested, try_search};
use crate::cutting_planes::Method;
use crate::sgd::Plan;
use crate::split::Split;
use crate::{Error, Problem, SphereSample, separate};

/// The numbers of cutting planes whose oracle gets fresh rows in each call.
///
/// ```
/// use margins_massart::{CutPlan, Problem};
///
/// let plan = CutPlan::proven(&Problem::new(0.3, 0.05)?, 20); // epsilon = delta = 0.05
/// assert_eq!((plan.calls, plan.rows_per_call), (3682, 197_497_231));
/// # Ok::<(), margins_massart::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutPlan {
    /// The localisation method.
    pub method: Method,
    /// The largest number of calls of the oracle, of which the first one cuts w = 0 off.
    pub calls: usize,
    /// The number n of fresh rows in each call.
    pub rows_per_call: usize,
    /// The largest number of rows held out to test the halfspace, N of [`Plan::practical`].
    pub selection: usize,
}

impl CutPlan {
    /// Returns numbers for which theorem B.3 holds as stated: with probability at least `1 - delta`
    /// the search accepts a halfspace, and its error is at most eta + epsilon, whatever the
    /// distribution.
    ///
    /// *Calls.* The set sought is the ball of radius gamma/4 around `(1 - gamma/4) w*`. It is in the
    /// unit ball, and every v in it is within gamma/2 of w*, so that lemma 2.2 holds with v instead of
    /// w*: `<E g, w - v> >= 2 (err(w) - eta)`. While no cut takes a part of it away, ellipsoids make at
    /// most `2 d (d+1) ln(4/gamma)` cuts ([`Method::most_cuts`]), and the next call accepts.
    ///
    /// *Rows.* With `M = 4 (1 - eta)/gamma`, the largest norm of g, fact B.6 and `sigma^2 <= n M^2`,
    /// the mean of g over n fresh rows is within `2 epsilon/5` of `E g` but with probability
    /// `2 exp(-(n r/2) ln(1 + r))` for `r = 2 epsilon/(5 M)`. The error on these n rows is within
    /// epsilon/10 of `err(w)` with at least this probability, by Hoeffding's inequality, because
    /// `M > 2`. Two points of the unit ball are at most 2 apart, so that a cut
    /// `2 (error - eta) - epsilon` deep, as [`separate`] makes it, is valid for every v; and what
    /// `separate` accepts has an error of at most `eta + 3 epsilon/5`. The first cut, by the mean of `-y x`, is valid
    /// if that mean is within `(1 - 2 eta) gamma/2` of its expectation, which is the same with
    /// `r = (1 - 2 eta) gamma/2`. Each of the two events of a call fails with probability at most
    /// `delta/(2 calls)` for `n = 2 ln(4 calls/delta)/(r ln(1 + r))` with the smaller r.
    pub fn proven(problem: &Problem, columns: usize) -> Self {
        Self::new(problem, columns, Method::Ellipsoid, None)
    }

    /// Returns the rows for a method and a number of calls, by default the
    /// [most cuts](Method::most_cuts) that leave a ball of radius gamma/4 and one more.
    ///
    /// As in [`proven`](Self::proven), the error of an accepted halfspace is at most eta + epsilon with
    /// probability at least `1 - delta`. That one is accepted is proven for ellipsoids and the default
    /// number of calls only.
    pub fn new(
        problem: &Problem,
        columns: usize,
        method: Method,
        most_calls: Option<usize>,
    ) -> Self {
        let (eta, gamma) = (problem.noise.get(), problem.margin.get());
        let calls =
            most_calls.unwrap_or_else(|| method.most_cuts(columns, gamma / 4.0).saturating_add(1));
        let of_cuts = problem.target.epsilon() / (10.0 * (1.0 - eta));
        let r = gamma * f64::min(of_cuts, (1.0 - 2.0 * eta) / 2.0);
        let failure = (4.0 * calls as f64 / problem.target.delta()).ln();
        let rows_per_call = (2.0 * failure / (r * r.ln_1p())).ceil() as usize;
        CutPlan { method, calls, rows_per_call, selection: Plan::practical(problem).selection }
    }

    /// Returns the number of rows of all calls and of those held out.
    pub fn rows(&self) -> usize {
        self.calls.saturating_mul(self.rows_per_call).saturating_add(self.selection)
    }

    /// Returns the options of the search.
    pub(crate) fn options<'w>(&self, limits: &Limits<'w>) -> CutOptions<'w> {
        CutOptions { method: self.method, most_calls: Some(self.calls), limits: *limits }
    }
}

/// The rows of each call, drawn from those to learn from.
pub(crate) struct Fresh<'s> {
    draws: Box<dyn Iterator<Item = (usize, f64)> + 's>,
    rows_per_call: usize,
    /// The weights of the rows to learn from.
    weights: Vec<f64>,
    /// True if each call takes all of them.
    takes_all: bool,
}

impl<'s> Fresh<'s> {
    pub(crate) fn new(
        plan: &CutPlan,
        split: &'s Split,
        weights: &'s [f64],
        signs: &'s [f64],
        seed: u64,
    ) -> Self {
        Fresh {
            draws: split.draws(weights, signs, usize::MAX, seed),
            rows_per_call: plan.rows_per_call,
            weights: split.training_weights(weights),
            takes_all: plan.rows_per_call >= split.training_rows().len(),
        }
    }

    /// Returns the weights of the rows of the next call, 0 for all others.
    pub(crate) fn next_weights(&mut self) -> Vec<f64> {
        if self.takes_all {
            return self.weights.clone();
        }
        let mut weights = vec![0.0; self.weights.len()];
        self.draws.by_ref().take(self.rows_per_call).for_each(|(row, _)| weights[row] += 1.0);
        weights
    }
}

/// Returns the halfspace of theorem B.3: cutting planes in the unit ball with the oracle
/// [`separate`], which gets other rows of the sample in each call, with its error on rows held out: at
/// most a fifth of the rows, and no more than N of the plan.
///
/// Rows are drawn as by [`learn`](crate::learn): in random order, again and again if there are fewer
/// than the calls take, and in proportion to their weights if these differ. A call takes all rows to
/// learn from if there are no more than it needs. The guarantee of [`CutPlan::proven`] is for fresh
/// rows, and the bound of the rows held out for any.
///
/// ```
/// use margins_data::generate::MassartDistribution;
/// use margins_massart::cutting_planes::End;
/// use margins_massart::{CutPlan, Problem, SphereSample, Target, learn_by_fresh_cuts};
/// use margins_optim::method::Limits;
///
/// let (_, noisy) = MassartDistribution::simulated(2, 0.5, 0.1, "far", 200, 1)?;
/// let draws = noisy.draw(100_000, 1);
/// let design = noisy.design().select(&draws.rows);
/// let sample = SphereSample::new(&design, &draws.signs)?;
/// let problem = Problem::new(0.1, 0.5)?.with_target(Target::new(0.4, 0.1)?);
/// let plan = CutPlan::proven(&problem, 2);
/// let (found, _) = learn_by_fresh_cuts(&problem, &plan, &sample, 1, &Limits::default())?;
/// assert_eq!(found.end, End::Accepted);
/// assert!(noisy.linear_error(&found.classifier.coef)? <= 0.1 + 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`]: there are fewer than two samples of positive weight.
pub fn learn_by_fresh_cuts(
    problem: &Problem,
    plan: &CutPlan,
    sample: &SphereSample<'_>,
    seed: u64,
    limits: &Limits<'_>,
) -> Result<(LearnedHalfspace, HeldOutError), Error> {
    let split = Split::new(sample.weights(), plan.selection, seed)?;
    let mut fresh = Fresh::new(plan, &split, sample.weights(), sample.signs(), seed);
    let found = try_search(problem, &plan.options(limits), sample.columns(), |w| {
        let rows = sample.clone().with_weights(fresh.next_weights())?;
        Ok(ask(problem, &rows, w, separate))
    })?;
    let held_out = tested(problem, &found, &split.selection_sample(sample)?);
    Ok((found, held_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the calls are disjoint until all are used, whatever their weight if it is equal; rows of
    /// unlike weights are drawn in proportion to them; and a call that needs all rows has them as they are.
    #[test]
    fn each_call_has_rows_of_its_own() {
        let signs = [1.0; 1000];
        let split = |weights: &[f64]| Split::new(weights, 100, 3).unwrap();
        let problem = Problem::new(0.1, 0.2).unwrap();
        let of = |rows_per_call| CutPlan { rows_per_call, ..CutPlan::proven(&problem, 2) };
        let equal = [3.0; 1000];
        let training = split(&equal);
        let mut fresh = Fresh::new(&of(300), &training, &equal, &signs, 1);
        let calls: Vec<Vec<f64>> = (0..3).map(|_| fresh.next_weights()).collect();
        let total: Vec<f64> = (0..1000).map(|i| calls.iter().map(|call| call[i]).sum()).collect();
        assert!(calls.iter().all(|call| call.iter().sum::<f64>() == 300.0));
        let once = training.training_weights(&[1.0; 1000]);
        assert_eq!(total, once);
        assert_eq!(fresh.next_weights().iter().sum::<f64>(), 300.0);
        let unlike: Vec<f64> = (0..1000).map(|i| (i % 2 * 3 + 1) as f64).collect();
        let training = split(&unlike);
        let mut fresh = Fresh::new(&of(800), &training, &unlike, &signs, 1);
        let drawn: Vec<f64> = fresh.next_weights();
        let heavy: f64 = drawn.iter().skip(1).step_by(2).sum();
        // Four fifths of 800, within four standard deviations.
        assert!((heavy - 640.0).abs() < 46.0, "{heavy}");
        let mut all = Fresh::new(&of(900), &training, &unlike, &signs, 1);
        assert_eq!(all.next_weights(), training.training_weights(&unlike));
        assert_eq!(all.next_weights(), training.training_weights(&unlike));
    }

    /// Numbers that no machine counts are the largest one, and do not panic.
    #[test]
    fn plans_of_hard_problems_saturate() {
        let problem = Problem::new(0.5f64.next_down(), 1e-300).unwrap();
        let plan = CutPlan::proven(&problem, usize::MAX);
        assert_eq!(
            (plan.calls, plan.rows_per_call, plan.rows()),
            (usize::MAX, usize::MAX, usize::MAX)
        );
    }
}

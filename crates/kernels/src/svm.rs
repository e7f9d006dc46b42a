//! The support vector machine on a kernel matrix.
//!
//! With `f = K a` it minimises
//!
//! `F(b, a) = (1/n) sum_i c_i max(0, 1 - y_i (b + f_i)) + lambda a'K a`
//!
//! in its dual. The dual variables are the coefficients themselves: with `a_i = y_i c_i s_i/(2
//! lambda n)`, `s_i` in `[0, 1]`,
//!
//! `D = (1/n) sum_i c_i s_i - lambda a'K a = 2 lambda (y'a - a'K a/2)`,
//!
//! to be maximised with `a_i` between 0 and `y_i c_i/(2 lambda n)` and, where there is an
//! intercept, `sum_i a_i = 0`. The gradient of `y'a - a'K a/2` is `g_i = y_i - f_i`, and the
//! conditions of optimality say that no coefficient can rise whose gradient is above that of one
//! that can fall; the signs of the classes appear nowhere but in the bounds.
//!
//! Sequential minimal optimisation moves two coefficients at a time, chosen to second order (Fan,
//! Chen and Lin, *Working set selection using second order information for training support vector
//! machines*, JMLR 6, 2005), and sets aside those that look settled at a bound (Joachims's
//! shrinking, as in Chang and Lin, *LIBSVM: a library for support vector machines*, 2011). It runs
//! in rounds: a round ends when its active samples violate optimality by little enough, then `K a`
//! is computed afresh for all samples and the duality gap decides whether the fit is done. If not,
//! the next round aims at a violation smaller in the proportion in which the gap is too large.
//!
//! ```
//! use margins_kernels::{Gram, svm};
//! use margins_optim::{Lambda, Options};
//! use nalgebra::DMatrix;
//!
//! let x = [-2.0, -1.0, 1.0, 2.0f64];
//! let gram = DMatrix::from_fn(4, 4, |i, j| (-(x[i] - x[j]).powi(2)).exp());
//! let gram = Gram::precomputed(gram)?;
//! let signs = [-1.0, -1.0, 1.0, 1.0];
//! let fit = svm::fit(&gram, &signs, None, true, Lambda::new(0.01)?, &Options::default())?;
//! assert!(fit.report.converged() && fit.report.duality_gap >= 0.0);
//! # Ok::<(), margins_kernels::Error>(())
//! ```

mod active;
mod columns;
mod problem;
mod sweep;

use margins_losses::MarginLoss;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::solve::{Ending, Monitor};
use margins_optim::{Lambda, Options, Status};

use self::active::Active;
use self::columns::Columns;
use self::problem::{DualPoint, Extremes, Problem, UNITS, balance};
use crate::{Error, Gram, KernelFit};

/// Fits the support vector machine at one lambda. See [`path`], also for the errors.
///
/// # Errors
/// The errors of [`path`].
pub fn fit(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambda: Lambda,
    options: &Options,
) -> Result<KernelFit, Error> {
    path(gram, signs, weights, intercept, &[lambda], options).map(|mut fits| fits.swap_remove(0))
}

/// Fits the support vector machine at every lambda, each once and largest first whatever the order
/// given (in the usual parametrisation, from the smallest `C = 1/(2 n lambda)` up). Each fit starts
/// from the coefficients of the one before or from those times the ratio of the lambdas, which
/// keeps bounded coefficients at their bound, whichever is better in the dual.
///
/// `gram` is the n x n kernel matrix K, which its type knows to be positive semidefinite: a gap
/// bounds something there only. `signs` are the labels, -1 or +1. `weights` are the `c_i` of the
/// objective, 1 where absent; n counts all samples, and one of weight 0 is held out: its
/// coefficient is 0. Of `options` the tolerance and the most iterations at one lambda are heeded
/// (by default ten million, or 100 n if that is more, the limit of LIBSVM).
///
/// The intercept is the minimiser of the hinge risk for the coefficients, the middle where that is
/// an interval. In the reports `gradient_norm` is the violation of the conditions of optimality,
/// `max(0, m - M)` with m the largest `y_i - f_i` of a coefficient that can rise and M the smallest
/// of one that can fall; without intercept, the larger of m and -M. `iterations` counts steps, of
/// two coefficients each; `passes` counts the entries of K read, n x n of them as one. The history
/// has an entry for every round of steps.
///
/// [`Status::Converged`] means that the duality gap, but for twice the rounding of F, is at most the
/// tolerance times the larger size of the two objectives. [`Status::Stalled`] means that the steps
/// come to a halt before that. [`Status::NumericalTrouble`] means that products with K overflowed; the
/// coefficients are those of the smallest gap so far, and 0 if there are none.
///
/// Columns of K are cached for the samples that are not set aside, in at most [`CACHE_BYTES`] of
/// memory; [`path_with_cache`] takes another budget.
///
/// # Errors
/// Sizes that differ; a sign or a weight that is not what it should be; a class of which no sample
/// has a positive weight; no lambdas; a tolerance that is not positive.
pub fn path(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<KernelFit>, Error> {
    path_with_cache(gram, signs, weights, intercept, lambdas, options, CACHE_BYTES)
}

/// The memory that [`path`] takes for its cache of columns, 256 MiB: all columns up to 5800
/// samples. LIBSVM takes 100 MB and scikit-learn 200 MB.
pub const CACHE_BYTES: usize = 256 << 20;

/// Fits as [`path`] does, with at most so many bytes for the cache of columns, but room for at
/// least the two of a step. A column that finds no room takes the place of the one that has not
/// been used for the longest time. The fits do not depend on the budget.
///
/// # Errors
/// The errors of [`path`].
pub fn path_with_cache(
    gram: &Gram,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[Lambda],
    options: &Options,
    cache_bytes: usize,
) -> Result<Vec<KernelFit>, Error> {
    check(lambdas, options)?;
    let problem = Problem::new(gram, signs, weights, intercept)?;
    Ok(path_of(&problem, lambdas, options, cache_bytes))
}

/// Fits as [`path`] does to the samples of a risk, by the hinge whatever its loss.
pub(crate) fn path_of_risk<L: MarginLoss + ?Sized>(
    gram: &Gram,
    risk: &EmpiricalRisk<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<KernelFit>, Error> {
    check(lambdas, options)?;
    let n = risk.weights().len() as f64;
    let weights: Vec<f64> = risk.weights().iter().map(|c| c * n).collect();
    let problem = Problem::new(gram, risk.signs(), Some(&weights), risk.has_intercept())?;
    let problem = problem.counted_by(risk.counts());
    Ok(path_of(&problem, lambdas, options, CACHE_BYTES))
}

fn check(lambdas: &[Lambda], options: &Options) -> Result<(), Error> {
    if !(options.tolerance.is_finite() && options.tolerance > 0.0) {
        return Err(margins_optim::Error::Tolerance(options.tolerance).into());
    }
    if lambdas.is_empty() {
        return Err(margins_optim::Error::NoLambdas.into());
    }
    Ok(())
}

fn path_of(
    problem: &Problem<'_>,
    lambdas: &[Lambda],
    options: &Options,
    cache_bytes: usize,
) -> Vec<KernelFit> {
    let mut lambdas = lambdas.to_vec();
    lambdas.sort_by(|a, b| b.get().total_cmp(&a.get()));
    lambdas.dedup();

    let mut solver = SequentialMinimization::new(problem, cache_bytes);
    lambdas.into_iter().map(|lambda| solver.fit(lambda, options)).collect()
}

/// The number of steps between two looks at which samples to set aside.
const SHRINKING_PERIOD: usize = 1000;

/// The state that carries over from one lambda to the next.
struct SequentialMinimization<'p, 'a> {
    problem: &'p Problem<'a>,
    last: Option<(Lambda, DualPoint)>,
    columns: Columns,
    /// The number of entries of K read.
    entries: f64,
    /// True if samples that look settled are set aside; switched off in tests alone.
    shrinking: bool,
}

impl<'p, 'a> SequentialMinimization<'p, 'a> {
    fn new(problem: &'p Problem<'a>, cache_bytes: usize) -> Self {
        let columns = Columns::new(cache_bytes);
        SequentialMinimization { problem, last: None, columns, entries: 0.0, shrinking: true }
    }

    fn fit(&mut self, lambda: Lambda, options: &Options) -> KernelFit {
        self.entries = 0.0;
        let start = self.start(lambda);
        let (point, ending) = self.maximize(lambda, start, options);
        let report = ending.report(self.passes());
        let fit =
            KernelFit { lambda, intercept: point.intercept, coef: point.coef.clone(), report };
        self.last = Some((lambda, point));
        fit
    }

    /// Returns the better in the dual of the last coefficients and those scaled by the ratio of the
    /// lambdas.
    fn start(&mut self, lambda: Lambda) -> DualPoint {
        let n = self.problem.len();
        let Some((last_lambda, last)) = &self.last else {
            return self.point(lambda, vec![0.0; n]);
        };
        let ratio = last_lambda.get() / lambda.get();
        let signs = self.problem.signs;
        let linear: f64 = last.coef.iter().zip(signs).map(|(a, y)| a * y).sum();
        let fitted = signs.iter().zip(&last.gradient).map(|(y, g)| y - g);
        let quadratic: f64 = last.coef.iter().zip(fitted).map(|(a, f)| a * f).sum();
        let dual = |scale: f64| scale * linear - 0.5 * scale * scale * quadratic;
        let scale = if dual(ratio) > dual(1.0) { ratio } else { 1.0 };
        let scaled = |(i, &a): (usize, &f64)| {
            let (lower, upper) = self.problem.bounds(i, lambda);
            let bounded = a != 0.0 && {
                let (old_lower, old_upper) = self.problem.bounds(i, *last_lambda);
                a == old_lower || a == old_upper
            };
            // Rounding must not take a coefficient off its bound.
            if bounded && scale != 1.0 { lower + upper } else { (scale * a).clamp(lower, upper) }
        };
        let coef = last.coef.iter().enumerate().map(scaled).collect();
        self.point(lambda, coef)
    }

    /// Returns everything about these coefficients, from K itself; what rounding made of their sum
    /// is first taken from a free one.
    ///
    /// With an intercept that minimises the hinge risk the gap is `F - D = (1/n) sum_i c_i (max(0,
    /// 1 - u_i) - s_i (1 - u_i))`, `u_i = y_i (b + f_i)`: no term is negative, so nothing cancels.
    /// It uses `2 lambda a'K a = (1/n) sum_i c_i s_i y_i f_i` and `sum_i a_i = 0`. The rounding of
    /// f is that of both objectives. What it would cost to take the rest r of the sum that rounding
    /// has left from one coefficient is added: `2 lambda |r| |g_i - b|` to first order, for the
    /// worst i.
    fn point(&mut self, lambda: Lambda, mut coef: Vec<f64>) -> DualPoint {
        let problem = self.problem;
        let excess = if problem.intercept { balance(problem, lambda, &mut coef) } else { 0.0 };
        let mut gradient = problem.signs.to_vec();
        for (i, &a) in coef.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            self.entries += problem.len() as f64;
            for (g, k) in gradient.iter_mut().zip(problem.column(i)) {
                *g -= a * k;
            }
        }
        let intercept = if problem.intercept { problem.best_intercept(&gradient) } else { 0.0 };
        let (mut risk, mut gap, mut square, mut farthest) = (0.0, 0.0, 0.0, 0.0f64);
        let error_of = problem.margin_errors(&coef, intercept);
        let mut rounding = 0.0;
        let mut extremes = Extremes::NONE;
        for &i in &problem.samples {
            let (a, g, y, c) = (coef[i], gradient[i], problem.signs[i], problem.weights[i]);
            let (lower, upper) = problem.bounds(i, lambda);
            // 1 - u_i, since y_i g_i = 1 - y_i f_i.
            let shortfall = y * (g - intercept);
            let at_bound =
                if upper > lower { a / (upper + lower) } else { f64::from(shortfall > 0.0) };
            let s = at_bound.clamp(0.0, 1.0);
            risk += c * shortfall.max(0.0);
            let above = if shortfall > 0.0 { (1.0 - s) * shortfall } else { -s * shortfall };
            gap += c * above;
            let error = error_of(i);
            let slope = if shortfall > -error { 1.0 } else { s };
            rounding += (c * slope + lambda.get() * a.abs()) * error;
            farthest = farthest.max(shortfall.abs());
            square += a * (y - g);
            if a < upper {
                extremes.rising = extremes.rising.max(g);
            }
            if a > lower {
                extremes.falling = extremes.falling.min(g);
            }
        }
        let penalty = lambda.get() * square;
        rounding += UNITS * f64::EPSILON * (risk + penalty.abs());
        DualPoint {
            objective: risk + penalty,
            coef,
            gradient,
            intercept,
            gap: gap + 2.0 * excess.abs() * farthest * lambda.get(),
            rounding,
            violation: extremes.violation(problem.intercept),
        }
    }

    /// Takes rounds of steps until the gap is small enough.
    fn maximize(
        &mut self,
        lambda: Lambda,
        start: DualPoint,
        options: &Options,
    ) -> (DualPoint, Ending) {
        /// Rounds in a row that may pass without a new smallest gap or largest dual objective.
        const PATIENCE: usize = 50;
        let n = self.problem.len();
        let mut monitor = Monitor::new(options, lambda, (100 * n).max(10_000_000));
        let most_in_round = 20 * n + 1000;
        let dual = |point: &DualPoint| point.objective - point.gap;

        let mut point = start.clone();
        let mut best = start;
        let mut largest_dual = f64::NEG_INFINITY;
        let mut idle = 0;
        loop {
            if !point.is_finite() {
                let best = if best.is_finite() { best } else { self.point(lambda, vec![0.0; n]) };
                let certificate = best.certificate();
                return (best, monitor.end(Status::NumericalTrouble, certificate));
            }
            let gained = dual(&point) - largest_dual > 1e-14 * largest_dual.abs();
            let (gap, least) = (point.certificate().duality_gap, best.certificate().duality_gap);
            idle = if gained || gap < least { 0 } else { idle + 1 };
            largest_dual = largest_dual.max(dual(&point));
            if gap <= least {
                best.clone_from(&point);
            }
            let certificate = best.certificate();
            let margins = || self.problem.summary(&best);
            let status = match monitor.judge(self.passes(), &certificate, margins) {
                None if idle >= PATIENCE => Some(Status::Stalled),
                status => status,
            };
            if let Some(status) = status {
                return (best, monitor.end(status, certificate));
            }
            let excess = 0.5 * options.tolerance / point.certificate().relative_gap();
            let target = point.violation * excess.clamp(0.01, 0.5);
            let budget = most_in_round.min(monitor.left());
            let (coef, steps) = self.round(lambda, &point, target, budget);
            monitor.count(steps);
            point = self.point(lambda, coef);
        }
    }

    /// Returns the passes over K so far, n^2 entries each.
    fn passes(&self) -> usize {
        let n = self.problem.len() as f64;
        (self.entries / (n * n)).ceil() as usize
    }

    /// Takes steps until the active samples violate optimality by at most `target`.
    fn round(
        &mut self,
        lambda: Lambda,
        point: &DualPoint,
        target: f64,
        budget: usize,
    ) -> (Vec<f64>, usize) {
        let mut coef = point.coef.clone();
        let columns = std::mem::replace(&mut self.columns, Columns::new(0));
        let mut active = Active::new(self.problem, lambda, point, columns);
        let mut steps = 0;
        let mut extremes = active.extremes();
        while steps < budget && extremes.violation(self.problem.intercept) > target {
            let due = self.shrinking && steps.is_multiple_of(SHRINKING_PERIOD);
            if due && active.shrink(extremes, &mut coef) {
                extremes = active.extremes();
            }
            match active.step(extremes) {
                Some(next) => extremes = next,
                None => break,
            }
            steps += 1;
        }
        active.store(&mut coef);
        self.entries += active.entries;
        self.columns = active.columns;
        (coef, steps)
    }
}

#[cfg(test)]
mod tests {
    use margins_optim::{Options, lambda_grid};
    use nalgebra::DMatrix;

    use super::{CACHE_BYTES, Problem, SequentialMinimization};
    use crate::Gram;

    /// Two noisy rings, enough of them for samples to be set aside again and again.
    #[test]
    fn shrinking_changes_nothing_but_the_work() {
        let n = 240;
        let point = |i: usize| {
            let (t, noise) = (i as f64, ((i * i) as f64 * 0.7).sin());
            let radius = if i.is_multiple_of(2) { 1.0 } else { 1.6 } + 0.5 * noise;
            [radius * t.cos(), radius * t.sin()]
        };
        let gram = DMatrix::from_fn(n, n, |i, j| {
            let ([a, b], [c, d]) = (point(i), point(j));
            (-(a - c).powi(2) - (b - d).powi(2)).exp()
        });
        let gram = Gram::precomputed(gram).expect("positive semidefinite");
        let signs: Vec<f64> =
            (0..n).map(|i| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let lambdas = lambda_grid(0.1, 1e-5, 7).expect("a grid");
        let options = Options { tolerance: 1e-7, ..Options::default() };
        for intercept in [true, false] {
            let problem = Problem::new(&gram, &signs, None, intercept).expect("a problem");
            let run = |shrinking| {
                let mut solver = SequentialMinimization {
                    shrinking,
                    ..SequentialMinimization::new(&problem, CACHE_BYTES)
                };
                let fits: Vec<_> = lambdas.iter().map(|&at| solver.fit(at, &options)).collect();
                fits
            };
            let mut entries = [0, 0];
            for (with, without) in run(true).iter().zip(run(false)) {
                assert!(with.report.converged() && without.report.converged());
                let (one, other) = (with.report.objective, without.report.objective);
                assert!((one - other).abs() <= 2e-7 * one.max(other), "{one} {other}");
                entries[0] += with.report.passes;
                entries[1] += without.report.passes;
            }
            assert!(entries[0] < entries[1], "{entries:?}");
        }
    }
}

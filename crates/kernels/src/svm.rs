//! The support vector machine on a precomputed kernel matrix.
//!
//! With `f = K a` it minimises
//!
//! `F(b, a) = (1/n) sum_i c_i max(0, 1 - y_i (b + f_i)) + lambda a'K a`
//!
//! in its dual. The dual variables are the coefficients themselves: with `a_i = y_i c_i s_i/(2 lambda n)`,
//! `s_i` in `[0, 1]`,
//!
//! `D = (1/n) sum_i c_i s_i - lambda a'K a = 2 lambda (y'a - a'K a/2)`,
//!
//! to be maximised with `a_i` between 0 and `y_i c_i/(2 lambda n)` and, where there is an intercept,
//! `sum_i a_i = 0`. The gradient of `y'a - a'K a/2` is `g_i = y_i - f_i`, and the conditions of
//! optimality say that no coefficient can rise whose gradient is above that of one that can fall;
//! the signs of the classes appear nowhere but in the bounds.
//!
//! Sequential minimal optimisation moves two coefficients at a time, chosen to second order (Fan, Chen
//! and Lin, *Working set selection using second order information for training support vector
//! machines*, JMLR 6, 2005), and sets aside those that look settled at a bound (Joachims's shrinking,
//! as in Chang and Lin, *LIBSVM: a library for support vector machines*, 2011). It runs in rounds: a
//! round ends when its active samples violate optimality by little enough, then `K a` is computed
//! afresh for all samples and the duality gap decides whether the fit is done. If not, the next round
//! aims at a violation smaller in the proportion in which the gap is too large.
//!
//! ```
//! use margins_kernels::svm;
//! use margins_optim::{Lambda, Options};
//! use nalgebra::DMatrix;
//!
//! let x = [-2.0, -1.0, 1.0, 2.0f64];
//! let gram = DMatrix::from_fn(4, 4, |i, j| (-(x[i] - x[j]).powi(2)).exp());
//! let signs = [-1.0, -1.0, 1.0, 1.0];
//! let fit = svm::fit(&gram, &signs, None, true, Lambda::new(0.01)?, &Options::default())?;
//! assert!(fit.report.converged() && fit.report.duality_gap >= 0.0);
//! # Ok::<(), margins_kernels::Error>(())
//! ```

use margins_optim::{Lambda, Options, Report, Status};
use nalgebra::DMatrix;
use pulp::{Arch, Simd, WithSimd};

use crate::{Error, KernelFit};

/// Fits the support vector machine at one lambda. See [`path`], also for the errors.
///
/// # Errors
/// As [`path`].
pub fn fit(
    gram: &DMatrix<f64>,
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
/// from the coefficients of the one before or from those times the ratio of the lambdas, which keeps
/// bounded coefficients at their bound, whichever is better in the dual.
///
/// `gram` is the symmetric n x n kernel matrix K; only finiteness is checked, symmetry is not.
/// `signs` are the labels, -1 or +1. `weights` are the `c_i` of the objective, 1 where absent; n
/// counts all samples, and one of weight 0 is held out: its coefficient is 0. Of `options` the
/// tolerance and the most iterations at one lambda are heeded (by default ten million, or 100 n if
/// that is more, the limit of LIBSVM).
///
/// The intercept is the minimiser of the hinge risk for the coefficients, the middle where that is an
/// interval. In the reports `gradient_norm` is the violation of the conditions of optimality, `max(0, m - M)`
/// with m the largest `y_i - f_i` of a coefficient that can rise and M the smallest of one that can fall;
/// without intercept, the larger of m and -M. `iterations` counts steps, of two coefficients each; `passes`
/// counts the entries of K read, n x n of them as one. The history is empty.
///
/// [`Status::Converged`] means that the duality gap is at most the tolerance times the larger size of
/// the two objectives. [`Status::Stalled`] means that rounding stops the steps before that; it is to
/// be expected where `1/lambda` times the rounding of K is no longer small, or where the objective is
/// so small that the rounding of the margins matters (separable samples at a lambda below 1e-9, say).
/// [`Status::NumericalTrouble`] means that products with K overflowed; the coefficients are then 0.
/// If K is not positive semidefinite the result is stationary at best and the gap bounds nothing,
/// but the method still ends.
///
/// # Errors
/// Sizes that differ; an entry of K, a sign or a weight that is not what it should be; a class of
/// which no sample has a positive weight; no lambdas; a tolerance that is not positive.
pub fn path(
    gram: &DMatrix<f64>,
    signs: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<KernelFit>, Error> {
    if !(options.tolerance.is_finite() && options.tolerance > 0.0) {
        return Err(margins_optim::Error::Tolerance(options.tolerance).into());
    }
    if lambdas.is_empty() {
        return Err(margins_optim::Error::NoLambdas.into());
    }
    let problem = Problem::new(gram, signs, weights, intercept)?;
    let mut lambdas = lambdas.to_vec();
    lambdas.sort_by(|a, b| b.get().total_cmp(&a.get()));
    lambdas.dedup();

    let mut solver = Solver::new(&problem);
    Ok(lambdas.into_iter().map(|lambda| solver.fit(lambda, options)).collect())
}

/// Curvatures count as at least this times the largest size of a diagonal entry of K, a little above
/// the rounding of `K_ii + K_jj - 2 K_ij`: duplicate samples have none.
const LEAST_CURVATURE: f64 = 1e-14;

/// What does not depend on lambda.
struct Problem<'a> {
    gram: &'a DMatrix<f64>,
    signs: &'a [f64],
    /// `c_i / n`.
    weights: Vec<f64>,
    intercept: bool,
    /// The samples of positive weight.
    samples: Vec<usize>,
    /// The largest size of a diagonal entry of K.
    largest_diagonal: f64,
    least_curvature: f64,
}

impl<'a> Problem<'a> {
    fn new(
        gram: &'a DMatrix<f64>,
        signs: &'a [f64],
        weights: Option<&[f64]>,
        intercept: bool,
    ) -> Result<Self, Error> {
        let n = signs.len();
        check_size("rows of the kernel matrix", n, gram.nrows())?;
        check_size("columns of the kernel matrix", n, gram.ncols())?;
        if let Some(at) = gram.as_slice().iter().position(|k| !k.is_finite()) {
            let (row, column) = (at % n, at / n);
            return Err(Error::GramEntry { row, column, value: gram[(row, column)] });
        }
        if let Some(row) = signs.iter().position(|y| y.abs() != 1.0) {
            return Err(Error::Sign { row, value: signs[row] });
        }
        let mut mean_weights = vec![1.0 / n as f64; n];
        if let Some(weights) = weights {
            check_size("sample weights", n, weights.len())?;
            if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
                let value = weights[row];
                return Err(margins_optim::Error::Weight { row, value }.into());
            }
            mean_weights = weights.iter().map(|c| c / n as f64).collect();
        }
        let samples: Vec<usize> = (0..n).filter(|&i| mean_weights[i] > 0.0).collect();
        for sign in [1.0, -1.0] {
            if !samples.iter().any(|&i| signs[i] == sign) {
                return Err(margins_optim::Error::OneClass(format!("{sign:+}")).into());
            }
        }
        let largest_diagonal = gram.diagonal().iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        let least_curvature = (LEAST_CURVATURE * largest_diagonal).max(f64::MIN_POSITIVE);
        Ok(Problem {
            gram,
            signs,
            weights: mean_weights,
            intercept,
            samples,
            largest_diagonal,
            least_curvature,
        })
    }

    fn len(&self) -> usize {
        self.signs.len()
    }

    fn column(&self, i: usize) -> &'a [f64] {
        let n = self.len();
        &self.gram.as_slice()[i * n..(i + 1) * n]
    }

    /// Least and greatest value of a coefficient.
    fn bounds(&self, i: usize, lambda: Lambda) -> (f64, f64) {
        let size = self.weights[i] / (2.0 * lambda.get());
        if self.signs[i] > 0.0 { (0.0, size) } else { (-size, 0.0) }
    }

    /// What rounding may have made of one entry of `y - K a`: an entry of K is at most as large as
    /// the largest on its diagonal, and the errors of the summands are taken to be independent.
    fn rounding(&self, coef: &[f64]) -> f64 {
        let largest = coef.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        let count = coef.iter().filter(|a| **a != 0.0).count() as f64;
        f64::EPSILON * count.sqrt() * largest * self.largest_diagonal
    }

    /// The minimiser over b of `sum_i c_i max(0, 1 - y_i (b + f_i))`, from `g_i = y_i - f_i`.
    ///
    /// The hinge of a positive sample has slope -c_i below g_i, that of a negative one c_i above it.
    /// The slope of the sum is therefore the weight of all `g_i < b` minus the weight of the positive
    /// class: b is the quantile of the `g_i` at the weight of the positive class.
    fn best_intercept(&self, gradient: &[f64]) -> f64 {
        let mut order = self.samples.clone();
        order.sort_unstable_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
        let total: f64 = order.iter().map(|&i| self.weights[i]).sum();
        let positive: f64 =
            order.iter().filter(|&&i| self.signs[i] > 0.0).map(|&i| self.weights[i]).sum();
        // Sums of weights that should be equal differ by rounding.
        let rounding = order.len() as f64 * f64::EPSILON * total;
        let mut below = 0.0;
        for (k, &i) in order.iter().enumerate() {
            below += self.weights[i];
            if below >= positive - rounding {
                let flat = below <= positive + rounding;
                let next = order.get(k + 1).filter(|_| flat).map_or(i, |&j| j);
                return gradient[i] + 0.5 * (gradient[next] - gradient[i]);
            }
        }
        0.0
    }
}

fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

/// Coefficients with what they are worth.
#[derive(Clone)]
struct Point {
    coef: Vec<f64>,
    /// `y - K a`, recomputed from the coefficients.
    gradient: Vec<f64>,
    intercept: f64,
    objective: f64,
    duality_gap: f64,
    violation: f64,
}

impl Point {
    fn relative_gap(&self) -> f64 {
        let dual = self.objective - self.duality_gap;
        let size = self.objective.abs().max(dual.abs());
        if self.duality_gap == 0.0 { 0.0 } else { self.duality_gap / size }
    }

    fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.duality_gap.is_finite() && self.violation.is_finite()
    }
}

/// The gradients that decide about optimality: the largest of a coefficient that can rise, the
/// smallest of one that can fall.
#[derive(Debug, Clone, Copy)]
struct Extremes {
    rising: f64,
    falling: f64,
}

impl Extremes {
    const NONE: Extremes = Extremes { rising: f64::NEG_INFINITY, falling: f64::INFINITY };

    fn violation(self, intercept: bool) -> f64 {
        let violation =
            if intercept { self.rising - self.falling } else { self.rising.max(-self.falling) };
        violation.max(0.0)
    }

    /// Between these a gradient may yet matter: a coefficient at its upper bound with a gradient
    /// above the second one, or at its lower bound with one below the first, stays there.
    fn window(self, intercept: bool) -> (f64, f64) {
        if intercept {
            (self.falling, self.rising)
        } else {
            let violation = self.violation(false);
            (-violation, violation)
        }
    }
}

/// What carries over from one lambda to the next.
struct Solver<'p, 'a> {
    problem: &'p Problem<'a>,
    last: Option<(Lambda, Point)>,
    columns: Columns,
    /// Entries of K read.
    entries: f64,
    /// Whether samples that look settled are set aside; switched off in tests alone.
    shrinking: bool,
}

impl<'p, 'a> Solver<'p, 'a> {
    fn new(problem: &'p Problem<'a>) -> Self {
        Solver { problem, last: None, columns: Columns::default(), entries: 0.0, shrinking: true }
    }

    fn fit(&mut self, lambda: Lambda, options: &Options) -> KernelFit {
        self.entries = 0.0;
        let start = self.start(lambda);
        let (point, iterations, status) = self.maximize(lambda, start, options);
        let n = self.problem.len() as f64;
        let report = Report {
            objective: point.objective,
            dual_objective: point.objective - point.duality_gap,
            duality_gap: point.duality_gap,
            relative_gap: point.relative_gap(),
            gradient_norm: point.violation,
            iterations,
            passes: (self.entries / (n * n)).ceil() as usize,
            status,
            history: Vec::new(),
        };
        let fit =
            KernelFit { lambda, intercept: point.intercept, coef: point.coef.clone(), report };
        self.last = Some((lambda, point));
        fit
    }

    /// The better in the dual of the last coefficients and those scaled by the ratio of the lambdas.
    fn start(&mut self, lambda: Lambda) -> Point {
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

    /// Everything about these coefficients, from K itself; what rounding made of their sum is first
    /// taken from a free one.
    ///
    /// With an intercept that minimises the hinge risk the gap is
    /// `F - D = (1/n) sum_i c_i (max(0, 1 - u_i) - s_i (1 - u_i))`, `u_i = y_i (b + f_i)`: no term is
    /// negative, so nothing cancels. It uses `2 lambda a'K a = (1/n) sum_i c_i s_i y_i f_i` and
    /// `sum_i c_i s_i y_i = 0`. The rounding of f, whose share grows with `1/lambda`, is added.
    fn point(&mut self, lambda: Lambda, mut coef: Vec<f64>) -> Point {
        let problem = self.problem;
        if problem.intercept {
            balance(problem, lambda, &mut coef);
        }
        let mut gradient = problem.signs.to_vec();
        for (i, &a) in coef.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            self.entries += problem.len() as f64;
            for (g, k) in gradient.iter_mut().zip(problem.column(i)) {
                *g -= a * k;
            }
        }
        let intercept = if problem.intercept { problem.best_intercept(&gradient) } else { 0.0 };
        let rounding = problem.rounding(&coef);
        let (mut risk, mut gap, mut square) = (0.0, 0.0, 0.0);
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
            let excess = if shortfall > 0.0 { (1.0 - s) * shortfall } else { -s * shortfall };
            gap += c * (excess + rounding);
            square += a * (y - g);
            if a < upper {
                extremes.rising = extremes.rising.max(g);
            }
            if a > lower {
                extremes.falling = extremes.falling.min(g);
            }
        }
        Point {
            coef,
            gradient,
            intercept,
            objective: risk + lambda.get() * square,
            duality_gap: gap,
            violation: extremes.violation(problem.intercept),
        }
    }

    /// Rounds of steps until the gap is small enough.
    fn maximize(
        &mut self,
        lambda: Lambda,
        start: Point,
        options: &Options,
    ) -> (Point, usize, Status) {
        /// Rounds in a row that may pass without a new smallest gap or largest dual objective.
        const PATIENCE: usize = 50;
        let n = self.problem.len();
        let limit = options.max_iterations.unwrap_or_else(|| (100 * n).max(10_000_000));
        let most_in_round = 20 * n + 1000;
        let dual = |point: &Point| point.objective - point.duality_gap;

        let mut point = start.clone();
        let mut best = start;
        let mut largest_dual = f64::NEG_INFINITY;
        let (mut iterations, mut idle) = (0, 0);
        loop {
            if !point.is_finite() {
                return (self.point(lambda, vec![0.0; n]), iterations, Status::NumericalTrouble);
            }
            let gained = dual(&point) - largest_dual > 1e-14 * largest_dual.abs();
            idle = if gained || point.duality_gap < best.duality_gap { 0 } else { idle + 1 };
            largest_dual = largest_dual.max(dual(&point));
            if point.duality_gap <= best.duality_gap {
                best.clone_from(&point);
            }
            let status = if best.relative_gap() <= options.tolerance {
                Status::Converged
            } else if iterations >= limit {
                Status::IterationLimit
            } else if idle >= PATIENCE {
                Status::Stalled
            } else {
                let excess = 0.5 * options.tolerance / point.relative_gap();
                let target = point.violation * excess.clamp(0.01, 0.5);
                let budget = most_in_round.min(limit - iterations);
                let (coef, steps) = self.round(lambda, &point, target, budget);
                iterations += steps;
                point = self.point(lambda, coef);
                continue;
            };
            return (best, iterations, status);
        }
    }

    /// Steps until the active samples violate optimality by at most `target`.
    fn round(
        &mut self,
        lambda: Lambda,
        point: &Point,
        target: f64,
        budget: usize,
    ) -> (Vec<f64>, usize) {
        let mut coef = point.coef.clone();
        let columns = std::mem::take(&mut self.columns);
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

/// Takes the sum of the coefficients, which rounding lets drift, from the ones that have the room.
fn balance(problem: &Problem<'_>, lambda: Lambda, coef: &mut [f64]) {
    let mut excess: f64 = coef.iter().sum();
    for &i in &problem.samples {
        if excess == 0.0 {
            return;
        }
        let (lower, upper) = problem.bounds(i, lambda);
        if lower < coef[i] && coef[i] < upper {
            let moved = (coef[i] - excess).clamp(lower, upper);
            excess -= coef[i] - moved;
            coef[i] = moved;
        }
    }
}

/// Steps between two looks at which samples to set aside.
const SHRINKING_PERIOD: usize = 1000;

/// Columns of K restricted to the active samples and padded with zeros, copied when first used: the
/// inner loops then run over contiguous memory however small the active set, and K is only read.
#[derive(Default)]
struct Columns {
    height: usize,
    /// Where the column of an active sample begins in `entries`.
    starts: Vec<Option<usize>>,
    entries: Vec<f64>,
}

impl Columns {
    fn reset(&mut self, count: usize, height: usize) {
        self.height = height;
        self.starts.clear();
        self.starts.resize(count, None);
        self.entries.clear();
    }

    /// Makes the column of active sample k present and says where it begins.
    fn load(&mut self, k: usize, members: &[usize], column: &[f64]) -> usize {
        if let Some(start) = self.starts[k] {
            return start;
        }
        let start = self.entries.len();
        self.entries.extend(members.iter().map(|&i| column[i]));
        self.entries.resize(start + self.height, 0.0);
        self.starts[k] = Some(start);
        start
    }

    fn at(&self, start: usize) -> &[f64] {
        &self.entries[start..start + self.height]
    }
}

/// The samples that steps move, with all that steps read side by side.
///
/// Invariants: `gradient` belongs to `coef`; `rise[k]` is 0 if coefficient k can rise and minus
/// infinity if not, `fall[k]` is 0 if it can fall and infinity if not. All five vectors of numbers
/// that the vector loops read are padded to whole lanes with samples that can do neither.
struct Active<'p, 'a> {
    problem: &'p Problem<'a>,
    lambda: Lambda,
    members: Vec<usize>,
    coef: Vec<f64>,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    rise: Vec<f64>,
    fall: Vec<f64>,
    columns: Columns,
    entries: f64,
    arch: Arch,
}

impl<'p, 'a> Active<'p, 'a> {
    /// All samples of positive weight.
    fn new(problem: &'p Problem<'a>, lambda: Lambda, point: &Point, columns: Columns) -> Self {
        let members = problem.samples.clone();
        let coef = members.iter().map(|&i| point.coef[i]).collect();
        let gradient = members.iter().map(|&i| point.gradient[i]).collect();
        let mut active = Active {
            problem,
            lambda,
            members,
            coef,
            gradient,
            diagonal: Vec::new(),
            rise: Vec::new(),
            fall: Vec::new(),
            columns,
            entries: 0.0,
            arch: Arch::new(),
        };
        active.complete();
        active
    }

    /// Sets up everything that follows from members, coefficients and gradient.
    fn complete(&mut self) {
        let count = self.members.len();
        let height = count.next_multiple_of(LANES);
        let gram = self.problem.gram;
        self.diagonal = self.members.iter().map(|&i| gram[(i, i)]).collect();
        self.diagonal.resize(height, 0.0);
        self.gradient.truncate(count);
        self.gradient.resize(height, 0.0);
        self.rise = vec![f64::NEG_INFINITY; height];
        self.fall = vec![f64::INFINITY; height];
        for k in 0..count {
            self.set_directions(k);
        }
        self.columns.reset(count, height);
    }

    fn bounds(&self, k: usize) -> (f64, f64) {
        self.problem.bounds(self.members[k], self.lambda)
    }

    fn set_directions(&mut self, k: usize) {
        let (lower, upper) = self.bounds(k);
        self.rise[k] = if self.coef[k] < upper { 0.0 } else { f64::NEG_INFINITY };
        self.fall[k] = if self.coef[k] > lower { 0.0 } else { f64::INFINITY };
    }

    /// Sets aside the samples at a bound that the extremes say will stay there, if they are a fifth
    /// or more; says whether it did.
    fn shrink(&mut self, extremes: Bests, coef: &mut [f64]) -> bool {
        let (low, high) = extremes.values().window(self.problem.intercept);
        let stays = |k: usize| {
            let g = self.gradient[k];
            (self.rise[k] < 0.0 && g > high) || (self.fall[k] > 0.0 && g < low)
        };
        let kept: Vec<usize> = (0..self.members.len()).filter(|&k| !stays(k)).collect();
        if 5 * kept.len() > 4 * self.members.len() {
            return false;
        }
        self.store(coef);
        self.members = kept.iter().map(|&k| self.members[k]).collect();
        self.coef = kept.iter().map(|&k| self.coef[k]).collect();
        self.gradient = kept.iter().map(|&k| self.gradient[k]).collect();
        self.complete();
        true
    }

    /// Writes the active coefficients where they belong.
    fn store(&self, coef: &mut [f64]) {
        for (&i, &a) in self.members.iter().zip(&self.coef) {
            coef[i] = a;
        }
    }

    fn extremes(&mut self) -> Bests {
        let zeros = vec![0.0; self.gradient.len()];
        self.arch.dispatch(Update {
            steps: [0.0; 2],
            columns: [&zeros; 2],
            gradient: &mut self.gradient,
            rise: &self.rise,
            fall: &self.fall,
        })
    }

    fn load(&mut self, k: usize) -> usize {
        self.columns.load(k, &self.members, self.problem.column(self.members[k]))
    }

    /// Moves a pair of coefficients and returns the extremes that this leads to, or nothing if
    /// rounding lets no coefficient move.
    ///
    /// The first one is the worst violator. With an intercept it is one that can rise, the second one
    /// falls by as much, and is the one where that gains most. Without, there is nothing to balance;
    /// the second one is that which gains most once the first is where its own gradient vanishes,
    /// and the step is the best one in the box of both (a working set of two as in Steinwart, Hush
    /// and Scovel, *Training SVMs without offset*, JMLR 12, 2011).
    fn step(&mut self, extremes: Bests) -> Option<Bests> {
        let i = extremes.first(self.problem.intercept);
        let start_i = self.load(i);
        let j = self.second(i, self.columns.at(start_i));
        let start_j = self.load(j);
        let column_i = self.columns.at(start_i);
        let (move_i, move_j) = if self.problem.intercept {
            let t = self.transfer(i, j, column_i[j]);
            (t, -t)
        } else {
            self.pair_step(i, j, column_i[j])
        };
        let before = [self.coef[i], self.coef[j]];
        self.coef[i] = self.moved(i, move_i);
        if i != j {
            self.coef[j] = self.moved(j, move_j);
        }
        if before == [self.coef[i], self.coef[j]] {
            return None;
        }
        let steps = [self.coef[i] - before[0], if i == j { 0.0 } else { self.coef[j] - before[1] }];
        self.set_directions(i);
        self.set_directions(j);
        self.entries += 2.0 * self.members.len() as f64;
        let (column_i, column_j) = (self.columns.at(start_i), self.columns.at(start_j));
        Some(self.arch.dispatch(Update {
            steps,
            columns: [column_i, column_j],
            gradient: &mut self.gradient,
            rise: &self.rise,
            fall: &self.fall,
        }))
    }

    /// The partner of i that promises the largest gain.
    fn second(&self, i: usize, column: &[f64]) -> usize {
        let least_curvature = self.problem.least_curvature;
        self.arch.dispatch(Search {
            intercept: self.problem.intercept,
            gradient: &self.gradient,
            diagonal: &self.diagonal,
            rise: &self.rise,
            fall: &self.fall,
            column,
            slope: self.gradient[i],
            curvature: self.diagonal[i].max(least_curvature),
            least_curvature,
        })
    }

    /// How much coefficient i takes from coefficient j.
    fn transfer(&self, i: usize, j: usize, k_ij: f64) -> f64 {
        let curvature = self.diagonal[i] + self.diagonal[j] - 2.0 * k_ij;
        let step =
            (self.gradient[i] - self.gradient[j]) / curvature.max(self.problem.least_curvature);
        step.min(self.bounds(i).1 - self.coef[i]).min(self.coef[j] - self.bounds(j).0)
    }

    /// The largest gain in the box of coefficients i and j.
    fn pair_step(&self, i: usize, j: usize, k_ij: f64) -> (f64, f64) {
        let room = |k: usize| {
            let (lower, upper) = self.bounds(k);
            (lower - self.coef[k], upper - self.coef[k])
        };
        let least = self.problem.least_curvature;
        let (g_i, g_j) = (self.gradient[i], self.gradient[j]);
        let (k_ii, k_jj) = (self.diagonal[i].max(least), self.diagonal[j].max(least));
        let ((low_i, high_i), (low_j, high_j)) = (room(i), room(j));
        let best_i = |t_j: f64| (((g_i - k_ij * t_j) / k_ii).max(low_i).min(high_i), t_j);
        let best_j = |t_i: f64| (t_i, ((g_j - k_ij * t_i) / k_jj).max(low_j).min(high_j));
        if i == j {
            return best_i(0.0);
        }
        let schur = k_jj - k_ij * k_ij / k_ii;
        if schur > least {
            let t_j = (g_j - k_ij * g_i / k_ii) / schur;
            let t_i = (g_i - k_ij * t_j) / k_ii;
            if low_i <= t_i && t_i <= high_i && low_j <= t_j && t_j <= high_j {
                return (t_i, t_j);
            }
        }
        let gain = |&(t_i, t_j): &(f64, f64)| {
            g_i * t_i + g_j * t_j - 0.5 * (k_ii * t_i * t_i + k_jj * t_j * t_j) - k_ij * t_i * t_j
        };
        let edges = [best_i(low_j), best_i(high_j), best_j(low_i), best_j(high_i)];
        let better = |one: (f64, f64), other| if gain(&other) > gain(&one) { other } else { one };
        edges.into_iter().fold(best_i(0.0), better)
    }

    /// Coefficient k after a step; exactly at the bound if the step was all the room.
    fn moved(&self, k: usize, step: f64) -> f64 {
        let (lower, upper) = self.bounds(k);
        let a = self.coef[k];
        if step >= upper - a {
            upper
        } else if step <= lower - a {
            lower
        } else {
            a + step
        }
    }
}

const LANES: usize = 8;

/// The extremes of the active set and where they are.
#[derive(Debug, Clone, Copy)]
struct Bests {
    rising: (f64, usize),
    falling: (f64, usize),
}

impl Bests {
    fn values(self) -> Extremes {
        Extremes { rising: self.rising.0, falling: self.falling.0 }
    }

    fn violation(self, intercept: bool) -> f64 {
        self.values().violation(intercept)
    }

    /// The worst violator.
    fn first(self, intercept: bool) -> usize {
        if intercept || self.rising.0 >= -self.falling.0 { self.rising.1 } else { self.falling.1 }
    }
}

/// The largest value so far in every lane and where it was, as a floating-point number.
struct Largest<S: Simd> {
    simd: S,
    values: S::f64s,
    places: S::f64s,
}

impl<S: Simd> Largest<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let values = simd.splat_f64s(f64::NEG_INFINITY);
        Largest { simd, values, places: simd.splat_f64s(0.0) }
    }

    #[inline(always)]
    fn see(&mut self, values: S::f64s, places: S::f64s) {
        let larger = self.simd.greater_than_f64s(values, self.values);
        self.values = self.simd.select_f64s(larger, values, self.values);
        self.places = self.simd.select_f64s(larger, places, self.places);
    }

    /// The largest of all and its first place.
    #[inline(always)]
    fn first(&self) -> (f64, usize) {
        let simd = self.simd;
        let largest = simd.reduce_max_f64s(self.values);
        let here = simd.greater_than_or_equal_f64s(self.values, simd.splat_f64s(largest));
        let nowhere = simd.splat_f64s(f64::INFINITY);
        let place = simd.reduce_min_f64s(simd.select_f64s(here, self.places, nowhere));
        (largest, place as usize)
    }
}

/// The places of the first lanes.
const PLACES: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

#[inline(always)]
fn vectors<S: Simd>(x: &[f64]) -> impl Iterator<Item = S::f64s> {
    S::as_simd_f64s(x).0.iter().copied()
}

/// Subtracts a step along two columns from the gradient and finds the extremes in the same sweep.
struct Update<'s> {
    steps: [f64; 2],
    columns: [&'s [f64]; 2],
    gradient: &'s mut [f64],
    rise: &'s [f64],
    fall: &'s [f64],
}

impl WithSimd for Update<'_> {
    type Output = Bests;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Bests {
        let [t_i, t_j] = self.steps.map(|t| simd.splat_f64s(t));
        let (mut rising, mut falling) = (Largest::new(simd), Largest::new(simd));
        let columns = vectors::<S>(self.columns[0]).zip(vectors::<S>(self.columns[1]));
        let directions = vectors::<S>(self.rise).zip(vectors::<S>(self.fall));
        let gradient = S::as_mut_simd_f64s(self.gradient).0;
        let mut places = S::as_simd_f64s(&PLACES).0[0];
        for ((g, (k_i, k_j)), (rise, fall)) in gradient.iter_mut().zip(columns).zip(directions) {
            let change = simd.add_f64s(simd.mul_f64s(t_i, k_i), simd.mul_f64s(t_j, k_j));
            *g = simd.sub_f64s(*g, change);
            rising.see(simd.add_f64s(*g, rise), places);
            falling.see(simd.neg_f64s(simd.add_f64s(*g, fall)), places);
            places = simd.add_f64s(places, simd.splat_f64s(S::F64_LANES as f64));
        }
        let (falling, place) = falling.first();
        Bests { rising: rising.first(), falling: (-falling, place) }
    }
}

/// Looks for the second coefficient of a pair, the one with the largest gain.
///
/// With an intercept it falls by what the first one, i, rises: the gain along that direction is half
/// of `(g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij)`. Without, what j adds to the step of i alone is half of
/// `r_j^2 / (K_jj - K_ij^2/K_ii)`, `r_j = g_j - g_i K_ij/K_ii`.
struct Search<'s> {
    intercept: bool,
    gradient: &'s [f64],
    diagonal: &'s [f64],
    rise: &'s [f64],
    fall: &'s [f64],
    /// Column, gradient and curvature of the first coefficient.
    column: &'s [f64],
    slope: f64,
    curvature: f64,
    least_curvature: f64,
}

impl Search<'_> {
    /// The place of the largest `slope^2/curvature`, of which `candidate` makes the two from
    /// gradient, diagonal, rise, fall and entry of the column.
    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        candidate: impl Fn([S::f64s; 5]) -> (S::f64s, S::f64s),
    ) -> usize {
        let mut best = Largest::new(simd);
        let numbers = vectors::<S>(self.gradient).zip(vectors::<S>(self.diagonal));
        let directions = vectors::<S>(self.rise).zip(vectors::<S>(self.fall));
        let mut places = S::as_simd_f64s(&PLACES).0[0];
        for (((g, d), (rise, fall)), k) in numbers.zip(directions).zip(vectors::<S>(self.column)) {
            let (slope, curvature) = candidate([g, d, rise, fall, k]);
            let curvature = simd.max_f64s(curvature, simd.splat_f64s(self.least_curvature));
            best.see(simd.div_f64s(simd.mul_f64s(slope, slope), curvature), places);
            places = simd.add_f64s(places, simd.splat_f64s(S::F64_LANES as f64));
        }
        best.first().1
    }
}

impl WithSimd for Search<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let zero = simd.splat_f64s(0.0);
        let g_i = simd.splat_f64s(self.slope);
        if self.intercept {
            let k_ii = simd.splat_f64s(self.curvature);
            self.run(
                simd,
                #[inline(always)]
                |[g, d, _, fall, k]| {
                    let slope = simd.max_f64s(simd.sub_f64s(g_i, simd.add_f64s(g, fall)), zero);
                    (slope, simd.sub_f64s(simd.add_f64s(k_ii, d), simd.add_f64s(k, k)))
                },
            )
        } else {
            let inverse = simd.splat_f64s(1.0 / self.curvature);
            self.run(
                simd,
                #[inline(always)]
                |[g, d, rise, fall, k]| {
                    let ratio = simd.mul_f64s(k, inverse);
                    let slope = simd.sub_f64s(g, simd.mul_f64s(ratio, g_i));
                    let up = simd.max_f64s(simd.add_f64s(slope, rise), zero);
                    let down = simd.min_f64s(simd.add_f64s(slope, fall), zero);
                    (simd.add_f64s(up, down), simd.sub_f64s(d, simd.mul_f64s(ratio, k)))
                },
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use margins_optim::{Options, lambda_grid};
    use nalgebra::DMatrix;

    use super::{Problem, Solver};

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
        let signs: Vec<f64> =
            (0..n).map(|i| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let lambdas = lambda_grid(0.1, 1e-5, 7).expect("a grid");
        let options = Options { tolerance: 1e-7, ..Options::default() };
        for intercept in [true, false] {
            let problem = Problem::new(&gram, &signs, None, intercept).expect("a problem");
            let run = |shrinking| {
                let mut solver = Solver { shrinking, ..Solver::new(&problem) };
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

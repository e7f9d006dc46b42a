//! Sequential minimal optimisation on a matrix that is held.

use std::time::Instant;

use margins_optim::method::{Ending, Monitor};
use margins_optim::{Lambda, Options, Status};
use nalgebra::DMatrix;

use super::active::Active;
use super::face::Face;
use super::frame::Frame;
use super::point::{Solution, SvmPoint, balance};
use super::problem::Problem;
use super::round::{Goal, Round, take_steps};
use super::steps::Steps;
use super::values::Values;

/// The state that carries over from one lambda to the next.
pub(super) struct SequentialMinimization<'p, 'a> {
    problem: &'p Problem<'a>,
    values: Values<'a>,
    last: Option<(Lambda, SvmPoint)>,
    steps: Steps<'a>,
    cache_bytes: usize,
    /// The time at which a round ends.
    deadline: Option<Instant>,
    /// The number of entries of K read at this lambda.
    entries: f64,
    /// The number of entries that steps have read since a face was last climbed.
    entries_since_face: f64,
    /// True if samples that look settled are set aside; switched off in tests alone.
    shrinking: bool,
}

impl<'p, 'a> SequentialMinimization<'p, 'a> {
    pub(super) fn new(
        problem: &'p Problem<'a>,
        values: Values<'a>,
        lambdas: usize,
        cache_bytes: usize,
    ) -> Self {
        Self::with_steps(problem, values, Steps::first(values, lambdas, cache_bytes), cache_bytes)
    }

    /// Returns the solver for a part of a matrix, of which there is no copy in single precision.
    pub(super) fn of_part(
        problem: &'p Problem<'a>,
        matrix: &'a DMatrix<f64>,
        cache_bytes: usize,
    ) -> Self {
        let steps = Steps::double(matrix, cache_bytes);
        Self::with_steps(problem, Values::Matrix(matrix), steps, cache_bytes)
    }

    fn with_steps(
        problem: &'p Problem<'a>,
        values: Values<'a>,
        steps: Steps<'a>,
        cache_bytes: usize,
    ) -> Self {
        SequentialMinimization {
            problem,
            values,
            last: None,
            steps,
            cache_bytes,
            deadline: None,
            entries: 0.0,
            entries_since_face: 0.0,
            shrinking: true,
        }
    }

    pub(super) fn fit(&mut self, lambda: Lambda, options: &Options) -> Solution {
        self.deadline = options.deadline;
        self.entries = 0.0;
        self.entries_since_face = 0.0;
        let start = match self.last.take() {
            Some((at, last)) => {
                let (start, entries) = last.carried_to(self.problem, at, lambda);
                self.entries += entries;
                start
            }
            None => SvmPoint::origin(self.problem, lambda),
        };
        let (point, ending) = self.maximize(lambda, start, options);
        self.last = Some((lambda, point.clone()));
        Solution { lambda, point, report: ending.report(self.passes(), options.tolerance) }
    }

    fn point(&mut self, lambda: Lambda, coef: Vec<f64>) -> SvmPoint {
        self.entries += self.problem.entries_read(&coef);
        SvmPoint::of(self.problem, lambda, coef)
    }

    /// Returns the point that steps from another one have led to: by the columns of K of the
    /// coefficients that have changed, or afresh where these are many, or where the rounding of
    /// changes would count for the tolerance.
    fn next(
        &mut self,
        lambda: Lambda,
        point: &SvmPoint,
        mut coef: Vec<f64>,
        tolerance: f64,
    ) -> SvmPoint {
        /// The share of the tolerance that rounding may take.
        const SHARE: f64 = 0.05;
        if self.problem.intercept {
            balance(self.problem, lambda, &mut coef);
        }
        let step: Vec<f64> = coef.iter().zip(&point.coef).map(|(new, old)| new - old).collect();
        let entries = self.problem.entries_read(&step);
        if 2.0 * entries <= self.problem.entries_read(&coef) {
            self.entries += entries;
            let next = point.clone().moved_to(self.problem, lambda, coef.clone(), &step);
            if next.rounding <= SHARE * tolerance * next.objective.abs() {
                return next;
            }
        }
        self.point(lambda, coef)
    }

    /// Takes rounds of steps until the gap is small enough.
    fn maximize(
        &mut self,
        lambda: Lambda,
        start: SvmPoint,
        options: &Options,
    ) -> (SvmPoint, Ending) {
        /// Rounds in a row that may pass without a new smallest gap or largest dual objective.
        const PATIENCE: usize = 50;
        let n = self.problem.len();
        let mut monitor = Monitor::new(options, lambda, (100 * n).max(10_000_000));
        let most_in_round = 20 * n + 1000;
        let dual = |point: &SvmPoint| point.objective - point.gap;

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
            let margins = || self.problem.summary(&best.gradient, best.intercept);
            let status = match monitor.judge(self.passes(), &certificate, margins) {
                None if idle >= PATIENCE && self.leave_single() => {
                    idle = 0;
                    None
                }
                None if idle >= PATIENCE => Some(Status::Stalled),
                status => status,
            };
            if let Some(status) = status {
                return (best, monitor.end(status, certificate));
            }
            let excess = 0.5 * options.tolerance / point.certificate().relative_gap();
            let target = point.violation * excess.clamp(0.02, 0.5);
            let budget = most_in_round.min(monitor.left());
            let (next, steps) =
                self.climb_face(lambda, &point, budget, options.tolerance).unwrap_or_else(|| {
                    let start = (&*point.coef, &*point.gradient);
                    let Round { coef, steps, gradients } =
                        self.round(lambda, start, target, budget);
                    let next = self.next(lambda, &point, coef, options.tolerance);
                    self.check_single(&gradients, &next.gradient, target);
                    (next, steps)
                });
            monitor.count(steps);
            point = next;
        }
    }

    /// Returns the point at the top of the face of another one, with the number of steps there; the
    /// steps since the last face must have cost as much as this one will. Nothing if the gap there
    /// is no smaller: with coefficients free that are not so at the minimum, the way up leads far.
    fn climb_face(
        &mut self,
        lambda: Lambda,
        point: &SvmPoint,
        budget: usize,
        tolerance: f64,
    ) -> Option<(SvmPoint, usize)> {
        /// The operations of a face that take the time of reading an entry, by measurement.
        const OPERATIONS_PER_ENTRY: f64 = 10.0;
        let free = |&i: &usize| {
            let (lower, upper) = self.problem.bounds(i, lambda);
            lower < point.coef[i] && point.coef[i] < upper
        };
        let members: Vec<usize> = self.problem.samples.iter().copied().filter(free).collect();
        let price = (members.len() as f64).powi(3) / OPERATIONS_PER_ENTRY;
        if self.entries_since_face <= price {
            return None;
        }
        self.entries_since_face = 0.0;
        let start = (&*point.coef, &*point.gradient);
        let face = Face::of(self.problem, self.values, lambda, members, start)?;
        let mut coef = point.coef.clone();
        let steps = face.climb(&mut coef, budget);
        let top = self.next(lambda, point, coef, tolerance);
        (top.gap < point.gap).then_some((top, steps))
    }

    /// Returns the passes over K so far, n^2 entries each.
    fn passes(&self) -> usize {
        let n = self.problem.len() as f64;
        (self.entries / (n * n)).ceil() as usize
    }

    /// Continues in double precision if the gradients that steps in single precision have kept are off by
    /// more than the violation that they were to leave.
    fn check_single(&mut self, kept: &[(usize, f64)], gradient: &[f64], target: f64) {
        let is_right = |&(i, g): &(usize, f64)| (g - gradient[i]).abs() <= target;
        if !kept.iter().all(is_right) {
            self.leave_single();
        }
    }

    /// Leaves single precision for good; returns true if steps were in it and K is held in double
    /// precision.
    fn leave_single(&mut self) -> bool {
        let (Steps::Single(..), Values::Matrix(matrix)) = (&self.steps, self.values) else {
            return false;
        };
        self.steps = Steps::double(matrix, self.cache_bytes);
        true
    }

    /// Begins steps in single precision if enough in double precision have gone before: a path that ends
    /// sooner needs no copy of K. Columns of the copy are cached instead of columns of K.
    fn begin_single(&mut self) {
        let Steps::Double(_, Some(0)) = self.steps else { return };
        let Some(copy) = self.problem.entries.single_columns() else { return };
        self.steps = Steps::single(copy, self.values.order(), self.cache_bytes);
    }

    /// Takes steps until the active samples violate optimality by at most `target`.
    pub(super) fn round(
        &mut self,
        lambda: Lambda,
        start: (&[f64], &[f64]),
        target: f64,
        budget: usize,
    ) -> Round {
        self.begin_single();
        let (problem, values, shrinking) = (self.problem, self.values, self.shrinking);
        let goal = Goal { target, budget, shrinking, deadline: self.deadline };
        let (round, entries) = match &mut self.steps {
            Steps::Single(columns, scale) => {
                let frame = problem.frame(lambda, start, *scale);
                let active = Active::new(problem, values, lambda, start, frame, columns);
                take_steps(active, start.0, goal)
            }
            Steps::Double(columns, left) => {
                // A round ends where steps in single precision begin.
                let goal = Goal { budget: left.map_or(budget, |left| budget.min(left)), ..goal };
                let active = Active::new(problem, values, lambda, start, Frame::PLAIN, columns);
                let (round, entries) = take_steps(active, start.0, goal);
                *left = left.map(|left| left.saturating_sub(round.steps));
                (round, entries)
            }
        };
        self.entries += entries;
        self.entries_since_face += entries;
        round
    }
}

#[cfg(test)]
mod tests {
    use margins_optim::{Lambda, Options, lambda_grid};
    use nalgebra::DMatrix;

    use super::super::CACHE_BYTES;
    use super::super::point::SvmPoint;
    use super::super::problem::Problem;
    use super::super::values::Values;
    use super::{Round, SequentialMinimization, Steps};
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
        let values = Values::of(gram.entries()).expect("held");
        let signs: Vec<f64> =
            (0..n).map(|i| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let lambdas = lambda_grid(0.1, 1e-5, 7).expect("a grid");
        for intercept in [true, false] {
            let problem = Problem::new(&gram, &signs, None, intercept).expect("a problem");
            let mut solvers = [true, false].map(|shrinking| SequentialMinimization {
                shrinking,
                ..SequentialMinimization::new(&problem, values, lambdas.len(), CACHE_BYTES)
            });
            for &lambda in &lambdas {
                let [one, other] = solvers.each_mut().map(|solver| by_steps_alone(solver, lambda));
                assert!((one - other).abs() <= 2e-7 * one.max(other), "{one} {other}");
            }
            let entries = solvers.map(|solver| solver.entries);
            assert!(entries[0] < entries[1], "{entries:?}");
        }
    }

    /// What is left of a flat matrix beside its ones is below the rounding of single precision: steps
    /// there lead astray, and the path ends in double precision.
    #[test]
    fn single_precision_serves_where_it_can_and_is_left_where_it_cannot() {
        let n = 120;
        let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let narrow = |i: usize, j: usize| (-0.05 * (i as f64 - j as f64).powi(2)).exp();
        let lambdas = lambda_grid(1e-2, 1e-7, 20).expect("a grid");
        for (part, is_flat) in [(1.0, false), (1e-9, true)] {
            let gram = DMatrix::from_fn(n, n, |i, j| 1.0 - part + part * narrow(i, j));
            let gram = Gram::precomputed(gram).expect("positive semidefinite");
            let problem = Problem::new(&gram, &signs, None, true).expect("a problem");
            let values = Values::of(gram.entries()).expect("held");
            let mut solver = SequentialMinimization::new(&problem, values, 20, CACHE_BYTES);
            for &lambda in &lambdas {
                let at = Lambda::new(part * lambda.get()).expect("positive");
                let options = Options::default();
                let report = solver.fit(at, &options).report;
                assert!(report.relative_gap <= options.tolerance, "{report:?}");
            }
            assert_eq!(matches!(solver.steps, Steps::Single(..)), !is_flat);
            assert_eq!(matches!(solver.steps, Steps::Double(_, None)), is_flat);
        }
    }

    /// Returns the objective that rounds of steps from the origin lead to, within 1e-7 of it.
    fn by_steps_alone(solver: &mut SequentialMinimization<'_, '_>, lambda: Lambda) -> f64 {
        let mut point = SvmPoint::origin(solver.problem, lambda);
        for _ in 0..100 {
            if point.certificate().relative_gap() <= 1e-7 {
                return point.objective;
            }
            let start = (&*point.coef, &*point.gradient);
            let Round { coef, .. } = solver.round(lambda, start, 0.1 * point.violation, usize::MAX);
            point = SvmPoint::of(solver.problem, lambda, coef);
        }
        panic!("100 rounds left a gap of {}", point.gap);
    }
}

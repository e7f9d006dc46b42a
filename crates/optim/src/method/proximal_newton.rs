//! The proximal point method on the dual, with Newton for its steps: for losses with kinks, and for
//! the last digits of dual ascent.
//!
//! A step maximises `D(s) - (sigma/2n) sum c_i (s_i - a_i)^2` about the present duals `a`. Its own
//! dual is F with the losses of [`EmpiricalRisk::smoothed`](crate::problem::risk::EmpiricalRisk),
//! which semismooth Newton minimises with the exact intercept, whatever kinks `L` has; the slopes
//! there are the next duals, and feasible. Where the dual is piecewise linear-quadratic, as that of
//! the hinge is, finitely many such steps reach its maximum, for any sigma (Rockafellar,
//! *Augmented Lagrangians and applications of the proximal point algorithm in convex programming*,
//! Math. Oper. Res. 1, 1976).
//!
//! Only samples near a kink have a say in a step. All others are [merged](crate::problem::Merged)
//! about the point where the search begins, and the solution of the small problem is certified on
//! the whole one: it is the solution of both if no margin has left its line. Samples that have are left
//! alone in the next small problem.

mod nearby;

use std::borrow::Cow;
use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::certificate::dual::{self, DualPoint};
use crate::method::newton::{Newton, System};
use crate::method::proximal::{STRONGER, next_radius, next_strength, unit};
use crate::method::{Ending, Monitor, Options, Rule, Status, Watch, stopping};
use crate::problem::{Merged, Point};
use crate::space::{Duals, Extent, InMemory, Scores};
use crate::{Certificate, Lambda, Objective};
pub(crate) use nearby::radius_near;
use nearby::{farthest, merged};

const DEFAULT_ITERATIONS: usize = 1000;

/// The proximal point method along a path of lambdas.
pub(crate) struct ProximalNewton {
    steps: ProximalSteps,
    /// The distance within which a loss must be a line for its sample to be merged.
    radius: f64,
    /// The duals of the last lambda.
    duals: Option<Vec<f64>>,
    /// The number of lambdas so far at which the search restarted at the origin.
    restarts: usize,
}

impl ProximalNewton {
    /// Returns the method; `system` is the system of its Newton steps.
    pub(crate) fn new(system: System) -> Self {
        /// The strength from which a neighbouring lambda is reached in a few steps.
        const LEAST: f64 = 0.006;
        let steps = ProximalSteps::new(system, 1.0, LEAST);
        ProximalNewton { steps, radius: f64::INFINITY, duals: None, restarts: 0 }
    }

    /// Returns the duals of the last lambda.
    pub(crate) fn duals(&self) -> Option<&[f64]> {
        self.duals.as_deref()
    }

    /// Prepares a search from a point near the minimum, with margins that move by a radius if it is
    /// known.
    pub(crate) fn begin_near(&mut self, radius: Option<f64>) {
        /// The strength of the first step: a strong one would lead away from so near a point.
        const NEAR: f64 = 1.0 / 16.0;
        self.radius = radius.unwrap_or(f64::INFINITY);
        self.steps.begin_with(NEAR);
    }

    /// Returns true if the search should restart at the origin after it ended with this status from
    /// the point of another lambda, and counts the restart.
    fn may_restart(&mut self, status: Status) -> bool {
        /// The number of restarts on a path: each takes as long as a whole fit.
        const MOST: usize = 5;
        let ended_early = matches!(status, Status::Stalled | Status::RoundingLimit);
        let restarts = ended_early && self.restarts < MOST;
        self.restarts += usize::from(restarts);
        restarts
    }

    /// Minimises F from a point and the duals of the last lambda.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        /// The number of merged problems that are tried.
        const TRIES: usize = 3;
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let kept = self.duals.take();
        let is_warm = kept.is_some();
        let mut best = DualPoint::start(evaluator, lambda, kept, point);
        let mut radius = self.radius;
        let mut alone = vec![false; best.duals.len()];
        let mut tries = 0;
        let (status, certificate) = loop {
            evaluator.intercept_slope(&best.point);
            let margins = || evaluator.samples.summary();
            if let Some(status) = monitor.judge(evaluator.passes, &best.certificate, margins) {
                break (status, best.certificate);
            }
            let objective = evaluator.samples.objective;
            let margins = evaluator.samples.margins.get();
            let merged = merged(objective, margins, &mut radius, &alone).or_else(|| {
                if is_warm {
                    return None;
                }
                // Most margins move less than the largest of many errors.
                radius *= 0.5;
                merged(objective, margins, &mut radius, &alone)
            });
            let Some(merged) = merged else {
                let given = best.point.clone();
                let end = self.steps.polish(evaluator, lambda, &mut best, given, &mut monitor);
                break if is_warm && self.may_restart(end.0) {
                    self.steps.begin_anew(evaluator, lambda, &mut best, end, &mut monitor)
                } else {
                    end
                };
            };
            let left = self.solve_merged(evaluator, &merged, lambda, &mut best, &mut monitor);
            tries += 1;
            // Where no margin has left its line, it is not merging that keeps up the gap.
            if left.is_empty() || tries == TRIES {
                radius = f64::INFINITY;
            }
            left.into_iter().for_each(|i| alone[i] = true);
        };
        self.radius = next_radius(self.radius, farthest(point, &best.point));
        let mut ending = monitor.end(status, certificate);
        ending.certificate.gradient_norm = best.gradient_norm(evaluator, lambda);
        *point = best.point;
        self.duals = Some(best.duals);
        ending
    }

    /// Solves a merged problem, which improves the best point and duals; returns the samples that have
    /// left their lines.
    fn solve_merged<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        merged: &Merged<'_, L>,
        lambda: Lambda,
        best: &mut DualPoint,
        monitor: &mut Monitor<'_>,
    ) -> Vec<usize> {
        /// The share of the tolerance that the merged problem is solved to.
        const SHARE: f64 = 0.5;
        let design = &merged.objective.design;
        let extent = Rc::new(Extent::of(design));
        let mut inner = Evaluator::with_extent(&merged.objective, extent);
        let Point { intercept, coef, .. } = best.point.clone();
        let at = Point::at(design, intercept, coef);
        let duals = merged.merge(&best.duals);
        let mut solution = DualPoint::at(&mut inner, lambda, duals, intercept);
        let iterations = {
            let stop = || monitor.is_stopped();
            let see = stopping(&stop);
            let options = Options { watch: Some(Watch::new(&see)), ..monitor.within(SHARE) };
            let mut inside = Monitor::new(&options, lambda, DEFAULT_ITERATIONS);
            self.steps.polish(&mut inner, lambda, &mut solution, at, &mut inside);
            inside.iterations()
        };
        monitor.count(iterations.max(1));
        let whole = &evaluator.samples.objective.design;
        evaluator.passes += 1 + inner.passes * design.rows() / whole.rows();
        let Point { intercept, coef, .. } = solution.point;
        let next = Point::at(whole, intercept, coef);
        let duals = merged.lines.spread(&solution.duals);
        let (certificate, _) = dual::certify(evaluator, lambda, &next, &duals);
        let left = merged.lines.leavers(evaluator.samples.margins.slopes());
        best.improve(&duals, &next, certificate);
        left
    }
}

/// The progress of the last proximal steps.
struct Progress {
    /// The gap when it was last half of what it had been.
    mark: f64,
    /// The number of steps since then.
    idle: usize,
    /// The number of steps in which Newton's method failed.
    failures: usize,
    /// The reason to end, once steps lead no further.
    reason: Status,
}

impl Progress {
    /// The number of steps that may fail, and that may pass until the gap is half of what it was.
    const PATIENCE: usize = 6;

    fn new() -> Self {
        Progress { mark: f64::INFINITY, idle: 0, failures: 0, reason: Status::Stalled }
    }

    /// Records a step of a strength that ended like this, with the gap that it reached.
    fn see(&mut self, ending: &Ending, sigma: f64, gap: f64) {
        if ending.status == Status::Converged {
            self.idle += 1;
            if gap <= 0.5 * self.mark {
                (self.idle, self.mark) = (0, gap);
            }
            self.reason = Status::Stalled;
            return;
        }
        // Nothing is left to change where a step as strong as can be does not move.
        let is_stuck = sigma == 1.0 && ending.iterations <= 1;
        self.failures = if is_stuck { Self::PATIENCE } else { self.failures + 1 };
        (self.idle, self.mark) = (0, f64::INFINITY);
        let by_rounding = ending.status == Status::RoundingLimit;
        self.reason = if by_rounding { Status::RoundingLimit } else { Status::Stalled };
    }

    /// Returns the reason to end if the steps lead no further.
    fn end(&self) -> Option<Status> {
        let is_over = self.idle == Self::PATIENCE || self.failures == Self::PATIENCE;
        is_over.then_some(self.reason)
    }
}

/// Proximal steps, one after another.
pub(crate) struct ProximalSteps {
    /// The system of the Newton steps.
    pub(super) system: System,
    /// The strength of the next proximal step, in [units](unit) that the duals set.
    sigma: f64,
    /// The smallest strength that a search begins with.
    least: f64,
}

impl ProximalSteps {
    /// Returns steps of which the first has a given strength, and the first for each later problem
    /// at least another one.
    pub(crate) fn new(system: System, first: f64, least: f64) -> Self {
        ProximalSteps { system, sigma: first / STRONGER, least }
    }

    /// Sets the strength that the next search begins with.
    fn begin_with(&mut self, strength: f64) {
        self.sigma = strength / STRONGER;
    }

    /// Improves duals and point until the monitor ends it, from the better one of the point of the
    /// duals and a given one; returns the status and the certificate.
    pub(crate) fn polish<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        best: &mut DualPoint,
        given: Point,
        monitor: &mut Monitor<'_>,
    ) -> (Status, Certificate) {
        /// The share of the tolerance that Newton's method goes to.
        const SHARE: f64 = 0.1;
        /// The largest number of Newton steps of a proximal step: more of them creep along kinks.
        const MOST: usize = 100;
        // The steps of the problem before have made sigma too small for this one.
        self.sigma = (STRONGER * self.sigma).clamp(self.least, 1.0);
        // The point of the duals of another lambda may be far off.
        let mut smallest = evaluator.value_at(lambda, &given);
        let is_nearer = smallest <= best.certificate.objective;
        let mut point = if is_nearer { given } else { best.point.clone() };
        let mut centres = best.duals.clone();
        let mut progress = Progress::new();
        loop {
            // Where the hinge separates the classes, F is the mean dual to a factor; the duals at
            // hand may be far off.
            smallest = smallest.min(best.certificate.objective);
            let sigma = self.sigma * unit(smallest.max(evaluator.samples.total_dual(&centres)));
            let limit = Some(monitor.left().min(MOST));
            let options = Options { max_iterations: limit, ..monitor.within(SHARE) };
            let (ending, duals) =
                self.minimize_smoothed(evaluator, lambda, &centres, sigma, &mut point, &options);
            monitor.count(ending.iterations.max(1));
            let (certificate, _) = dual::certify(evaluator, lambda, &point, &duals);
            best.improve(&duals, &point, certificate);
            centres = if ending.status == Status::Converged { duals } else { best.duals.clone() };
            progress.see(&ending, self.sigma, certificate.duality_gap);
            // Without a step the point is the minimum for a far smaller sigma, too.
            let weaker = if ending.iterations == 0 { 0.01 } else { 0.25 };
            self.sigma = next_strength(self.sigma, &ending, weaker);
            let margins = || evaluator.samples.summary();
            let passes = evaluator.passes;
            let judged =
                monitor.judge_by(Rule::Gap, passes, &best.certificate, &certificate, margins);
            if let Some(status) = judged.or_else(|| progress.end()) {
                return (status, best.certificate);
            }
        }
    }

    /// Begins at the origin where the way from another lambda has come to an `end`; returns the
    /// certificate of the better point with the reason why this search ended, be it a limit or the
    /// callback.
    fn begin_anew<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        best: &mut DualPoint,
        end: (Status, Certificate),
        monitor: &mut Monitor<'_>,
    ) -> (Status, Certificate) {
        self.sigma = 1.0;
        let mut origin = Point::zero(best.duals.len(), best.point.coef.len());
        let mut other = DualPoint::start(evaluator, lambda, None, &mut origin);
        let (status, certificate) = self.polish(evaluator, lambda, &mut other, origin, monitor);
        if certificate.relative_gap() < end.1.relative_gap() {
            *best = other;
            return (status, certificate);
        }
        // Numbers that overflowed on the second way are not those of the point kept.
        (if status == Status::NumericalTrouble { end.0 } else { status }, end.1)
    }

    /// Takes a point to the minimum of F with the losses smoothed about the centres; returns the
    /// end of Newton's method and the slopes there, the next duals.
    fn minimize_smoothed<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        centres: &[f64],
        sigma: f64,
        point: &mut Point,
        options: &Options,
    ) -> (Ending, Vec<f64>) {
        let objective = evaluator.samples.objective;
        let risk = objective.risk.clone().smoothed(centres.to_vec(), sigma);
        let smoothed = Objective::made_of(risk, Cow::Borrowed(&*objective.design));
        let extent = Rc::clone(&evaluator.samples.extent);
        let mut inner = Evaluator::with_extent(&smoothed, extent);
        inner.go_on_from(evaluator);
        let mut newton = Newton::new(&mut inner, &mut self.system);
        let ending = newton.minimize(lambda, point, options);
        let duals = newton.into_duals();
        evaluator.passes += inner.passes;
        evaluator.go_on_from(&inner);
        (ending, duals)
    }
}

//! The proximal point method on the dual, with Newton for its steps: for losses with kinks, and for
//! the last digits of dual ascent.
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
use crate::method::proximal::{ProximalPoint, Strengths, next_radius};
use crate::method::{Ending, Monitor, Options, Status, Watch, stopping};
use crate::problem::{MarginSummary, Merged, Point};
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

    pub(crate) fn duals(&self) -> Option<&[f64]> {
        self.duals.as_deref()
    }

    /// Prepares a search from a point near the minimum, with margins that move by a radius if it is
    /// known.
    pub(crate) fn begin_near(&mut self, radius: Option<f64>) {
        /// The strength of the first step: a strong one would lead away from so near a point.
        const NEAR: f64 = 1.0 / 16.0;
        self.radius = radius.unwrap_or(f64::INFINITY);
        self.steps.strengths.begin_with(NEAR);
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

/// Proximal steps, one after another.
pub(crate) struct ProximalSteps {
    pub(super) system: System,
    strengths: Strengths,
}

impl ProximalSteps {
    /// Returns steps of which the first has a given strength, and the first for each later problem
    /// at least another one.
    pub(crate) fn new(system: System, first: f64, least: f64) -> Self {
        ProximalSteps { system, strengths: Strengths::new(first, least) }
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
        // The point of the duals of another lambda may be far off.
        let smallest = evaluator.value_at(lambda, &given);
        let is_nearer = smallest <= best.certificate.objective;
        let point = if is_nearer { given } else { best.point.clone() };
        let centres = best.duals.clone();
        let system = &mut self.system;
        let mut dual = Dual { evaluator, system, lambda, best, point, centres, smallest };
        self.strengths.take_steps(&mut dual, monitor)
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
        self.strengths.begin_with(1.0);
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
}

/// The dual of samples in memory.
struct Dual<'d, 'o, 'a, L: MarginLoss + ?Sized> {
    evaluator: &'d mut Evaluator<InMemory<'o, 'a, L>>,
    system: &'d mut System,
    lambda: Lambda,
    best: &'d mut DualPoint,
    /// The point where the last step has led.
    point: Point,
    /// The duals about which the next step smooths the losses.
    centres: Vec<f64>,
    smallest: f64,
}

impl<L: MarginLoss + ?Sized> Dual<'_, '_, '_, L> {
    /// Takes the point to the minimum of F with the losses smoothed about the centres; returns the
    /// end of Newton's method and the slopes there, the next duals.
    fn minimize_smoothed(&mut self, sigma: f64, options: &Options) -> (Ending, Vec<f64>) {
        let evaluator = &mut *self.evaluator;
        let objective = evaluator.samples.objective;
        let risk = objective.risk.clone().smoothed(self.centres.clone(), sigma);
        let smoothed = Objective::made_of(risk, Cow::Borrowed(&*objective.design));
        let extent = Rc::clone(&evaluator.samples.extent);
        let mut inner = Evaluator::with_extent(&smoothed, extent);
        inner.go_on_from(evaluator);
        let mut newton = Newton::new(&mut inner, self.system);
        let ending = newton.minimize(self.lambda, &mut self.point, options);
        let duals = newton.into_duals();
        evaluator.passes += inner.passes;
        evaluator.go_on_from(&inner);
        (ending, duals)
    }
}

impl<L: MarginLoss + ?Sized> ProximalPoint for Dual<'_, '_, '_, L> {
    fn mean_dual(&mut self) -> f64 {
        self.smallest = self.smallest.min(self.best.certificate.objective);
        self.smallest.max(self.evaluator.samples.total_dual(&self.centres))
    }

    fn step(&mut self, sigma: f64, monitor: &Monitor<'_>) -> (Ending, Certificate) {
        /// The share of the tolerance that Newton's method goes to.
        const SHARE: f64 = 0.1;
        /// The largest number of Newton steps: more of them creep along kinks.
        const MOST: usize = 100;
        let limit = Some(monitor.left().min(MOST));
        let options = Options { max_iterations: limit, ..monitor.within(SHARE) };
        let (ending, duals) = self.minimize_smoothed(sigma, &options);
        let (certificate, _) = dual::certify(self.evaluator, self.lambda, &self.point, &duals);
        self.best.improve(&duals, &self.point, certificate);
        let is_minimum = ending.status == Status::Converged;
        self.centres = if is_minimum { duals } else { self.best.duals.clone() };
        (ending, certificate)
    }

    fn best(&self) -> Certificate {
        self.best.certificate
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.evaluator.samples.summary()
    }
}

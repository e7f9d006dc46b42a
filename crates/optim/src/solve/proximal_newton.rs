//! The proximal point method on the dual, with Newton for its steps: for losses with kinks, and for
//! the last digits of dual ascent.
//!
//! A step maximises `D(s) - (sigma/2n) sum c_i (s_i - a_i)^2` about the present duals `a`. Its own
//! dual is F with the losses of [`EmpiricalRisk::smoothed`](crate::problem::risk::EmpiricalRisk),
//! which semismooth Newton minimises with the exact intercept, whatever kinks `L` has; the slopes
//! there are the next duals, and feasible. Where the dual is piecewise linear-quadratic, as that of
//! the hinge is, finitely many such steps reach its maximum, whatever sigma (Rockafellar,
//! *Augmented Lagrangians and applications of the proximal point algorithm in convex programming*,
//! Math. Oper. Res. 1, 1976).
//!
//! Only samples near a kink have a say in a step. All others are [merged](crate::problem::Merged)
//! about the point where the search begins, and the solution of the small problem is certified on
//! the whole one: it is the solution of both if no margin has left its line.

use std::borrow::Cow;
use std::rc::Rc;

use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::certificate::dual::{self, DualPoint};
use crate::problem::{Extent, InMemory, Merged, Point, Samples};
use crate::solve::newton::{Newton, System};
use crate::solve::{Ending, Monitor, Options, Rule, Status};
use crate::{Certificate, Lambda, Objective};

const DEFAULT_ITERATIONS: usize = 1000;
/// The radius about a point, in units of the largest change of a margin that is expected.
const AMPLE: f64 = 2.0;

/// The proximal point method along a path of lambdas.
pub(crate) struct ProximalNewton {
    steps: ProximalSteps,
    /// The distance within which a loss must be a line for its sample to be merged.
    radius: f64,
    /// The duals of the last lambda.
    duals: Option<Vec<f64>>,
}

impl ProximalNewton {
    /// Returns the method; `system` is the system of its Newton steps.
    pub(crate) fn new(system: System) -> Self {
        /// The strength from which a neighbouring lambda is reached in a few steps.
        const LEAST: f64 = 0.02;
        let steps = ProximalSteps::new(system, LEAST);
        ProximalNewton { steps, radius: f64::INFINITY, duals: None }
    }

    /// Returns the duals of the last lambda.
    pub(crate) fn duals(&self) -> Option<&[f64]> {
        self.duals.as_deref()
    }

    /// Minimises F from a point and the duals of the last lambda.
    pub(crate) fn minimize<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        point: &mut Point,
        options: &Options,
    ) -> Ending {
        /// The largest factor by which the radius grows where it was too small.
        const MOST: f64 = 8.0;
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let mut best = DualPoint::start(evaluator, lambda, self.duals.take(), point);
        let mut radius = self.radius;
        let (status, certificate) = loop {
            evaluator.intercept_slope(&best.point);
            let margins = || evaluator.samples.summary();
            if let Some(status) = monitor.judge(evaluator.passes, &best.certificate, margins) {
                break (status, best.certificate);
            }
            let objective = evaluator.samples.objective;
            let Some(merged) = objective.merged(evaluator.samples.margins.get(), radius) else {
                let given = best.point.clone();
                break self.steps.polish(evaluator, lambda, &mut best, given, &mut monitor);
            };
            let moved = self.solve_merged(evaluator, &merged, lambda, &mut best, &mut monitor);
            // Where no margin has left its line, it is not merging that keeps up the gap.
            let left = moved > radius;
            radius = if left { (AMPLE * moved).min(MOST * radius) } else { f64::INFINITY };
        };
        self.expect(farthest(point, &best.point));
        let mut ending = monitor.end(status, certificate);
        ending.certificate.gradient_norm = best.gradient_norm(evaluator, lambda);
        *point = best.point;
        self.duals = Some(best.duals);
        ending
    }

    /// Sets the radius for the next lambda by how far margins have moved at this one.
    fn expect(&mut self, moved: f64) {
        /// The least factor by which the radius shrinks from lambda to lambda.
        const LEAST: f64 = 0.25;
        let least = if self.radius.is_finite() { LEAST * self.radius } else { 0.0 };
        self.radius = (AMPLE * moved).max(least);
    }

    /// Solves a merged problem, which improves the best point and duals; returns the largest change
    /// of a margin.
    fn solve_merged<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        merged: &Merged<'_, L>,
        lambda: Lambda,
        best: &mut DualPoint,
        monitor: &mut Monitor<'_>,
    ) -> f64 {
        /// The share of the tolerance that the merged problem is solved to.
        const SHARE: f64 = 0.5;
        let design = &merged.objective.design;
        let extent = Rc::new(Extent::of(design));
        let mut inner = Evaluator::with_extent(&merged.objective, extent);
        let Point { intercept, coef, .. } = best.point.clone();
        let at = Point::at(design, intercept, coef);
        let duals = merged.merge(&best.duals);
        let mut solution = DualPoint::at(&mut inner, lambda, duals, intercept);
        let options = monitor.within(SHARE);
        let mut inside = Monitor::new(&options, lambda, DEFAULT_ITERATIONS);
        self.steps.polish(&mut inner, lambda, &mut solution, at, &mut inside);
        monitor.count(inside.iterations().max(1));
        let whole = &evaluator.samples.objective.design;
        evaluator.passes += 1 + inner.passes * design.rows() / whole.rows();
        let Point { intercept, coef, .. } = solution.point;
        let next = Point::at(whole, intercept, coef);
        let duals = merged.spread(&solution.duals);
        let (certificate, _) = dual::certify(evaluator, lambda, &next, &duals);
        let moved = farthest(&best.point, &next);
        best.improve(&duals, &next, certificate);
        moved
    }
}

/// Returns the largest change of a margin between two points.
fn farthest(one: &Point, other: &Point) -> f64 {
    let shift = other.intercept - one.intercept;
    let changes = one.products.iter().zip(&other.products).map(|(f, g)| (g - f + shift).abs());
    changes.fold(0.0, f64::max)
}

/// Proximal steps, one after another.
pub(crate) struct ProximalSteps {
    /// The system of the Newton steps.
    system: System,
    /// The strength of the next proximal step.
    sigma: f64,
    /// The least strength that a search begins with.
    least: f64,
}

impl ProximalSteps {
    /// Returns steps of which the first has the strength 1, and the first for each later problem
    /// at least a given one.
    pub(crate) fn new(system: System, least: f64) -> Self {
        ProximalSteps { system, sigma: 1.0, least }
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
        /// The number of proximal steps that may pass without a smaller gap.
        const PATIENCE: usize = 5;
        /// The largest number of Newton steps of a proximal step at which sigma becomes smaller.
        const FEW: usize = 12;
        // The steps of the last problem have made sigma too small for this one.
        self.sigma = (16.0 * self.sigma).clamp(self.least, 1.0);
        let mut idle = 0;
        // The reason why the steps lead no further.
        let mut reason = Status::Stalled;
        // The point of the duals of another lambda may be far off.
        let is_nearer = evaluator.value_at(lambda, &given) <= best.certificate.objective;
        let mut point = if is_nearer { given } else { best.point.clone() };
        let mut centres = best.duals.clone();
        loop {
            if idle == PATIENCE {
                return (reason, best.certificate);
            }
            let options = monitor.within(SHARE);
            let (ending, duals) =
                self.minimize_smoothed(evaluator, lambda, &centres, &mut point, &options);
            monitor.count(ending.iterations.max(1));
            let (certificate, _) = dual::certify(evaluator, lambda, &point, &duals);
            let gap_before = best.certificate.duality_gap;
            best.improve(&duals, &point, certificate);
            idle = if best.certificate.duality_gap < gap_before { 0 } else { idle + 1 };
            let by_rounding = ending.status == Status::RoundingLimit;
            reason = if by_rounding { Status::RoundingLimit } else { Status::Stalled };
            if ending.status == Status::Converged {
                centres = duals;
                if ending.iterations <= FEW {
                    self.sigma *= 0.25;
                }
            } else {
                // Steps as long as this one magnify the rounding of the scores.
                self.sigma = f64::min(1.0, 16.0 * self.sigma);
                centres.clone_from(&best.duals);
                point.clone_from(&best.point);
            }
            let margins = || evaluator.samples.summary();
            let passes = evaluator.passes;
            let judged =
                monitor.judge_by(Rule::Gap, passes, &best.certificate, &certificate, margins);
            if let Some(status) = judged {
                return (status, best.certificate);
            }
        }
    }

    /// Takes a point to the minimum of F with the losses smoothed about the centres; returns the
    /// end of Newton's method and the slopes there, the next duals.
    fn minimize_smoothed<L: MarginLoss + ?Sized>(
        &mut self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        centres: &[f64],
        point: &mut Point,
        options: &Options,
    ) -> (Ending, Vec<f64>) {
        let objective = evaluator.samples.objective;
        let smoothed = Objective {
            risk: objective.risk.clone().smoothed(centres.to_vec(), self.sigma),
            design: Cow::Borrowed(&*objective.design),
        };
        let mut inner = Evaluator::with_extent(&smoothed, Rc::clone(&evaluator.samples.extent));
        let mut newton = Newton::new(&mut inner, &mut self.system);
        let ending = newton.minimize(lambda, point, options);
        let duals = newton.into_duals();
        evaluator.passes += inner.passes;
        (ending, duals)
    }
}

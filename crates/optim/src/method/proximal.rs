//! The proximal point method on the dual, wherever the samples are.

use crate::Certificate;
use crate::method::{Ending, Monitor, Rule, Status};
use crate::problem::MarginSummary;

/// The factor to a larger strength.
const STRONGER: f64 = 16.0;

/// A problem that the proximal point method solves, with the best point and duals so far.
///
/// A step maximises `D(s) - (sigma/2n) sum c_i (s_i - a_i)^2` about the duals `a` of the step before.
/// Its own dual is F with the losses `e_i(u) = max_s -L*(-s) - s u - (sigma/2) (s - a_i)^2`, which
/// are differentiable, whether L is or not (Nesterov, *Smooth minimization of non-smooth functions*,
/// Math. Program. 103, 2005): semismooth Newton minimises it, with the exact intercept, and the slopes
/// at the minimum are the next duals, and feasible. Where the dual is piecewise linear-quadratic, as
/// that of the hinge is, finitely many such steps reach its maximum, for any sigma (Rockafellar,
/// *Augmented Lagrangians and applications of the proximal point algorithm in convex programming*,
/// Math. Oper. Res. 1, 1976).
pub(super) trait ProximalPoint {
    /// Returns the magnitude of the mean dual variable, to a factor: the larger of the mean of the present
    /// duals and F. F is a bound where the present duals are still far off: at the minimum of the hinge on
    /// separable classes it is the mean dual to a factor.
    fn mean_dual(&mut self) -> f64;

    /// Takes a step of strength sigma; returns the end of Newton's method and the certificate of
    /// where it has led.
    fn step(&mut self, sigma: f64, monitor: &Monitor<'_>) -> (Ending, Certificate);

    /// Returns the certificate of the best point and duals.
    fn best(&self) -> Certificate;

    /// Returns the passes over the samples so far.
    fn passes(&self) -> usize;

    /// Returns the summary of the margins where the last step has led.
    fn margins(&mut self) -> MarginSummary;
}

/// The strengths of proximal steps, in [units](unit) that the duals set, from problem to problem.
#[derive(Debug)]
pub(super) struct Strengths {
    /// The strength of the next step but for the factor with which each search begins.
    next: f64,
    /// The smallest strength that a search begins with.
    least: f64,
}

impl Strengths {
    /// Returns strengths of which the first is given, and the first of each later search is at least
    /// another one.
    pub(super) fn new(first: f64, least: f64) -> Self {
        Strengths { next: first / STRONGER, least }
    }

    /// Sets the strength that the next search begins with.
    pub(super) fn begin_with(&mut self, first: f64) {
        self.next = first / STRONGER;
    }

    /// Takes steps until the monitor ends it or they lead no further; returns the status and the
    /// certificate of the best point and duals.
    pub(super) fn take_steps<P: ProximalPoint>(
        &mut self,
        problem: &mut P,
        monitor: &mut Monitor<'_>,
    ) -> (Status, Certificate) {
        // The steps of the problem before have made the strength too small for this one.
        self.next = (STRONGER * self.next).clamp(self.least, 1.0);
        let mut progress = Progress::new();
        loop {
            let sigma = self.next * unit(problem.mean_dual());
            let (ending, certificate) = problem.step(sigma, monitor);
            monitor.count(ending.iterations.max(1).min(monitor.left()));
            progress.see(&ending, self.next, certificate.duality_gap);
            self.next = next_strength(self.next, &ending);
            let best = problem.best();
            let passes = problem.passes();
            let judged =
                monitor.judge_by(Rule::Gap, passes, &best, &certificate, || problem.margins());
            if let Some(status) = judged.or_else(|| progress.end()) {
                return (status, best);
            }
        }
    }
}

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
    fn see(&mut self, ending: &Ending, strength: f64, gap: f64) {
        if ending.status == Status::Converged {
            self.idle += 1;
            if gap <= 0.5 * self.mark {
                (self.idle, self.mark) = (0, gap);
            }
            self.reason = Status::Stalled;
            return;
        }
        // Nothing is left to change where a step as strong as can be does not move.
        let is_stuck = strength == 1.0 && ending.iterations <= 1;
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

/// Returns the unit of strengths, given a mean dual: with it the mean slack `sigma s` is 1. A far
/// smaller slack is lost in the rounding of the margins.
fn unit(mean_dual: f64) -> f64 {
    const LARGEST: f64 = 1e15;
    (1.0 / mean_dual).clamp(1.0, LARGEST)
}

/// Returns the strength of the step after one in which Newton's method ended like this: smaller after
/// few Newton steps, and larger where it failed, for steps as long magnify the rounding of the scores.
fn next_strength(strength: f64, ending: &Ending) -> f64 {
    /// The largest number of Newton steps at which the strength becomes smaller.
    const FEW: usize = 12;
    match (ending.status == Status::Converged, ending.iterations) {
        (false, _) => f64::min(1.0, STRONGER * strength),
        // The point is the minimum for a far smaller strength, too.
        (true, 0) => 0.01 * strength,
        (true, 1..=FEW) => 0.25 * strength,
        (true, _) => strength,
    }
}

/// Returns the radius in which margins are expected to stay at the next lambda, given how far they
/// have moved at this one.
pub(super) fn next_radius(radius: f64, moved: f64) -> f64 {
    /// The radius in units of the largest change.
    const AMPLE: f64 = 2.0;
    /// The smallest factor by which the radius shrinks from lambda to lambda.
    const SHRINK: f64 = 0.25;
    let least = if radius.is_finite() { SHRINK * radius } else { 0.0 };
    (AMPLE * moved).max(least)
}

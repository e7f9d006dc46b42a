//! Losses with kinks by Newton's method on smoothed ones, for samples that keep duals elsewhere.
//!
//! The loss `e(u) = max_s -L*(-s) - s u - (sigma/2) (s - a)^2` is differentiable, whether `L` is or not
//! (Nesterov, *Smooth minimization of non-smooth functions*, Math. Program. 103, 2005). The slopes at the
//! minimum of F with it are feasible duals of F itself, which certify the point for F, and the centres a
//! of the next step: this is the proximal point method on the dual, whose gap falls step by step whatever
//! sigma (Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in convex
//! programming*, Math. Oper. Res. 1, 1976). In memory, samples that are far from a kink are merged on the
//! way; here they are too far away for that.

use crate::certificate::{Evaluator, dual};
use crate::problem::summation::norm;
use crate::problem::{Point, Samples};
use crate::solve::newton::{Newton, System};
use crate::solve::{Ending, Monitor, Options, Status};
use crate::{Certificate, Lambda};

const DEFAULT_ITERATIONS: usize = 1000;
/// The factor to a larger strength, where Newton's method has failed.
const STRONGER: f64 = 16.0;

/// Returns the unit of strengths at a point whose margins are set, with the loss itself: with it the mean
/// slack `sigma s` of the margins is about 1, for a far smaller one is lost in their rounding. Where the
/// hinge separates the classes, F is the mean dual to a factor.
fn unit<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<S::Products>,
) -> f64 {
    const LARGEST: f64 = 1e15;
    let (objective, _, sums) = evaluator.valued(lambda, point);
    (1.0 / objective.max(sums.slopes)).clamp(1.0, LARGEST)
}

/// The strengths of smoothing along a path of lambdas.
pub(crate) struct Smoothing {
    /// The strength that the next search begins with, in [units](unit) that the point sets.
    strength: f64,
}

impl Smoothing {
    /// Returns the strengths for a search from the origin, or from a point near the minimum.
    pub(crate) fn new(is_near: bool) -> Self {
        Smoothing { strength: if is_near { 0.5 / STRONGER } else { 1.0 } }
    }

    /// Minimises F from a point, in place, by way of smoothed losses; the certificate is one of the
    /// loss itself.
    pub(crate) fn minimize<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        system: &mut System,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> Ending {
        /// The number of steps in a row that may bring no smaller gap.
        const PATIENCE: usize = 6;
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let mut next = point.clone();
        let mut best: Option<Certificate> = None;
        let mut gap = f64::INFINITY;
        let mut idle = 0;
        evaluator.samples.centre(None);
        evaluator.intercept_slope(point);
        loop {
            let sigma = self.strength * unit(evaluator, lambda, &next);
            let (ending, certificate) =
                step(evaluator, system, lambda, &mut next, &monitor, sigma, gap);
            monitor.count(ending.iterations.max(1));
            let is_better =
                best.is_none_or(|best| certificate.relative_gap() < best.relative_gap());
            idle = if is_better { 0 } else { idle + 1 };
            if is_better || certificate.is_broken() {
                point.clone_from(&next);
                best = Some(certificate);
            }
            let best = best.unwrap_or(certificate);
            gap = best.relative_gap();
            let passes = evaluator.passes;
            let judged = monitor.judge(passes, &best, || evaluator.samples.summary());
            let cut = matches!(ending.status, Status::TimeLimit | Status::Interrupted);
            let ended = cut.then_some(ending.status);
            let ended = ended.or_else(|| (idle == PATIENCE).then_some(Status::Stalled));
            if let Some(status) = judged.or(ended) {
                evaluator.intercept_slope(point);
                evaluator.set_gradient(lambda, point);
                let mut ending = monitor.end(status, best);
                ending.certificate.gradient_norm = norm(&evaluator.gradient);
                self.strength = (STRONGER * self.strength).min(1.0);
                return ending;
            }
            // With the same centres the gap would fall like the square of the strength.
            let enough = (0.5 * options.tolerance / gap).sqrt();
            self.adapt(&ending, enough);
        }
    }

    /// Sets the strength of the next step by how Newton's method ended in this one, and by the factor
    /// that may be enough.
    fn adapt(&mut self, ending: &Ending, enough: f64) {
        /// The least factor from one strength to the next: a minimum is a good start for one this near.
        const LEAST: f64 = 0.25;
        /// The largest number of Newton steps at which the strength becomes smaller.
        const FEW: usize = 12;
        self.strength = match (ending.status == Status::Converged, ending.iterations) {
            (false, _) => f64::min(1.0, STRONGER * self.strength),
            (true, ..=FEW) => enough.clamp(LEAST, 1.0) * self.strength,
            (true, _) => self.strength,
        };
    }
}

/// Takes a point to the minimum with the loss smoothed by a strength, about as exactly as the relative
/// gap so far asks for, and certifies it with the loss itself. The slopes there are the next centres.
fn step<S: Samples>(
    evaluator: &mut Evaluator<S>,
    system: &mut System,
    lambda: Lambda,
    point: &mut Point<S::Products>,
    monitor: &Monitor<'_>,
    sigma: f64,
    gap: f64,
) -> (Ending, Certificate) {
    /// The share of the tolerance, or of the gap so far, that Newton's method goes to.
    const SHARE: f64 = 0.1;
    /// The coarsest tolerance of Newton's method.
    const COARSE: f64 = 1e-3;
    /// The largest number of Newton steps: more of them creep along kinks.
    const MOST: usize = 30;
    let within = monitor.within(SHARE);
    let options = Options {
        tolerance: within.tolerance.max((SHARE * gap).min(COARSE)),
        max_iterations: Some(monitor.left().min(MOST)),
        ..within
    };
    evaluator.samples.smooth(sigma);
    let mut newton = Newton::new(&mut *evaluator, system);
    let ending = newton.minimize(lambda, point, &options);
    let duals = newton.into_duals();
    if ending.status == Status::Converged {
        evaluator.samples.centre(Some(point));
    }
    evaluator.samples.smooth(0.0);
    let (certificate, _) = dual::certify(evaluator, lambda, point, &duals);
    (ending, certificate)
}

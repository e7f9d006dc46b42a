//! Losses with kinks by Newton's method on smoothed ones, for samples that keep no duals.
//!
//! The loss `e(u) = max_s -L*(-s) - s u - (sigma/2) s^2` is differentiable, whether `L` is or not,
//! and at most `(sigma/2) s^2` below `L` (Nesterov, *Smooth minimization of non-smooth functions*,
//! Math. Program. 103, 2005). The slopes at its minimum are feasible duals of F itself, which
//! certify the point for F: the gap is the mean of what smoothing has changed. Where many samples
//! are near the kink it falls like the square of sigma, for the share of samples that are between
//! the ends of the domain falls like sigma, too; so a few strengths lead to any tolerance.

use crate::certificate::{Evaluator, dual};
use crate::problem::summation::norm;
use crate::problem::{Point, Samples};
use crate::solve::newton::{Newton, System};
use crate::solve::{Ending, Monitor, Options, Status};
use crate::{Certificate, Lambda};

const DEFAULT_ITERATIONS: usize = 1000;
/// The least factor from one strength to the next: a minimum is a good start for one this near.
const LEAST_FACTOR: f64 = 1.0 / 32.0;
/// The factor to a larger strength, where Newton's method has failed.
const STRONGER: f64 = 16.0;

/// The strengths of smoothing along a path of lambdas.
pub(crate) struct Smoothing {
    /// The strength that the next search begins with.
    strength: f64,
}

impl Smoothing {
    /// Returns the strengths for a search from the origin, or from a point near the minimum.
    pub(crate) fn new(is_near: bool) -> Self {
        Smoothing { strength: if is_near { 1.0 / STRONGER } else { 1.0 } }
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
        /// The number of strengths in a row that may bring no smaller gap.
        const PATIENCE: usize = 4;
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        let mut next = point.clone();
        let mut best: Option<Certificate> = None;
        // The gap that the next strength is expected to leave.
        let (mut expected, mut idle) = (f64::INFINITY, 0);
        loop {
            let (ending, certificate) =
                self.step(evaluator, system, lambda, &mut next, &monitor, expected);
            monitor.count(ending.iterations.max(1));
            let is_better =
                best.is_none_or(|best| certificate.relative_gap() < best.relative_gap());
            idle = if is_better { 0 } else { idle + 1 };
            if is_better || certificate.is_broken() {
                point.clone_from(&next);
                best = Some(certificate);
            }
            let best = best.unwrap_or(certificate);
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
            if ending.status == Status::Converged {
                let gap = certificate.relative_gap();
                let factor = (0.5 * options.tolerance / gap).sqrt().clamp(LEAST_FACTOR, 0.5);
                self.strength *= factor;
                expected = gap * factor * factor;
            } else {
                self.strength *= STRONGER;
                expected = f64::INFINITY;
            }
        }
    }

    /// Takes a point to the minimum with the loss smoothed, about as exactly as the expected gap
    /// asks for, and certifies it with the loss itself.
    fn step<S: Samples>(
        &self,
        evaluator: &mut Evaluator<S>,
        system: &mut System,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        monitor: &Monitor<'_>,
        expected: f64,
    ) -> (Ending, Certificate) {
        /// The share of the tolerance, or of the gap that smoothing leaves, that Newton's method
        /// goes to.
        const SHARE: f64 = 0.1;
        /// The coarsest tolerance of Newton's method.
        const COARSE: f64 = 1e-3;
        /// The largest number of Newton steps: more of them creep along kinks.
        const MOST: usize = 100;
        let within = monitor.within(SHARE);
        let options = Options {
            tolerance: within.tolerance.max((SHARE * expected).min(COARSE)),
            max_iterations: Some(monitor.left().min(MOST)),
            ..within
        };
        evaluator.samples.smooth(self.strength);
        let mut newton = Newton::new(&mut *evaluator, system);
        let ending = newton.minimize(lambda, point, &options);
        let duals = newton.into_duals();
        evaluator.samples.smooth(0.0);
        let (certificate, _) = dual::certify(evaluator, lambda, point, &duals);
        (ending, certificate)
    }
}

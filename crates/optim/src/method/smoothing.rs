//! Losses with kinks by Newton's method on smoothed ones, for samples that keep duals elsewhere.
//!
//! The loss `e(u) = max_s -L*(-s) - s u - (sigma/2) (s - a)^2` is differentiable, whether `L` is or not
//! (Nesterov, *Smooth minimization of non-smooth functions*, Math. Program. 103, 2005). The slopes at the
//! minimum of F with it are feasible duals of F itself, which certify the point for F, and the centres a
//! of the next step: this is the proximal point method on the dual, whose gap falls step by step whatever
//! sigma (Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in convex
//! programming*, Math. Oper. Res. 1, 1976).
//!
//! Before that, samples that are far from a kink are merged where they are: the others may be few enough for
//! a solution in memory. How far is far follows from how far margins are from those at the minimum, or, if
//! that is not known, from how many samples can be held.

use crate::certificate::{Evaluator, Valued, dual};
use crate::method::newton::{Newton, System};
use crate::method::proximal::{STRONGER, next_radius, next_strength, unit};
use crate::method::proximal_newton::radius_near;
use crate::method::{Ending, Monitor, Options, Status};
use crate::problem::summation::norm;
use crate::problem::{Point, Products};
use crate::space::{MergedProblem, Samples};
use crate::{Certificate, Lambda};

const DEFAULT_ITERATIONS: usize = 1000;
/// The factor from a part of the samples to the next larger one.
const LARGER: usize = 8;
/// Fits to losses with kinks along a path of lambdas.
pub(crate) struct SmoothedNewton {
    /// The strength that the next search begins with, in [units](unit) that the point sets.
    strength: f64,
    nearness: Option<Nearness>,
    /// The number of samples that were enough for the point that the first search began with.
    part: usize,
}

/// How near a point is to the minimum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearness {
    /// The distance that its margins may have to those at the minimum.
    pub(crate) radius: f64,
    /// The number of samples, of all, that the point is the minimum for.
    pub(crate) samples: usize,
}

/// The best point so far.
struct Best<'p, P> {
    point: &'p mut Point<P>,
    /// The certificate of the point; none of the point that the search begins with.
    certificate: Option<Certificate>,
    /// The objective there.
    objective: f64,
}

impl<P: Products> Best<'_, P> {
    /// Keeps the minimum of a merged problem if it is better; returns the status and the certificate if
    /// the monitor ends the search.
    fn consider<S: Samples<Products = P>>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        lambda: Lambda,
        next: Point<P>,
        certificate: Certificate,
        monitor: &mut Monitor<'_>,
    ) -> Option<(Status, Certificate)> {
        if certificate.objective < self.objective {
            evaluator.samples.reached(lambda, next.intercept, &next.coef);
            self.objective = certificate.objective;
            self.point.clone_from(&next);
            self.certificate = Some(certificate);
        }
        let passes = evaluator.passes;
        let status = monitor.judge(passes, &certificate, || evaluator.samples.summary())?;
        let better = self.certificate.filter(|_| status != Status::Converged);
        if better.is_none() {
            *self.point = next;
        }
        Some((status, better.unwrap_or(certificate)))
    }
}

impl SmoothedNewton {
    /// Returns the method for a search from the origin, or from a point near the minimum, with how near
    /// it is if that is known.
    pub(crate) fn new(is_near: bool, nearness: Option<Nearness>) -> Self {
        let part = nearness.map_or(0, |nearness| nearness.samples);
        SmoothedNewton { strength: if is_near { 0.5 / STRONGER } else { 1.0 }, nearness, part }
    }

    /// Minimises F from a point, in place; the certificate is one of the loss itself.
    pub(crate) fn minimize<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        system: &mut System,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> Ending {
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        evaluator.samples.centre(None);
        let start = point.clone();
        let mut best = Best { point, certificate: None, objective: f64::INFINITY };
        let mut ended = None;
        for nearness in self.starting_assumptions() {
            if ended.is_none() && monitor.left() > 0 {
                ended = by_merging(evaluator, lambda, nearness, &mut best, &mut monitor);
            }
        }
        let (status, certificate) = ended
            .unwrap_or_else(|| self.by_steps(evaluator, system, lambda, &mut best, &mut monitor));
        let point = best.point;
        evaluator.intercept_slope(point);
        evaluator.set_gradient(lambda, point);
        self.expect(evaluator, &start, point);
        let mut ending = monitor.end(status, certificate);
        ending.certificate.gradient_norm = norm(&evaluator.gradient);
        ending
    }

    /// Returns the sequence of starting assumptions to try: near the minimum for all samples; near it
    /// for the next part of them, if margins move too far for all; and last, nothing known.
    fn starting_assumptions(&self) -> Vec<Option<Nearness>> {
        let Some(nearness) = self.nearness else { return vec![None] };
        let part = Nearness { samples: (self.part / LARGER).max(1), ..nearness };
        let part = (nearness.samples > self.part).then_some(part);
        [Some(nearness), part].into_iter().flatten().map(Some).chain([None]).collect()
    }

    /// Sets the radius for the next lambda by how far margins have moved at this one.
    fn expect<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        from: &Point<S::Products>,
        to: &Point<S::Products>,
    ) {
        if let Some(Nearness { radius, samples }) = &mut self.nearness {
            let moved = evaluator.samples.farthest(from, to);
            *radius = next_radius(*radius, moved);
            *samples = evaluator.samples.shape().0;
        }
    }

    /// Minimises F by way of smoothed losses; returns the reason to end and the certificate.
    fn by_steps<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        system: &mut System,
        lambda: Lambda,
        best: &mut Best<'_, S::Products>,
        monitor: &mut Monitor<'_>,
    ) -> (Status, Certificate) {
        /// The number of steps in a row that may bring no smaller gap.
        const PATIENCE: usize = 6;
        /// The smallest factor from one strength to the next: a minimum is a good start for one this near.
        const LEAST: f64 = 0.25;
        let tolerance = monitor.within(1.0).tolerance;
        let mut next = best.point.clone();
        let mut gap = best.certificate.map_or(f64::INFINITY, |best| best.relative_gap());
        let mut idle = 0;
        evaluator.intercept_slope(&next);
        loop {
            // Where the hinge separates the classes, F is the mean dual to a factor.
            let Valued { objective, sums, .. } = evaluator.valued(lambda, &next);
            let sigma = self.strength * unit(objective.max(sums.slopes));
            let (ending, certificate) =
                step(evaluator, system, lambda, &mut next, monitor, sigma, gap);
            monitor.count(ending.iterations.max(1).min(monitor.left()));
            let is_better = best
                .certificate
                .is_none_or(|best| certificate.relative_gap() < best.relative_gap());
            idle = if is_better { 0 } else { idle + 1 };
            if is_better || certificate.is_broken() {
                best.point.clone_from(&next);
                best.certificate = Some(certificate);
            }
            let so_far = best.certificate.unwrap_or(certificate);
            gap = so_far.relative_gap();
            let passes = evaluator.passes;
            let judged = monitor.judge(passes, &so_far, || evaluator.samples.summary());
            let ended = ending.status.is_cut_short().then_some(ending.status);
            let ended = ended.or_else(|| (idle == PATIENCE).then_some(Status::Stalled));
            if let Some(status) = judged.or(ended) {
                self.strength = (STRONGER * self.strength).min(1.0);
                return (status, so_far);
            }
            // With the same centres the gap would fall like the square of the strength.
            let enough = (0.5 * tolerance / gap).sqrt();
            self.strength = next_strength(self.strength, &ending, enough.clamp(LEAST, 1.0));
        }
    }
}

/// Minimises F by way of merged problems, whose few unmerged samples are in memory; returns the status
/// and the certificate if these problems reach the end.
///
/// Where no radius in which margins lie is known, as many samples as can be held stay alone. Those that
/// leave their lines join them, which is the working set method (Osuna, Freund and Girosi, *An improved
/// training algorithm for support vector machines*, NNSP 1997).
fn by_merging<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    nearness: Option<Nearness>,
    best: &mut Best<'_, S::Products>,
    monitor: &mut Monitor<'_>,
) -> Option<(Status, Certificate)> {
    /// The number of merged problems in a row of which none halves the gap; of all where the radius is known.
    const PATIENCE: usize = 3;
    /// The share of the tolerance that they are solved to.
    const SHARE: f64 = 0.5;
    /// The share of the gap so far to which they are solved where others will follow.
    const OF_GAP: f64 = 0.1;
    /// The gap that is taken for that of a point of which nothing is known.
    const UNKNOWN: f64 = 0.1;
    let radius = match nearness {
        Some(nearness) => come_nearer(evaluator, lambda, nearness, best, monitor)?,
        None => evaluator.samples.widest_radius(best.point)?,
    };
    let about = best.point.place();
    evaluator.intercept_slope(best.point);
    let mut left = Vec::new();
    best.objective = evaluator.valued(lambda, &about).objective;
    // Where the radius is known, or no sample is merged, the first problem may be the last one.
    let is_known = nearness.is_some() || radius == MergedProblem::ALL;
    let mut gap = if is_known { 0.0 } else { UNKNOWN };
    let mut idle = 0;
    while idle < PATIENCE {
        let Options { tolerance, deadline, .. } = monitor.within(SHARE);
        let tolerance = tolerance.max(OF_GAP * gap);
        let stop = || monitor.is_stopped();
        let merged = MergedProblem {
            about: &about,
            radius,
            left: &left,
            of: 1.0,
            tolerance,
            deadline,
            stop: &stop,
        };
        let (next, duals) = solve_merged(evaluator, lambda, &merged)?;
        monitor.count(1);
        let (certificate, _) = dual::certify(evaluator, lambda, &next, &duals);
        // Another way may still lead there.
        if certificate.is_broken() {
            return None;
        }
        if let Some(end) = best.consider(evaluator, lambda, next.clone(), certificate, monitor) {
            return Some(end);
        }
        let next_gap = certificate.relative_gap();
        if !next_gap.is_finite() {
            return None;
        }
        idle = if next_gap <= 0.5 * gap { 0 } else { idle + 1 };
        // Samples that have left their lines do not keep up a gap so near to that of the problem.
        let is_whole = next_gap <= 2.0 * tolerance;
        gap = if is_whole || is_known { 0.0 } else { next_gap };
        left.push(next.place());
    }
    None
}

/// Brings the best point, which is the minimum for a part of the samples, nearer to that for all, by way of larger
/// and larger parts, and returns the radius there.
fn come_nearer<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    nearness: Nearness,
    best: &mut Best<'_, S::Products>,
    monitor: &Monitor<'_>,
) -> Option<f64> {
    /// The coarsest tolerance, for the minimum for a part is only so near to the one for all.
    const COARSE: f64 = 1e-4;
    let Options { tolerance, deadline, .. } = monitor.within(1.0);
    let tolerance = tolerance.max(COARSE);
    let Nearness { mut radius, mut samples } = nearness;
    let all = evaluator.samples.shape().0;
    evaluator.intercept_slope(best.point);
    let mut lowest = evaluator.valued(lambda, best.point).objective;
    let stop = || monitor.is_stopped();
    while LARGER * samples < 2 * all {
        let next = (LARGER * samples).min(all / 2);
        // The minimum for fewer samples than coefficients is nowhere near.
        if next <= evaluator.samples.shape().1 {
            return None;
        }
        let of = next as f64 / all as f64;
        let (about, left, stop) = (&best.point.place(), &[], &stop);
        let merged = MergedProblem { about, radius, left, of, tolerance, deadline, stop };
        let (nearer, _) = solve_merged(evaluator, lambda, &merged)?;
        evaluator.intercept_slope(&nearer);
        let value = evaluator.valued(lambda, &nearer).objective;
        // A point that is better than the minimum for the part is as near.
        let near = radius_near(evaluator.samples.summary().variance, nearer.coef.len() + 1, next);
        radius = near.map_or(radius, |near| near.min(radius));
        if value < lowest {
            lowest = value;
            *best.point = nearer;
            best.certificate = None;
        }
        samples = next;
    }
    Some(radius)
}

/// Returns the minimum of a merged problem, and its duals.
fn solve_merged<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    merged: &MergedProblem<'_>,
) -> Option<(Point<S::Products>, S::Duals)> {
    let (intercept, coef, duals) = evaluator.samples.solve_merged(lambda, merged)?;
    let products = evaluator.samples.products(&coef);
    evaluator.passes += 1;
    Some((Point { intercept, coef, products }, duals))
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

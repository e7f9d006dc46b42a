//! Losses with kinks by Newton's method on smoothed ones, for samples that keep duals elsewhere.
//!
//! The slopes at the minimum of F with the smoothed losses certify the point for F itself, and are the
//! centres of the next [proximal step](super::proximal).
//!
//! Before that, samples that are far from a kink are merged where they are: the others may be few enough for
//! a solution in memory. How far is far follows from how far margins are from those at the minimum, or, if
//! that is not known, from how many samples can be held.

use crate::certificate::{Evaluator, Valued, dual};
use crate::method::newton::{Newton, System};
use crate::method::proximal::{ProximalPoint, Strengths, next_radius};
use crate::method::proximal_newton::radius_near;
use crate::method::{Ending, Monitor, Options, Status};
use crate::problem::summation::norm;
use crate::problem::{MarginSummary, Point};
use crate::space::{MergedProblem, Samples};
use crate::{Certificate, Lambda};

const DEFAULT_ITERATIONS: usize = 1000;
/// The factor from a part of the samples to the next larger one.
const LARGER: usize = 8;

/// Fits to losses with kinks along a path of lambdas.
pub(crate) struct SmoothedNewton {
    strengths: Strengths,
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

struct Best<'p, S: Samples> {
    point: &'p mut Point<S::Products>,
    /// The certificate of the point; none of the point that the search begins with.
    certificate: Option<Certificate>,
    /// The duals that certify the point.
    duals: Option<S::Duals>,
    objective: f64,
}

impl<S: Samples> Best<'_, S> {
    /// Keeps the minimum of a merged problem if it is better; returns the status and the certificate if
    /// the monitor ends the search.
    fn consider(
        &mut self,
        evaluator: &mut Evaluator<S>,
        lambda: Lambda,
        (next, duals): (Point<S::Products>, S::Duals),
        certificate: Certificate,
        monitor: &mut Monitor<'_>,
    ) -> Option<(Status, Certificate)> {
        if certificate.objective < self.objective {
            evaluator.samples.reached(lambda, next.intercept, &next.coef);
            self.objective = certificate.objective;
            self.point.clone_from(&next);
            (self.certificate, self.duals) = (Some(certificate), Some(duals.clone()));
        }
        let passes = evaluator.passes;
        let status = monitor.judge(passes, &certificate, || evaluator.samples.summary())?;
        let better = self.certificate.filter(|_| status != Status::Converged);
        if better.is_none() {
            (*self.point, self.duals) = (next, Some(duals));
        }
        Some((status, better.unwrap_or(certificate)))
    }

    /// Keeps a point with a smaller gap, or with numbers that overflowed, which end the search.
    fn keep_if_better(
        &mut self,
        point: &Point<S::Products>,
        certificate: Certificate,
        duals: S::Duals,
    ) {
        let gap = self.certificate.map_or(f64::INFINITY, |best| best.relative_gap());
        let is_better = self.certificate.is_none() || certificate.relative_gap() < gap;
        if is_better || certificate.is_broken() {
            self.point.clone_from(point);
            (self.certificate, self.duals) = (Some(certificate), Some(duals));
        }
    }
}

impl SmoothedNewton {
    /// Returns the method for a search from the origin, or from a point near the minimum, with how near
    /// it is if that is known.
    pub(crate) fn new(is_near: bool, nearness: Option<Nearness>) -> Self {
        /// The strength of the first step from there: a strong one would lead away.
        const NEAR: f64 = 1.0 / 32.0;
        let part = nearness.map_or(0, |nearness| nearness.samples);
        let strengths = Strengths::new(if is_near { NEAR } else { 1.0 }, 0.0);
        SmoothedNewton { strengths, nearness, part }
    }

    /// Minimises F from a point, in place; the certificate is one of the loss itself, by the duals
    /// returned.
    pub(crate) fn minimize<S: Samples>(
        &mut self,
        evaluator: &mut Evaluator<S>,
        system: &mut System,
        lambda: Lambda,
        point: &mut Point<S::Products>,
        options: &Options,
    ) -> (Ending, Option<S::Duals>) {
        let mut monitor = Monitor::new(options, lambda, DEFAULT_ITERATIONS);
        evaluator.samples.centre(None);
        let start = point.clone();
        let mut best = Best { point, certificate: None, duals: None, objective: f64::INFINITY };
        let mut ended = None;
        for nearness in self.starting_assumptions() {
            if ended.is_none() && monitor.left() > 0 {
                ended = by_merging(evaluator, lambda, nearness, &mut best, &mut monitor);
            }
        }
        let (status, certificate) = ended.unwrap_or_else(|| {
            evaluator.intercept_slope(best.point);
            let point = best.point.clone();
            let mut dual = Dual { evaluator, system, lambda, best: &mut best, point };
            self.strengths.take_steps(&mut dual, &mut monitor)
        });
        let Best { point, duals, .. } = best;
        evaluator.intercept_slope(point);
        evaluator.set_gradient(lambda, point);
        self.expect(evaluator, &start, point);
        let mut ending = monitor.end(status, certificate);
        ending.certificate.gradient_norm = norm(&evaluator.gradient);
        (ending, duals)
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
    best: &mut Best<'_, S>,
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
        if let Some(end) =
            best.consider(evaluator, lambda, (next.clone(), duals), certificate, monitor)
        {
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
    best: &mut Best<'_, S>,
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
            (best.certificate, best.duals) = (None, None);
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

/// The dual of samples that keep the centres of the steps themselves.
struct Dual<'d, 'p, S: Samples> {
    evaluator: &'d mut Evaluator<S>,
    system: &'d mut System,
    lambda: Lambda,
    best: &'d mut Best<'p, S>,
    /// The point where the last step has led.
    point: Point<S::Products>,
}

impl<S: Samples> ProximalPoint for Dual<'_, '_, S> {
    fn mean_dual(&mut self) -> f64 {
        let Valued { objective, sums, .. } = self.evaluator.valued(self.lambda, &self.point);
        objective.max(sums.slopes)
    }

    /// Newton's method goes about as far as the gap so far asks for.
    fn step(&mut self, sigma: f64, monitor: &Monitor<'_>) -> (Ending, Certificate) {
        /// The share of the tolerance, or of the gap so far, that Newton's method goes to.
        const SHARE: f64 = 0.1;
        /// The coarsest tolerance of Newton's method.
        const COARSE: f64 = 1e-3;
        /// The largest number of Newton steps: more of them creep along kinks.
        const MOST: usize = 30;
        let Dual { evaluator, system, lambda, best, point } = self;
        let within = monitor.within(SHARE);
        let gap = best.certificate.map_or(f64::INFINITY, |best| best.relative_gap());
        let options = Options {
            tolerance: within.tolerance.max((SHARE * gap).min(COARSE)),
            max_iterations: Some(monitor.left().min(MOST)),
            ..within
        };
        evaluator.samples.smooth(sigma);
        let mut newton = Newton::new(evaluator, system);
        let ending = newton.minimize(*lambda, point, &options);
        let duals = newton.into_duals();
        if ending.status == Status::Converged {
            evaluator.samples.centre(Some(point));
        }
        evaluator.samples.smooth(0.0);
        let (certificate, _) = dual::certify(evaluator, *lambda, point, &duals);
        best.keep_if_better(point, certificate, duals);
        (ending, certificate)
    }

    fn best(&self) -> Certificate {
        self.best.certificate.unwrap_or(Certificate::without_bound(f64::NAN, f64::NAN))
    }

    fn passes(&self) -> usize {
        self.evaluator.passes
    }

    fn margins(&mut self) -> MarginSummary {
        self.evaluator.samples.summary()
    }
}

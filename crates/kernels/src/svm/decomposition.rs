//! Decomposition into working sets, for a matrix that is not held.
//!
//! A working set has the samples that violate the conditions of optimality most and those next to
//! their threshold. Its part of K is computed and its coefficients are moved by sequential minimal
//! optimisation, all others kept; then the gradient follows by the columns of those that have moved
//! (Osuna, Freund and Girosi, *Training support vector machines: an application to face detection*,
//! 1997; Joachims, *Making large-scale support vector machine learning practical*, 1999). Sets are
//! large, since columns that are computed together cost a fraction of what they do one by one.

use margins_data::Memory;
use margins_optim::method::{Ending, Monitor};
use margins_optim::{Lambda, Options, Status};
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::point::{Solution, SvmPoint};
use super::problem::Problem;
use super::round::Round;
use super::sequential::SequentialMinimization;
use crate::room::matrices;

/// The numbers of samples between which the size of a working set lies. Larger sets make no more
/// progress for the entries of K that they need.
const LEAST_SIZE: usize = 256;
const MOST_SIZE: usize = 4096;
/// The number of samples in a working set for each coefficient that moved in the set before: the part of
/// K of a set costs more than what few moves are worth.
const PER_MOVE: usize = 16;

/// A part of K and the columns of it that steps have used.
const MATRICES: usize = 2;

/// Returns the most samples of a working set whose part of K takes no more than this memory.
fn size_within(memory: Memory) -> usize {
    (memory.bytes() / (MATRICES * size_of::<f64>())).isqrt().clamp(LEAST_SIZE, MOST_SIZE)
}

/// The state that carries over from one lambda to the next.
pub(crate) struct Decomposition<'p, 'a> {
    problem: &'p Problem<'a>,
    /// The most samples of a working set.
    size: usize,
    cache_bytes: usize,
    last: Option<(Lambda, SvmPoint)>,
    /// The number of entries of K computed.
    entries: f64,
}

impl<'p, 'a> Decomposition<'p, 'a> {
    pub(super) fn new(problem: &'p Problem<'a>, cache_bytes: usize) -> Self {
        let size = problem.entries.memory().map_or(MOST_SIZE, size_within);
        Decomposition { problem, size, cache_bytes, last: None, entries: 0.0 }
    }

    pub(crate) fn bytes(memory: Memory) -> usize {
        matrices(MATRICES, size_within(memory))
    }

    pub(super) fn fit(&mut self, lambda: Lambda, options: &Options) -> Solution {
        self.entries = 0.0;
        let start = match self.last.take() {
            Some((at, last)) => {
                let (start, entries) = last.carried_to(self.problem, at, lambda);
                self.entries += entries;
                start
            }
            None => {
                let coef = self.coarse_start(lambda, options);
                self.point(lambda, coef)
            }
        };
        let (point, ending) = self.maximize(lambda, start, options);
        self.last = Some((lambda, point.clone()));
        Solution { lambda, point, report: ending.report(self.passes(), options.tolerance) }
    }

    fn point(&mut self, lambda: Lambda, coef: Vec<f64>) -> SvmPoint {
        self.entries += self.problem.entries_read(&coef);
        SvmPoint::of(self.problem, lambda, coef)
    }

    fn passes(&self) -> usize {
        let n = self.problem.len() as f64;
        (self.entries / (n * n)).ceil() as usize
    }

    fn maximize(
        &mut self,
        lambda: Lambda,
        start: SvmPoint,
        options: &Options,
    ) -> (SvmPoint, Ending) {
        let n = self.problem.len();
        let mut monitor = Monitor::new(options, lambda, (100 * n).max(10_000_000));
        let mut point = start;
        let mut size = self.size;
        loop {
            if !point.is_finite() {
                let origin = SvmPoint::origin(self.problem, lambda);
                let certificate = origin.certificate();
                return (origin, monitor.end(Status::NumericalTrouble, certificate));
            }
            let certificate = point.certificate();
            let margins = || self.problem.summary(&point.gradient, point.intercept);
            if let Some(status) = monitor.judge(self.passes(), &certificate, margins) {
                return (point, monitor.end(status, certificate));
            }
            let set = self.working_set(lambda, &point, size);
            let (changes, steps) = self.improve(lambda, &point, &set, monitor.left());
            monitor.count(steps);
            if changes.is_empty() {
                return (point, monitor.end(Status::Stalled, certificate));
            }
            size = (PER_MOVE * changes.len()).clamp(LEAST_SIZE.min(self.size), self.size);
            point = self.moved(lambda, point, &changes);
        }
    }

    /// Returns the coefficients at which each sample is at the bound that its score asks for by the
    /// solution for a fourth of the samples, which starts in the same way; zeros if these are few
    /// or of one class.
    ///
    /// What that solution says of samples far from the kink is seldom wrong, and all of those are
    /// settled at once.
    fn coarse_start(&mut self, lambda: Lambda, options: &Options) -> Vec<f64> {
        /// The share of the samples.
        const SHARE: usize = 4;
        /// The gap that is enough for a start.
        const TOLERANCE: f64 = 1e-3;
        let (problem, n) = (self.problem, self.problem.len());
        let m = problem.samples.len() / SHARE;
        if m < self.size {
            return vec![0.0; n];
        }
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let places = index::sample(&mut random, problem.samples.len(), m);
        let some: Vec<usize> = places.into_iter().map(|k| problem.samples[k]).collect();
        let signs: Vec<f64> = some.iter().map(|&i| problem.signs[i]).collect();
        let entries = problem.entries.select(&some);
        let part = problem.restricted(&some, &entries, &signs).with_total_weight_of(problem);
        if !part.has_both_classes() {
            return vec![0.0; n];
        }
        let options = Options { tolerance: options.tolerance.max(TOLERANCE), ..*options };
        let mut solver = Decomposition { problem: &part, last: None, entries: 0.0, ..*self };
        let fit = solver.fit(lambda, &options);
        self.entries += solver.entries;
        let mut coef = vec![0.0; n];
        some.iter().zip(&fit.point.coef).for_each(|(&i, &a)| coef[i] = a);
        let gradient = self.point(lambda, coef).gradient;
        problem.settled(lambda, &gradient)
    }

    /// Returns half a set of samples that can rise, those of the largest gradient, and half a set
    /// that can fall, those of the smallest: where they violate optimality they do so most, and
    /// where they do not they are next to it.
    fn working_set(&self, lambda: Lambda, point: &SvmPoint, size: usize) -> Vec<usize> {
        let samples = &self.problem.samples;
        let can_rise = |i: &&usize| point.coef[**i] < self.problem.bounds(**i, lambda).1;
        let can_fall = |i: &&usize| point.coef[**i] > self.problem.bounds(**i, lambda).0;
        let rising = samples.iter().filter(can_rise).map(|&i| (-point.gradient[i], i));
        let falling = samples.iter().filter(can_fall).map(|&i| (point.gradient[i], i));
        let mut set = least(size / 2, rising.collect());
        set.extend(least(size / 2, falling.collect()));
        set.sort_unstable();
        set.dedup();
        set
    }

    /// Moves the coefficients of the set; returns those that have changed, and the number of steps.
    fn improve(
        &mut self,
        lambda: Lambda,
        point: &SvmPoint,
        set: &[usize],
        budget: usize,
    ) -> (Vec<(usize, f64)>, usize) {
        /// The share of the violation that a set is left with.
        const SHARE: f64 = 0.1;
        let of = |all: &[f64]| set.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        self.entries += (set.len() * set.len()) as f64;
        let matrix = self.problem.entries.block(set, set);
        let signs = of(self.problem.signs);
        // Steps read the part of K that they are given; the entries of all are for products alone.
        let part = self.problem.restricted(set, self.problem.entries, &signs);
        let mut solver = SequentialMinimization::of_part(&part, &matrix, self.cache_bytes);
        let coef = of(&point.coef);
        let target = SHARE * point.violation;
        let start = (&coef[..], &of(&point.gradient)[..]);
        let Round { coef: moved, steps, .. } = solver.round(lambda, start, target, budget);
        let changes = set.iter().zip(moved.iter().zip(&coef));
        let changes = changes.filter(|(_, (new, old))| new != old);
        (changes.map(|(&i, (&new, _))| (i, new)).collect(), steps)
    }

    /// Returns the point where some coefficients are other ones.
    fn moved(&mut self, lambda: Lambda, point: SvmPoint, changes: &[(usize, f64)]) -> SvmPoint {
        let mut coef = point.coef.clone();
        let mut step = vec![0.0; coef.len()];
        for &(i, new) in changes {
            step[i] = new - coef[i];
            coef[i] = new;
        }
        self.entries += self.problem.entries_read(&step);
        point.moved_to(self.problem, lambda, coef, &step)
    }
}

/// Returns the samples of the smallest numbers, at most so many.
fn least(count: usize, mut all: Vec<(f64, usize)>) -> Vec<usize> {
    if all.len() > count {
        all.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.truncate(count);
    }
    all.into_iter().map(|(_, i)| i).collect()
}

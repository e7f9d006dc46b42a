//! Takes folds along a path in rounds, so that a deadline finds all of them equally far.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::time_shares::TimeShares;
use crate::method::is_over;

/// How far each fold has come along the lambdas of a path, largest first.
///
/// Without a deadline, one round takes all folds to the last lambda, or to the end of their paths. With a deadline, the folds of a
/// round share the time until then, and none goes further than the earlier ones had time for. Where time
/// is left, folds that are behind catch up first, and then all continue.
///
/// ```
/// use margins_optim::path::Rounds;
///
/// let mut rounds = Rounds::new(None, 2, 10);
/// while let Some(round) = rounds.next(1) {
///     for &fold in round.folds() {
///         let lambdas = rounds.reached(fold)..round.goal();
///         assert_eq!((lambdas.clone(), round.begin()), (0..10, None));
///         round.end(lambdas.end);
///         rounds.end(fold, lambdas.end);
///     }
/// }
/// assert_eq!(rounds.common(), 10);
/// ```
#[derive(Debug)]
pub struct Rounds {
    deadline: Option<Instant>,
    lambdas: usize,
    /// The number of lambdas that each fold has reached.
    reached: Vec<usize>,
    /// The sum of these before the last round.
    before: Option<usize>,
}

/// Folds that continue along the path, and share the time until the deadline.
#[derive(Debug)]
pub struct Round {
    folds: Vec<usize>,
    shares: TimeShares,
    goal: AtomicUsize,
    /// The least goal, which is one lambda for the fold that is the furthest behind.
    least: usize,
}

impl Rounds {
    /// Returns the rounds of folds that have reached none of this number of lambdas.
    pub fn new(deadline: Option<Instant>, folds: usize, lambdas: usize) -> Self {
        Rounds { deadline, lambdas, reached: vec![0; folds], before: None }
    }

    /// Returns the next round, in which so many folds run at the same time. Returns `None` if all folds
    /// have reached the last lambda, or after a round that led none on, had no deadline, or was over after it.
    pub fn next(&mut self, at_once: usize) -> Option<Round> {
        let all: usize = self.reached.iter().sum();
        let is_late = || is_over(self.deadline);
        if self.before.is_some_and(|before| all == before || self.deadline.is_none() || is_late()) {
            return None;
        }
        self.before = Some(all);
        let (least, most) = (self.common(), self.reached.iter().copied().max().unwrap_or(0));
        let goal = if least < most { most } else { self.lambdas };
        let folds: Vec<usize> =
            (0..self.reached.len()).filter(|&fold| self.reached[fold] < goal).collect();
        let shares = TimeShares::new(self.deadline, folds.len(), at_once);
        let round = Round { folds, shares, goal: AtomicUsize::new(goal), least: least + 1 };
        (!round.folds.is_empty()).then_some(round)
    }

    /// Returns the number of lambdas that a fold has reached.
    pub fn reached(&self, fold: usize) -> usize {
        self.reached[fold]
    }

    /// Returns the number of lambdas that all folds have reached.
    pub fn common(&self) -> usize {
        self.reached.iter().copied().min().unwrap_or(0)
    }

    /// Notes that a fold has reached this number of lambdas.
    pub fn end(&mut self, fold: usize, reached: usize) {
        self.reached[fold] = reached;
    }
}

impl Round {
    /// Returns the folds, in order.
    pub fn folds(&self) -> &[usize] {
        &self.folds
    }

    /// Returns the number of lambdas that a fold that begins now aims at.
    pub fn goal(&self) -> usize {
        self.goal.load(Ordering::Relaxed)
    }

    /// Returns the deadline of a fold that begins now; `None` without a deadline.
    pub fn begin(&self) -> Option<Instant> {
        self.shares.begin()
    }

    /// Notes that a fold had time for this number of lambdas: later ones aim at no more, but at one more
    /// than the fold that is the furthest behind.
    pub fn end(&self, reached: usize) {
        self.goal.fetch_min(reached.max(self.least), Ordering::Relaxed);
    }
}

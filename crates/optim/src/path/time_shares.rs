//! Shares the time until a deadline between tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Tasks that share the time until a deadline: each that begins gets an equal part of what is left.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use margins_optim::path::TimeShares;
///
/// let deadline = Instant::now() + Duration::from_secs(1000);
/// let shares = TimeShares::new(Some(deadline), 2, 1);
/// assert!(shares.begin().unwrap() <= deadline);
/// assert_eq!(TimeShares::new(None, 2, 1).begin(), None);
/// ```
#[derive(Debug)]
pub struct TimeShares {
    deadline: Option<Instant>,
    tasks: usize,
    at_once: usize,
    begun: AtomicUsize,
}

impl TimeShares {
    /// Returns the shares of a number of tasks, of which `at_once` run at the same time.
    pub fn new(deadline: Option<Instant>, tasks: usize, at_once: usize) -> Self {
        TimeShares { deadline, tasks, at_once: at_once.max(1), begun: AtomicUsize::new(0) }
    }

    /// Returns the deadline of the task that begins now; `None` without a deadline for all tasks.
    pub fn begin(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        let turn = self.begun.fetch_add(1, Ordering::Relaxed) / self.at_once;
        let turns = self.tasks.div_ceil(self.at_once).saturating_sub(turn).max(1);
        let now = Instant::now();
        let share = deadline.saturating_duration_since(now).div_f64(turns as f64);
        Some(if turns == 1 { deadline } else { now + share })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Time that a task leaves is for those after it, and the last one has all of it.
    #[test]
    fn what_is_left_is_divided_among_the_tasks_that_have_not_begun() {
        let deadline = Instant::now() + Duration::from_secs(3600);
        let shares = TimeShares::new(Some(deadline), 6, 2);
        let begun: Vec<Instant> = (0..6).map(|_| shares.begin().expect("limited")).collect();
        let minutes = |at: usize| (begun[at] + Duration::from_secs(3600) - deadline).as_secs() / 60;
        assert_eq!([minutes(0), minutes(2)], [20, 30]);
        assert_eq!(begun[4..], [deadline; 2]);
    }
}

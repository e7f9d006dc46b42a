//! Shares the time until a deadline between tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use margins_data::parallel;

/// Tasks that share the time until a deadline: each that begins gets an equal part of what is left.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use margins_optim::path::TimeShares;
///
/// let deadline = Instant::now() + Duration::from_secs(1000);
/// let shares = TimeShares::new(Some(deadline), 2);
/// assert!(shares.begin().unwrap() <= deadline);
/// assert_eq!(TimeShares::new(None, 2).begin(), None);
/// ```
#[derive(Debug)]
pub struct TimeShares {
    deadline: Option<Instant>,
    tasks: usize,
    begun: AtomicUsize,
}

impl TimeShares {
    /// Returns the shares of a number of tasks, [as many at the same time](parallel::threads) as
    /// there are threads.
    pub fn new(deadline: Option<Instant>, tasks: usize) -> Self {
        TimeShares { deadline, tasks, begun: AtomicUsize::new(0) }
    }

    /// Returns the deadline of the task that begins now; `None` without a deadline for all tasks.
    pub fn begin(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        let threads = parallel::threads();
        let turn = self.begun.fetch_add(1, Ordering::Relaxed) / threads;
        let turns = self.tasks.div_ceil(threads).saturating_sub(turn).max(1);
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
        let threads = parallel::threads();
        let deadline = Instant::now() + Duration::from_secs(3600);
        let shares = TimeShares::new(Some(deadline), 3 * threads);
        let begun: Vec<Instant> =
            (0..3 * threads).map(|_| shares.begin().expect("limited")).collect();
        let minutes = |at: usize| (begun[at] + Duration::from_secs(3600) - deadline).as_secs() / 60;
        assert_eq!([minutes(0), minutes(threads)], [20, 30]);
        assert_eq!(begun[2 * threads..], vec![deadline; threads]);
    }
}

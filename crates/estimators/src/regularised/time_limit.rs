//! Divides the time of a search for lambda between the folds and the final fit.

use std::time::{Duration, Instant};

use margins_optim::ErrorCurve;

use super::cross_validation::Selection;
use crate::Error;

/// The time that a search for lambda may take: four fifths for the folds of all spaces, the rest for
/// the fit at the lambda chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    start: Instant,
    limit: Duration,
    /// The place among searches that share the time of the folds in equal parts, and their number.
    part: (usize, usize),
}

impl TimeLimit {
    pub(super) fn new(limit: Duration) -> Self {
        TimeLimit { start: Instant::now(), limit, part: (0, 1) }
    }

    /// Returns the limit on the search at this place, from 0, among `count` that share the time of this
    /// one.
    #[must_use]
    pub(super) fn part(self, place: usize, count: usize) -> Self {
        let count = count.max(1);
        TimeLimit { part: (self.part.0 * count + place, self.part.1 * count), ..self }
    }

    /// Returns the time at which the folds must end; `None` for a time beyond the clock.
    pub(super) fn of_folds(&self) -> Option<Instant> {
        const SHARE: f64 = 0.8;
        let (place, count) = self.part;
        self.after(SHARE * (place + 1) as f64 / count as f64)
    }

    /// Returns the time at which all must end; `None` for a time beyond the clock.
    pub(super) fn of_fit(&self) -> Option<Instant> {
        self.after(1.0)
    }

    fn after(&self, share: f64) -> Option<Instant> {
        let time = Duration::try_from_secs_f64(self.limit.as_secs_f64() * share).ok()?;
        self.start.checked_add(time)
    }

    /// Returns true if the time of the folds is over.
    pub(super) fn is_late(&self) -> bool {
        self.of_folds().is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the index of the lambda that the rule takes of a finished curve.
    ///
    /// # Errors
    /// [`Error::TimeLimit`]: there was no time for any lambda in all of the folds.
    pub(super) fn choose(
        limit: Option<TimeLimit>,
        rule: Selection,
        curve: &ErrorCurve,
    ) -> Result<usize, Error> {
        let at = rule.of(curve);
        match limit.filter(|_| !curve.reached[at]) {
            Some(limit) => Err(Error::TimeLimit(limit.limit)),
            None => Ok(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users may ask for any duration.
    #[test]
    fn time_beyond_the_clock_is_no_limit() {
        let limit = TimeLimit::new(Duration::MAX);
        assert!(limit.of_fit().is_none() && !limit.is_late());
        assert!(TimeLimit::new(Duration::ZERO).is_late());
        let whole = TimeLimit::new(Duration::from_secs(1000));
        let [half, rest] = [0, 1].map(|place| whole.part(place, 2));
        assert!(half.of_folds() < rest.of_folds() && rest.of_folds() < rest.of_fit());
        assert!(half.part(0, 2).of_folds() < half.of_folds());
        assert_eq!(half.part(1, 2).of_folds(), half.of_folds());
        assert!(half.of_folds() < rest.part(0, 2).of_folds());
    }
}

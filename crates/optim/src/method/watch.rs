//! Callbacks and deadlines.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::Status;
use crate::problem::Lambda;

/// A point that a solver has reached, as a callback sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Iteration {
    /// The regularisation.
    pub lambda: Lambda,
    /// The number of iterations so far.
    pub iteration: usize,
    /// The number of passes over the data so far.
    pub passes: usize,
    /// The objective `F`.
    pub objective: f64,
    /// The relative duality gap.
    pub relative_gap: f64,
    /// The length of the last step along its direction; `None` before the first step and for
    /// methods without a direction.
    pub step: Option<f64>,
    /// The time since the solver began at this lambda.
    pub elapsed: Duration,
}

/// A callback for every iteration, which may stop the solver: the fit then ends as
/// [`Status::Interrupted`](crate::Status::Interrupted) with the best point so far. The thread that
/// solves calls it. The callback of a method without a certificate, in [`Limits`], gets no iteration.
#[derive(Clone, Copy)]
pub struct Watch<'w, T = Iteration>(&'w (dyn Fn(&T) -> ControlFlow<()> + Sync));

impl<'w, T> Watch<'w, T> {
    /// Returns the callback of a closure.
    pub fn new(see: &'w (dyn Fn(&T) -> ControlFlow<()> + Sync)) -> Self {
        Watch(see)
    }

    pub(crate) fn see(&self, iteration: &T) -> ControlFlow<()> {
        (self.0)(iteration)
    }
}

/// Returns a callback that stops a solver inside of another one.
pub(crate) fn stopping<'s>(
    stop: &'s (dyn Fn() -> bool + Sync),
) -> impl Fn(&Iteration) -> ControlFlow<()> + Sync + 's {
    move |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl<T> fmt::Debug for Watch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The limits of a method without a certificate, which checks them at regular steps; none
/// by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'w> {
    /// The time at which the method ends with the best point so far.
    pub deadline: Option<Instant>,
    /// A callback that may stop the method.
    pub watch: Option<Watch<'w, ()>>,
}

impl Limits<'_> {
    /// Returns the reason to end now, if there is one.
    pub fn reached(&self) -> Option<Status> {
        if self.is_interrupted() {
            Some(Status::Interrupted)
        } else {
            is_over(self.deadline).then_some(Status::TimeLimit)
        }
    }

    /// Returns true if the callback stops the method.
    pub fn is_interrupted(&self) -> bool {
        self.watch.is_some_and(|watch| watch.see(&()).is_break())
    }
}

/// Returns true if there is a deadline and it has passed.
pub fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

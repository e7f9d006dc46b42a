use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

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
/// solves calls it.
#[derive(Clone, Copy)]
pub struct Watch<'w>(&'w (dyn Fn(&Iteration) -> ControlFlow<()> + Sync));

impl<'w> Watch<'w> {
    /// Returns the callback of a closure.
    pub fn new(see: &'w (dyn Fn(&Iteration) -> ControlFlow<()> + Sync)) -> Self {
        Watch(see)
    }

    /// Shows an iteration to the callback.
    pub(crate) fn see(&self, iteration: &Iteration) -> ControlFlow<()> {
        (self.0)(iteration)
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

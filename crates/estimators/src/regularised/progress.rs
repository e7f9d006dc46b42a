//! Observers of fits and iterations.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use margins_optim::Report;
use margins_optim::solve::{Iteration, Watch};

/// A fit that was just made, for an [`Observer`].
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The number of fits made so far, this one included.
    pub done: usize,
    /// The most fits that there can be.
    pub total: usize,
    /// The kernel as it was specified; `None` of a linear classifier.
    pub kernel: Option<&'a str>,
    /// The classes that the member distinguishes, as [`MemberReport::name`](super::MemberReport::name) has
    /// it.
    pub member: &'a str,
    /// The fold held out, counted from 0; `None` of a fit to all rows.
    pub fold: Option<usize>,
    /// The regularisation.
    pub lambda: f64,
    /// The lowest cross-validated error of the kernels whose fits are all done, if there are any.
    pub best_error: Option<f64>,
    /// The report of the solver.
    pub report: &'a Report,
}

type SeeFit = dyn Fn(&Progress<'_>) + Send + Sync;
type SeeIteration<T> = dyn Fn(&T) -> ControlFlow<()> + Send + Sync;

/// A function that sees every fit as it is made, on the thread that makes it; none by default.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<SeeFit>>);

impl Observer {
    /// Returns the observer that calls the function.
    pub fn new(watch: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        Observer(Some(Arc::new(watch)))
    }

    /// Returns the function, if there is one.
    pub(super) fn watch(&self) -> Option<&SeeFit> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer" } else { "None" })
    }
}

/// A function that sees every iteration of every fit, on the thread that makes it, and may stop
/// the solver there; none by default. A fit that it stops ends as
/// [`Status::Interrupted`](margins_optim::Status::Interrupted). The methods without a certificate
/// call one that sees nothing, an `IterationObserver<()>`, every so many steps.
#[derive(Clone)]
pub struct IterationObserver<T = Iteration>(Option<Arc<SeeIteration<T>>>);

impl<T> Default for IterationObserver<T> {
    fn default() -> Self {
        IterationObserver(None)
    }
}

impl<T> IterationObserver<T> {
    /// Returns the observer that calls the function.
    pub fn new(see: impl Fn(&T) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        IterationObserver(Some(Arc::new(see)))
    }

    /// Returns the callback for the options of solvers, if there is one.
    pub(crate) fn watch(&self) -> Option<Watch<'_, T>> {
        self.0.as_deref().map(|see| Watch::new(see))
    }
}

impl<T> fmt::Debug for IterationObserver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "IterationObserver" } else { "None" })
    }
}

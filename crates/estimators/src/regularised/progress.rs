//! Observers of fits and iterations.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use margins_optim::method::{Iteration, Watch};
use margins_optim::{Observed, Report};

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

    /// Returns a count of the fits that the function sees, of which there can be so many.
    pub(super) fn count(&self, total: usize) -> Count<'_> {
        Count { see: self.0.as_deref(), total, done: AtomicUsize::new(0) }
    }
}

/// The fits of a job that an observer has seen.
pub(super) struct Count<'o> {
    see: Option<&'o SeeFit>,
    total: usize,
    done: AtomicUsize,
}

impl Count<'_> {
    /// Shows a fit of a member; the best error is that of the kernels before this one.
    pub(super) fn show(
        &self,
        made: &Observed<'_>,
        member: &str,
        kernel: Option<&str>,
        best_error: Option<f64>,
    ) {
        let Some(see) = self.see else { return };
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let Observed { fold, lambda, report, .. } = *made;
        let (total, lambda) = (self.total, lambda.get());
        see(&Progress { done, total, kernel, member, fold, lambda, best_error, report });
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

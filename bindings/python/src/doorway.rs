//! Runs every long call: releases the interpreter lock, checks for signals, and raises the
//! exceptions of callbacks.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use margins::estimators::regularised::IterationObserver;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;

/// The time between two looks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The time that a job may take to end after it was asked to. A job that takes longer is left to
/// end by itself: it owns all that it works on.
const PATIENCE: Duration = Duration::from_millis(150);

/// The message to a job that its caller wants it no more, with what a callback has raised.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<State>);

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Stop {
    /// Asks the job to end.
    fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the job continues.
    pub(crate) fn check(&self) -> ControlFlow<()> {
        if self.0.stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns the observer by which a method without a certificate ends with the job. It calls a
    /// function of the user with the time that has passed, at most once between two looks for
    /// signals.
    pub(crate) fn observer(&self, callback: Option<Py<PyAny>>) -> IterationObserver<()> {
        let (stop, began) = (self.clone(), Instant::now());
        let called = Mutex::new(None::<Instant>);
        IterationObserver::new(move |()| {
            if let Some(callback) = &callback
                && is_due(&called)
            {
                stop.call(|py| {
                    let seen = PyDict::new(py);
                    seen.set_item("elapsed", began.elapsed().as_secs_f64())?;
                    callback.call1(py, (seen,)).map(drop)
                });
            }
            stop.check()
        })
    }

    /// Calls Python from the thread of a job; what it raises ends the job and reaches the caller.
    pub(crate) fn call(&self, callback: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if self.check().is_break() {
            return;
        }
        if let Err(raised) = Python::attach(callback) {
            self.stop();
            let mut place = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner);
            place.get_or_insert(raised);
        }
    }

    fn raised(&self) -> Option<PyErr> {
        self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns true if the last call was long enough ago for another, from which the time then counts.
fn is_due(called: &Mutex<Option<Instant>>) -> bool {
    let mut called = called.lock().unwrap_or_else(PoisonError::into_inner);
    let due = called.is_none_or(|at| at.elapsed() >= BETWEEN_LOOKS);
    if due {
        *called = Some(Instant::now());
    }
    due
}

/// Runs a job on a pool of threads of its own, so that neither a fork nor another call shares it.
/// Ends early with the exception of a signal or of a callback.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    stop: &Stop,
    job: impl FnOnce() -> Result<T, margins::Error> + Send + 'static,
) -> PyResult<T> {
    let (done, answer) = sync_channel(1);
    let worker = std::thread::Builder::new().name("margins".to_owned()).spawn(move || {
        // The caller may have ended.
        let _ = done.send(margins::on_threads(Some(threads), job));
    })?;
    match wait(py, answer, stop)? {
        Some(result) => match stop.raised() {
            Some(raised) => Err(raised),
            None => result.map_err(to_python),
        },
        None => Err(stop.raised().unwrap_or_else(|| broken(worker))),
    }
}

/// Runs a job of about so many multiplications: a small one here, because to start a thread for it takes
/// longer, and Ctrl-C can wait for its end. A job that runs nothing in parallel needs no number of threads.
pub(crate) fn run_sized<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    size: usize,
    job: impl FnOnce() -> Result<T, margins::Error> + Send + 'static,
) -> PyResult<T> {
    const SMALL: usize = 1 << 18;
    if size > SMALL {
        return run(py, threads.unwrap_or(1), &Stop::default(), job);
    }
    let ended = py
        .detach(|| catch_unwind(AssertUnwindSafe(|| margins::on_threads(threads.map(|_| 1), job))));
    ended.map_err(|panic| fault(&*panic))?.map_err(to_python)
}

/// Returns what the job sends, or nothing if it broke down or has been left alone.
fn wait<T: Send>(py: Python<'_>, mut answer: Receiver<T>, stop: &Stop) -> PyResult<Option<T>> {
    let (mut signal, mut leave_at) = (None, None);
    loop {
        let received;
        (answer, received) = py.detach(move || {
            let received = answer.recv_timeout(BETWEEN_LOOKS);
            (answer, received)
        });
        match received {
            Ok(result) => return signal.map_or(Ok(Some(result)), Err),
            Err(RecvTimeoutError::Disconnected) => return signal.map_or(Ok(None), Err),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if signal.is_none() {
            signal = py.check_signals().err();
        }
        if signal.is_some() || stop.check().is_break() {
            stop.stop();
            let leave_at = *leave_at.get_or_insert_with(|| Instant::now() + PATIENCE);
            if Instant::now() >= leave_at {
                return signal.map_or(Ok(None), Err);
            }
        }
    }
}

/// Returns the exception for a job that panicked.
fn broken(worker: JoinHandle<()>) -> PyErr {
    match worker.join() {
        Ok(()) => PyKeyboardInterrupt::new_err("the job was interrupted"),
        Err(panic) => fault(&*panic),
    }
}

/// Returns the exception for a panic.
fn fault(panic: &(dyn Any + Send)) -> PyErr {
    let reason = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason was given");
    PyRuntimeError::new_err(format!("margins has a fault, please report it: {reason}"))
}

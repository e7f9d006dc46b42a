//! Messages on standard error: warnings and notes, unless --quiet, and steps with their times, with
//! --verbose.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use margins::optim::Fit;

/// The amount of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// Errors alone.
    Quiet,
    /// Warnings, notes, and a bar where fits take their time.
    Normal,
    /// The steps of the work and the iterations of solvers as well.
    Verbose,
}

/// The verbosity of the process, as in loggers.
static LOUDNESS: AtomicU8 = AtomicU8::new(Loudness::Normal as u8);

/// Sets the loudness of everything that follows.
pub(crate) fn set(loudness: Loudness) {
    LOUDNESS.store(loudness as u8, Ordering::Relaxed);
}

/// Returns true if nothing but the answer is wanted.
pub(crate) fn is_quiet() -> bool {
    LOUDNESS.load(Ordering::Relaxed) == Loudness::Quiet as u8
}

/// Returns true if the steps of the work are wanted.
pub(crate) fn is_verbose() -> bool {
    LOUDNESS.load(Ordering::Relaxed) == Loudness::Verbose as u8
}

/// Says what may be wrong with the answer.
pub(crate) fn warn(message: impl Display) {
    if !is_quiet() {
        to_stderr(format_args!("warning: {message}"));
    }
}

/// Says what the answer does not.
pub(crate) fn note(message: impl Display) {
    if !is_quiet() {
        to_stderr(format_args!("note: {message}"));
    }
}

/// Does a step of the work, and says how long it took if that is wanted.
pub(crate) fn step<T>(name: impl Display, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = work();
    if is_verbose() {
        to_stderr(format_args!("{name}: {:.3} s", begun.elapsed().as_secs_f64()));
    }
    result
}

/// Prints the methods that fits were made by, and the reasons for them, if that is wanted.
pub(crate) fn methods<'f>(fits: impl IntoIterator<Item = &'f Fit>) {
    if !is_verbose() {
        return;
    }
    let choices = fits.into_iter().filter_map(|fit| fit.report.choice);
    let mut lines: Vec<String> = choices.map(|choice| choice.to_string()).collect();
    lines.dedup();
    lines.iter().for_each(|line| to_stderr(format_args!("method: {line}")));
}

/// Prints a line to standard error. One that cannot be written is lost, and the result is not.
pub(crate) fn to_stderr(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

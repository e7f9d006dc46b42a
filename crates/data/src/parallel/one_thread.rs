//! The calling thread as a pool of one.

use std::ops::Range;

pub(super) fn each(range: Range<usize>, turn: &(dyn Fn(usize) + Sync)) {
    range.for_each(turn);
}

pub(super) fn threads() -> usize {
    1
}

pub(super) fn threads_begun() -> usize {
    1
}

pub(super) fn join<A, B>(one: impl FnOnce() -> A, other: impl FnOnce() -> B) -> (A, B) {
    (one(), other())
}

pub(super) use join as beside;

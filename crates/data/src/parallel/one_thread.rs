//! The calling thread as a pool of one.

use std::ops::Range;

pub(super) fn map<R>(range: Range<usize>, turn: impl Fn(usize) -> R) -> Vec<R> {
    range.map(turn).collect()
}

pub(super) fn map_chunks<T, R>(
    items: &mut [T],
    size: usize,
    turn: impl Fn((usize, &mut [T])) -> R,
) -> Vec<R> {
    items.chunks_mut(size).enumerate().map(turn).collect()
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

//! The current rayon pool.

use std::ops::Range;

use rayon::prelude::*;

pub(super) fn each(range: Range<usize>, turn: &(dyn Fn(usize) + Sync)) {
    // One turn is not worth the way to another thread.
    match range.len() {
        1 => turn(range.start),
        _ => range.into_par_iter().with_max_len(1).for_each(turn),
    }
}

pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

pub(super) fn threads_begun() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}

pub(super) fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

pub(super) fn beside<A, B: Send>(
    here: impl FnOnce() -> A,
    elsewhere: impl FnOnce() -> B + Send,
) -> (A, B) {
    let mut other = None;
    let one = rayon::in_place_scope(|scope| {
        scope.spawn(|_| other = Some(elsewhere()));
        here()
    });
    (one, other.expect("the scope ends after all that it spawned, or with its panic"))
}

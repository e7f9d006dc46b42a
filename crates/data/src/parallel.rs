//! Parallel loops with results and errors in a fixed order.
//!
//! With the feature `rayon` (default) they do, on the current rayon pool, one task a turn; without
//! it they run one after the other on the calling thread. Turns do not share what they change and
//! results come in the order of the turns, the first error among them: nothing depends on the
//! feature or on the number of threads.
//!
//! ```
//! use margins_data::parallel;
//!
//! let mut squares = [1.0_f64, 2.0, 3.0, 4.0, 5.0];
//! parallel::for_each_chunk(&mut squares, 2, |_, some| some.iter_mut().for_each(|x| *x *= *x));
//! assert_eq!(squares, [1.0, 4.0, 9.0, 16.0, 25.0]);
//! let roots = parallel::try_map(0..5, |i| if i < 3 { Ok(squares[i].sqrt()) } else { Err(i) });
//! assert_eq!(roots, Err(3));
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::inner_loops::leave_wide_registers;

#[cfg(any(test, not(feature = "rayon")))]
mod one_thread;
#[cfg(feature = "rayon")]
mod pool;

#[cfg(not(feature = "rayon"))]
use one_thread as pool;

/// Returns `turn(i)` for every i of a range.
pub fn map<R: Send>(range: Range<usize>, turn: impl Fn(usize) -> R + Sync) -> Vec<R> {
    map_by(pool::each, range, &turn)
}

/// A loop over a range: compiled once, and not for every turn.
type Loop = fn(Range<usize>, &(dyn Fn(usize) + Sync));

/// Returns what [`map`] does, by a loop over a range.
///
/// Products of faer leave numbers in the upper halves of vector registers. Until these are cleared, scalar
/// instructions of the two encodings, such as calls of `exp` between those of a portable build, wait for each
/// other: on some processors ten times as long as they take. So every turn begins and ends with clear ones.
fn map_by<R: Send>(each: Loop, range: Range<usize>, turn: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = range.clone().map(|_| Mutex::new(None)).collect();
    each(0..results.len(), &|k| {
        leave_wide_registers();
        let result = turn(range.start + k);
        leave_wide_registers();
        *open(&results[k]) = Some(result);
    });
    results.into_iter().filter_map(|place| place.into_inner().ok()?).collect()
}

/// Returns `turn(k, chunk)` for the chunks of `size` items, by a loop over a range.
fn map_chunks_by<T: Send, R: Send>(
    each: Loop,
    items: &mut [T],
    size: usize,
    turn: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    let chunks: Vec<Mutex<&mut [T]>> = items.chunks_mut(size).map(Mutex::new).collect();
    map_by(each, 0..chunks.len(), &|k| turn(k, &mut open(&chunks[k])))
}

/// Returns the content of a place that one turn alone comes to.
fn open<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what [`map`] does, of turns that may fail.
///
/// # Errors
/// The error of the first turn that fails.
pub fn try_map<R: Send, E: Send>(
    range: Range<usize>,
    turn: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    map(range, turn).into_iter().collect()
}

/// Returns what [`try_map`] does, of turns that take much memory and have parallel loops of their own. At
/// most as many turns have begun and not ended as there are [`threads`]: in other loops, a thread that
/// waits within a turn begins further turns.
///
/// # Errors
/// The error of the first turn that fails.
pub fn try_map_large<R: Send, E: Send>(
    range: Range<usize>,
    turn: impl Fn(usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(range.start);
    let turns = |_| {
        let places = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|k| *k < range.end);
        std::iter::from_fn(places).map(|k| (k, turn(k))).collect::<Vec<_>>()
    };
    let results = map(0..range.len().min(threads()), turns);
    let mut results: Vec<(usize, Result<R, E>)> = results.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(k, _)| *k);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Returns the number of turns that may run at the same time.
pub fn threads() -> usize {
    pool::threads()
}

/// Returns the number of threads of the pool that the caller runs in; 1 outside of one, where
/// [`threads`] would start those of rayon, which never end.
pub(crate) fn threads_begun() -> usize {
    pool::threads_begun()
}

/// Calls `turn(k, chunk)` for the chunks of `size` items, of which the last may have fewer.
///
/// # Panics
/// If the size is 0.
pub fn for_each_chunk<T: Send>(
    items: &mut [T],
    size: usize,
    turn: impl Fn(usize, &mut [T]) + Sync,
) {
    map_chunks_by(pool::each, items, size, &turn);
}

/// Calls turns as [`for_each_chunk`] does, of which some may fail.
///
/// # Errors
/// The error of the first turn that fails.
///
/// # Panics
/// If the size is 0.
pub fn try_for_each_chunk<T: Send, E: Send>(
    items: &mut [T],
    size: usize,
    turn: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
) -> Result<(), E> {
    map_chunks_by(pool::each, items, size, &turn).into_iter().collect()
}

/// Returns both results.
pub fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    pool::join(one, other)
}

/// Returns both results, of which the first is made on the calling thread.
pub fn beside<A, B: Send>(
    here: impl FnOnce() -> A,
    elsewhere: impl FnOnce() -> B + Send,
) -> (A, B) {
    pool::beside(here, elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_part_is_on_the_calling_thread_whatever_the_pool() {
        let here = std::thread::current().id();
        let mut text = vec![1];
        let (thread, sum) = beside(|| std::thread::current().id(), || text.iter().sum::<i32>());
        assert_eq!((thread, sum), (here, 1));
        text.push(2);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let results = pool.install(|| beside(|| text.len(), || text.iter().sum::<i32>()));
            assert_eq!(results, (2, 3));
        }
    }

    proptest! {
        #[test]
        fn every_turn_is_taken_once_and_in_its_place(start in 0usize..9, len in 0usize..60, size in 1usize..9) {
            let range = start..start + len;
            let alone: Vec<usize> = range.clone().map(|i| i * i).collect();
            prop_assert_eq!(&map(range.clone(), |i| i * i), &alone);
            prop_assert_eq!(&map_by(one_thread::each, range.clone(), &|i| i * i), &alone);
            prop_assert_eq!(&try_map_large(range, |i| Ok::<_, ()>(i * i)).unwrap(), &alone);

            let mut chunks = alone.clone();
            for_each_chunk(&mut chunks, size, |k, chunk| chunk.iter_mut().for_each(|x| *x += 1000 * k));
            let expected: Vec<usize> = alone.iter().enumerate().map(|(i, x)| x + 1000 * (i / size)).collect();
            prop_assert_eq!(&chunks, &expected);
            let last = map_chunks_by(one_thread::each, &mut chunks, size, &|k, chunk| (k, chunk.last().copied()));
            let ends = expected.chunks(size).enumerate().map(|(k, chunk)| (k, chunk.last().copied()));
            prop_assert_eq!(last, ends.collect::<Vec<_>>());
        }

        #[test]
        fn the_first_error_counts(len in 1usize..60, from in 0usize..60, size in 1usize..9) {
            let fails = |i: usize| if i < from { Ok(i) } else { Err(i) };
            let expected = if from < len { Err(from) } else { Ok((0..len).collect::<Vec<_>>()) };
            prop_assert_eq!(&try_map(0..len, fails), &expected);
            prop_assert_eq!(try_map_large(0..len, fails), expected);

            let chunks = len.div_ceil(size);
            let end = try_for_each_chunk(&mut vec![0; len], size, |k, _| fails(k).map(drop));
            prop_assert_eq!(end, if from < chunks { Err(from) } else { Ok(()) });
        }
    }

    /// Threads that wait in the loop of a turn begin no more turns.
    #[cfg(feature = "rayon")]
    #[test]
    fn no_more_large_turns_have_begun_than_there_are_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let turn = |_| {
            most.fetch_max(1 + begun.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            let sums =
                map(0..16, |k| (0..10_000 * (1 + k)).map(|i| (i as f64).sqrt()).sum::<f64>());
            begun.fetch_sub(1, Ordering::SeqCst);
            Ok::<f64, ()>(sums.iter().sum())
        };
        let results = pool.install(|| try_map_large(0..100, turn)).unwrap();
        assert!(results.len() == 100 && (1..=3).contains(&most.into_inner()));
    }

    #[test]
    fn both_are_joined() {
        assert_eq!(join(|| 1, || "two"), (1, "two"));
        assert_eq!(one_thread::join(|| 1, || "two"), (1, "two"));
        assert_eq!(one_thread::beside(|| 1, || "two"), (1, "two"));
        assert_eq!((one_thread::threads(), one_thread::threads_begun()), (1, 1));
    }
}

//! The numbers of cross-validation folds, one a row.

use crate::Error;

/// Refuses folds that are not numbered from 0 without a gap, and fewer than two.
pub(super) fn check_folds(folds: &[usize]) -> Result<(), Error> {
    let largest = folds.iter().copied().max().unwrap_or(0);
    // More folds than rows leave one of the first n + 1 empty, whatever the numbers are.
    let mut used = vec![false; largest.saturating_add(1).min(folds.len() + 1).max(2)];
    for &fold in folds {
        if let Some(used) = used.get_mut(fold) {
            *used = true;
        }
    }
    match used.iter().position(|used| !used) {
        Some(empty) => Err(Error::EmptyFold { empty, largest }),
        None => Ok(()),
    }
}

/// Returns the folds as 0 to k-1 in their order, if there are at least two.
pub(super) fn renumber(folds: &[usize]) -> Option<Vec<usize>> {
    let mut left = folds.to_vec();
    left.sort_unstable();
    left.dedup();
    // Every fold is in `left`, so that the partition point is its position.
    let position = |fold: &usize| left.partition_point(|f| f < fold);
    (left.len() >= 2).then(|| folds.iter().map(position).collect())
}

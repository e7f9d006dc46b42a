//! The rows that learners hold out.

use crate::Error;
use crate::split::Split;

/// Returns the rows, ascending, that learners hold out of rows of these weights: a fifth of the rows
/// of positive weight, at most `most`, drawn by the seed.
///
/// [`learn`](crate::learn) has the N of its plan for `most`,
/// [`learn_by_tested_cuts`](crate::learn_by_tested_cuts) and the
/// [`baselines`](crate::baselines) that of [`Plan::practical`](crate::Plan::practical), and
/// [`learn_adaptively`](crate::learn_adaptively) has no limit. The labels have no influence, so that
/// the learners of several classes, each against the rest, hold out the same rows.
///
/// ```
/// use margins_massart::held_out_rows;
///
/// assert_eq!(held_out_rows(&[1.0; 100], 1000, 7)?.len(), 20);
/// assert_eq!(held_out_rows(&[1.0; 100], 3, 7)?.len(), 3);
/// # Ok::<(), margins_massart::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`]: fewer than two weights are positive.
pub fn held_out_rows(weights: &[f64], most: usize, seed: u64) -> Result<Vec<usize>, Error> {
    Ok(Split::new(weights, most, seed)?.into_selection())
}

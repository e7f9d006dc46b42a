//! The classifier that comes out of a game: an ensemble of the classifiers taken before random
//! steps, or one classifier.

use margins_boost::{Combination, Error as BoostError, Evaluation};
use margins_data::metrics::HeldOutError;
use margins_data::split::hold_out_plain;
use margins_data::{ClassLabels, Dataset};
use margins_losses::ZeroOne;
use margins_optim::method::Limits;
use margins_optim::online::Scorer;

use super::weights::share_of;
use crate::Error;

/// Which classifier comes out of a game.
///
/// Source: Shalev-Shwartz and Wexler (2016), section 2.3, for majority and average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// The majority of the classifiers taken, which is right on every sample wherever theorem 1 holds
    /// (corollary 1).
    #[default]
    Majority,
    /// The mean score of the classifiers taken (corollary 2).
    Average,
    /// The learner's classifier at the end of the game, which ends once that classifier alone reaches
    /// epsilon on every row learned from. Theorem 1 says nothing about it.
    Last,
    /// Of the classifiers taken and the last one, the classifier with the fewest mistakes on a fifth
    /// of the rows, which are not learned from; the last one of several. A [`HeldOutError`] bounds its
    /// error on new rows of the same distribution, with probability `1 - delta`.
    Validated,
}

impl Output {
    /// All of them, with their names in settings and files.
    pub const NAMED: [(&'static str, Output); 4] = [
        ("majority", Output::Majority),
        ("average", Output::Average),
        ("last", Output::Last),
        ("validated", Output::Validated),
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }

    /// Returns the output of a name.
    pub fn named(name: &str) -> Option<Output> {
        Self::NAMED.into_iter().find(|(own, _)| *own == name).map(|(_, output)| output)
    }

    /// Returns true if one classifier of the learner comes out.
    pub fn is_single(self) -> bool {
        matches!(self, Output::Last | Output::Validated)
    }

    /// Returns how classifiers are combined; a single one is the mean of itself.
    pub(super) fn combination(self) -> Combination {
        match self {
            Output::Majority => Combination::Majority,
            Output::Average | Output::Last | Output::Validated => Combination::Average,
        }
    }
}

/// The share of the rows that is held out.
const HELD_OUT: f64 = 0.2;

/// The rows to learn from, and those held out.
pub(super) type Split = (Vec<usize>, Vec<usize>);

/// Returns the rows to learn from and those held out, each ascending.
///
/// The rows are drawn without regard to their classes, because the bound is for independent rows.
///
/// # Errors
/// [`Error::Data`]: fewer than two rows. [`Error::Contradiction`]: no row of a class is left to learn
/// from.
pub(super) fn hold_out(labels: &impl ClassLabels, seed: u64) -> Result<Split, Error> {
    let (learned, held_out) = hold_out_plain(labels.len(), HELD_OUT, seed)?;
    let has = |rows: &[usize], class| rows.iter().any(|&row| labels.index(row) == class);
    let is_lost = |class: &usize| has(&held_out, *class) && !has(&learned, *class);
    match (0..labels.names().len()).find(is_lost) {
        None => Ok((learned, held_out)),
        Some(class) => Err(Error::contradiction(
            "a validated output".to_owned(),
            format!(
                "the seed {seed}, which holds out all rows of the class '{}'",
                labels.names()[class]
            ),
            "there is no row of it to learn from. Choose another seed",
        )),
    }
}

/// Returns the candidate with the fewest mistakes on the rows held out, by weight, the last of several.
///
/// # Errors
/// The errors of [`Evaluation::within`].
pub(super) fn validated<S: Scorer>(
    mut candidates: Vec<S>,
    held_out: &Dataset,
    delta: f64,
    limits: &Limits<'_>,
) -> Result<(S, HeldOutError), BoostError> {
    let (design, labels) = (held_out.design(), held_out.labels());
    let (weights, rows) = (held_out.own_weights(), held_out.rows());
    let (mut best, mut error) = (0, f64::INFINITY);
    for (at, candidate) in candidates.iter().enumerate() {
        let found = Evaluation::within(candidate, design, labels, &ZeroOne, limits)?;
        let share = share_of(&found.wrong, weights, rows);
        if share <= error {
            (best, error) = (at, share);
        }
    }
    let ones = vec![1.0; rows];
    let count = candidates.len();
    let held_out = HeldOutError::new(error, count, delta, weights.unwrap_or(&ones));
    Ok((candidates.swap_remove(best), held_out))
}

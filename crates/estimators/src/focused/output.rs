//! The classifier that comes out of a game: an ensemble of the classifiers taken before random
//! steps, or one classifier.

use margins_boost::{Combination, Error as BoostError, Evaluation};
use margins_data::Dataset;
use margins_data::split::hold_out_plain;
use margins_losses::ZeroOne;
use margins_optim::method::Limits;
use margins_optim::online::Scorer;

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
    /// of the rows, which are not learned from; the last one of several. See [`Validation`].
    Validated,
}

impl Output {
    /// All of them.
    pub const ALL: [Output; 4] =
        [Output::Majority, Output::Average, Output::Last, Output::Validated];

    /// Returns the name, as in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Output::Majority => "majority",
            Output::Average => "average",
            Output::Last => "last",
            Output::Validated => "validated",
        }
    }

    /// Returns the output of a name.
    pub fn of_name(name: &str) -> Option<Output> {
        Self::ALL.into_iter().find(|output| output.name() == name)
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

/// The choice of a classifier on rows that were not learned from.
///
/// As the rows held out are independent of the candidates, the error of the chosen one on new rows of
/// the same distribution is at most [`bound`](Self::bound) with probability `1 - delta` (Hoeffding's
/// inequality for each candidate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    /// The number n of rows held out.
    pub rows: usize,
    /// The number c of classifiers to choose from.
    pub candidates: usize,
    /// The share of the rows held out that the chosen classifier gets wrong.
    pub error: f64,
    /// `error + sqrt(ln(c/delta)/(2 n))`, at most 1.
    pub bound: f64,
}

/// The share of the rows that is held out.
const HELD_OUT: f64 = 0.2;

/// The rows to learn from, and those held out.
pub(super) type Split = (Vec<usize>, Vec<usize>);

/// Returns the rows to learn from and those held out, each ascending.
///
/// # Errors
/// [`Error::Data`]: fewer than two rows.
pub(super) fn hold_out(rows: usize, seed: u64) -> Result<Split, Error> {
    Ok(hold_out_plain(rows, HELD_OUT, seed)?)
}

/// Returns the candidate with the fewest mistakes on the rows held out, the last of several.
///
/// # Errors
/// The errors of [`Evaluation::within`].
pub(super) fn validated<S: Scorer>(
    mut candidates: Vec<S>,
    held_out: &Dataset,
    delta: f64,
    limits: &Limits<'_>,
) -> Result<(S, Validation), BoostError> {
    let (design, labels) = (held_out.design(), held_out.labels());
    let (mut best, mut fewest) = (0, usize::MAX);
    for (at, candidate) in candidates.iter().enumerate() {
        let found = Evaluation::within(candidate, design, labels, &ZeroOne, limits)?.mistakes;
        if found <= fewest {
            (best, fewest) = (at, found);
        }
    }
    let (count, rows) = (candidates.len(), held_out.rows());
    let error = fewest as f64 / rows as f64;
    let deviation = ((count as f64 / delta).ln() / (2.0 * rows as f64)).sqrt();
    let bound = (error + deviation).min(1.0);
    Ok((candidates.swap_remove(best), Validation { rows, candidates: count, error, bound }))
}

//! The error type of the crate.

use margins_losses::OutOfRange;
use thiserror::Error;

/// Why something cannot be built, or a round cannot be played.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The callback of the limits stopped the work, and what there is of it is no result.
    #[error("the caller stopped it")]
    Interrupted,
    /// A tree has at least one weight.
    #[error("there are no weights to draw from")]
    NoWeights,
    /// No feature has two values, between which a stump could decide.
    #[error(
        "no column has two values, so that there is no decision stump: add a column that varies, or \
         choose another learner"
    )]
    NoStumps,
    /// A target of a regression is not in [0, 1].
    #[error("target {at} is {value}, but must be from 0 to 1: scale the targets")]
    Target {
        /// The number of the target, from 0.
        at: usize,
        /// The target.
        value: f64,
    },
    /// Nothing can be drawn when all weights are 0.
    #[error("no weight is positive, so that nothing can be drawn")]
    NoPositiveWeight,
    /// A weight is negative, NaN or infinite.
    #[error("weight {at} is {value}, but must be a finite number of at least 0")]
    Weight {
        /// The number of the weight, from 0.
        at: usize,
        /// The weight.
        value: f64,
    },
    /// The weight of a sample of a game is not from 0 to 1.
    #[error(
        "weight {at} is {value}, but must be from 0 to 1: divide all weights by the largest one"
    )]
    GameWeight {
        /// The number of the weight, from 0.
        at: usize,
        /// The weight.
        value: f64,
    },
    /// A factor is negative, NaN or infinite.
    #[error("weight {at} cannot be multiplied by {factor}, only by finite numbers of at least 0")]
    Factor {
        /// Number of the weight, from 0.
        at: usize,
        /// The factor.
        factor: f64,
    },
    /// Parts do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that does not fit.
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] OutOfRange),
    /// Something would take more memory than it may.
    #[error(
        "{what} would take {needed:.3e} bytes of memory, more than the limit of {limit:.3e}: {advice}"
    )]
    Memory {
        /// The thing that would take it, with its size.
        what: String,
        /// The bytes that it would take.
        needed: f64,
        /// The most bytes that it may take.
        limit: f64,
        /// The advice, in words.
        advice: &'static str,
    },
    /// A checkpoint belongs to something else.
    #[error("the checkpoint is of {what} '{expected}', not '{found}'")]
    Checkpoint {
        /// The part that differs.
        what: &'static str,
        /// The value in the checkpoint.
        expected: String,
        /// The value that was given.
        found: String,
    },
    /// A sampler is asked for the next draw before the losses of the last one.
    #[error("the losses of the {0} samples drawn last are not known yet: call observe before draw")]
    NotObserved(usize),
    /// A loss that a sampler observes is not in [0, 1].
    #[error(
        "loss {at}, of sample {row}, is {loss}, but must be from 0 to 1: clip losses, or count a \
         mistake as 1 and a right answer as 0"
    )]
    ObservedLoss {
        /// Its place among the losses, from 0.
        at: usize,
        /// The sample, from 0.
        row: usize,
        /// The loss.
        loss: f64,
    },
    /// The loss of a sample is NaN.
    #[error("row {row}: the loss of the score {score} is not a number")]
    Loss {
        /// Zero-based row.
        row: usize,
        /// The score.
        score: f64,
    },
    /// The learner refused something.
    #[error(transparent)]
    Learner(#[from] margins_optim::Error),
    /// The data crate refused something.
    #[error(transparent)]
    Data(#[from] margins_data::Error),
}

impl Error {
    /// Refuses what would take more than 2^32 bytes, 4 GiB, of memory: `count` parts of 8 bytes.
    pub(crate) fn check_memory(
        count: f64,
        advice: &'static str,
        what: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        const LIMIT: f64 = (1u64 << 32) as f64;
        let needed = count * size_of::<f64>() as f64;
        if needed <= LIMIT {
            Ok(())
        } else {
            Err(Error::Memory { what: what(), needed, limit: LIMIT, advice })
        }
    }

    pub(crate) fn check_len(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Error> {
        if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
    }
}

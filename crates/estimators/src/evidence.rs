//! The evidence for how good a fit is.

/// The evidence for how good a fit is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Evidence {
    /// The objective of every member is within a known distance of the minimum.
    Gap {
        /// The largest relative duality gap of the members.
        relative: f64,
        /// True if every gap is at most the tolerance.
        certified: bool,
    },
    /// The error on new samples is at most this, with high probability.
    ErrorBound {
        /// The bound on the probability of a mistake.
        bound: f64,
        /// The probability with which the bound may fail.
        delta: f64,
    },
    /// The ensemble was judged on all samples at the end of a game.
    Played {
        /// The largest loss of a sample, clipped to [0, 1].
        max_loss: f64,
        /// The step by which the ensemble was known to be right on every sample; `None` if it never
        /// was.
        consistent_at: Option<u64>,
    },
    /// No evidence beyond the fit itself.
    None,
}

//! Why a fit ended: the one list of words and explanations that the command, the report pages, JSON
//! documents and Python share.

use std::fmt;

use crate::Certificate;

/// The reason why a fit ended. Its [name](Self::name), such as `time-limit`, is the same word
/// everywhere, and [`explanation`](Self::explanation) says what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The relative duality gap, and the [allowance for
    /// rounding](crate::Report::relative_rounding) in it, are at most the tolerance.
    Converged,
    /// The iteration limit was reached first.
    IterationLimit,
    /// The deadline was reached first.
    TimeLimit,
    /// The callback of [`Options::watch`](crate::Options::watch) or of
    /// [`Limits::watch`](crate::method::Limits::watch) stopped the fit.
    Interrupted,
    /// A game of focused online learning was paused, to be continued from its checkpoint.
    Paused,
    /// No step makes further progress, but the gap is above the tolerance.
    Stalled,
    /// The point is a minimum up to rounding, but the allowance for rounding is above the tolerance,
    /// or rounding keeps the gap above it: the minimum is near zero, or features of very different
    /// scales, hardly penalised, magnify the rounding.
    RoundingLimit,
    /// The objective has no minimum: it falls without bound along the intercept, because no dual
    /// point is feasible. With the domain `[l, h]` of the conjugate and the total weights `C+` and
    /// `C-` of the classes, the ranges `[l C+, h C+]` and `[l C-, h C-]` do not meet. Or it falls along
    /// features that no penalty acts on: the fit is then the direction.
    Unbounded,
    /// The mean loss has no minimum: a classifier that no penalty acts on separates the classes, and every
    /// multiple of it is better. Where only some features are without a penalty, the fit is that
    /// classifier.
    NoMinimum,
    /// Cutting planes under Massart noise excluded every halfspace.
    Infeasible,
    /// The solver converged, but the approximation that it worked on keeps the gap of the whole
    /// problem above the tolerance.
    Truncated,
    /// Numbers overflowed.
    NumericalTrouble,
    /// The loss says that it is convex, but no convex function has its values and derivatives at
    /// the margins, so that nothing bounds the gap: see [`MarginLoss`](margins_losses::MarginLoss)
    /// and its test-kit.
    Contradicted,
    /// The method finished by a rule of its own, without a certificate.
    RuleMet,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 14] = [
        Status::Converged,
        Status::IterationLimit,
        Status::TimeLimit,
        Status::Interrupted,
        Status::Paused,
        Status::Stalled,
        Status::RoundingLimit,
        Status::Unbounded,
        Status::NoMinimum,
        Status::Infeasible,
        Status::Truncated,
        Status::NumericalTrouble,
        Status::Contradicted,
        Status::RuleMet,
    ];

    /// Returns the name of the status, such as `rounding-limit`.
    ///
    /// ```
    /// assert_eq!(margins_optim::Status::RoundingLimit.name(), "rounding-limit");
    /// ```
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns what the status means, for a reader who sees its name: a clause without a full stop.
    ///
    /// ```
    /// let status = margins_optim::Status::TimeLimit;
    /// assert_eq!(status.explanation(), "the time limit was reached first");
    /// ```
    pub fn explanation(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Status::Converged => {
                ("converged", "the gap and the allowance for rounding are within the tolerance")
            }
            Status::IterationLimit => ("iteration-limit", "the iteration limit was reached first"),
            Status::TimeLimit => ("time-limit", "the time limit was reached first"),
            Status::Interrupted => ("interrupted", "the caller stopped the fit"),
            Status::Paused => ("paused", "the game can continue from its checkpoint"),
            Status::Stalled => ("stalled", "no step made further progress"),
            Status::RoundingLimit => (
                "rounding-limit",
                "the point is a minimum up to rounding, but rounding may hide a gap above the \
                 tolerance",
            ),
            Status::Unbounded => (
                "unbounded",
                "the objective falls without bound along the intercept, because the weights of \
                 the classes differ too much for the slopes of the loss or the best intercept is \
                 beyond floating point, or along features without a penalty, because they \
                 separate the classes",
            ),
            Status::NoMinimum => (
                "no-minimum",
                "the classes are separated by a classifier that no penalty acts on, except perhaps \
                 for samples on the boundary, so the mean loss has no minimum",
            ),
            Status::Infeasible => (
                "infeasible",
                "no halfspace is left: the noise rate or the margin may be wrong, or the rows too \
                 few",
            ),
            Status::Truncated => {
                ("truncated", "the approximation of the kernel is too coarse for the tolerance")
            }
            Status::NumericalTrouble => ("numerical-trouble", "numbers overflowed"),
            Status::Contradicted => (
                "contradicted",
                "the values and derivatives of the loss contradict each other, so the gap proves \
                 nothing",
            ),
            Status::RuleMet => ("rule-met", "the method finished by its own rule"),
        }
    }

    /// Returns true if the objective has no minimum: [`Unbounded`](Status::Unbounded) or
    /// [`NoMinimum`](Status::NoMinimum).
    pub fn has_no_minimum(self) -> bool {
        matches!(self, Status::Unbounded | Status::NoMinimum)
    }

    /// Returns true if the clock, the callback or a pause ended the fit: no further search follows, and
    /// the point may be far from the minimum.
    ///
    /// ```
    /// use margins_optim::Status;
    ///
    /// assert!(Status::TimeLimit.is_cut_short() && !Status::Stalled.is_cut_short());
    /// ```
    pub fn is_cut_short(self) -> bool {
        match self {
            Status::TimeLimit | Status::Interrupted | Status::Paused => true,
            Status::Converged
            | Status::IterationLimit
            | Status::Stalled
            | Status::RoundingLimit
            | Status::Unbounded
            | Status::NoMinimum
            | Status::Infeasible
            | Status::Truncated
            | Status::NumericalTrouble
            | Status::Contradicted
            | Status::RuleMet => false,
        }
    }

    /// Returns true if another method, or another start, may still reach the minimum.
    pub(crate) fn is_open(self) -> bool {
        self != Status::Converged && !self.is_cut_short()
    }

    /// Returns [`RoundingLimit`](Self::RoundingLimit) instead of this status if the allowance for
    /// rounding in the certificate may hide a gap above the tolerance.
    pub(super) fn under(self, certificate: &Certificate, tolerance: f64) -> Self {
        match self {
            Status::Converged | Status::Stalled if certificate.hides_a_gap(tolerance) => {
                Status::RoundingLimit
            }
            other => other,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

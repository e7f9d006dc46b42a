use crate::Certificate;

/// The reason why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The relative duality gap and the [rounding](crate::Report::relative_rounding) that it leaves out are at
    /// most the tolerance.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The deadline came first.
    TimeLimit,
    /// The callback of [`Options::watch`](crate::Options::watch) or of
    /// [`Limits::watch`](crate::solve::Limits::watch) stopped the solver.
    Interrupted,
    /// No step makes further progress, yet the gap is above the tolerance.
    Stalled,
    /// The point is a minimum as far as rounding shows, but the allowance for rounding is above the
    /// tolerance, or rounding keeps the gap above it: the minimum is near zero, or features of very
    /// different scales, all but unpenalised, magnify the rounding.
    RoundingLimit,
    /// The objective has no minimum: it falls without bound along the intercept, because no dual
    /// point is feasible. With the domain `[l, h]` of the conjugate and the total weights `C+` and
    /// `C-` of the classes, the ranges `[l C+, h C+]` and `[l C-, h C-]` do not meet.
    Unbounded,
    /// The mean loss has no minimum without a penalty: the classes are separated, and every multiple of
    /// a classifier that separates them is better.
    NoMinimum,
    /// The solver did its part, but the approximation that it worked on keeps the gap of the whole
    /// problem above the tolerance.
    Truncated,
    /// Numbers overflowed.
    NumericalTrouble,
    /// The loss says that it is convex, but no convex function has its values and derivatives at
    /// the margins, so that nothing bounds the gap: see [`MarginLoss`](margins_losses::MarginLoss)
    /// and its test-kit.
    Contradicted,
    /// A rule without a certificate was met, and the gap is above the tolerance.
    RuleMet,
}

impl Status {
    /// Returns the name of the status in documents, such as `rounding-limit`.
    ///
    /// ```
    /// assert_eq!(margins_optim::Status::RoundingLimit.name(), "rounding-limit");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::IterationLimit => "iteration-limit",
            Status::TimeLimit => "time-limit",
            Status::Interrupted => "interrupted",
            Status::Stalled => "stalled",
            Status::RoundingLimit => "rounding-limit",
            Status::Unbounded => "unbounded",
            Status::NoMinimum => "no-minimum",
            Status::Truncated => "truncated",
            Status::NumericalTrouble => "numerical-trouble",
            Status::Contradicted => "contradicted",
            Status::RuleMet => "rule-met",
        }
    }

    /// Returns the status that the allowance for rounding in a certificate leaves for this tolerance: it
    /// may hide a gap where none is left to see.
    pub(super) fn under(self, certificate: &Certificate, tolerance: f64) -> Self {
        match self {
            Status::Converged | Status::Stalled if certificate.hides_a_gap(tolerance) => {
                Status::RoundingLimit
            }
            other => other,
        }
    }
}

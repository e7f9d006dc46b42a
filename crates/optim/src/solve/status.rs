/// The reason why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The relative duality gap is at most the tolerance.
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
    /// The point is a minimum as far as rounding lets one tell, but rounding also keeps the gap
    /// above the tolerance: features of very different scales, all but unpenalised, magnify it.
    RoundingLimit,
    /// The objective has no minimum: it falls without bound along the intercept, because no dual
    /// point is feasible. With the domain `[l, h]` of the conjugate and the total weights `C+` and
    /// `C-` of the classes, the ranges `[l C+, h C+]` and `[l C-, h C-]` do not meet.
    Unbounded,
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

//! Certificates: bounds on the distance of a point to the minimum, by the duality gap and its
//! rounding.
//!
//! * [`Certificate`]: objective, gap, rounding, gradient norm;
//!   [`Objective::certificate`](crate::Objective::certificate) makes one for the result of any
//!   program.
//! * `primal`: the gap by the slopes at a point; `dual`: the gap by any feasible duals.
//! * [`Evaluator`]: certificates at one point after another, for samples in memory or distributed.
//! * [`DualSolution`]: the dual variables of a fit, with its [`ConstrainedForm`].
//! * `examine`: the evidence in a loss against itself.

mod appraise;
mod constrained;
pub(crate) mod dual;
mod evaluator;
mod examine;
mod on_kernel;
mod primal;

pub use constrained::{
    ConstrainedForm, DualSolution, DualVariables, Hulls, PrimalDual, Violations,
};
pub use evaluator::Evaluator;
pub(crate) use evaluator::Valued;
pub use examine::contradicts_itself;
pub(crate) use on_kernel::OnKernel;

/// A bound on the distance of a point to the minimum.
///
/// With `s_i = -L'(u_i)` the dual objective is
/// `D(s) = -(1/n) sum c_i L*(-s_i) - ||v||^2/(4 lambda)`, `v = (1/n) sum c_i s_i y_i x_i`, and
/// feasible if `sum c_i s_i y_i = 0`, which holds at the exactly optimal intercept. By the equality
/// in the Fenchel-Young inequality, `L(u_i) + L*(-s_i) = -s_i u_i`, the gap is
///
/// `F - D = lambda ||w - v/(2 lambda)||^2 = ||grad_w F||^2 / (4 lambda)`,
///
/// a square that needs no conjugate and suffers no cancellation.
///
/// # Rounding
///
/// A computed value of F is at most as exact as the rounding of its terms allows. A certificate has a
/// bound on this error, `rounding`, which its gap includes, so that `objective - duality_gap` lies
/// below the minimum, even if the minimum is near zero. A gap of up to twice the rounding counts as
/// zero (see [`relative_gap`](Self::relative_gap)); the part left out is
/// [`relative_rounding`](Self::relative_rounding). Both must be within a tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// The objective `F`, as computed.
    pub objective: f64,
    /// An upper bound on `F` minus its minimum, the rounding of `F` included.
    pub duality_gap: f64,
    /// A bound on the distance between `F` and its computed value.
    pub rounding: f64,
    /// The Euclidean norm of the gradient of `F`, intercept included, at the optimal intercept.
    pub gradient_norm: f64,
    /// True if the loss and its conjugate contradict the Fenchel-Young inequality at the point.
    pub contradicted: bool,
}

impl Certificate {
    /// Returns the certificate of a point with this objective, computed to `rounding`, whose
    /// distance to the minimum is at most `gap` apart from that rounding. A gap of NaN means that
    /// numbers overflowed.
    pub fn new(objective: f64, gap: f64, rounding: f64, gradient_norm: f64) -> Self {
        let (duality_gap, rounding) =
            if rounding.is_finite() { (gap + rounding, rounding) } else { (f64::INFINITY, 0.0) };
        Certificate { objective, duality_gap, rounding, gradient_norm, contradicted: false }
    }

    /// Returns the certificate of a point whose distance to the minimum is unknown.
    pub fn without_bound(objective: f64, gradient_norm: f64) -> Self {
        Certificate::new(objective, f64::INFINITY, 0.0, gradient_norm)
    }

    /// Returns the value of the feasible dual point, less the rounding: a lower bound on the
    /// minimum of `F`.
    pub fn dual_objective(&self) -> f64 {
        self.objective - self.duality_gap
    }

    /// Returns the gap less twice the rounding of `F`, relative to the larger size of the primal and
    /// the dual objective.
    ///
    /// It is 0 at a point that is optimal to rounding: there neither `F` nor the bound can be
    /// distinguished from the minimum.
    pub fn relative_gap(&self) -> f64 {
        let excess = self.duality_gap - 2.0 * self.rounding;
        if excess < f64::INFINITY { self.relative(excess.max(0.0)) } else { f64::INFINITY }
    }

    /// Returns twice the rounding of `F`, the part of the gap that
    /// [`relative_gap`](Self::relative_gap) leaves out, relative to the same size. Where it is above a
    /// tolerance, the gap does not show whether the point is within that tolerance of the minimum.
    pub fn relative_rounding(&self) -> f64 {
        self.relative(2.0 * self.rounding)
    }

    /// Returns true if the gap and the rounding that it leaves out are both within a tolerance.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.relative_gap() <= tolerance && !self.hides_a_gap(tolerance)
    }

    /// Returns true if the rounding that the gap leaves out is above a tolerance. An objective that is
    /// below the rounding of 1 and below its own counts as zero, of which no tolerance is a share: it is
    /// the minimum of a loss like the leaky ReLU at a function of 0.
    pub(crate) fn hides_a_gap(&self, tolerance: f64) -> bool {
        let zero = f64::EPSILON.min(self.rounding);
        self.objective.abs() > zero && self.relative_rounding() > tolerance
    }

    /// Returns a difference of objectives relative to the larger size of the two.
    fn relative(&self, difference: f64) -> f64 {
        let size = self.objective.abs().max(self.dual_objective().abs());
        if difference == 0.0 { 0.0 } else { difference / size }
    }

    /// Returns true if numbers overflowed on the way to the objective or to its bound.
    pub(crate) fn is_broken(&self) -> bool {
        !self.objective.is_finite() || self.duality_gap.is_nan()
    }

    /// Returns the certificate of a point with objective `given`, worse than the one certified.
    #[must_use]
    pub fn raised_to(self, given: f64) -> Self {
        let gap = self.duality_gap + (given - self.objective).max(0.0);
        let duality_gap = if given.is_finite() { gap } else { f64::INFINITY };
        Certificate { objective: given, duality_gap, ..self }
    }

    /// Returns the certificate with the smaller gap of two that certify points of the same
    /// objective.
    #[must_use]
    pub(crate) fn or(self, other: Certificate) -> Self {
        if other.duality_gap < self.duality_gap { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::Certificate;

    /// Rounding above the tolerance shows for any objective that can be distinguished from zero.
    #[test]
    fn a_tiny_objective_hides_no_gap() {
        let certificate =
            |objective, rounding| Certificate::new(objective, 0.0, rounding, f64::NAN);
        for objective in [1.0, 1e-17, 1e-100] {
            assert!(certificate(objective, 1e-5 * objective).hides_a_gap(1e-6), "{objective}");
            assert!(!certificate(objective, 1e-8 * objective).hides_a_gap(1e-6), "{objective}");
        }
        assert!(certificate(1e-15, 1e-14).hides_a_gap(1e-6));
        assert!(!certificate(1e-17, 1e-16).hides_a_gap(1e-6));
    }
}

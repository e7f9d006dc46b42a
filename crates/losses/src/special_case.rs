//! The losses that solvers or theory treat specially.

/// A loss of this crate that a solver or a theory treats by itself, with its parameters: see
/// [`MarginLoss::special_case`](crate::MarginLoss::special_case).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SpecialCase {
    /// [`LeakyHockeyStick`](crate::LeakyHockeyStick), whose constrained form has slacks.
    LeakyHockeyStick,
    /// [`Hinge`](crate::Hinge), the loss of the support vector machine, which sequential minimal
    /// optimisation fits.
    Hinge,
    /// [`MarginPursuit`](crate::MarginPursuit), of which the Psi-transform has a closed form by the
    /// roots of cubics.
    MarginPursuit {
        /// The margin that is pursued.
        gamma: f64,
        /// The distance from it, in units of `1/sqrt 2`, where the loss turns linear.
        scale: f64,
    },
    /// [`GargRoth`](crate::GargRoth), the projection profile, which its own learner minimises.
    GargRoth {
        /// The decay on the right.
        alpha: f64,
        /// The growth on the left.
        beta: f64,
    },
}

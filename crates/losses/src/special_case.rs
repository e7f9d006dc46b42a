use crate::{GargRoth, MarginPursuit};

/// A loss of this crate that a solver or a theory treats by itself: see
/// [`MarginLoss::special_case`](crate::MarginLoss::special_case).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SpecialCase {
    /// [`Hinge`](crate::Hinge), the loss of the support vector machine, which sequential minimal optimisation fits.
    Hinge,
    /// [`MarginPursuit`], of which the Psi-transform has a closed form by the roots of cubics.
    MarginPursuit(MarginPursuit),
    /// [`GargRoth`], the projection profile, which its own learner minimises.
    GargRoth(GargRoth),
}

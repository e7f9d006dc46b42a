//! The properties of a loss that methods need: the one place where a loss is refused.

use margins_losses::MarginLoss;

use crate::Error;
use crate::problem::EmpiricalRisk;

/// A property of a loss that a method is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// The loss is convex: every certificate is built on it.
    Convexity,
    /// The loss has a derivative everywhere.
    Differentiability,
    /// The loss has a finite `sup L''`.
    Curvature,
}

impl Need {
    /// Refuses a loss that lacks the property.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] names the loss, what it lacks and what to do instead.
    pub fn check<L: MarginLoss + ?Sized>(self, loss: &L) -> Result<(), Error> {
        let has = match self {
            Need::Convexity => loss.is_convex(),
            Need::Differentiability => loss.is_differentiable(),
            Need::Curvature => loss.curvature().is_some(),
        };
        if has { Ok(()) } else { Err(self.lacking(loss)) }
    }

    fn lacking<L: MarginLoss + ?Sized>(self, loss: &L) -> Error {
        let (lacks, alternative) = match self {
            Need::Convexity => (
                "is not convex, so that no duality gap can certify a fit",
                "Use a convex loss, such as lhs or logistic",
            ),
            Need::Differentiability => (
                "has a kink, and this solver needs a differentiable loss",
                "Use proximal-newton, sdca or bundle (linear classifiers), or a differentiable loss, such as \
                 smoothed-hinge or squared-hinge",
            ),
            Need::Curvature => (
                "has no finite curvature, which MM and the smooth step of gradient descent need",
                "Use newton or a line search",
            ),
        };
        Error::Unsuitable { loss: loss.specification(), lacks, alternative }
    }
}

/// Returns `sup L''` of a loss.
///
/// # Errors
/// [`Error::Unsuitable`]: the loss has no finite one.
pub(crate) fn curvature<L: MarginLoss + ?Sized>(loss: &L) -> Result<f64, Error> {
    loss.curvature().ok_or_else(|| Need::Curvature.lacking(loss))
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Refuses a loss without a dual, which every certificate and some solvers are built on.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the loss is not convex.
    pub fn check_convex(&self) -> Result<(), Error> {
        Need::Convexity.check(self.loss)
    }

    /// Refuses a loss that lacks a property that Newton and MM are built on.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the loss is not convex or has a kink.
    pub fn check_loss(&self) -> Result<(), Error> {
        self.check_convex()?;
        Need::Differentiability.check(self.loss)
    }
}

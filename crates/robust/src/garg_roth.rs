//! Margin distribution optimisation by descent on a loss that may be nonconvex.

use margins_losses::MarginLoss;

use crate::Error;
use crate::Restarts;
use crate::estimated_risk::EmpiricalMean;
use margins_optim::{Fit, Lambda, Objective, Options};

/// Margin distribution optimisation: minimises `F` for a loss that need not be convex, such as the
/// projection profile [`margins_losses::GargRoth`], by descents from several starts.
///
/// The source holds `||w|| = ||x|| = 1`; here the penalty determines the norm. Because `L` with
/// `alpha, beta` at `k u` is `L` with `alpha k^2, beta k` at `u`, a minimiser w of F is stationary
/// for the problem of the source with the parameters `alpha ||w||^2` and `beta ||w||`.
///
/// On the wrong side the loss is exponential: it chases outliers rather than resist them, and
/// shapes the distribution of the right margins. Local minima are many, one of them at the origin,
/// and nothing certifies a fit.
///
/// Source: Garg and Roth, *Margin distribution and learning algorithms*, ICML 2003.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GargRothDescent {
    /// The points at which descents begin.
    pub restarts: Restarts,
}

impl GargRothDescent {
    /// Returns the classifier of least F among those that the descents end at, with the options
    /// that [`CatoniRisk::fit`](super::CatoniRisk::fit) uses.
    ///
    /// # Errors
    /// The tolerance is not positive.
    pub fn fit<L: MarginLoss + ?Sized>(
        &self,
        objective: &Objective<'_, L>,
        lambda: Lambda,
        options: &Options,
    ) -> Result<Fit, Error> {
        self.restarts.best(objective, lambda, EmpiricalMean, options)
    }
}

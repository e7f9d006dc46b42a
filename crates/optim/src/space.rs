//! The traits by which solvers access samples, wherever these are, and the samples in memory.
//!
//! * [`Space`]: what the samples are like. [`Scores`], [`Curvature`], [`Duals`], [`Smoothing`]: what is
//!   computed over them; [`Samples`]: all of these.
//! * [`InMemory`]: samples in memory. Module `joint`: those of several classes in one problem.
//! * [`Extent`]: how large the samples are, in every unit; [`RowSpace`]: coordinates for more features
//!   than samples.

mod curvature;
mod duals;
mod extent;
mod in_memory;
pub(crate) mod joint;
mod reflections;
mod row_space;
mod scores;
mod smoothing;

use margins_losses::{HomogeneousTail, MarginLoss};

use crate::Error;
use crate::problem::FreeColumns;

pub use curvature::{Curvature, SampledCurvatures};
pub use duals::Duals;
pub use extent::Extent;
pub use in_memory::InMemory;
pub use row_space::{Eigenspace, RowSpace};
pub use scores::Scores;
pub use smoothing::{MergedProblem, Smoothing};

/// Where the samples of a problem
/// `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2` are, and what they are like.
///
/// Newton's method and the certificate know samples through this trait and those that build on it:
/// [`Scores`], [`Curvature`], [`Duals`] and [`Smoothing`], together [`Samples`]. One solver serves data
/// in memory ([`InMemory`]), in blocks of a file and on other machines.
/// Little crosses the seam: p numbers down for [`products`](Scores::products), p numbers up for
/// [`gradient`](Scores::gradient), and a few scalars for every trial step. A vector with one number per
/// sample stays where the samples are.
pub trait Space {
    /// Returns n and p, the numbers of samples and of features.
    fn shape(&self) -> (usize, usize);

    /// Returns true if the samples are stored sparsely, so that a Gram matrix of features is expensive.
    fn is_sparse(&self) -> bool;

    /// Returns true if the problem has an intercept.
    fn has_intercept(&self) -> bool;

    /// Returns the features that no penalty acts on.
    fn free(&self) -> FreeColumns {
        FreeColumns::default()
    }

    /// Returns the tail on which the loss is homogeneous, if there is one.
    fn tail(&self) -> Option<HomogeneousTail>;

    /// Returns whether the loss falls as margins grow, and to what.
    fn decline(&self) -> Decline;

    /// Returns how large the samples are.
    fn extent(&self) -> &Extent;

    /// Returns `(1/n) sum c_i ||x_i||^2`.
    fn mean_square(&self) -> f64;

    /// Refuses a loss that Newton's method cannot take.
    ///
    /// # Errors
    /// [`Error::Unsuitable`]: the loss is not convex, or has a kink and these samples cannot
    /// [smooth](Smoothing::smooth) it.
    fn check_loss(&self) -> Result<(), Error>;

    /// Returns true if no dual is feasible, so that F falls without bound along the intercept,
    /// for any lambda.
    fn is_unbounded(&self) -> bool;

    /// Returns the number of rounds of messages to distributed samples so far.
    fn rounds(&self) -> usize {
        0
    }

    /// Returns, once, the reason why distributed samples no longer answer. From then on every sum is
    /// NaN, which ends a solver immediately.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// Samples with all that Newton's method, smoothed for losses with kinks, asks of them.
pub trait Samples: Curvature + Smoothing {}

impl<S: Curvature + Smoothing> Samples for S {}

/// How a loss goes on as the margin grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decline {
    /// It has a minimum at some margin.
    Ends,
    /// It falls for ever, to a bound.
    Bounded,
    /// It has no lower bound.
    Unbounded,
}

impl Decline {
    /// Returns how a loss goes on.
    pub fn of<L: MarginLoss + ?Sized>(loss: &L) -> Self {
        /// A margin at which losses with a minimum have reached it, and others can still be seen to
        /// fall.
        const FAR: f64 = 30.0;
        match loss.lower_bound() {
            None => Decline::Unbounded,
            Some(_) if loss.derivative(FAR) < 0.0 => Decline::Bounded,
            Some(_) => Decline::Ends,
        }
    }
}

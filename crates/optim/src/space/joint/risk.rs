//! The risk of several classes in one problem, as a function of the margins of the samples over their rivals.

use margins_losses::{HomogeneousTail, Interval};
use nalgebra::DMatrix;

use crate::Error;
use crate::problem::{BlockMove, FenchelYoung, Mobility, Sums};
use crate::space::Decline;

/// A risk of margins over rivals, in the layout of [`Rivals`](crate::problem::Rivals).
///
/// Its second derivatives in the scores of a sample are a Laplacian matrix over the classes, with a
/// weight for every edge between two of them: a function of differences alone.
pub(crate) trait JointRisk {
    /// Returns the tail on which the loss is homogeneous, if there is one.
    fn tail(&self) -> Option<HomogeneousTail> {
        None
    }

    /// Returns whether the loss falls as margins grow, and to what.
    fn decline(&self) -> Decline;

    /// Refuses a loss that is not convex.
    fn check_loss(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns true if no duals are feasible beside free intercepts.
    fn is_unbounded(&self) -> bool {
        false
    }

    /// Sets the margins, and the slopes there.
    fn set(&mut self, margins: &[f64]);

    /// Returns the margins that are set.
    fn margins(&self) -> &[f64];

    /// Returns the risk of margins.
    fn risk_at(&mut self, margins: &[f64]) -> f64;

    /// Returns the sums at the margins that are set.
    fn sums(&mut self) -> Sums;

    /// Writes the derivatives in the scores, n x k numbers.
    fn gradient(&self, out: &mut [f64]);

    /// Returns the numbers that second derivatives are made of, at the margins that are set.
    fn curvatures(&self) -> Vec<f64>;

    /// Replaces changes of the scores by the changes of the derivatives.
    fn bend(&self, curvatures: &[f64], changes: &mut [f64]);

    /// Writes the weight of the edge between two classes, one number a sample.
    fn edge(&self, curvatures: &[f64], a: usize, b: usize, out: &mut [f64]);

    /// Writes the diagonals of the second derivatives, n x k numbers.
    fn diagonal(&self, curvatures: &[f64], out: &mut [f64]);

    /// Returns the sum of the second derivatives over the samples, each times a number of the sample.
    fn laplacian(&self, curvatures: &[f64], of_samples: &[f64]) -> DMatrix<f64>;

    /// Returns the number of duals of a sample.
    fn width(&self) -> usize;

    /// Returns the duals at the margins that are set.
    fn duals(&self) -> Vec<f64>;

    /// Moves duals to where changes of the scores lead, to first order and within their domain.
    fn predict(&self, duals: &mut [f64], curvatures: &[f64], changes: &[f64]);

    /// Writes the derivatives in the scores that belong to duals, with the sign of the duals.
    fn pulls(&self, duals: &[f64], out: &mut [f64]);

    /// Returns numbers of which the [Laplacian](Self::laplacian) is the matrix that duals are moved by.
    fn mobilities(&self, duals: &[f64], by: Mobility) -> Vec<f64>;

    /// Moves duals in their domain by the changes of the scores that belong to a move.
    fn move_duals(&self, duals: &mut [f64], by: &BlockMove, changes: &[f64]);

    /// Writes the [pulls](Self::pulls) of the duals of one sample, k numbers.
    fn pulls_of(&self, i: usize, duals: &[f64], out: &mut [f64]);

    /// Moves the duals of one sample to where the dual is largest over them, given the margins there are
    /// with them: a margin `u_c` rises by `curvature` times the change of `s_c` and of the sum of all
    /// `s_a`. Without a closed form nothing moves.
    fn ascend(&self, _i: usize, _margins: &[f64], _curvature: f64, _duals: &mut [f64]) {}

    /// Returns the margin at which duals are inside of their domain, and that domain, if the conjugate is
    /// linear there: the margin of the only kink of a loss.
    fn kink(&self) -> Option<(f64, Interval)> {
        None
    }

    /// Returns the sum of the sizes of duals.
    fn total_dual(&self, duals: &[f64]) -> f64;

    /// Returns the Fenchel-Young sum of the margins that are set and of duals.
    fn fenchel_young(&self, duals: &[f64]) -> FenchelYoung;

    /// Returns true if the loss contradicts at margins that it is convex.
    fn is_contradicted(&self, _margins: &[f64]) -> bool {
        false
    }

    /// Returns true if the loss has a kink.
    fn is_smoothed(&self) -> bool {
        false
    }

    /// Smooths the loss about the centres.
    fn smooth(&mut self, _strength: f64) {}

    /// Sets the centres to the duals at margins, or to zeros.
    fn centre(&mut self, _margins: Option<&[f64]>) {}

    /// Sets the centres to duals, or to zeros.
    fn set_centres(&mut self, _duals: Option<Vec<f64>>) {}
}

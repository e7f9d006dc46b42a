//! The duals of samples.

use crate::problem::{FenchelYoung, Point};
use crate::space::Scores;

/// The duals of the samples, for certificates.
pub trait Duals: Scores {
    /// The duals `s_i`, one per sample.
    type Duals: Clone;

    /// Returns duals moved by `-L''(u_i) y_i d_i` for a change d of the scores, and kept in the
    /// domain of the conjugate.
    fn predict(&mut self, duals: Self::Duals, change: &Point<Self::Products>) -> Self::Duals;

    /// Returns the duals `s_i = -L'(u_i)` at the margins that are set.
    fn duals(&mut self) -> Self::Duals;

    /// Moves duals in the domain of the conjugate to where `sum c_i s_i y_i = 0`, if the problem
    /// has an intercept, and `sum c_i s_i y_i x_ij = 0` for every free column j.
    fn balance(&mut self, duals: &mut Self::Duals);

    /// Returns `(1/n) sum c_i |s_i|`.
    fn total_dual(&mut self, duals: &Self::Duals) -> f64;

    /// Writes `v = (1/n) sum c_i s_i y_i x_i`, in twice the working precision if that is asked for.
    fn pull(&mut self, duals: &Self::Duals, accurately: bool, out: &mut [f64]);

    /// Returns `(1/n) sum c_i s_i y_i`.
    fn imbalance(&mut self, duals: &Self::Duals) -> f64;

    /// Returns the Fenchel-Young sum of the margins that are set and of duals.
    fn fenchel_young(&mut self, duals: &Self::Duals) -> FenchelYoung;
}

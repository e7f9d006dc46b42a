//! The curvature of the risk.

use std::sync::Arc;

use margins_data::Design;
use nalgebra::DMatrix;

use crate::space::Scores;

/// The second derivatives of the risk, for Newton's equation.
pub trait Curvature: Scores {
    /// Keeps the curvatures `D_i = c_i L''(u_i)/n` at the margins that are set, for the next six
    /// methods.
    fn keep_curvatures(&mut self);

    /// Forgets the curvatures, whose memory others need.
    fn forget_curvatures(&mut self);

    /// Returns the features and the curvatures of the samples, if these are in memory.
    fn curved(&mut self) -> Option<(&Design, &[f64])> {
        None
    }

    /// Returns a subsample that is in memory, if the samples are distributed.
    fn sampled(&mut self) -> Option<SampledCurvatures> {
        None
    }

    /// Returns `sum D_i`.
    fn curvature(&mut self) -> f64;

    /// Writes `X' D (X v + shift)` and returns the sum of `D (X v + shift)`.
    fn normal(&mut self, shift: f64, v: &[f64], out: &mut [f64]) -> f64;

    /// Writes `Z' D Z` with `Z = [1 X]`, of order p + 1, in the lower triangle.
    fn gram(&mut self, out: &mut DMatrix<f64>);

    /// Writes the diagonal of `Z' D Z`, the intercept's entry first.
    fn diagonal(&mut self, out: &mut [f64]);

    /// Returns the numbers of classes and of their features, if the samples are of several classes in one
    /// problem and [`class_grams`](Self::class_grams) are worth what they cost.
    fn classes(&self) -> Option<(usize, usize)> {
        None
    }

    /// Returns the lower triangle of `Z' D_c Z` with `Z = [1 X]` and the second derivatives `D_c` in the
    /// scores of class c, column after column and one class after another. Of many samples, some stand
    /// for all.
    fn class_grams(&mut self) -> Option<Vec<f64>> {
        None
    }
}

/// Some of the samples, weighted to stand for all.
#[derive(Debug, Clone)]
pub struct SampledCurvatures {
    /// The features.
    pub design: Arc<Design>,
    /// The curvatures where those of all samples are kept.
    pub curvatures: Vec<f64>,
    /// The share of all samples, by weight.
    pub share: f64,
}

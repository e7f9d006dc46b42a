//! Smoothed losses and merged samples.

use std::time::Instant;

use crate::problem::{Lambda, Point};
use crate::space::Duals;

/// Losses with kinks, smoothed, and the problems in which samples far from a kink are merged.
pub trait Smoothing: Duals {
    /// Returns true if the loss has a kink, and these samples can [smooth](Self::smooth) it.
    fn is_smoothed(&self) -> bool {
        false
    }

    /// Replaces the loss with `max_s -L*(-s) - s u - (strength/2) (s - a)^2` in all further calls; a
    /// strength of 0 restores the loss. The duals a are zeros until a [centre](Self::centre) is set.
    /// Samples that are [never smoothed](Self::is_smoothed) ignore the call.
    fn smooth(&mut self, _strength: f64) {}

    /// Sets the centre of the smoothing to the duals at a point, which are the slopes of the loss as it
    /// is smoothed now; without a point, to zeros.
    fn centre(&mut self, _at: Option<&Point<Self::Products>>) {}

    /// Returns intercept, coefficients and duals of the minimum of a merged problem; `None` if it is not far
    /// smaller than F. Of a share of the samples below 1 the duals say nothing.
    fn solve_merged(
        &mut self,
        _lambda: Lambda,
        _merged: &MergedProblem<'_>,
    ) -> Option<(f64, Vec<f64>, Self::Duals)> {
        None
    }

    /// Returns the largest of some radii about the margins at a point for which the samples that stay
    /// unmerged, because their loss is not linear within the radius, take at most half of what a
    /// [merged problem](Self::solve_merged) may; `None` if no radius does.
    fn widest_radius(&mut self, _about: &Point<Self::Products>) -> Option<f64> {
        None
    }

    /// Returns the largest change of a margin between two points.
    fn farthest(&mut self, _one: &Point<Self::Products>, _other: &Point<Self::Products>) -> f64 {
        f64::INFINITY
    }
}

/// The problem in which the samples are merged whose margins are on a line of the loss within a radius
/// about a point, and on the same line at other points.
pub struct MergedProblem<'m> {
    /// The point.
    pub about: &'m Point<()>,
    /// The radius.
    pub radius: f64,
    /// The other points.
    pub left: &'m [Point<()>],
    /// The share of the samples that it is about, drawn at random; 1 for all.
    pub of: f64,
    /// The relative gap to which it is solved.
    pub tolerance: f64,
    /// The time at which the solver gives up.
    pub deadline: Option<Instant>,
    /// Returns true if the solver is to give up.
    pub stop: &'m (dyn Fn() -> bool + Sync),
}

impl MergedProblem<'_> {
    /// A radius within which every loss has left its line, so that no sample is merged.
    pub const ALL: f64 = 1e100;
}

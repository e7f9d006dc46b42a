//! The strength of proximal steps on the dual, and how far margins move, wherever the samples are.

use crate::method::{Ending, Status};

/// The factor to a larger strength.
pub(super) const STRONGER: f64 = 16.0;

/// Returns the unit of strengths, given a mean dual: with it the mean slack `sigma s` is 1. A far
/// smaller slack is lost in the rounding of the margins.
pub(super) fn unit(mean_dual: f64) -> f64 {
    const LARGEST: f64 = 1e15;
    (1.0 / mean_dual).clamp(1.0, LARGEST)
}

/// Returns the strength of the step after one in which Newton's method ended like this: a `weaker`
/// share after few Newton steps, and more where it failed, for steps as long magnify the rounding of
/// the scores.
pub(super) fn next_strength(strength: f64, ending: &Ending, weaker: f64) -> f64 {
    /// The largest number of Newton steps at which the strength becomes smaller.
    const FEW: usize = 12;
    match (ending.status == Status::Converged, ending.iterations) {
        (false, _) => f64::min(1.0, STRONGER * strength),
        (true, ..=FEW) => weaker * strength,
        (true, _) => strength,
    }
}

/// Returns the radius in which margins are expected to stay at the next lambda, given how far they
/// have moved at this one.
pub(super) fn next_radius(radius: f64, moved: f64) -> f64 {
    /// The radius in units of the largest change.
    const AMPLE: f64 = 2.0;
    /// The smallest factor by which the radius shrinks from lambda to lambda.
    const SHRINK: f64 = 0.25;
    let least = if radius.is_finite() { SHRINK * radius } else { 0.0 };
    (AMPLE * moved).max(least)
}

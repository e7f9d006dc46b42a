use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::{Evaluator, Point};

/// A step `t > 0` along a descent direction at which the slope of the convex function
/// `t -> F(point + t direction)` has lost at least a share `1 - rest` of its size.
///
/// Tried first is the full step 1; then the step is doubled while the slope stays negative, or
/// bisected inside the bracket.
pub(crate) fn search<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    lambda: Lambda,
    point: &Point,
    direction: &Point,
    slope_at_zero: f64,
    rest: f64,
) -> f64 {
    const MOST_TRIALS: usize = 60;
    let target = rest * slope_at_zero.abs();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..MOST_TRIALS {
        let slope = evaluator.slope_along(lambda, point, direction, t);
        if slope.abs() <= target {
            return t;
        }
        if slope < 0.0 {
            low = t;
        } else {
            high = t;
        }
        t = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t };
    }
    // The bracket has shrunk to its resolution around the minimum; its lower end is a descent.
    low
}

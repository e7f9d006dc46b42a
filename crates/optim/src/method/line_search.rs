//! The search along a line for a step of a convex function.

/// The condition on the slope at which a search along a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// The slope has lost half of its size or turned positive up to that size. The search is cheap,
    /// but gives no guarantee: past the minimum F may have risen again.
    Near,
    /// The slope has lost half of its size and is not positive: F has decreased for certain,
    /// because it is convex.
    Before,
}

/// Returns a step `t > 0` along a descent direction of a convex function with the derivative
/// `slope_at(t)` along it.
///
/// The full step 1 is tried first; then the step is doubled while the slope stays too negative, or
/// bisected inside the bracket.
pub fn search(mut slope_at: impl FnMut(f64) -> f64, slope_at_zero: f64, accept: Accept) -> f64 {
    const MOST_TRIALS: usize = 100;
    let target = 0.5 * slope_at_zero.abs();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..MOST_TRIALS {
        let slope = slope_at(t);
        let accepted = match accept {
            Accept::Near => slope.abs() <= target,
            Accept::Before => (-target..=0.0).contains(&slope),
        };
        if accepted {
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

/// Returns the intercept that minimises a convex function of it, to the last bits, and the slope
/// that is left there, by Newton steps from `intercept` kept inside a bracket.
///
/// `set` goes to an intercept and returns the slope there and the sum of the sizes of its terms,
/// which its rounding is relative to; `curvature` returns the second derivative at the last
/// intercept. The state is left at the result.
pub fn settle<T: ?Sized>(
    state: &mut T,
    intercept: f64,
    set: impl Fn(&mut T, f64) -> [f64; 2],
    curvature: impl Fn(&mut T) -> f64,
) -> (f64, f64) {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut reach = 1.0f64;
    let mut previous = f64::INFINITY;
    let mut b = intercept;
    loop {
        let [slope, size] = set(state, b);
        let settled = slope.abs() <= 2.0 * f64::EPSILON * size;
        if slope.is_nan() || (settled && slope.is_finite()) {
            return (b, slope);
        }
        if slope > 0.0 {
            high = b;
        } else {
            low = b;
        }
        let newton = b - slope / curvature(state);
        // A Newton step that does not halve the slope gives way to bisection.
        let progressed = slope.abs() <= 0.5 * previous;
        let next = if progressed && low < newton && newton < high {
            newton
        } else if low.is_finite() && high.is_finite() {
            low + 0.5 * (high - low)
        } else {
            reach *= 2.0;
            b - reach.copysign(slope)
        };
        let resolution = 2.0 * f64::EPSILON * b.abs();
        if !next.is_finite() || (next - b).abs() <= resolution {
            return (b, slope);
        }
        previous = slope.abs();
        b = next;
    }
}

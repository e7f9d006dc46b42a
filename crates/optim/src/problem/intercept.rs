//! Minimises a convex function of the intercept.

/// Returns the intercept that minimises a convex function of it, to the last bits, and the slope
/// that is left there, by Newton steps from `intercept` kept inside a bracket.
///
/// Where a Newton step does not halve the slope, as at the kinks of a slope, a chord of the bracket
/// takes its place, with half of the slope at an end that stays (the Illinois rule: Dowell and
/// Jarratt, *A modified regula falsi method*, BIT 11, 1971), and bisection where that does not
/// halve the bracket. A short Newton step does not end the search, as the slope may bend right after
/// it: a bracket as narrow as rounding allows does.
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
    /// An eighth of the first step where its length is unknown.
    const REACH: f64 = 1e-3;
    /// The factor by which such steps grow.
    const FARTHER: f64 = 8.0;
    let mut bracket = Bracket::new();
    let mut reach = REACH;
    let mut previous = f64::INFINITY;
    let mut b = intercept;
    loop {
        let [slope, size] = set(state, b);
        let settled = slope.abs() <= 2.0 * f64::EPSILON * size;
        if slope.is_nan() || (settled && slope.is_finite()) {
            return (b, slope);
        }
        bracket.narrow(b, slope);
        let resolution = 2.0 * f64::EPSILON * b.abs();
        let progressed = slope.abs() <= 0.5 * previous;
        let step = if progressed { slope / curvature(state) } else { f64::NAN };
        let newton = b - step.signum() * step.abs().max(2.0 * resolution);
        let next = if !step.is_nan() && bracket.contains(newton) {
            newton
        } else if bracket.is_finite() {
            bracket.inside(resolution)
        } else {
            reach = FARTHER * reach.max(resolution);
            b - reach.copysign(slope)
        };
        if !next.is_finite() || (next - b).abs() <= resolution {
            return (b, slope);
        }
        previous = slope.abs();
        b = next;
    }
}

/// An interval with a negative slope at its lower end and a positive one at its upper end.
struct Bracket {
    low: (f64, f64),
    high: (f64, f64),
    width: f64,
    /// The sign of the slope that came last.
    side: f64,
}

impl Bracket {
    fn new() -> Self {
        let (low, high) = ((f64::NEG_INFINITY, 0.0), (f64::INFINITY, 0.0));
        Bracket { low, high, width: f64::INFINITY, side: 0.0 }
    }

    /// Moves an end to a point with this slope.
    fn narrow(&mut self, at: f64, slope: f64) {
        let side = slope.signum();
        let (end, other) = if slope > 0.0 {
            (&mut self.high, &mut self.low)
        } else {
            (&mut self.low, &mut self.high)
        };
        *end = (at, slope);
        if side == self.side {
            other.1 *= 0.5;
        }
        self.side = side;
    }

    fn contains(&self, b: f64) -> bool {
        self.low.0 < b && b < self.high.0
    }

    fn is_finite(&self) -> bool {
        self.low.0.is_finite() && self.high.0.is_finite()
    }

    /// Returns the point where the chord is zero; the middle if that point is within the resolution
    /// of an end, or if the last one has not halved the interval.
    fn inside(&mut self, resolution: f64) -> f64 {
        let ((low, falling), (high, rising)) = (self.low, self.high);
        let width = high - low;
        let chord = low - falling * (width / (rising - falling));
        let halved = width <= 0.5 * self.width;
        self.width = width;
        let is_apart = chord - low > resolution && high - chord > resolution;
        if halved && is_apart { chord } else { low + 0.5 * width }
    }
}

#[cfg(test)]
mod tests {
    use super::settle;

    /// Far from zero the last digits of the intercept are coarse, and a slope that bends within
    /// them gives Newton steps of no length long before its root, a million times as far.
    #[test]
    fn a_short_newton_step_does_not_end_the_search() {
        const FAR: f64 = 1e14;
        let bent = |u: f64| 1.0 + 1e3 * u.max(0.0);
        let set = |at: &mut f64, b: f64| {
            *at = b - FAR;
            [0.1 - bent(*at).powf(-1.0 / 6.0), 1.0]
        };
        let curvature = |at: &mut f64| 1e3 / 6.0 * bent(*at).powf(-7.0 / 6.0);
        let (b, slope) = settle(&mut 0.0, FAR, set, curvature);
        // Within two steps of the resolution, 2 eps FAR.
        let apart = 4.0 * f64::EPSILON * FAR;
        assert!((b - FAR - 999.999).abs() <= apart, "{b}");
        assert!(slope.abs() <= apart * curvature(&mut 999.9), "{slope}");
    }
}

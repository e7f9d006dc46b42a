//! One-dimensional searches behind the provided methods of the trait and the proximal points.

/// Returns a root of the nondecreasing function `f`, found to the last few bits by expanding a
/// bracket from `start` and bisecting it; of several roots the one nearest to `start`. Returns
/// `-inf` or `+inf` where `f` keeps its sign as far as `reach`.
pub(crate) fn monotone_root(f: impl Fn(f64) -> f64, start: f64, reach: f64) -> f64 {
    let at_start = f(start);
    if at_start == 0.0 {
        return start;
    }
    // Walk against the sign of f, doubling the step, until f is zero or of the other sign.
    let direction = if at_start > 0.0 { -1.0 } else { 1.0 };
    let reached = |value: f64| value * direction >= 0.0;
    let mut near = start;
    let mut step = 1.0f64.max(start.abs() * f64::EPSILON);
    let mut far = loop {
        let next = start + direction * step;
        if reached(f(next)) {
            break next;
        }
        if step > reach {
            return direction * f64::INFINITY;
        }
        near = next;
        step *= 2.0;
    };
    // Below the spacing of doubles no further halving is possible.
    loop {
        let middle = near + 0.5 * (far - near);
        if middle == near || middle == far {
            return if f(near).abs() < f(far).abs() { near } else { far };
        }
        if reached(f(middle)) {
            far = middle;
        } else {
            near = middle;
        }
    }
}

/// Returns the last zero of a nondecreasing function with `f(0) = 0`; 0 if `f` rises within 1e-6,
/// `+inf` if it is zero as far as `reach`.
pub(crate) fn last_zero(f: impl Fn(f64) -> f64, reach: f64) -> f64 {
    let (mut zero, mut above) = (0.0, 1e-6);
    while f(above) <= 0.0 {
        if above > reach {
            return f64::INFINITY;
        }
        (zero, above) = (above, 2.0 * above);
    }
    if zero == 0.0 {
        return 0.0;
    }
    loop {
        let middle = zero + 0.5 * (above - zero);
        if middle <= zero || middle >= above {
            return zero;
        }
        if f(middle) <= 0.0 {
            zero = middle;
        } else {
            above = middle;
        }
    }
}

/// Returns the root in `[low, high]` of a nondecreasing function, given with its derivative, by
/// Newton's method from `low`, safeguarded by bisection. If rounding puts the root outside, the
/// nearer end.
pub(crate) fn newton_root(f: impl Fn(f64) -> (f64, f64), low: f64, high: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut at = low;
    // Newton converges in a handful of steps; the bound is that of pure bisection.
    for _ in 0..2200 {
        let (value, slope) = f(at);
        if value < 0.0 {
            low = at;
        } else if value > 0.0 {
            high = at;
        } else {
            return at;
        }
        let newton = at - value / slope;
        // A step below the rounding of the iterate; rounding may have put it outside.
        if (newton - at).abs() <= f64::EPSILON * at.abs() {
            return newton.max(low).min(high);
        }
        let next = if low < newton && newton < high { newton } else { low + 0.5 * (high - low) };
        if next <= low || next >= high {
            return next.max(low).min(high);
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{last_zero, monotone_root, newton_root};

    #[test]
    fn last_zero_is_the_end_of_the_plateau() {
        assert_eq!(last_zero(|u| (u - 0.7).max(0.0), 1e100), 0.7);
        assert_eq!(last_zero(|u| u, 1e100), 0.0);
        assert_eq!(last_zero(|_| 0.0, 1e100), f64::INFINITY);
    }

    #[test]
    fn monotone_root_is_the_nearest_of_a_plateau() {
        let plateau = |u: f64| if u < 0.7 { u - 0.7 } else { (u - 9.0).max(0.0) };
        assert_eq!(monotone_root(plateau, 0.0, 1e100), 0.7);
        assert_eq!(monotone_root(plateau, 20.0, 1e100), 9.0);
        assert_eq!(monotone_root(plateau, 3.0, 1e100), 3.0);
        assert_eq!(monotone_root(|_| -1.0, 0.0, 1e100), f64::INFINITY);
        assert_eq!(monotone_root(|_| 1.0, 0.0, 1e100), f64::NEG_INFINITY);
    }

    #[test]
    fn newton_root_converges_and_stays_inside() {
        let cubic = |x: f64| (x * x * x - 2.0, 3.0 * x * x);
        assert!((newton_root(cubic, 0.0, 10.0) - 2f64.cbrt()).abs() < 1e-15);
        // Newton alone diverges on arctan from afar.
        let arctan = |x: f64| ((x - 1.0).atan(), 1.0 / (1.0 + (x - 1.0) * (x - 1.0)));
        assert!((newton_root(arctan, -100.0, 90.0) - 1.0).abs() < 1e-15);
        assert_eq!(newton_root(|x| (x, 1.0), 1.0, 2.0), 1.0);
    }
}

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

/// Returns the lowest of the local minima of `f` that its derivative shows between neighbours of a
/// grid, of several the one nearest to `around`, of two at the same distance the larger one. The grid
/// has steps of 1/8 up to a distance of 8 from 0 and from `around`, doubles the distance up to 1e6,
/// and squares it beyond.
pub(crate) fn lowest_minimum(
    f: impl Fn(f64) -> f64,
    derivative: impl Fn(f64) -> f64,
    around: f64,
) -> f64 {
    const EVEN_STEPS: u32 = 64;
    let even = (0..=EVEN_STEPS).map(|k| f64::from(k) / 8.0);
    let growing =
        std::iter::successors(Some(16.0f64), |d| Some(if *d < 1e6 { 2.0 * d } else { d * d }));
    let distances = even.chain(growing.take_while(|d| *d <= 1e100));
    let sides = distances.flat_map(|d| [-d, d, around - d, around + d]);
    let mut grid: Vec<(f64, f64)> = sides.map(|v| (v, derivative(v))).collect();
    grid.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut best = (f(around), around);
    for pair in grid.windows(2) {
        let [(a, before), (b, after)] = [pair[0], pair[1]];
        let v = if before < 0.0 && after >= 0.0 {
            // The first point where the derivative is no longer negative.
            boundary(a, b, |v| derivative(v) < 0.0).1
        } else if before == 0.0 && after > 0.0 {
            // The last point before it is positive.
            boundary(a, b, |v| derivative(v) <= 0.0).0
        } else {
            continue;
        };
        let value = f(v);
        let (distance, known) = ((v - around).abs(), (best.1 - around).abs());
        let is_nearer = distance < known || (distance == known && v > best.1);
        if value < best.0 || (value == best.0 && is_nearer) {
            best = (value, v);
        }
    }
    best.1
}

/// Returns neighbouring numbers of which the first has a property that `low` has, and the second
/// lacks it as `high` does.
fn boundary(mut low: f64, mut high: f64, has: impl Fn(f64) -> bool) -> (f64, f64) {
    loop {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            return (low, high);
        }
        if has(middle) {
            low = middle;
        } else {
            high = middle;
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
    use super::{last_zero, lowest_minimum, monotone_root, newton_root};

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
    fn the_lowest_of_several_minima_is_found() {
        // Minima of cos(v) + (v - p)^2/50 near odd multiples of pi: the one nearest to p is lowest.
        for p in [-40.3, -3.0, 0.0, 0.4, 7.0, 95.0] {
            let f = |v: f64| v.cos() + (v - p) * (v - p) / 50.0;
            let at = lowest_minimum(f, |v| (v - p) / 25.0 - v.sin(), p);
            let least = (-4000..4000).map(|k| f(p + f64::from(k) / 400.0)).fold(f64::NAN, f64::min);
            assert!(f(at) <= least + 1e-15 && f(at) > least - 1e-5, "{p}: {at}");
        }
        // Plateaus end nearest to the start, and two wells at the same distance are the right one.
        let well = |v: f64| (v.abs() - 2.0).clamp(0.0, 1.0);
        let slope = |v: f64| if 2.0 < v.abs() && v.abs() < 3.0 { v.signum() } else { 0.0 };
        assert_eq!(lowest_minimum(well, slope, 5.0), 2.0);
        let wells = |v: f64| (v * v - 1.0).powi(2);
        assert_eq!(lowest_minimum(wells, |v| 4.0 * v * (v * v - 1.0), 0.0), 1.0);
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

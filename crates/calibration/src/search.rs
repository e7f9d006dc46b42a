//! Bisection of the positive doubles.

/// Returns the smallest double in (0, `top`] at which `reached` holds, if it stays so from there on;
/// `top` if it holds nowhere below. The bit patterns of positive doubles are in their order, so
/// that halving the patterns takes at most 64 steps to the last bit at every size.
pub(crate) fn first(top: f64, reached: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (0, top.to_bits());
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if reached(f64::from_bits(middle)) {
            above = middle;
        } else {
            below = middle;
        }
    }
    f64::from_bits(above)
}

/// Returns `Psi^{-1}(risk)`: the smallest double in [0, 1] at which `psi` reaches the risk, 0 for a
/// risk of at most 0, 1 for one of at least `psi(1)`; NaN for NaN. A risk below the normal numbers,
/// near which Psi is rounded coarsely, counts as the smallest of those, which is on the safe side.
pub(crate) fn inverse(psi: impl Fn(f64) -> f64, risk: f64) -> f64 {
    if risk.is_nan() {
        return risk;
    }
    if risk <= 0.0 {
        return 0.0;
    }
    if risk >= psi(1.0) {
        return 1.0;
    }
    let risk = risk.max(f64::MIN_POSITIVE);
    first(1.0, |a| psi(a) >= risk)
}

#[cfg(test)]
mod tests {
    use super::{first, inverse};

    #[test]
    fn the_first_double_is_found_at_every_size() {
        for target in [5e-324, 1e-310, 1e-160, 0.3, 1.0, 7e99] {
            assert_eq!(first(1e100, |x| x >= target), target);
        }
        assert_eq!(first(2.0, |_| false), 2.0);
    }

    #[test]
    fn inverses_at_the_ends() {
        let square = |a: f64| a * a;
        assert_eq!((inverse(square, 0.0), inverse(square, -1.0)), (0.0, 0.0));
        assert_eq!((inverse(square, 0.25), inverse(square, 1.0)), (0.5, 1.0));
        assert_eq!((inverse(square, 2.0), inverse(square, f64::INFINITY)), (1.0, 1.0));
        assert!(inverse(square, f64::NAN).is_nan());
        // The inverse lies above where the square is no normal number.
        assert!(inverse(square, 5e-324) >= 1e-154);
        assert_eq!(inverse(|_| f64::NAN, 0.5), 1.0);
    }
}

//! The binomial bound on an error rate, from mistakes on independent samples of equal weight.

/// Returns the largest p with `P(Bin(n, p) <= mistakes) >= delta`, to 1e-12, but no less than
/// `mistakes/n`: with probability at least `1 - delta` the error rate of a classifier that makes so
/// many mistakes on n independent samples is at most p. A delta above about 1/2 has a p below the
/// share of mistakes, which is returned instead.
///
/// By Pinsker's inequality it is never above Hoeffding's bound `mistakes/n + sqrt(ln(1/delta)/(2n))`.
///
/// Source: C. J. Clopper and E. S. Pearson, *The use of confidence or fiducial limits illustrated in
/// the case of the binomial*, Biometrika 1934.
pub(crate) fn upper_bound(mistakes: usize, n: usize, delta: f64) -> f64 {
    if mistakes >= n {
        return 1.0;
    }
    let log_coefficient = log_binomial(n, mistakes);
    let (mut low, mut high) = (mistakes as f64 / n as f64, 1.0);
    while high - low > 1e-13 {
        let middle = f64::midpoint(low, high);
        if log_tail(mistakes, n, middle, log_coefficient) >= delta.ln() {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns `ln(n choose k)`.
fn log_binomial(n: usize, k: usize) -> f64 {
    (1..=k.min(n - k)).map(|j| ((n - k.min(n - k) + j) as f64 / j as f64).ln()).sum()
}

/// Returns `ln P(Bin(n, p) <= k)` for `k < n` and `p >= k/n`, where the terms fall from k on down.
fn log_tail(k: usize, n: usize, p: f64, log_coefficient: f64) -> f64 {
    let last = log_coefficient + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln();
    let (mut term, mut sum) = (1.0, 1.0);
    for j in (1..=k).rev() {
        term *= j as f64 / (n - j + 1) as f64 * ((1.0 - p) / p);
        sum += term;
        if term < f64::EPSILON * sum / k as f64 {
            break;
        }
    }
    last + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `1 - delta^(1/n)` without mistakes, the figure of docs/massart.md, and the share of mistakes for
    /// a large delta.
    #[test]
    fn bounds_by_hand() {
        for (n, delta) in [(1, 0.05f64), (10, 0.3), (1000, 1e-6)] {
            let exact = 1.0 - delta.powf(1.0 / n as f64);
            assert!((upper_bound(0, n, delta) - exact).abs() < 1e-12);
            // All but one: 1 - p^n = delta.
            let exact = (1.0 - delta).powf(1.0 / n as f64);
            assert!((upper_bound(n - 1, n, delta) - exact).abs() < 1e-12);
        }
        assert!((upper_bound(8, 400, 0.05 / 66.0) - 0.053).abs() < 5e-4);
        assert_eq!(upper_bound(7, 7, 0.1), 1.0);
        assert!((upper_bound(2, 11, 0.8) - 2.0 / 11.0).abs() < 1e-12);
    }

    proptest! {
        /// It solves its equation, by the sum of all terms, and is below Hoeffding's bound.
        #[test]
        fn the_tail_at_the_bound_is_delta(n in 1usize..300, share in 0.0..1.0f64, delta in 1e-9..0.9f64) {
            let k = ((n as f64 * share) as usize).min(n - 1);
            let p = upper_bound(k, n, delta);
            let tail = |p: f64| {
                let mut term = (1.0 - p).powi(n as i32);
                let mut tail = term;
                for j in 1..=k {
                    term *= (n - j + 1) as f64 / j as f64 * (p / (1.0 - p));
                    tail += term;
                }
                (term > 0.0 && (1.0 - p).powi(n as i32) > 1e-290).then_some(tail)
            };
            let is_share = p - k as f64 / (n as f64) < 1e-12;
            let lower = tail(p - 2e-13);
            prop_assert!(is_share || lower.is_none_or(|tail| tail >= delta * (1.0 - 1e-9)));
            prop_assert!(tail((p + 2e-13).min(1.0)).is_none_or(|tail| tail <= delta * (1.0 + 1e-9)));
            let hoeffding = k as f64 / n as f64 + (-delta.ln() / (2.0 * n as f64)).sqrt();
            prop_assert!(p <= hoeffding, "{p} {hoeffding}");
            prop_assert!(p >= k as f64 / n as f64);
            prop_assert!(upper_bound(k, n + 1, delta) <= p && upper_bound(k, n, delta / 2.0) >= p);
        }
    }

    /// The tail of many rows with many mistakes neither underflows nor takes long.
    #[test]
    fn many_rows_are_bounded() {
        let bound = upper_bound(300_000, 1_000_000, 0.05);
        // The normal approximation.
        assert!((bound - (0.3 + 1.645 * (0.21f64 / 1e6).sqrt())).abs() < 2e-5, "{bound}");
    }
}

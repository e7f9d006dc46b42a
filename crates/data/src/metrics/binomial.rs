//! Tails of the binomial distribution, and the bound on an error rate that they give.

/// Returns `P(Bin(n, p) >= k)` with a relative error of about 1e-12, in time of the order of a
/// standard deviation.
///
/// ```
/// use margins_data::metrics::binomial::{at_least, fewer_than};
///
/// assert!((at_least(2, 3, 0.5) - 0.5).abs() < 1e-12);
/// assert!((fewer_than(1, 3, 0.1) - 0.729).abs() < 1e-12);
/// ```
pub fn at_least(k: u64, n: u64, p: f64) -> f64 {
    tails(k, n, p).1
}

/// Returns `P(Bin(n, p) < k)` as [`at_least`] does.
pub fn fewer_than(k: u64, n: u64, p: f64) -> f64 {
    tails(k, n, p).0
}

/// Returns the largest p with `P(Bin(n, p) <= mistakes) >= delta`, to 1e-12, but no less than
/// `mistakes/n`, from the logarithm of delta, because delta may be too small for a number. With
/// probability at least `1 - delta` the error rate of a classifier that makes so many mistakes on n
/// independent samples is at most p. A delta above about 1/2 has a p below the share of mistakes,
/// which is returned instead.
///
/// By Pinsker's inequality it is never above Hoeffding's bound `mistakes/n + sqrt(ln(1/delta)/(2n))`.
///
/// Source: C. J. Clopper and E. S. Pearson, *The use of confidence or fiducial limits illustrated in
/// the case of the binomial*, Biometrika 1934.
///
/// ```
/// use margins_data::metrics::binomial::upper_limit;
///
/// // The rule of three: without a mistake it is near 3/n for delta = 0.05.
/// assert!((upper_limit(0, 1000, 0.05f64.ln()) - 0.003).abs() < 1e-5);
/// ```
pub fn upper_limit(mistakes: usize, n: usize, log_delta: f64) -> f64 {
    if mistakes >= n {
        return 1.0;
    }
    let (k, n) = (mistakes as f64, n as f64);
    let (mut low, mut high) = (k / n, 1.0);
    while high - low > 1e-13 {
        let middle = f64::midpoint(low, high);
        if log_at_most(k, n, middle) >= log_delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns `P(Bin(n, p) < k)` and `P(Bin(n, p) >= k)`, of which the one in the tail is a sum of terms
/// and the other its complement.
fn tails(k: u64, n: u64, p: f64) -> (f64, f64) {
    if k == 0 || (p >= 1.0 && k <= n) {
        return (0.0, 1.0);
    }
    if k > n || p <= 0.0 {
        return (1.0, 0.0);
    }
    let (n, k) = (n as f64, k as f64);
    if k > n * p {
        let odds = p / (1.0 - p);
        let logarithm = log_term(k, n, p) + log_sum(k, 1.0, |j| (n - j) / (j + 1.0) * odds);
        let above = logarithm.exp().min(1.0);
        (1.0 - above, above)
    } else {
        let below = log_at_most(k - 1.0, n, p).exp().min(1.0);
        (below, 1.0 - below)
    }
}

/// Returns `ln P(Bin(n, p) <= k)` for `k <= n p`, where the terms fall from k on down.
fn log_at_most(k: f64, n: f64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    log_term(k, n, p) + log_sum(k, -1.0, |j| j / (n - j + 1.0) * odds)
}

/// Returns the logarithm of the sum of the terms from `j` on in steps, relative to the first one;
/// `ratio` is that of a term to its neighbour further out.
fn log_sum(mut j: f64, step: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    while term > 1e-17 * sum {
        term *= ratio(j);
        sum += term;
        j += step;
    }
    sum.ln()
}

/// Returns the logarithm of `P(Bin(n, p) = k)` by the saddle point of Loader (2000).
fn log_term(k: f64, n: f64, p: f64) -> f64 {
    if k == 0.0 {
        return n * (-p).ln_1p();
    }
    if k == n {
        return n * p.ln();
    }
    let rest = n - k;
    let correction = stirling_error(n) - stirling_error(k) - stirling_error(rest);
    let deviance = deviance(k, n * p) + deviance(rest, n * (1.0 - p));
    correction - deviance - 0.5 * (2.0 * std::f64::consts::PI * k * (rest / n)).ln()
}

/// Returns `ln n! - (n ln n - n + ln(2 pi n)/2)` for a whole number of at least 1.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let factorial: f64 = (1..=n as u64).map(|j| j as f64).product();
        return factorial.ln() - (n * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI * n).ln());
    }
    let square = n * n;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / n
}

/// Returns `x ln(x/m) + m - x`, without cancellation where x is near m.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    // 2 x (v^3/3 + v^5/5 + ...) + difference v, v = (x - m)/(x + m).
    let v = difference / (x + mean);
    let (mut sum, mut power) = (difference * v, 2.0 * x * v);
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds;

    use proptest::prelude::*;

    use super::*;

    /// Returns the probability of a range by the sum of its terms, each by a recurrence from
    /// `(1 - p)^n`.
    fn by_definition(range: impl RangeBounds<u64>, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = 0.0;
        for j in 0..=n {
            if range.contains(&j) {
                sum += term;
            }
            term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
        }
        sum
    }

    proptest! {
        #[test]
        fn tails_are_sums_of_their_terms(n in 1u64..200, k in 0u64..201, p in 0.001..0.97f64) {
            for (found, expected) in [
                (at_least(k, n, p), by_definition(k.., n, p)),
                (fewer_than(k, n, p), by_definition(..k, n, p)),
            ] {
                prop_assert!((found - expected).abs() <= 1e-11 * expected + 1e-15, "{found} {expected}");
            }
        }

        /// The limit solves its equation, by the sum of all terms, and is below Hoeffding's bound.
        #[test]
        fn the_tail_at_the_limit_is_delta(n in 1usize..300, share in 0.0..1.0f64, delta in 1e-9..0.9f64) {
            let k = ((n as f64 * share) as usize).min(n - 1);
            let p = upper_limit(k, n, delta.ln());
            let tail = |p: f64| {
                let tail = by_definition(..=k as u64, n as u64, p);
                ((1.0 - p).powi(n as i32) > 1e-290).then_some(tail)
            };
            let is_share = p - k as f64 / (n as f64) < 1e-12;
            prop_assert!(is_share || tail(p - 2e-13).is_none_or(|tail| tail >= delta * (1.0 - 1e-9)));
            prop_assert!(tail((p + 2e-13).min(1.0)).is_none_or(|tail| tail <= delta * (1.0 + 1e-9)));
            let hoeffding = k as f64 / n as f64 + (-delta.ln() / (2.0 * n as f64)).sqrt();
            prop_assert!(p <= hoeffding, "{p} {hoeffding}");
            prop_assert!(p >= k as f64 / n as f64);
            prop_assert!(upper_limit(k, n + 1, delta.ln()) <= p && upper_limit(k, n, (delta / 2.0).ln()) >= p);
        }
    }

    /// `1 - delta^(1/n)` without mistakes, the figure of docs/massart.md, and the share of mistakes for
    /// a large delta.
    #[test]
    fn limits_by_hand() {
        for (n, delta) in [(1, 0.05f64), (10, 0.3), (1000, 1e-6)] {
            let exact = 1.0 - delta.powf(1.0 / n as f64);
            assert!((upper_limit(0, n, delta.ln()) - exact).abs() < 1e-12);
            // All but one: 1 - p^n = delta.
            let exact = (1.0 - delta).powf(1.0 / n as f64);
            assert!((upper_limit(n - 1, n, delta.ln()) - exact).abs() < 1e-12);
        }
        assert!((upper_limit(8, 400, (0.05f64 / 66.0).ln()) - 0.053).abs() < 5e-4);
        assert_eq!(upper_limit(7, 7, 0.1f64.ln()), 1.0);
        assert!((upper_limit(2, 11, 0.8f64.ln()) - 2.0 / 11.0).abs() < 1e-12);
    }

    /// The tail of many rows with many mistakes neither underflows nor takes long.
    #[test]
    fn many_rows_are_bounded() {
        let bound = upper_limit(300_000, 1_000_000, 0.05f64.ln());
        // The normal approximation.
        assert!((bound - (0.3 + 1.645 * (0.21f64 / 1e6).sqrt())).abs() < 2e-5, "{bound}");
        assert!(upper_limit(0, 1000, -1e4) > 1.0 - 1e-4);
    }

    #[test]
    fn ends_and_large_numbers() {
        assert_eq!(
            (at_least(0, 5, 0.3), at_least(6, 5, 0.3), at_least(2, 5, 1.0)),
            (1.0, 0.0, 1.0)
        );
        // The median of a symmetric distribution, n odd, to the last digits.
        assert!((at_least(500_000_001, 1_000_000_001, 0.5) - 0.5).abs() < 1e-11);
        // P(Bin(n, 1/n) = 0) tends to 1/e with the error 1/(2 e n).
        let n = 1_000_000_000;
        let none = 1.0 - at_least(1, n, 1e-9);
        assert!((none - (-1f64).exp()).abs() < 1e-9, "{none}");
    }
}

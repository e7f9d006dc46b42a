//! Tails of the binomial distribution.

/// Returns `P(Bin(n, p) > x)`.
pub(super) fn more_than(x: f64, n: u64, p: f64) -> f64 {
    if x >= n as f64 { 0.0 } else { at_least(x.floor() as u64 + 1, n, p) }
}

/// Returns `P(Bin(n, p) >= k)` with a relative error of about 1e-12, in time of the order of a
/// standard deviation. Sums the smaller tail, from its largest term on.
pub(super) fn at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return if k <= n { 1.0 } else { 0.0 };
    }
    if k > n || p <= 0.0 {
        return 0.0;
    }
    let (n, k, q) = (n as f64, k as f64, 1.0 - p);
    // The ratio of a term to its neighbour further out.
    let up = |j: f64| (n - j) / (j + 1.0) * (p / q);
    let down = |j: f64| j / (n - j + 1.0) * (q / p);
    if k > n * p {
        tail(log_term(k, n, p), k, 1.0, up)
    } else {
        1.0 - tail(log_term(k - 1.0, n, p), k - 1.0, -1.0, down)
    }
}

/// Returns the sum of the terms from `j` on in steps, of which the first has this logarithm.
fn tail(logarithm: f64, mut j: f64, step: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    while term > 1e-17 * sum {
        term *= ratio(j);
        sum += term;
        j += step;
    }
    (logarithm + sum.ln()).exp().min(1.0)
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
    use proptest::prelude::*;

    use super::*;

    /// Returns the probability by the sum of all terms, each by a recurrence from `(1 - p)^n`.
    fn by_definition(k: u64, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = 0.0;
        for j in 0..=n {
            if j >= k {
                sum += term;
            }
            term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
        }
        sum
    }

    proptest! {
        #[test]
        fn tails_are_sums_of_their_terms(n in 1u64..200, k in 0u64..201, p in 0.001..0.97f64) {
            let (found, expected) = (at_least(k, n, p), by_definition(k, n, p));
            prop_assert!((found - expected).abs() <= 1e-11 * expected + 1e-15, "{} {}", found, expected);
        }
    }

    #[test]
    fn ends_and_large_numbers() {
        assert_eq!(
            (at_least(0, 5, 0.3), at_least(6, 5, 0.3), at_least(2, 5, 1.0)),
            (1.0, 0.0, 1.0)
        );
        assert_eq!((more_than(1.5, 3, 0.25), more_than(2.0, 2, 0.5)), (at_least(2, 3, 0.25), 0.0));
        // The median of a symmetric distribution, n odd, to the last digits.
        assert!((at_least(500_000_001, 1_000_000_001, 0.5) - 0.5).abs() < 1e-11);
        // P(Bin(n, 1/n) = 0) tends to 1/e with the error 1/(2 e n).
        let n = 1_000_000_000;
        let none = 1.0 - at_least(1, n, 1e-9);
        assert!((none - (-1f64).exp()).abs() < 1e-9, "{none}");
    }
}

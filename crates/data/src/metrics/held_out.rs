//! The error on rows that were held out, with the bound that it gives on new rows.

use super::binomial::upper_limit;

/// The error of a classifier on rows held out, with a bound on its error on new rows.
///
/// The classifier was chosen from a number of candidates, and none of them has learned from the rows
/// held out, which are independent and of the distribution of the new rows.
///
/// ```
/// use margins_data::metrics::HeldOutError;
///
/// // No mistakes on 20 rows, by the best of 31 classifiers.
/// let held_out = HeldOutError::new(0.0, 31, 0.01, &[1.0; 20]);
/// assert_eq!((held_out.rows, held_out.candidates), (20, 31));
/// assert!((held_out.bound - 0.331).abs() < 1e-3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutError {
    /// The number of rows held out, of positive weight.
    pub rows: usize,
    /// The number of candidates.
    pub candidates: usize,
    /// The share of the rows that the classifier gets wrong, by weight.
    pub error: f64,
    /// The [bound](error_bound) that holds with probability at least `1 - delta` for all candidates at
    /// once.
    pub bound: f64,
}

impl HeldOutError {
    /// Returns the error with its bound, for rows of these weights.
    pub fn new(error: f64, candidates: usize, delta: f64, weights: &[f64]) -> Self {
        let rows = weights.iter().filter(|&&weight| weight > 0.0).count();
        HeldOutError {
            rows,
            candidates,
            error,
            bound: error_bound(error, &[candidates], delta, weights),
        }
    }
}

/// Returns the bound on the error of a classifier, or of several that decide together, which holds with
/// probability at least `1 - delta`.
///
/// Each classifier k was chosen from a number c_k of candidates, and all of them together get the
/// share `error` of the rows held out wrong, by weight. There are `prod c_k` combinations of
/// candidates, so that the bound for a fixed classifier at the level `delta/prod c_k` holds for all
/// combinations at once. Rows of equal weight have the [binomial limit](upper_limit), others Hoeffding's
/// bound `error + sqrt((sum ln c_k + ln(1/delta))/(2n))`, with their
/// [effective number](effective_size) for n.
///
/// ```
/// use margins_data::metrics::error_bound;
///
/// let bound = error_bound(0.02, &[66, 66, 66], 0.05, &[1.0; 400]);
/// assert!((bound - 0.0806).abs() < 1e-4, "{bound}");
/// assert!(error_bound(0.02, &[66], 0.05, &[1.0; 400]) < bound);
/// ```
pub fn error_bound(error: f64, candidates: &[usize], delta: f64, weights: &[f64]) -> f64 {
    let combinations: f64 = candidates.iter().map(|&count| (count as f64).ln()).sum();
    let log_delta = delta.ln() - combinations;
    if let Some(n) = equal_weights(weights) {
        return upper_limit((error * n as f64).round() as usize, n, log_delta);
    }
    (error + (-log_delta / (2.0 * effective_size(weights))).sqrt()).min(1.0)
}

/// Returns the number of positive weights if these are equal.
pub fn equal_weights(weights: &[f64]) -> Option<usize> {
    let mut positive = weights.iter().copied().filter(|&weight| weight > 0.0);
    let first = positive.next()?;
    positive.try_fold(1, |count, weight| (weight == first).then_some(count + 1))
}

/// Returns `(sum w)^2 / sum w^2`, the effective number of rows of these weights.
pub fn effective_size(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    total * total / weights.iter().map(|w| w * w).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never above Hoeffding's bound over all combinations; more candidates or a smaller delta
        /// never lower it, whatever the weights; and so many combinations that no number counts them
        /// have a bound too.
        #[test]
        fn bounds_of_combinations_are_below_hoeffdings(
            n in 1usize..300,
            share in 0.0f64..1.0,
            candidates in proptest::collection::vec(1usize..100_000, 1..200),
            delta in 1e-6f64..0.5,
            equal in any::<bool>(),
        ) {
            let weights: Vec<f64> = (0..n).map(|i| if equal { 2.0 } else { 1.0 + (i % 3) as f64 }).collect();
            let error = (share * n as f64).floor() / n as f64;
            let logs: f64 = candidates.iter().map(|&c| (c as f64).ln()).sum();
            let hoeffding = error + ((logs - delta.ln()) / (2.0 * effective_size(&weights))).sqrt();
            let bound = error_bound(error, &candidates, delta, &weights);
            prop_assert!(bound >= error && bound <= hoeffding.min(1.0) + 1e-9, "{bound} {hoeffding}");
            let [more, sure] = [
                error_bound(error, &[&candidates[..], &[2]].concat(), delta, &weights),
                error_bound(error, &candidates, delta / 2.0, &weights),
            ];
            prop_assert!(more >= bound - 1e-12 && (more - sure).abs() < 1e-9, "{more} {sure}");
        }
    }

    /// Equal weights have the lower of the two bounds; weights of 0 count nothing.
    #[test]
    fn bounds_by_hand() {
        let held_out = |weights: &[f64]| HeldOutError::new(0.25, 4, 0.1, weights);
        let hoeffding = |n: f64| 0.25 + (40f64.ln() / (2.0 * n)).sqrt();
        let equal = held_out(&[3.0; 40]);
        assert_eq!(equal, held_out(&[[1.0; 40].as_slice(), &[0.0; 5]].concat()));
        assert_eq!((equal.rows, equal.bound), (40, upper_limit(10, 40, 0.025f64.ln())));
        assert!(equal.bound < hoeffding(40.0), "{equal:?}");
        // 20 rows of weight 3 and 20 of weight 1 are as good as 80^2/200 = 32 rows.
        let unequal = held_out(&[[3.0; 20], [1.0; 20]].concat());
        assert!((unequal.bound - hoeffding(32.0)).abs() < 1e-12, "{unequal:?}");
        assert_eq!(HeldOutError::new(0.9, 1, 1e-9, &[1.0, 2.0]).bound, 1.0);
    }
}

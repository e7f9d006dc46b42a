//! Probabilities of several classes from the probabilities of every pair.

use crate::Error;

/// Returns the probabilities of k classes from those of every pair: `later[m]` is P(j | i or j) for
/// the m-th pair `i < j` in the order (0, 1), (0, 2), ..., (0, k - 1), (1, 2), ...
///
/// They are the p that minimises `sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2` subject to
/// `sum_i p_i = 1`, with `r_ij` = P(i
/// i or j) kept within 1e-7 of 0 and 1. With `Q_ii = sum_{j != i} r_ji^2` and `Q_ij = -r_ji r_ij`
/// it is the solution of `Q p = b 1`, which is unique and not negative. If some p has
/// `p_i/(p_i + p_j) = r_ij` for every pair, it is this one. The time is O(k^3).
///
/// Source: Wu, Lin and Weng, *Probability estimates for multi-class classification by pairwise
/// coupling*, JMLR 5 (2004), section 4.2 (their second approach, equations 18 to 21).
///
/// ```
/// use margins_calibration::probability::pairwise_coupling;
///
/// let p = pairwise_coupling(3, &[0.3 / 0.5, 0.5 / 0.7, 0.5 / 0.8])?;
/// for (p, truth) in p.iter().zip([0.2, 0.3, 0.5]) {
///     assert!((p - truth).abs() < 1e-12);
/// }
/// # Ok::<(), margins_calibration::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`]: the pairs are not as many as k classes have. [`Error::Entry`]: a probability
/// is not in \[0, 1\].
pub fn pairwise_coupling(classes: usize, later: &[f64]) -> Result<Vec<f64>, Error> {
    const EDGE: f64 = 1e-7;
    let pairs = classes * classes.saturating_sub(1) / 2;
    Error::check_length("probabilities, one per pair", pairs, later.len())?;
    Error::check_entries("probability", later, "from 0 to 1", |p| (0.0..=1.0).contains(&p))?;
    let order = classes + 1;
    // The system is (Q, -1; 1', 0) (p; b) = (0; 1), each row with the right-hand side behind it.
    let mut system = vec![vec![0.0; order + 1]; order];
    let mut rest = later.iter();
    for i in 0..classes {
        for j in i + 1..classes {
            let r_ji = rest.next().map_or(0.5, |p| p.clamp(EDGE, 1.0 - EDGE));
            let r_ij = 1.0 - r_ji;
            system[i][i] += r_ji * r_ji;
            system[j][j] += r_ij * r_ij;
            system[i][j] = -r_ji * r_ij;
            system[j][i] = -r_ji * r_ij;
        }
        system[i][classes] = -1.0;
        system[classes][i] = 1.0;
    }
    system[classes][order] = 1.0;
    let mut p = eliminate(system);
    p.truncate(classes);
    // Rounding alone makes probabilities negative.
    p.iter_mut().for_each(|p| *p = p.max(0.0));
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
    Ok(p)
}

/// Returns the solution by Gaussian elimination with row pivoting; every row has its right-hand
/// side as last entry.
fn eliminate(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let size = |row: &Vec<f64>| row[k].abs();
        let pivot =
            (k + 1..n).fold(k, |best, i| if size(&rows[i]) > size(&rows[best]) { i } else { best });
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        let row = &above[k];
        for other in below {
            let factor = other[k] / row[k];
            other[k..].iter_mut().zip(&row[k..]).for_each(|(x, r)| *x -= factor * r);
        }
    }
    let mut solution = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * solution[j]).sum();
        solution[k] = (rows[k][n] - known) / rows[k][k];
    }
    solution
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..k).flat_map(move |i| (i + 1..k).map(move |j| (i, j)))
    }

    /// Returns `sum_{i != j} (r_ji p_i - r_ij p_j)^2`, each pair counted once.
    fn objective(k: usize, later: &[f64], p: &[f64]) -> f64 {
        let term = |((i, j), r): ((usize, usize), &f64)| (r * p[i] - (1.0 - r) * p[j]).powi(2);
        pairs(k).zip(later).map(term).sum()
    }

    proptest! {
        /// Consistent pairs give back what they come from.
        #[test]
        fn consistent_pairs(weights in proptest::collection::vec(0.01..1.0f64, 2..9)) {
            let (k, sum) = (weights.len(), weights.iter().sum::<f64>());
            let later: Vec<f64> =
                pairs(k).map(|(i, j)| weights[j] / (weights[i] + weights[j])).collect();
            let p = pairwise_coupling(k, &later).unwrap();
            for (p, w) in p.iter().zip(&weights) {
                prop_assert!((p - w / sum).abs() < 1e-10);
            }
        }

        /// No other distribution is better, and the result is one.
        #[test]
        fn no_move_is_better(k in 2usize..7, values in proptest::collection::vec(0.0..=1.0f64, 21)) {
            let later = &values[..k * (k - 1) / 2];
            let p = pairwise_coupling(k, later).unwrap();
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|p| *p >= 0.0));
            let least = objective(k, later, &p);
            for (i, j) in pairs(k) {
                for step in [1e-3, -1e-3] {
                    let mut other = p.clone();
                    other[i] += step;
                    other[j] -= step;
                    if other.iter().all(|p| *p >= 0.0) {
                        // The clamp to 1e-7 moves the minimum by as much.
                        prop_assert!(objective(k, later, &other) >= least - 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn certain_pairs_and_refusals() {
        let certain = pairwise_coupling(3, &[0.0, 0.0, 1.0]).unwrap();
        assert!(certain[0] > 1.0 - 1e-6);
        assert_eq!(pairwise_coupling(2, &[0.25]).unwrap(), [0.75, 0.25]);
        assert!(pairwise_coupling(3, &[0.5]).is_err());
        assert!(pairwise_coupling(2, &[f64::NAN]).is_err());
    }
}

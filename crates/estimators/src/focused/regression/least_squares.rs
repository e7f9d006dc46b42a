//! Least squares on a design.

use margins_data::Design;
use margins_optim::method::{Limits, least_squares};

/// The share of the first gradient at which the gradient counts as 0.
const TOLERANCE: f64 = 1e-9;

/// Returns the w of smallest norm that minimises `||Xw - y||^2`, to a gradient of 1e-9 of the first one, or
/// as near as twice as many steps as X has rows or columns come, or as time allows.
pub(super) fn solution(design: &Design, targets: &[f64], limits: &Limits<'_>) -> Vec<f64> {
    let (n, p) = (design.rows(), design.columns());
    let multiply = |w: &[f64]| {
        let mut scores = vec![0.0; n];
        design.multiply(w, &mut scores);
        scores
    };
    let pull = |residual: &[f64]| {
        let mut gradient = vec![0.0; p];
        design.multiply_transposed(residual, &mut gradient);
        gradient
    };
    let stop = || limits.reached().is_some();
    least_squares(targets, multiply, pull, TOLERANCE, 2 * p.min(n), stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_smallest_solution() {
        let limits = Limits::default();
        // Columns 0 and 2 are alike, so that the smallest solution shares its weight among them.
        let rows = [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, 1.0]];
        let design = Design::from_rows(&rows).unwrap();
        let [w, v] = [3.0, -1.0];
        let targets = rows.map(|row| 2.0 * w * row[0] + v * row[1]);
        let found = solution(&design, &targets, &limits);
        assert!(
            found.iter().zip([w, v, w]).all(|(found, expected)| (found - expected).abs() < 1e-9)
        );
        // The mean of targets is the least squares solution of an intercept alone.
        let ones = Design::from_rows(&[[1.0], [1.0], [1.0]]).unwrap();
        assert!((solution(&ones, &[1.0, 0.5, 0.0], &limits)[0] - 0.5).abs() < 1e-12);
        assert_eq!(solution(&ones, &[1.0, -1.0, 0.0], &limits), [0.0]);
    }
}

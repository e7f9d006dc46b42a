//! Least squares, by conjugate gradients on the normal equations.

use margins_data::Design;
use margins_optim::method::Limits;

/// The share of the first gradient at which the gradient counts as 0.
const TOLERANCE: f64 = 1e-9;

/// Returns the w of smallest norm that minimises `||Xw - y||^2`, to a gradient of 1e-9 of the first one, or
/// as near as twice as many steps as X has rows or columns come, or as time allows.
///
/// Source: Hestenes and Stiefel (1952), section 10.
pub(super) fn solution(design: &Design, targets: &[f64], limits: &Limits<'_>) -> Vec<f64> {
    let columns = design.columns();
    let square = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>();
    let mut solution = vec![0.0; columns];
    let mut residual = targets.to_vec();
    let mut gradient = vec![0.0; columns];
    design.multiply_transposed(&residual, &mut gradient);
    let mut direction = gradient.clone();
    let mut image = vec![0.0; design.rows()];
    let first = square(&gradient);
    let mut slope = first;
    for _ in 0..2 * columns.min(design.rows()) {
        design.multiply(&direction, &mut image);
        let step = slope / square(&image);
        if slope <= TOLERANCE * TOLERANCE * first || !step.is_finite() || limits.reached().is_some()
        {
            break;
        }
        solution.iter_mut().zip(&direction).for_each(|(w, d)| *w += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
        design.multiply_transposed(&residual, &mut gradient);
        let next = square(&gradient);
        let share = next / slope;
        direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + share * *d);
        slope = next;
    }
    solution
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

//! The norm of a least squares solution.

use margins_data::Design;

/// The share of the first gradient at which the gradient counts as 0.
const TOLERANCE: f64 = 1e-6;

/// Returns the norm of the w of smallest norm that minimises `||Xw - y||^2`, or 1 if it is 0 or not a
/// number: by conjugate gradients on the normal equations, from 0, to a gradient of 1e-6 of the first.
///
/// Source: Hestenes and Stiefel (1952), section 10.
pub(super) fn norm(design: &Design, targets: &[f64]) -> f64 {
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
        if slope <= TOLERANCE * TOLERANCE * first || !step.is_finite() {
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
    match square(&solution).sqrt() {
        norm if norm > 0.0 && norm.is_finite() => norm,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_norm_of_the_smallest_solution() {
        // Columns 0 and 2 are alike, so that the smallest solution shares its weight among them.
        let rows = [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, 1.0]];
        let design = Design::from_rows(&rows).unwrap();
        let [w, v] = [3.0, -1.0];
        let targets = rows.map(|row| 2.0 * w * row[0] + v * row[1]);
        assert!((norm(&design, &targets) - (2.0 * w * w + v * v).sqrt()).abs() < 1e-9);
        // The mean of targets is the least squares solution of an intercept alone.
        let ones = Design::from_rows(&[[1.0], [1.0], [1.0]]).unwrap();
        assert!((norm(&ones, &[1.0, 0.5, 0.0]) - 0.5).abs() < 1e-12);
        assert_eq!(norm(&ones, &[0.0; 3]), 1.0);
        assert_eq!(norm(&ones, &[1.0, -1.0, 0.0]), 1.0);
    }
}

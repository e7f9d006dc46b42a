//! Least squares by conjugate gradients on the normal equations.

use crate::problem::summation::dot;

/// Returns the x of smallest norm that minimises `||A x - y||^2`, to a gradient `A'(y - A x)` of `tolerance`
/// times that at 0, or as near as `most` steps come, or the steps until `stop` returns true.
///
/// `multiply` returns `A x`, `pull` returns `A'r`.
///
/// Source: Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, J. Res. Nat.
/// Bur. Stand. 49 (1952), section 10.
///
/// ```
/// use margins_optim::method::least_squares;
///
/// // A line through three points.
/// let (t, y) = ([0.0, 1.0, 2.0], [1.0, 2.0, 6.0]);
/// let multiply = |x: &[f64]| t.map(|t| x[0] + x[1] * t).to_vec();
/// let pull = |r: &[f64]| vec![r.iter().sum(), r.iter().zip(t).map(|(r, t)| r * t).sum()];
/// let line = least_squares(&y, multiply, pull, 1e-12, 10, || false);
/// assert!((line[0] - 0.5).abs() < 1e-9 && (line[1] - 2.5).abs() < 1e-9);
/// ```
pub fn least_squares(
    targets: &[f64],
    mut multiply: impl FnMut(&[f64]) -> Vec<f64>,
    mut pull: impl FnMut(&[f64]) -> Vec<f64>,
    tolerance: f64,
    most: usize,
    mut stop: impl FnMut() -> bool,
) -> Vec<f64> {
    let mut residual = targets.to_vec();
    let mut gradient = pull(&residual);
    let mut solution = vec![0.0; gradient.len()];
    let mut direction = gradient.clone();
    let mut square = dot(&gradient, &gradient);
    let enough = tolerance * tolerance * square;
    for _ in 0..most {
        if square <= enough || stop() {
            break;
        }
        let image = multiply(&direction);
        let step = square / dot(&image, &image);
        if !step.is_finite() {
            break;
        }
        solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
        gradient = pull(&residual);
        let next = dot(&gradient, &gradient);
        direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + next / square * *d);
        square = next;
    }
    solution
}

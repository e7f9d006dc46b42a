//! The norm of a function `sum_i r_i k(x_i, .)` in the function space of a kernel.

/// Returns `a'b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Returns the root of `r'Kr`, given `Kr`, or more by what rounding may have taken from it;
/// infinite where the square has underflowed.
pub(crate) fn norm_of(r: &[f64], image: &[f64], radius: f64) -> f64 {
    match largest_square(r, radius) {
        Some(largest) => (dot(r, image).max(0.0) + f64::EPSILON * largest).sqrt(),
        None => f64::INFINITY,
    }
}

/// Returns the most that `r'Kr` can be; `None` where it underflows.
pub(crate) fn largest_square(r: &[f64], radius: f64) -> Option<f64> {
    let size: f64 = r.iter().map(|r| r.abs()).sum();
    let largest = (radius * size).powi(2);
    let underflows = size > 0.0 && radius > 0.0 && largest < f64::MIN_POSITIVE / f64::EPSILON;
    (!underflows).then_some(largest)
}

//! The spline kernel.

use margins_data::Sample;

use crate::Kernel;

/// The spline kernel, the product of `1 + x z + x z m - (x + z) m^2/2 + m^3/3` over the features, with
/// m the smaller one of x and z, as kernlab's `splinedot`: linear splines with knots everywhere.
///
/// The factor of a feature is `1 + x z + int_0^m (x - t) (z - t) dt`, so the kernel is positive
/// semidefinite for features that are not negative. Other samples are refused.
///
/// ```
/// use margins_data::Sample;
/// use margins_kernel_functions::{Kernel, Spline};
///
/// let value = Spline.value(&Sample::Dense(&[1.0, 0.0]), &Sample::Dense(&[2.0, 5.0]));
/// assert!((value - (1.0 + 2.0 + 2.0 - 1.5 + 1.0 / 3.0)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spline;

/// Returns the factor of one feature; NaN for a negative one.
fn factor(x: f64, z: f64) -> f64 {
    let least = x.min(z);
    if least < 0.0 {
        return f64::NAN;
    }
    1.0 + x * z + least * (x * z - least * (0.5 * (x + z) - least / 3.0))
}

impl Kernel for Spline {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        // A feature that neither sample stores is 0 in both, and has the factor 1.
        let mut product = 1.0;
        x.for_each_pair(z, |x, z| product *= factor(x, z));
        product
    }
    fn name(&self) -> &str {
        "spline"
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn refusal(&self, x: &Sample<'_>) -> Option<String> {
        let mut negative = None;
        x.for_each(|column, value| {
            if value < 0.0 {
                negative.get_or_insert((column, value));
            }
        });
        negative.map(|(column, value)| {
            format!(
                "feature {column} is {value}, but must not be negative. Scale the features to numbers from \
                 0 to 1, and leave out standardisation."
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule integrates a polynomial of degree 2 exactly.
    #[test]
    fn a_factor_is_its_integral() {
        for (x, z) in [(0.0, 2.0), (0.3, 0.7), (4.0, 1.5), (2.5, 2.5)] {
            let least = f64::min(x, z);
            let product = |t: f64| (x - t) * (z - t);
            let simpson = product(0.0) + 4.0 * product(0.5 * least) + product(least);
            let want = 1.0 + x * z + least / 6.0 * simpson;
            assert!((factor(x, z) - want).abs() <= 1e-14 * want, "{x} {z}");
            assert_eq!(factor(x, z), factor(z, x));
        }
    }
}

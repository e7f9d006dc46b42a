//! Where the points of a path are stored for a later run.

use crate::Lambda;
use crate::shards::Failure;

/// Where a path over shards keeps the points that it has reached, for another run that continues from
/// them. Coefficients are those of the features in the units of the fit.
pub trait PointStore: Sync {
    /// Returns the intercept and the coefficients reached last at a lambda, if they were kept.
    fn find(&self, lambda: Lambda) -> Option<(f64, Vec<f64>)>;

    /// Stores the intercept and the coefficients reached at a lambda, in place of earlier ones.
    ///
    /// # Errors
    /// The intercept and the coefficients cannot be kept.
    fn keep(&self, lambda: Lambda, intercept: f64, coef: &[f64]) -> Result<(), Failure>;
}

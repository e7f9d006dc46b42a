//! The ANOVA kernel.

use margins_data::Sample;

use super::positive;
use crate::{Error, Kernel};

/// The ANOVA kernel `(sum_k exp(-sigma (x_k - z_k)^2))^degree` over the p features, as kernlab's
/// `anovadot`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anova {
    sigma: f64,
    degree: i32,
}

impl Anova {
    /// Makes the kernel of this width and degree.
    ///
    /// # Errors
    /// A sigma that is not positive, a degree that is not a whole number from 1 to 1000.
    pub fn new(sigma: f64, degree: f64) -> Result<Self, Error> {
        Ok(Anova {
            sigma: positive("anova", "sigma", sigma)?,
            degree: super::degree("anova", degree)?,
        })
    }
}

impl Kernel for Anova {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let (mut sum, mut seen) = (0.0, 0usize);
        x.for_each_pair(z, |x, z| {
            // From the left: the square of the difference alone might overflow.
            sum += (-self.sigma * (x - z) * (x - z)).exp();
            seen += 1;
        });
        // A feature that neither sample stores is 0 in both, and counts 1.
        (sum + (x.features() - seen) as f64).powi(self.degree)
    }
    fn name(&self) -> &str {
        "anova"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("sigma", self.sigma), ("degree", self.degree.into())]
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
}

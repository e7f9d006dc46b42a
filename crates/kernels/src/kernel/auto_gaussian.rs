//! The Gaussian kernel whose width comes from training data.

use margins_data::{Design, Sample};

use crate::kernel::Gaussian;
use crate::{Block, Error, Kernel, SigmaRange};

/// The Gaussian kernel `exp(-sigma ||x - z||^2)` with the sigma of the first training data: the
/// [`middle`](SigmaRange::middle) of the [`SigmaRange`] of the samples with their weights. Without
/// data every value is NaN.
///
/// ```
/// use margins_data::Design;
/// use margins_kernels::{AutoGaussian, Error, Gram, Kernel, SigmaRange};
///
/// let design = Design::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])?;
/// let mut kernel = AutoGaussian::new();
/// assert!(matches!(Gram::new(&kernel, &design), Err(Error::NeedsData { .. })));
/// kernel.adapt_to(&design, None, 1)?;
/// let sigma = SigmaRange::of(&design, None, 1)?.middle();
/// assert_eq!(kernel.specification(), format!("gaussian:sigma={sigma}"));
/// assert!(Gram::new(&kernel, &design).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AutoGaussian {
    /// The kernel once its width is known.
    known: Option<Gaussian>,
}

impl AutoGaussian {
    /// Returns the kernel without a width.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Kernel for AutoGaussian {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.known.map_or(f64::NAN, |kernel| kernel.value(x, z))
    }
    fn name(&self) -> &str {
        "gaussian"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        self.known.map_or(Vec::new(), |kernel| kernel.parameters())
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn as_gaussian(&self) -> Option<Gaussian> {
        self.known
    }
    fn adapt_to(
        &mut self,
        design: &Design,
        weights: Option<&[f64]>,
        seed: u64,
    ) -> Result<(), Error> {
        if self.known.is_none() {
            self.known = Some(Gaussian::new(SigmaRange::of(design, weights, seed)?.middle())?);
        }
        Ok(())
    }
    fn needs_data(&self) -> bool {
        self.known.is_none()
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        match self.known {
            Some(kernel) => kernel.fill(block, out),
            None => out.fill(f64::NAN),
        }
    }
}

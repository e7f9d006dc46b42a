use margins_data::Design;
use nalgebra::DMatrix;

use super::Basis;
use crate::{Error, Registry};

impl Basis {
    /// Refuses the basis that a file describes.
    #[cfg(feature = "serde")]
    pub(crate) fn read(
        kernel: &str,
        _: Option<Vec<f64>>,
        _: super::Functions,
        _: &Registry,
    ) -> Result<Self, Error> {
        Err(Error::WithoutKernels(kernel.to_owned()))
    }

    /// Refuses to combine functions of a kernel.
    pub(crate) fn combine(
        &self,
        _: &Design,
        _: &DMatrix<f64>,
        _: &Registry,
    ) -> Result<DMatrix<f64>, Error> {
        Err(Error::WithoutKernels(self.kernel.clone()))
    }
}

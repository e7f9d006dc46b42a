use margins_data::Design;
use nalgebra::DMatrix;

use super::Basis;
use crate::Registry;
use crate::model::Error;

impl Basis {
    /// Refused.
    #[cfg(feature = "serde")]
    pub(in crate::model) fn read(
        kernel: &str,
        _: Option<Vec<f64>>,
        _: super::Functions,
        _: &Registry,
    ) -> Result<Self, Error> {
        Err(Error::WithoutKernels(kernel.to_owned()))
    }

    /// Refused.
    pub(in crate::model) fn combine(
        &self,
        _: &Design,
        _: &DMatrix<f64>,
        _: &Registry,
    ) -> Result<DMatrix<f64>, Error> {
        Err(Error::WithoutKernels(self.kernel.clone()))
    }
}

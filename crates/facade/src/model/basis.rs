use std::borrow::Cow;

use margins_data::Design;
use margins_kernels::features::RandomFourierMap;
use margins_kernels::{Kernel, combine_all};
use nalgebra::DMatrix;

use super::Error;
use crate::Registry;

/// The functions of a sample that the members of a model combine, where they are not linear in the features.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    kernel: String,
    scales: Option<Vec<f64>>,
    functions: Functions,
}

/// What a [`Basis`] is made of; the samples and the frequencies are those of the scaled features.
#[derive(Debug, Clone, PartialEq)]
pub enum Functions {
    /// Kernel sections `k(z_j, .)`, one a sample `z_j`.
    Sections(Design),
    /// Random Fourier features, cosines before sines, one frequency a row.
    Fourier(Design),
}

impl Basis {
    /// The functions with the kernel that they are of or that they approximate, and what features are
    /// multiplied with first, if anything.
    ///
    /// # Errors
    /// Scales that are not one finite number greater than 0 a feature; more features than fit in 32 bits;
    /// sparse frequencies.
    pub fn new(
        kernel: &dyn Kernel,
        scales: Option<Vec<f64>>,
        functions: Functions,
    ) -> Result<Self, Error> {
        let design = functions.design();
        let features = design.columns();
        if let Some(scales) = &scales
            && (scales.len() != features || !scales.iter().all(|s| s.is_finite() && *s > 0.0))
        {
            return Err(Error::Invalid(format!(
                "its {} scales are not finite positive numbers for its {features} features",
                scales.len()
            )));
        }
        if u32::try_from(features).is_err() {
            let most = u32::MAX;
            return Err(Error::Invalid(format!("it has {features} features, more than {most}")));
        }
        if matches!(functions, Functions::Fourier(_)) && design.is_sparse() {
            return Err(Error::Invalid("its frequencies are sparse".to_owned()));
        }
        Ok(Basis { kernel: kernel.specification(), scales, functions })
    }

    /// Specification of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// What features are multiplied with before the functions see them.
    pub fn scales(&self) -> Option<&[f64]> {
        self.scales.as_deref()
    }

    /// The functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        match &self.functions {
            Functions::Sections(samples) => samples.rows(),
            Functions::Fourier(frequencies) => 2 * frequencies.rows(),
        }
    }

    /// Whether there are no functions: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of features of the samples that the functions are of.
    pub fn columns(&self) -> usize {
        self.functions.design().columns()
    }

    /// `sum_j coefs_kj phi_j(x_i)`: one row a row of `coefs`, one column a sample.
    pub(super) fn combine(
        &self,
        design: &Design,
        coefs: &DMatrix<f64>,
        registry: &Registry,
    ) -> Result<DMatrix<f64>, Error> {
        let design = match &self.scales {
            Some(scales) => {
                let mut scaled = design.clone();
                scaled.scale_columns(scales);
                Cow::Owned(scaled)
            }
            None => Cow::Borrowed(design),
        };
        match &self.functions {
            Functions::Sections(samples) => {
                let kernel = registry.kernels.parse(&self.kernel).map_err(Error::Kernel)?;
                Ok(combine_all(&*kernel, &design, samples, coefs)?)
            }
            Functions::Fourier(frequencies) => {
                let (count, p) = (frequencies.rows(), frequencies.columns());
                // Of dense samples, as `new` has seen to; a sample of the design is a column of the map.
                let values = frequencies.dense_samples().unwrap_or_default();
                let map = RandomFourierMap::from(DMatrix::from_column_slice(p, count, values));
                Ok(map.transform(&design)?.multiply_all(coefs))
            }
        }
    }
}

impl Functions {
    fn design(&self) -> &Design {
        match self {
            Functions::Sections(design) | Functions::Fourier(design) => design,
        }
    }
}

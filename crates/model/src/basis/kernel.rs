//! Evaluates the functions of a basis with their kernel.

use std::borrow::Cow;

use margins_data::Design;
use margins_kernel_functions::{Kernel, RandomFourierMap, combine_all, linear_scores};
use nalgebra::DMatrix;

use super::{Basis, Functions};
use crate::Error;

impl Basis {
    /// Returns the basis of functions that a kernel has or that approximate it, with the factors
    /// that features are multiplied with first, if any.
    ///
    /// # Errors
    /// A kernel that has yet to see its training data; scales that are not one finite number greater
    /// than 0 a feature; more features than fit in 32 bits; sparse frequencies.
    pub fn new(
        kernel: &dyn Kernel,
        scales: Option<Vec<f64>>,
        functions: Functions,
    ) -> Result<Self, Error> {
        if kernel.needs_data() {
            let kernel = kernel.specification();
            return Err(margins_kernel_functions::Error::NeedsData { kernel }.into());
        }
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
        Ok(Basis { kernel: kernel.specification(), scales, functions, linear: Vec::new() })
    }

    /// Returns the basis with functions before the others that are features by themselves: so many
    /// columns, ascending, of the samples that the model takes, which the kernel does not see.
    ///
    /// # Errors
    /// Columns that do not ascend, or that are beyond those of the samples.
    pub fn with_linear(mut self, columns: Vec<usize>) -> Result<Self, Error> {
        let all = columns.len() + self.functions.design().columns();
        let ascends = columns.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || columns.last().is_some_and(|&last| last >= all) {
            let reason =
                format!("its linear features {columns:?} are no columns of {all}, ascending");
            return Err(Error::Invalid(reason));
        }
        self.linear = columns;
        Ok(self)
    }

    /// Returns the basis that a file describes.
    #[cfg(feature = "serde")]
    pub(crate) fn read(
        kernel: &str,
        scales: Option<Vec<f64>>,
        functions: Functions,
        linear: Vec<usize>,
        registry: &crate::Registry,
    ) -> Result<Self, Error> {
        let kernel = registry.kernels.parse(kernel).map_err(Error::Kernel)?;
        Basis::new(&*kernel, scales, functions)?.with_linear(linear)
    }

    /// Returns `sum_j coefs_kj phi_j(x_i)`, with one row per row of `coefs` and one column per sample,
    /// given the kernel of the basis.
    pub(crate) fn combine(
        &self,
        design: &Design,
        coefs: &DMatrix<f64>,
        kernel: &dyn Kernel,
    ) -> Result<DMatrix<f64>, Error> {
        if !self.linear.is_empty() {
            let m = self.linear.len();
            let others: Vec<usize> =
                (0..self.columns()).filter(|j| self.linear.binary_search(j).is_err()).collect();
            let of_kernel = Basis { linear: Vec::new(), ..self.clone() };
            let rest = coefs.columns(m, coefs.ncols() - m).clone_owned();
            let combined = of_kernel.combine(&design.select_columns(&others)?, &rest, kernel)?;
            let linear = design.select_columns(&self.linear)?;
            return Ok(linear_scores(&linear, &coefs.columns(0, m).clone_owned()) + combined);
        }
        let design = match &self.scales {
            Some(scales) => {
                let mut scaled = design.clone();
                scaled.scale_columns(scales);
                Cow::Owned(scaled)
            }
            None => Cow::Borrowed(design),
        };
        match &self.functions {
            Functions::Sections(samples) => Ok(combine_all(kernel, &design, samples, coefs)?),
            Functions::Fourier(frequencies) => {
                let (count, p) = (frequencies.rows(), frequencies.columns());
                // Of dense samples, as `new` has seen to; a sample of the design is a column of the
                // map.
                let values = frequencies.dense_samples().unwrap_or_default();
                let map = RandomFourierMap::from(DMatrix::from_column_slice(p, count, values));
                Ok(linear_scores(&map.transform(&design)?, coefs))
            }
        }
    }
}

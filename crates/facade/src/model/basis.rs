#[cfg(feature = "kernels")]
mod kernel;
#[cfg(not(feature = "kernels"))]
mod without_kernels;

use margins_data::Design;

/// The functions of a sample that the members of a model combine, where they are not linear in the features. To be had
/// with the feature `kernels` alone.
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
}

impl Functions {
    fn design(&self) -> &Design {
        match self {
            Functions::Sections(design) | Functions::Fourier(design) => design,
        }
    }
}

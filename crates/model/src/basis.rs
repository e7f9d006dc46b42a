//! The functions of a sample that members combine: those of a kernel, and features beside it.

mod kernel;

use margins_data::Design;

/// The functions of a sample that the members of a model combine, where they are not linear in the
/// features.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    kernel: String,
    scales: Option<Vec<f64>>,
    functions: Functions,
    linear: Vec<usize>,
}

/// The parts of a [`Basis`]: samples or frequencies, of the features as they are after scaling.
#[derive(Debug, Clone, PartialEq)]
pub enum Functions {
    /// Kernel sections `k(z_j, .)`, one per sample `z_j`.
    Sections(Design),
    /// Random Fourier features, cosines before sines, one frequency a row.
    Fourier(Design),
}

impl Basis {
    /// Returns the specification of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Returns the factors that the features of the kernel are multiplied with before it sees them.
    pub fn scales(&self) -> Option<&[f64]> {
        self.scales.as_deref()
    }

    /// Returns the functions.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Returns the features, ascending, that are functions by themselves, before the others, and that the
    /// kernel does not see.
    pub fn linear(&self) -> &[usize] {
        &self.linear
    }

    /// Returns the number of functions, the linear ones included.
    pub fn len(&self) -> usize {
        let of_kernel = match &self.functions {
            Functions::Sections(samples) => samples.rows(),
            Functions::Fourier(frequencies) => 2 * frequencies.rows(),
        };
        self.linear.len() + of_kernel
    }

    /// Returns true if there are no functions, which no basis allows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of features of a sample.
    pub fn columns(&self) -> usize {
        self.linear.len() + self.functions.design().columns()
    }
}

impl Functions {
    fn design(&self) -> &Design {
        match self {
            Functions::Sections(design) | Functions::Fourier(design) => design,
        }
    }
}

//! The kernels that are functions of the inner product.

use margins_data::Sample;

use super::{check, positive};
use crate::{Block, Error, Kernel};

fn inner_product(x: &Sample<'_>, z: &Sample<'_>) -> f64 {
    let mut sum = 0.0;
    x.for_each_pair(z, |x, z| sum += x * z);
    sum
}

/// The linear kernel `<x, z>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Linear;

impl Kernel for Linear {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        inner_product(x, z)
    }
    fn name(&self) -> &str {
        "linear"
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        block.inner_products(out);
    }
}

/// The polynomial kernel `(scale <x, z> + offset)^degree`, as kernlab's `polydot`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: i32,
    scale: f64,
    offset: f64,
}

impl Polynomial {
    /// Makes the kernel `(scale <x, z> + offset)^degree`.
    ///
    /// # Errors
    /// A degree that is not a whole number from 1 to 1000, a scale that is not positive, a negative
    /// offset (with which the kernel would not be positive semidefinite).
    pub fn new(degree: f64, scale: f64, offset: f64) -> Result<Self, Error> {
        Ok(Polynomial {
            degree: super::degree("poly", degree)?,
            scale: positive("poly", "scale", scale)?,
            offset: check("poly", "offset", offset, "a finite number of at least 0", |x| x >= 0.0)?,
        })
    }

    fn of(&self, product: f64) -> f64 {
        (self.scale * product + self.offset).powi(self.degree)
    }
}

impl Kernel for Polynomial {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.of(inner_product(x, z))
    }
    fn name(&self) -> &str {
        "poly"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("degree", self.degree.into()), ("scale", self.scale), ("offset", self.offset)]
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        block.inner_products(out);
        out.iter_mut().for_each(|t| *t = self.of(*t));
    }
}

/// The sigmoid `tanh(scale <x, z> + offset)`. It is not positive semidefinite for all samples; a
/// matrix of it that is not is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    scale: f64,
    offset: f64,
}

impl Sigmoid {
    /// Makes the kernel `tanh(scale <x, z> + offset)`.
    ///
    /// # Errors
    /// A scale that is not positive, an offset that is not finite.
    pub fn new(scale: f64, offset: f64) -> Result<Self, Error> {
        Ok(Sigmoid {
            scale: positive("sigmoid", "scale", scale)?,
            offset: check("sigmoid", "offset", offset, "a finite number", |_| true)?,
        })
    }

    fn of(&self, product: f64) -> f64 {
        (self.scale * product + self.offset).tanh()
    }
}

impl Kernel for Sigmoid {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.of(inner_product(x, z))
    }
    fn name(&self) -> &str {
        "sigmoid"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("scale", self.scale), ("offset", self.offset)]
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        block.inner_products(out);
        out.iter_mut().for_each(|t| *t = self.of(*t));
    }
}

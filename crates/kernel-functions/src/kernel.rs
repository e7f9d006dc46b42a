//! The trait of kernels.

use std::fmt::Debug;
use std::sync::Arc;

use margins_data::{Design, Sample};
use margins_losses::OutOfRange;

use crate::{Block, Error};

mod anova;
mod bessel;
mod combined;
pub(crate) mod from_data;
mod inner_product;
mod radial;
mod spline;
mod watched;

pub use self::anova::Anova;
pub use self::bessel::Bessel;
pub use self::combined::{Product, Sum};
pub use self::inner_product::{Linear, Polynomial, Sigmoid};
pub use self::radial::{Gaussian, Laplacian, Matern32, Matern52};
pub use self::spline::Spline;
pub use self::watched::Watched;

/// A kernel: a symmetric function of two samples, of which every matrix should be positive
/// semidefinite.
///
/// The one required method is [`value`](Self::value). [`fill`](Self::fill) computes many values at
/// once; override it where they follow from inner products or distances, which then are matrix
/// products.
///
/// ```
/// use margins_data::{Design, Sample};
/// use margins_kernel_functions::{Kernel, combine};
///
/// /// The kernel of Brownian motion, for one feature of at least 0.
/// #[derive(Debug)]
/// struct Brownian;
///
/// impl Kernel for Brownian {
///     fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
///         x.dot(&[1.0]).min(z.dot(&[1.0]))
///     }
/// }
///
/// let times = Design::from_rows(&[[1.0], [2.0], [5.0]])?;
/// assert_eq!(combine(&Brownian, &times, &times, &[0.0, 0.0, 1.0])?, [1.0, 2.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Kernel: Debug + Send + Sync {
    /// Returns `k(x, z)`.
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64;

    /// Returns the name in specifications, reports and model files.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Returns the parameter names with their values, in the order of the specification.
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Returns the specification that [`KernelRegistry`](crate::KernelRegistry) reads back.
    fn specification(&self) -> String {
        let parameters: Vec<String> =
            self.parameters().iter().map(|(key, value)| format!("{key}={value}")).collect();
        if parameters.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}:{}", self.name(), parameters.join(","))
        }
    }

    /// Returns true if the kernel is known to be positive semidefinite whatever the samples.
    /// Default: no, and then every matrix of it is tested by a factorisation.
    fn is_positive_semidefinite(&self) -> bool {
        false
    }

    /// Returns the Gaussian kernel that this one is, if it is one: random Fourier features are
    /// features of it alone. Default: none. A name is no evidence, as anyone may take it.
    fn as_gaussian(&self) -> Option<Gaussian> {
        None
    }

    /// Takes the parameters that come from training data from these, unless they are known: samples
    /// with their weights (`None` counts each as 1), and a seed for what is drawn. Call it once before
    /// the kernel is used. Default: no parameter comes from data.
    ///
    /// # Errors
    /// Data that the parameters cannot be taken from.
    fn adapt_to(
        &mut self,
        _design: &Design,
        _weights: Option<&[f64]>,
        _seed: u64,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Returns true if a parameter that comes from training data is not known yet; values are then
    /// NaN, and what is computed with them fails with [`Error::NeedsData`]. Default: false.
    fn needs_data(&self) -> bool {
        false
    }

    /// Returns true if the computation was cancelled, as of a kernel that is
    /// [`Watched`](crate::Watched): computations with its values then fail before the next block.
    /// Default: false.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Returns why the kernel is not defined for a sample, and what to do; `None` if it is. Values with
    /// a refused sample have to be NaN, and what is computed with them fails with
    /// [`Error::Refused`]. Default: every sample is taken.
    fn refusal(&self, _sample: &Sample<'_>) -> Option<String> {
        None
    }

    /// Fills `k(x, z)` for every pair of a block, in its order. Default: one by one.
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        block.pairs(|x, z| self.value(x, z), out);
    }
}

/// Makes a pointer to a kernel a kernel.
macro_rules! kernel_behind {
    ($pointer:ident, |$this:ident| $inner:expr) => {
        impl<T: Kernel + ?Sized> Kernel for $pointer<T> {
            fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
                (**self).value(x, z)
            }
            fn name(&self) -> &str {
                (**self).name()
            }
            fn parameters(&self) -> Vec<(&'static str, f64)> {
                (**self).parameters()
            }
            fn specification(&self) -> String {
                (**self).specification()
            }
            fn is_positive_semidefinite(&self) -> bool {
                (**self).is_positive_semidefinite()
            }
            fn as_gaussian(&self) -> Option<Gaussian> {
                (**self).as_gaussian()
            }
            fn adapt_to(
                &mut self,
                design: &Design,
                weights: Option<&[f64]>,
                seed: u64,
            ) -> Result<(), Error> {
                let $this = self;
                match $inner {
                    Some(kernel) => kernel.adapt_to(design, weights, seed),
                    None => Ok(()),
                }
            }
            fn needs_data(&self) -> bool {
                (**self).needs_data()
            }
            fn is_interrupted(&self) -> bool {
                (**self).is_interrupted()
            }
            fn refusal(&self, sample: &Sample<'_>) -> Option<String> {
                (**self).refusal(sample)
            }
            fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
                (**self).fill(block, out);
            }
        }
    };
}

kernel_behind!(Box, |this| Some(&mut **this));
// A kernel that is shared is as it is.
kernel_behind!(Arc, |this| Arc::get_mut(this));

fn check(
    kernel: &'static str,
    parameter: &'static str,
    value: f64,
    requirement: &'static str,
    valid: impl Fn(f64) -> bool,
) -> Result<f64, Error> {
    OutOfRange::check(parameter, value, requirement, valid)
        .map_err(|range| Error::Parameter { kernel, range })
}

fn positive(kernel: &'static str, parameter: &'static str, value: f64) -> Result<f64, Error> {
    check(kernel, parameter, value, "a finite number greater than 0", |x| x > 0.0)
}

const DEGREE: &str = "a whole number from 1 to 1000";

fn degree(kernel: &'static str, value: f64) -> Result<i32, Error> {
    let whole = |x: f64| x.fract() == 0.0 && (1.0..=1000.0).contains(&x);
    check(kernel, "degree", value, DEGREE, whole).map(|degree| degree as i32)
}

use std::fmt::Debug;

use margins_data::Sample;
use margins_losses::{Exponential, MarginLoss};

use crate::{Block, Error};

/// A kernel: a symmetric function of two samples, of which every matrix should be positive semidefinite.
///
/// One method is required. [`fill`](Self::fill) computes many values at once; override it where they
/// follow from inner products or distances, which then are matrix products.
///
/// ```
/// use margins_data::{Design, Sample};
/// use margins_kernels::{Gram, Kernel};
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
/// let gram = Gram::new(&Brownian, &Design::from_rows(&[[1.0], [2.0], [5.0]])?)?;
/// assert_eq!(gram.matrix()[(1, 2)], 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Kernel: Debug + Send + Sync {
    /// `k(x, z)`.
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64;

    /// The name in specifications, reports and model files.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Parameter names with their values, in the order of the specification.
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// The specification that [`KernelRegistry`](crate::KernelRegistry) reads back.
    fn specification(&self) -> String {
        let parameters: Vec<String> =
            self.parameters().iter().map(|(key, value)| format!("{key}={value}")).collect();
        if parameters.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}:{}", self.name(), parameters.join(","))
        }
    }

    /// Whether the kernel is known to be positive semidefinite whatever the samples. Default: no, and then
    /// every matrix of it is tested by a factorisation.
    fn is_positive_semidefinite(&self) -> bool {
        false
    }

    /// `k(x, z)` for every pair of a block, in its order. Default: one by one.
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        block.pairs(|x, z| self.value(x, z), out);
    }
}

impl<T: Kernel + ?Sized> Kernel for Box<T> {
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
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        (**self).fill(block, out);
    }
}

fn check(
    kernel: &'static str,
    parameter: &'static str,
    value: f64,
    requirement: &'static str,
    valid: impl Fn(f64) -> bool,
) -> Result<f64, Error> {
    if value.is_finite() && valid(value) {
        Ok(value)
    } else {
        Err(Error::Parameter { kernel, parameter, value, requirement })
    }
}

fn positive(kernel: &'static str, parameter: &'static str, value: f64) -> Result<f64, Error> {
    check(kernel, parameter, value, "a finite number greater than 0", |x| x > 0.0)
}

fn inner_product(x: &Sample<'_>, z: &Sample<'_>) -> f64 {
    let mut sum = 0.0;
    x.for_each_pair(z, |x, z| sum += x * z);
    sum
}

/// `exp(-t)` in place: the exponential loss of t, whose batch form runs in vector instructions.
fn exponentials(arguments: &mut [f64]) {
    let input = arguments.to_vec();
    Exponential.values(&input, arguments);
}

/// `<x, z>`.
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

/// A kernel that is a function of the squared distance `t`, given by its value and by its values in
/// place over a slice.
macro_rules! radial {
    ($(#[$documentation:meta])* $kernel:ident, $name:literal, $parameter:ident,
     |$self:ident, $t:ident| $value:expr, |$batch:ident, $slice:ident| $body:block) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $kernel {
            $parameter: f64,
        }

        impl $kernel {
            /// # Errors
            /// A parameter that is not a finite number greater than 0.
            pub fn new($parameter: f64) -> Result<Self, Error> {
                Ok($kernel { $parameter: positive($name, stringify!($parameter), $parameter)? })
            }

            /// The parameter.
            pub fn $parameter(&self) -> f64 {
                self.$parameter
            }
        }

        impl Kernel for $kernel {
            fn value(&$self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
                let $t = x.squared_distance(z);
                $value
            }
            fn name(&self) -> &str {
                $name
            }
            fn parameters(&self) -> Vec<(&'static str, f64)> {
                vec![(stringify!($parameter), self.$parameter)]
            }
            fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn fill(&$batch, block: &Block<'_>, $slice: &mut [f64]) {
                block.squared_distances($slice);
                $body
            }
        }
    };
}

radial! {
    /// The Gaussian kernel `exp(-sigma ||x - z||^2)`, in the parametrisation of kernlab's `rbfdot`;
    /// scikit-learn and LIBSVM call sigma gamma.
    Gaussian, "gaussian", sigma,
    |self, t| (-self.sigma * t).exp(),
    |self, out| {
        out.iter_mut().for_each(|t| *t *= self.sigma);
        exponentials(out);
    }
}

radial! {
    /// The Laplacian kernel `exp(-sigma ||x - z||)` with the Euclidean distance, as kernlab's
    /// `laplacedot`.
    Laplacian, "laplacian", sigma,
    |self, t| (-self.sigma * t.sqrt()).exp(),
    |self, out| {
        out.iter_mut().for_each(|t| *t = self.sigma * t.sqrt());
        exponentials(out);
    }
}

radial! {
    /// The Matern kernel of smoothness 3/2: `(1 + d) exp(-d)`, `d = sqrt(3) ||x - z|| / length`.
    Matern32, "matern32", length,
    |self, t| {
        let d = (3.0 * t).sqrt() / self.length;
        (1.0 + d) * (-d).exp()
    },
    |self, out| {
        out.iter_mut().for_each(|t| *t = (3.0 * *t).sqrt() / self.length);
        let distances = out.to_vec();
        exponentials(out);
        out.iter_mut().zip(&distances).for_each(|(e, d)| *e *= 1.0 + d);
    }
}

radial! {
    /// The Matern kernel of smoothness 5/2: `(1 + d + d^2/3) exp(-d)`,
    /// `d = sqrt(5) ||x - z|| / length`.
    Matern52, "matern52", length,
    |self, t| {
        let d = (5.0 * t).sqrt() / self.length;
        (1.0 + d + d * d / 3.0) * (-d).exp()
    },
    |self, out| {
        out.iter_mut().for_each(|t| *t = (5.0 * *t).sqrt() / self.length);
        let distances = out.to_vec();
        exponentials(out);
        out.iter_mut().zip(&distances).for_each(|(e, d)| *e *= 1.0 + d + d * d / 3.0);
    }
}

const DEGREE: &str = "a whole number from 1 to 1000";

fn degree(kernel: &'static str, value: f64) -> Result<i32, Error> {
    let whole = |x: f64| x.fract() == 0.0 && (1.0..=1000.0).contains(&x);
    check(kernel, "degree", value, DEGREE, whole).map(|degree| degree as i32)
}

/// The polynomial kernel `(scale <x, z> + offset)^degree`, as kernlab's `polydot`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial {
    degree: i32,
    scale: f64,
    offset: f64,
}

impl Polynomial {
    /// # Errors
    /// A degree that is not a whole number from 1 to 1000, a scale that is not positive, a negative
    /// offset (with which the kernel would not be positive semidefinite).
    pub fn new(degree: f64, scale: f64, offset: f64) -> Result<Self, Error> {
        Ok(Polynomial {
            degree: self::degree("poly", degree)?,
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

/// The sigmoid `tanh(scale <x, z> + offset)`. It is not positive semidefinite for all samples; a matrix of
/// it that is not is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    scale: f64,
    offset: f64,
}

impl Sigmoid {
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

/// The ANOVA kernel `(sum_k exp(-sigma (x_k - z_k)^2))^degree` over the p features, as kernlab's
/// `anovadot`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anova {
    sigma: f64,
    degree: i32,
    /// Features that neither sample stores count 1 each, so their number must be known.
    features: Option<usize>,
}

impl Anova {
    /// # Errors
    /// A sigma that is not positive, a degree that is not a whole number from 1 to 1000.
    pub fn new(sigma: f64, degree: f64) -> Result<Self, Error> {
        Ok(Anova {
            sigma: positive("anova", "sigma", sigma)?,
            degree: self::degree("anova", degree)?,
            features: None,
        })
    }
}

impl Kernel for Anova {
    /// For sparse samples over the features that either stores; see [`fill`](Kernel::fill) for all.
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let (mut sum, mut seen) = (0.0, 0usize);
        x.for_each_pair(z, |x, z| {
            sum += (-self.sigma * (x - z) * (x - z)).exp();
            seen += 1;
        });
        let absent = self.features.unwrap_or(seen).saturating_sub(seen);
        (sum + absent as f64).powi(self.degree)
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
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        let whole = Anova { features: Some(block.features()), ..*self };
        block.pairs(|x, z| whole.value(x, z), out);
    }
}

/// `k_1(x, z) + k_2(x, z)`.
#[derive(Debug)]
pub struct Sum(pub Box<dyn Kernel>, pub Box<dyn Kernel>);

/// `k_1(x, z) k_2(x, z)`.
#[derive(Debug)]
pub struct Product(pub Box<dyn Kernel>, pub Box<dyn Kernel>);

impl Kernel for Sum {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.0.value(x, z) + self.1.value(x, z)
    }
    fn name(&self) -> &str {
        "sum"
    }
    fn specification(&self) -> String {
        format!("{}+{}", self.0.specification(), self.1.specification())
    }
    fn is_positive_semidefinite(&self) -> bool {
        self.0.is_positive_semidefinite() && self.1.is_positive_semidefinite()
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        self.0.fill(block, out);
        let mut other = vec![0.0; out.len()];
        self.1.fill(block, &mut other);
        out.iter_mut().zip(&other).for_each(|(a, b)| *a += b);
    }
}

impl Kernel for Product {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        self.0.value(x, z) * self.1.value(x, z)
    }
    fn name(&self) -> &str {
        "product"
    }
    fn specification(&self) -> String {
        format!("{}*{}", self.0.specification(), self.1.specification())
    }
    fn is_positive_semidefinite(&self) -> bool {
        self.0.is_positive_semidefinite() && self.1.is_positive_semidefinite()
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        self.0.fill(block, out);
        let mut other = vec![0.0; out.len()];
        self.1.fill(block, &mut other);
        out.iter_mut().zip(&other).for_each(|(a, b)| *a *= b);
    }
}

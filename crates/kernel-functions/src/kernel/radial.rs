//! Kernels that are functions of the distance between two samples.

use margins_data::Sample;
use margins_losses::{Exponential, MarginLoss};

use super::positive;
use crate::block::all_finite;
use crate::{Block, Error, Kernel};

/// Returns `shape(t) exp(-t)`; 0 where the exponential is, as no polynomial outgrows it. A shape of
/// `None` is 1 everywhere.
fn damped(t: f64, shape: Option<impl Fn(f64) -> f64>) -> f64 {
    let decay = (-t).exp();
    match shape {
        Some(shape) if decay != 0.0 => decay * shape(t),
        _ => decay,
    }
}

/// Takes [`damped`] in place; the exponential loss of t is `exp(-t)`, and its batch form runs in
/// vector instructions. A shape of `None` is 1 everywhere.
fn damp(arguments: &mut [f64], shape: &Option<impl Fn(f64) -> f64>) {
    /// The number of arguments that are copied together; they stay in the nearest cache.
    const COUNT: usize = 512;
    let mut copy = [0.0; COUNT];
    for part in arguments.chunks_mut(COUNT) {
        let input = &mut copy[..part.len()];
        input.copy_from_slice(part);
        Exponential.values(input, part);
        let Some(shape) = shape else { continue };
        for (decay, t) in part.iter_mut().zip(input).filter(|(decay, _)| **decay != 0.0) {
            *decay *= shape(*t);
        }
    }
}

/// The shape of kernels that are `exp(-t)`.
const NO_SHAPE: Option<fn(f64) -> f64> = None;

/// Defines a kernel `shape(t) exp(-t)`, where t comes from `argument` and `arguments`.
macro_rules! radial {
    (
        $(#[$documentation:meta])* $kernel:ident, $name:literal, $parameter:ident, $shape:expr
        $(, $method:item)?
    ) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $kernel {
            $parameter: f64,
        }

        impl $kernel {
            /// Makes the kernel with its parameter.
            ///
            /// # Errors
            /// A parameter that is not a finite number greater than 0.
            pub fn new($parameter: f64) -> Result<Self, Error> {
                Ok($kernel { $parameter: positive($name, stringify!($parameter), $parameter)? })
            }

            /// Returns the parameter.
            pub fn $parameter(&self) -> f64 {
                self.$parameter
            }
        }

        impl Kernel for $kernel {
            fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
                damped(self.argument(x, z), $shape)
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
            $($method)?
            fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
                self.arguments(block, out);
                damp(out, &$shape);
            }
        }
    };
}

radial! {
    /// The Gaussian kernel `exp(-sigma ||x - z||^2)`, in the parametrisation of kernlab's `rbfdot`;
    /// scikit-learn and LIBSVM call sigma gamma.
    Gaussian, "gaussian", sigma, NO_SHAPE, fn as_gaussian(&self) -> Option<Gaussian> {
        Some(*self)
    }
}

impl Gaussian {
    /// Returns `sigma ||x - z||^2`, by way of the distance where its square alone overflows.
    fn argument(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        let square = x.squared_distance(z);
        if square.is_finite() { self.sigma * square } else { self.of_distance(x.distance(z)) }
    }

    fn arguments(&self, block: &Block<'_>, out: &mut [f64]) {
        block.squared_distances(out);
        if all_finite(out) {
            out.iter_mut().for_each(|square| *square *= self.sigma);
        } else {
            block.distances(out);
            out.iter_mut().for_each(|distance| *distance = self.of_distance(*distance));
        }
    }

    /// Multiplies from the left, so that no square is formed. Beyond the largest number the
    /// distance is infinite, and the kernel is 0 for every sigma that there is.
    fn of_distance(&self, distance: f64) -> f64 {
        self.sigma * distance * distance
    }
}

/// Gives a kernel the distance, in units of its own, for argument.
macro_rules! of_distance {
    ($kernel:ident, |$self:ident, $distance:ident| $argument:expr) => {
        impl $kernel {
            /// Returns NaN, which every caller refuses, where the distance is beyond the largest
            /// number.
            fn of_distance(&$self, $distance: f64) -> f64 {
                if $distance.is_finite() { $argument } else { f64::NAN }
            }

            fn argument(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
                self.of_distance(x.distance(z))
            }

            fn arguments(&self, block: &Block<'_>, out: &mut [f64]) {
                block.distances(out);
                out.iter_mut().for_each(|distance| *distance = self.of_distance(*distance));
            }
        }
    };
}

radial! {
    /// The Laplacian kernel `exp(-sigma ||x - z||)` with the Euclidean distance, as kernlab's
    /// `laplacedot`.
    Laplacian, "laplacian", sigma, NO_SHAPE
}

of_distance!(Laplacian, |self, distance| self.sigma * distance);

radial! {
    /// The Matern kernel of smoothness 3/2: `(1 + d) exp(-d)`, `d = sqrt(3) ||x - z|| / length`.
    Matern32, "matern32", length, Some(|d: f64| 1.0 + d)
}

of_distance!(Matern32, |self, distance| 3f64.sqrt() * (distance / self.length));

radial! {
    /// The Matern kernel of smoothness 5/2: `(1 + d + d^2/3) exp(-d)`,
    /// `d = sqrt(5) ||x - z|| / length`.
    Matern52, "matern52", length, Some(|d: f64| 1.0 + d + d * d / 3.0)
}

of_distance!(Matern52, |self, distance| 5f64.sqrt() * (distance / self.length));

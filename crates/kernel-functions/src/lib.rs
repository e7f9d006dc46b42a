//! Kernels, and the scores of kernel classifiers.
//!
//! A program that applies a kernel classifier needs the functions that it combines, and no solver.
//! They are in this crate; `margins-kernels` has the solvers, and re-exports what is here.
//!
//! * [`Kernel`] and [`KernelRegistry`]: kernels, their sums and products, and your own kernels.
//! * [`Points`] and [`Block`]: many values of a kernel at once, from inner products and distances.
//! * [`combine`] and [`combine_all`]: scores `sum_j a_j k(z_j, x)`, without a kernel matrix.
//! * [`linear_scores`]: scores of several functions that are linear in features.
//! * [`SigmaRange`]: the widths of a Gaussian kernel that the data suggest.
//! * [`RandomFourierMap`]: random features whose inner products approximate the Gaussian kernel.
//! * `testkit` (with the feature of this name): conformance tests for your own kernels.
//!
//! ```
//! use margins_data::Design;
//! use margins_kernel_functions::{Gaussian, combine};
//!
//! let support = Design::from_rows(&[[0.0, 0.0], [1.0, 1.0]])?;
//! let samples = Design::from_rows(&[[0.0, 0.0], [2.0, 2.0]])?;
//! let scores = combine(&Gaussian::new(0.5)?, &samples, &support, &[1.0, -1.0])?;
//! assert!((scores[0] - (1.0 - (-1.0f64).exp())).abs() < 1e-15);
//! assert!((scores[1] - ((-4.0f64).exp() - (-1.0f64).exp())).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bandwidth;
mod block;
mod error;
mod expansion;
mod foreign_names;
mod grammar;
mod kernel;
mod linear_scores;
mod random_fourier;
mod registry;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use bandwidth::SigmaRange;
pub use block::{Block, Points};
pub use error::Error;
pub use expansion::{combine, combine_all, diagonal, fill_strips};
pub use kernel::{
    Anova, Bessel, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Polynomial, Product,
    Sigmoid, Spline, Sum, Watched,
};
pub use linear_scores::linear_scores;
pub use random_fourier::RandomFourierMap;
pub use registry::KernelRegistry;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

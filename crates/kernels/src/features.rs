//! Explicit features whose inner products approximate a kernel: a kernel classifier on n samples
//! becomes a linear one on m features, at O(n m^2) for a whole path, with the certificate of the
//! linear problem.

#[cfg(feature = "solvers")]
mod nystrom;
mod random_fourier;

#[cfg(feature = "solvers")]
pub use self::nystrom::{LandmarkSampling, NystromMap};
pub use self::random_fourier::RandomFourierMap;

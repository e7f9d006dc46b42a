//! Explicit features whose inner products approximate a kernel: a kernel classifier on n samples
//! becomes a linear one on m features, at O(n m^2) for a whole path, with the certificate of the
//! linear problem.

mod nystrom;

pub use margins_kernel_functions::RandomFourierMap;

pub use self::nystrom::{LandmarkSampling, NystromMap};

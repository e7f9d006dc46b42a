//! The integration tests, in one program that is compiled and linked once.

mod common;
mod fourier;
mod kernels;
mod linear_scores;
mod scales;
mod testkit;

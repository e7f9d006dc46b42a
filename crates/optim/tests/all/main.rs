//! The integration tests, in one program that is compiled and linked once.

mod adaptive;
mod choice;
mod constrained;
mod dual;
mod erm_solutions;
mod free;
mod joint;
mod properties;
mod samples;
mod scales;
mod separable;
mod shards;
mod stochastic;

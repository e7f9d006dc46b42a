//! The integration tests, in one program that is compiled and linked once.

mod common;
mod cross_validation;
mod errata;
mod features;
mod gram;
mod joint;
mod matrix_free;
mod path;
mod properties;
mod published;
mod references;
mod scales;
mod spaces;
mod svm;

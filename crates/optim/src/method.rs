//! The choice of a method for a problem, in one place.

mod choose;
mod prediction;

pub(crate) use choose::{Plan, choose};

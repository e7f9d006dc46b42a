//! The choice of a method for a problem, in one place.

mod choose;

pub(crate) use choose::{Plan, choose};

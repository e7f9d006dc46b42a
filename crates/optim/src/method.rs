//! The choice of a method for a problem, in one place.

mod choose;
mod prediction;

pub use choose::Route;
pub(crate) use choose::{Plan, choose};

//! Focused online learning.

mod error;
mod power_of_two;
mod sample_tree;

pub use error::Error;
pub use sample_tree::SampleTree;

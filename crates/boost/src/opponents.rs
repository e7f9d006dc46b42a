//! Other methods for a small maximal loss, for comparison.
//!
//! Stochastic gradient descent is the [`Game`](crate::Game) with a
//! [`UniformPlayer`](crate::UniformPlayer).

mod ada_boost;
mod exp3p;
mod largest_margin;
mod sublinear_perceptron;

pub use ada_boost::{AdaBoost, WeightedVote, resampled};
pub use exp3p::Exp3P1;
pub use largest_margin::{LargestMargin, largest_margin};
pub use sublinear_perceptron::SublinearPerceptron;

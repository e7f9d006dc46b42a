//! What must hold of any bytes, for every way by which bytes come in.

pub mod change;
mod ways;

pub use ways::{Check, Read, Way, adversaries, find, ways};

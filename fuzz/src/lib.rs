//! What must hold of any bytes, for each reader of bytes: the fuzz targets, and how bytes are changed.

pub mod change;
mod targets;

pub use targets::{Check, Read, Target, adversaries, find, targets};

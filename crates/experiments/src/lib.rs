#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod document;
pub mod figure;
pub mod files;
pub mod machine;
mod mean;
pub mod trials;

pub use document::{Cell, Document, Table};
pub use figure::Figure;
pub use mean::{Mean, below_and_above};
pub use trials::{Numbers, Trials};

/// An error of any kind, which may come from another thread.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

//! The error type of shards.

/// The reason why shards cannot answer.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

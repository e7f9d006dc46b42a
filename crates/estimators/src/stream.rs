//! Stochastic gradient, over a stream that passes by once or over data in memory.

mod rescaling;

pub use rescaling::data_driven_scale;

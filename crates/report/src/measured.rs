//! A number with its standard error.

use margins_data::metrics::{Area, ErrorRate};
use serde::Serialize;

/// A number with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// The standard error of the number.
    pub standard_error: f64,
}

impl From<Area> for Measured {
    fn from(area: Area) -> Self {
        Measured { value: area.value, standard_error: area.standard_error }
    }
}

impl From<ErrorRate> for Measured {
    fn from(error: ErrorRate) -> Self {
        Measured { value: error.rate, standard_error: error.standard_error }
    }
}

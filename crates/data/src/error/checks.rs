//! Checks of lengths and values.

use super::Error;

/// Refuses the first value outside its range.
pub(crate) fn check_entries(
    what: &'static str,
    values: &[f64],
    requirement: &'static str,
    valid: impl Fn(f64) -> bool,
) -> Result<(), Error> {
    match values.iter().position(|&value| !valid(value)) {
        Some(row) => Err(Error::Entry { what, row, value: values[row], requirement }),
        None => Ok(()),
    }
}

/// Refuses a length other than the expected one.
pub(crate) fn check_len(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

/// Refuses another number of things than of places for them.
pub(crate) fn check_count(
    what: &'static str,
    found: usize,
    places: &'static str,
    expected: usize,
) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Count { what, found, places, expected }) }
}

/// Refuses a sign other than 1 and -1.
pub(crate) fn check_signs(signs: &[f64]) -> Result<(), Error> {
    check_entries("sign", signs, "1 or -1", |sign| sign.abs() == 1.0)
}

/// Refuses a weight that is negative or not finite.
pub(crate) fn check_weights(weights: &[f64]) -> Result<(), Error> {
    check_entries("weight", weights, "finite and not negative", |c| c.is_finite() && c >= 0.0)
}

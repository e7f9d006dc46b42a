//! The error of a parameter outside its range, which all crates share.

use thiserror::Error;

/// A parameter that is outside its range: the error of every check of a number, here and in the
/// crates above.
///
/// ```
/// use margins_losses::OutOfRange;
///
/// let share = |value: f64| OutOfRange::check("delta", value, "between 0 and 1", |x| 0.0 < x && x < 1.0);
/// assert_eq!(share(0.25), Ok(0.25));
/// assert_eq!(share(2.0).unwrap_err().to_string(), "delta is 2, but must be between 0 and 1");
/// assert!(share(f64::NAN).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("{parameter} is {value}, but must be {requirement}")]
pub struct OutOfRange {
    /// The name of the parameter.
    pub parameter: &'static str,
    /// The value that was refused.
    pub value: f64,
    /// The range in words, such as "a finite number greater than 1".
    pub requirement: &'static str,
}

impl OutOfRange {
    /// Returns the value if it is finite and `valid` holds of it.
    ///
    /// # Errors
    /// Any other value, with its name and its range.
    pub fn check(
        parameter: &'static str,
        value: f64,
        requirement: &'static str,
        valid: impl FnOnce(f64) -> bool,
    ) -> Result<f64, OutOfRange> {
        if value.is_finite() && valid(value) {
            Ok(value)
        } else {
            Err(OutOfRange { parameter, value, requirement })
        }
    }

    /// Returns the value if it is finite and greater than 0.
    ///
    /// # Errors
    /// Any other value, with its name and its range.
    pub fn check_positive(parameter: &'static str, value: f64) -> Result<f64, OutOfRange> {
        Self::check(parameter, value, "a finite number greater than 0", |value| value > 0.0)
    }
}

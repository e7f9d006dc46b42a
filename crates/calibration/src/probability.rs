//! Class probabilities from the scores of any classifier, and their reliability.
//!
//! [`pairwise_coupling`] makes the probabilities of several classes from those of their pairs,
//! [`joint_probabilities`] and [`softmax`] from the scores of one problem for all classes. A [`Scheme`]
//! says which of them the scores of a classifier have, and which class they decide for.
//!
//! [`PlattScaling`] and [`IsotonicRegression`] are fitted on scores of samples that the classifier
//! was not fitted on, with their signs +1 and -1. [`Reliability`] compares probabilities with the
//! outcomes.

mod coupling;
mod isotonic;
mod platt;
mod reliability;
mod scheme;

pub use coupling::pairwise_coupling;
pub use isotonic::IsotonicRegression;
pub use margins_losses::{joint_probabilities, softmax};
pub use platt::PlattScaling;
pub use reliability::{Bin, Binning, BrierDecomposition, CalibrationError, Reliability};
pub use scheme::Scheme;

use crate::Error;

/// Refuses signs that are not one per value, an empty sample, and signs other than +1 and -1.
fn check_signs(values: usize, signs: &[f64]) -> Result<(), Error> {
    Error::check_length("signs, one per value", values, signs.len())?;
    if signs.is_empty() {
        return Err(Error::Empty("signs"));
    }
    Error::check_entries("sign", signs, "+1 or -1", |y| y == 1.0 || y == -1.0)
}

/// Checks scores and their signs, and returns the number of signs +1.
fn check_scores(scores: &[f64], signs: &[f64]) -> Result<usize, Error> {
    check_signs(scores.len(), signs)?;
    Error::check_sample("scores", scores)?;
    Ok(signs.iter().filter(|&&y| y > 0.0).count())
}

/// Returns weights, one per sample, relative to the largest, so that sums do not overflow; 1 each if
/// none are given.
fn relative_weights(weights: Option<&[f64]>, samples: usize) -> Result<Vec<f64>, Error> {
    let Some(weights) = weights else { return Ok(vec![1.0; samples]) };
    Error::check_length("weights, one a score", samples, weights.len())?;
    let valid = |c: f64| c >= 0.0 && c.is_finite();
    Error::check_entries("weight", weights, "at least 0 and finite", valid)?;
    let largest = weights.iter().copied().fold(0.0, f64::max);
    Ok(weights.iter().map(|weight| weight / largest).collect())
}

/// Returns 1 for the sign +1, 0 for -1.
fn outcome(sign: f64) -> f64 {
    if sign > 0.0 { 1.0 } else { 0.0 }
}

use margins_calibration::probability::PlattScaling;

use crate::Error;

/// Returns the Platt scaling of the scores of one member; samples without weights have weight 1.
pub(super) fn platt_scaling(
    scores: &[f64],
    signs: &[f64],
    weights: Option<&[f64]>,
) -> Result<PlattScaling, Error> {
    Ok(match weights {
        Some(weights) => PlattScaling::fit_weighted(scores, signs, weights)?,
        None => PlattScaling::fit(scores, signs)?,
    })
}

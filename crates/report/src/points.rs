//! The points of curves, thinned for documents and pictures.

use margins_data::metrics::MarginStatistics;

use crate::Error;

/// The most points that a curve is kept with.
const MOST_POINTS: usize = 201;

/// Returns the quantiles 0, 0.005, ..., 1 of margins; none where no sample counts.
pub(crate) fn quantiles(margins: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
    let is_empty = weights.map_or(margins.is_empty(), |weights| weights.iter().all(|c| *c == 0.0));
    if is_empty {
        return Ok(Vec::new());
    }
    let shares: Vec<f64> = (0..MOST_POINTS).map(share).collect();
    Ok(MarginStatistics::new(margins, &vec![1.0; margins.len()], weights)?.quantiles(&shares)?)
}

/// Returns quantiles with the share of samples at or below them.
pub(crate) fn distribution(quantiles: &[f64]) -> Vec<(f64, f64)> {
    quantiles.iter().enumerate().map(|(k, &margin)| (margin, share(k))).collect()
}

/// Returns the share of the k-th of the most points.
fn share(k: usize) -> f64 {
    k as f64 / (MOST_POINTS - 1) as f64
}

/// Returns the ends of a curve and points between them, evenly by their number.
pub(crate) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    (0..MOST_POINTS).map(|k| points[k * (points.len() - 1) / (MOST_POINTS - 1)]).collect()
}

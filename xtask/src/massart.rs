//! Experiments with halfspaces under Massart noise (Diakonikolas and Zarifis 2024).

pub(crate) mod adversaries;
pub(crate) mod cuts;
mod instance;
pub(crate) mod real_data;
pub(crate) mod sample_complexity;
pub(crate) mod selection;
pub(crate) mod surrogates;

/// Returns mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

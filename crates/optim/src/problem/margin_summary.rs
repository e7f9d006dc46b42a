use margins_data::metrics::{MarginStatistics, error_rate};

/// A summary of the margins of the samples that the objective counts, by their own weights, without
/// the costs of classes; NaN where a score is NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginSummary {
    /// The share of the samples on the wrong side.
    pub error: f64,
    /// The mean of the margins.
    pub mean: f64,
    /// The mean squared distance from the mean.
    pub variance: f64,
    /// The mean cubed distance from the mean over the variance to the power 3/2.
    pub skewness: f64,
}

impl MarginSummary {
    /// Returns the summary of unknown margins: NaN throughout.
    pub fn unknown() -> Self {
        let none = f64::NAN;
        MarginSummary { error: none, mean: none, variance: none, skewness: none }
    }

    /// Returns the summary of margins `y_i f(x_i)`, given the `y_i` and the weights by which they
    /// count.
    pub fn new(margins: &[f64], signs: &[f64], weights: &[f64]) -> Self {
        let scores: Vec<f64> = margins.iter().zip(signs).map(|(u, y)| u * y).collect();
        let weights = Some(weights);
        let error = error_rate(&scores, signs, weights).map_or(f64::NAN, |error| error.rate);
        match MarginStatistics::new(&scores, signs, weights) {
            Ok(MarginStatistics { mean, variance, skewness, .. }) => {
                MarginSummary { error, mean, variance, skewness }
            }
            Err(_) => {
                MarginSummary { error, mean: f64::NAN, variance: f64::NAN, skewness: f64::NAN }
            }
        }
    }
}

use margins_data::metrics::{MarginStatistics, error_rate};

/// The margins of the samples that count, each once whatever its weight; NaN where a score is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginSummary {
    /// Share of the samples on the wrong side.
    pub error: f64,
    /// Mean margin.
    pub mean: f64,
    /// Mean squared distance from it.
    pub variance: f64,
    /// Mean cubed distance from it over the variance to the power 3/2.
    pub skewness: f64,
}

impl MarginSummary {
    /// Returns the summary of margins that nobody has looked at: NaN throughout.
    pub fn unknown() -> Self {
        let none = f64::NAN;
        MarginSummary { error: none, mean: none, variance: none, skewness: none }
    }

    /// Returns the summary of margins `y_i f(x_i)`, given the `y_i`.
    pub fn new(margins: &[f64], signs: &[f64]) -> Self {
        let scores: Vec<f64> = margins.iter().zip(signs).map(|(u, y)| u * y).collect();
        let error = error_rate(&scores, signs, None).map_or(f64::NAN, |error| error.rate);
        match MarginStatistics::new(&scores, signs, None) {
            Ok(MarginStatistics { mean, variance, skewness, .. }) => {
                MarginSummary { error, mean, variance, skewness }
            }
            Err(_) => {
                MarginSummary { error, mean: f64::NAN, variance: f64::NAN, skewness: f64::NAN }
            }
        }
    }
}

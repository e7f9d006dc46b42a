//! Means over trials.

use std::fmt;

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean, NaN of no values.
    pub mean: f64,
    /// The standard error of the mean: the standard deviation, with n - 1 in its denominator, over the
    /// root of n; 0 of one value.
    pub standard_error: f64,
}

impl Mean {
    /// Returns the mean of values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Mean { mean, standard_error: (squares / (n - 1.0).max(1.0) / n).sqrt() }
    }

    /// Returns the mean of shares, in percent.
    pub fn percent(shares: impl IntoIterator<Item = f64>) -> Self {
        Mean::of(shares.into_iter().map(|share| 100.0 * share))
    }

    /// Returns the mean divided by its standard error: how many standard errors it is above 0. A mean of
    /// exactly 0 is 0 standard errors from it, even if its standard error is 0.
    pub fn in_standard_errors(&self) -> f64 {
        if self.mean == 0.0 { 0.0 } else { self.mean / self.standard_error }
    }
}

/// Writes `12.34 (0.56)`, or a dash if the mean is NaN.
impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mean.is_nan() {
            true => f.write_str("-"),
            false => write!(f, "{:.2} ({:.2})", self.mean, self.standard_error),
        }
    }
}

/// Returns how many of the means are more than two standard errors below 0, and how many are more than
/// two standard errors above it.
pub fn below_and_above(differences: impl IntoIterator<Item = Mean>) -> [usize; 2] {
    let mut counts = [0; 2];
    for Mean { mean, standard_error } in differences {
        counts[0] += usize::from(mean < -2.0 * standard_error);
        counts[1] += usize::from(mean > 2.0 * standard_error);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_by_definition() {
        // Mean 0.2, standard deviation 0.1, three values.
        assert_eq!(Mean::percent([0.1, 0.2, 0.3]).to_string(), "20.00 (5.77)");
        assert_eq!(Mean::of([3.0]).to_string(), "3.00 (0.00)");
        assert_eq!(Mean::of([]).to_string(), "-");
        let means = [-2.1, -1.9, 2.1].map(|mean| Mean { mean, standard_error: 1.0 });
        assert_eq!(below_and_above(means), [1, 1]);
    }

    #[test]
    fn means_count_in_their_standard_errors() {
        // Differences of 10 and 30: 20 on average, with a standard error of 10.
        assert_eq!(Mean::of([10.0, 30.0]).in_standard_errors(), 2.0);
        assert_eq!(Mean::of([-10.0, -30.0]).in_standard_errors(), -2.0);
        // Pairs that are all equal do not differ at all; a constant difference has no error.
        assert_eq!(Mean::of([0.0, 0.0]).in_standard_errors(), 0.0);
        assert_eq!(Mean::of([-1.0, -1.0]).in_standard_errors(), f64::NEG_INFINITY);
        assert!(Mean::of([]).in_standard_errors().is_nan());
    }
}

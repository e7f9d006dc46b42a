//! A summary of margins for histories and callbacks.

use margins_data::metrics::is_mistake;

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

    /// Returns the summary of samples, each given by its margin `u_i = y_i f(x_i)`, its sign `y_i` and
    /// its weight; samples of weight 0 do not count. No weight overflows a sum, and no margin a power:
    /// both are taken relative to the largest.
    pub fn of(samples: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Self {
        let (mut scale, mut heaviest) = (0.0f64, 0.0f64);
        for (margin, _, weight) in samples.clone().filter(|(_, _, weight)| *weight > 0.0) {
            if !margin.is_finite() {
                return Self::unknown();
            }
            (scale, heaviest) = (scale.max(margin.abs()), heaviest.max(weight));
        }
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let relative = samples.map(|(u, y, c)| (u / scale, y, c / heaviest));
        let [total, wrong, first] =
            sums(relative.clone(), |u, y| [1.0, f64::from(u8::from(is_mistake(u * y, y))), u]);
        let mean = first / total;
        let [second, third] = sums(relative, |u, _| [(u - mean).powi(2), (u - mean).powi(3)]);
        let variance = second / total;
        let skewness = if variance > 0.0 { third / total / variance.powf(1.5) } else { 0.0 };
        let error = wrong / total;
        MarginSummary { error, mean: mean * scale, variance: variance * scale * scale, skewness }
    }
}

/// Returns the sums of the entries of `term(u_i, y_i)` by weight.
fn sums<const N: usize>(
    samples: impl Iterator<Item = (f64, f64, f64)>,
    term: impl Fn(f64, f64) -> [f64; N],
) -> [f64; N] {
    let mut sums = [0.0; N];
    for (u, y, c) in samples.filter(|(_, _, c)| *c > 0.0) {
        sums.iter_mut().zip(term(u, y)).for_each(|(sum, term)| *sum += c * term);
    }
    sums
}

#[cfg(test)]
mod tests {
    use margins_data::metrics::{MarginStatistics, error_rate};

    use super::*;

    #[test]
    fn the_summary_is_that_of_the_metrics() {
        let scores: Vec<f64> = (0..97).map(|i| ((i * i) as f64 * 0.7).sin() * 3.0).collect();
        let signs: Vec<f64> = (0..97).map(|i| if i % 5 < 2 { 1.0 } else { -1.0 }).collect();
        for factor in [1.0, 1e-300, 1e150] {
            let weights: Vec<f64> = (0..97).map(|i| factor * (i % 4) as f64).collect();
            let samples = (0..97).map(|i| (signs[i] * scores[i], signs[i], weights[i]));
            let summary = MarginSummary::of(samples);
            let expected = MarginStatistics::new(&scores, &signs, Some(&weights)).expect("finite");
            let error = error_rate(&scores, &signs, Some(&weights)).expect("finite");
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (1.0 + b.abs());
            assert!(near(summary.error, error.rate) && near(summary.mean, expected.mean));
            assert!(near(summary.variance, expected.variance), "{summary:?} {expected:?}");
            assert!(near(summary.skewness, expected.skewness), "{summary:?} {expected:?}");
        }
    }

    #[test]
    fn margins_beyond_numbers_have_no_summary_and_large_ones_do() {
        assert!(MarginSummary::of([(f64::NAN, 1.0, 1.0)].into_iter()).mean.is_nan());
        assert_eq!(
            MarginSummary::of([(f64::NAN, 1.0, 0.0), (2.0, 1.0, 1.0)].into_iter()).mean,
            2.0
        );
        let large = [(1e200, 1.0, 1e308), (-1e200, -1.0, 1e308), (0.0, 1.0, 1e308)];
        let summary = MarginSummary::of(large.into_iter());
        assert_eq!((summary.mean, summary.skewness), (0.0, 0.0));
        assert!((summary.error - 2.0 / 3.0).abs() < 1e-15);
    }
}

//! The weighted distribution of margins.

use super::{Weights, check_scores};
use crate::Error;

/// The distribution of the margins y_i f(x_i), each with the weight c_i of its sample. Samples of
/// weight 0 do not count.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginStatistics {
    /// The mean m.
    pub mean: f64,
    /// The mean of (u - m)^2.
    pub variance: f64,
    /// The mean of (u - m)^3, over the variance to the power 3/2; 0 if all margins are equal.
    pub skewness: f64,
    /// The margins, ascending, not empty.
    margins: Vec<f64>,
    /// The weight of each margin and of all before it.
    cumulated: Vec<f64>,
}

impl MarginStatistics {
    /// Takes scores, signs and weights.
    ///
    /// # Errors
    /// See the [module](super); also weights whose sum overflows.
    pub fn new(scores: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        check_scores(scores, signs)?;
        let checked = Weights::of(weights, scores.len())?;
        let rows = (0..scores.len()).filter(|&i| checked.counts(i));
        let mut pairs: Vec<(f64, f64)> = rows
            .map(|i| (scores[i] * signs[i], weights.map_or(1.0, |weights| weights[i])))
            .collect();
        pairs.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let (margins, weights): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let cumulated: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, c| {
                *sum += c;
                Some(*sum)
            })
            .collect();
        if let Some(total) = cumulated.last().filter(|total| !total.is_finite()) {
            return Err(Error::parameter("the sum of weights", total, "finite"));
        }
        // Moments of the margins relative to the largest magnitude, which powers do not overflow.
        let magnitude = margins.iter().fold(0.0f64, |largest, u| largest.max(u.abs()));
        let scale = if magnitude > 0.0 { magnitude } else { 1.0 };
        let weights = Weights::of(Some(&weights), margins.len())?;
        let mean = weights.mean(margins.iter().map(|u| u / scale));
        let moment = |k| weights.mean(margins.iter().map(|u| (u / scale - mean).powi(k)));
        let variance = moment(2);
        let skewness = if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 };
        let (mean, variance) = (mean * scale, variance * scale * scale);
        Ok(MarginStatistics { mean, variance, skewness, margins, cumulated })
    }

    /// Returns the smallest margin.
    pub fn minimum(&self) -> f64 {
        self.margins[0]
    }

    /// Returns the quantiles at the given levels, linear between order statistics: level 0 is the
    /// minimum, 0.5 the median, 1 the maximum. Weights count repetitions, as in `wtd.quantile` of
    /// R's Hmisc: with W their sum, level p stands at `1 + p (W - 1)`, and the order statistic k is
    /// the first margin up to which the weights sum to k.
    ///
    /// # Errors
    /// A level outside \[0, 1\].
    pub fn quantiles(&self, levels: &[f64]) -> Result<Vec<f64>, Error> {
        let quantile = |&level: &f64| {
            if !(0.0..=1.0).contains(&level) {
                return Err(Error::parameter("a quantile level", level, "from 0 to 1"));
            }
            let position = level * (self.total() - 1.0).max(0.0);
            let share = position - position.floor();
            let (below, above) = (position.floor() + 1.0, position.ceil() + 1.0);
            Ok((1.0 - share) * self.order_statistic(below) + share * self.order_statistic(above))
        };
        levels.iter().map(quantile).collect()
    }

    /// Returns the share of the margins that are < `level`, by weight.
    pub fn fraction_below(&self, level: f64) -> f64 {
        match self.margins.partition_point(|&u| u < level) {
            0 => 0.0,
            below => self.cumulated[below - 1] / self.total(),
        }
    }

    fn total(&self) -> f64 {
        self.cumulated[self.cumulated.len() - 1]
    }

    /// Returns the first margin up to which the weights sum to `k`; the last if they never do.
    fn order_statistic(&self, k: f64) -> f64 {
        let at = self.cumulated.partition_point(|&sum| sum < k);
        self.margins[at.min(self.margins.len() - 1)]
    }
}

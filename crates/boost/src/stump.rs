//! Decision stumps: the exact search for boosting, an online learner, and weighted votes.

use std::sync::Arc;

use margins_data::{Design, Labels, Sample};
use margins_losses::OutOfRange;
use margins_optim::online::{OnlineLearner, Scorer};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A decision stump, `h(x) = s` where `x_j > threshold` and `-s` elsewhere, with `s` +1 or -1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stump {
    /// The feature `j`, from 0.
    pub feature: usize,
    /// The largest value on the side of `-s`.
    pub threshold: f64,
    /// The sign `s`.
    pub sign: f64,
}

impl Stump {
    fn of_value(&self, value: f64) -> f64 {
        if value > self.threshold { self.sign } else { -self.sign }
    }
}

impl Scorer for Stump {
    fn score(&self, x: &Sample<'_>) -> f64 {
        let value = match *x {
            Sample::Dense(x) => x[self.feature],
            Sample::Sparse { columns, values, .. } => {
                columns.binary_search(&self.feature).map_or(0.0, |at| values[at])
            }
        };
        self.of_value(value)
    }
}

/// A search for the stump of lowest weighted error, again and again for other weights.
///
/// The nonzero values of every feature are sorted once; all others are one group at 0, so that a
/// search takes the time of a pass over the stored values.
#[derive(Debug, Clone)]
pub struct StumpSearch {
    rows: usize,
    /// The values with their rows, ascending, 0 left out.
    features: Vec<Vec<(f64, usize)>>,
}

impl StumpSearch {
    /// Sorts the values of every feature.
    pub fn new(design: &Design) -> Self {
        let mut features = vec![Vec::new(); design.columns()];
        for (row, x) in design.samples().enumerate() {
            x.for_each(|column, value| {
                if value != 0.0 {
                    features[column].push((value, row));
                }
            });
        }
        features.iter_mut().for_each(|values| values.sort_by(|a, b| a.0.total_cmp(&b.0)));
        StumpSearch { rows: design.rows(), features }
    }

    /// Returns the stump with the largest `sum_i p_i y_i h(x_i)`, the first of several, and that
    /// sum, its edge: at weights of sum 1 its weighted error is `(1 - edge)/2`.
    ///
    /// # Errors
    /// Another number of labels or weights than of samples.
    pub fn best(&self, labels: &Labels, weights: &[f64]) -> Result<(Stump, f64), Error> {
        Error::check_len("labels", self.rows, labels.len())?;
        Error::check_len("weights", self.rows, weights.len())?;
        let signed: Vec<f64> = labels.signs().iter().zip(weights).map(|(y, p)| y * p).collect();
        let total: f64 = signed.iter().sum();
        let constant = Stump { feature: 0, threshold: f64::MIN, sign: 1.0_f64.copysign(total) };
        let mut best = (constant, total.abs());
        for (feature, values) in self.features.iter().enumerate() {
            let stored: f64 = values.iter().map(|&(_, row)| signed[row]).sum();
            let mut consider = |threshold: f64, below: f64| {
                let edge = total - 2.0 * below;
                if edge.abs() > best.1 {
                    best = (Stump { feature, threshold, sign: 1.0_f64.copysign(edge) }, edge.abs());
                }
            };
            let mut below = 0.0;
            let mut zeros = (values.len() < self.rows).then_some(total - stored);
            for (at, &(value, row)) in values.iter().enumerate() {
                if value > 0.0
                    && let Some(sum) = zeros.take()
                {
                    below += sum;
                    consider(0.0, below);
                }
                below += signed[row];
                if values.get(at + 1).is_none_or(|&(next, _)| next != value) {
                    consider(value, below);
                }
            }
        }
        Ok(best)
    }
}

/// Balanced Winnow over decision stumps: an online learner for what boosting combines.
///
/// Over the N stumps at quantiles of every feature and their negatives the weights are in
/// proportion to `exp(+-eta c_j)`, with `c_j` the sum of `y h_j(x)` over the mistakes so far, `y
/// f(x) <= 0`; the score `f` is their weighted vote, in [-1, 1]. If some weighted vote has margin
/// gamma on all samples, there are at most `2 ln(2N)/gamma^2` mistakes with `eta = gamma`.
///
/// Source: Littlestone (1988) in the form of Kivinen and Warmuth (1997).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Winnow")]
pub struct StumpWinnow {
    thresholds: Thresholds,
    eta: f64,
    /// The gains `c_j`, one a threshold.
    gains: Vec<f64>,
    /// The vote over the same thresholds.
    vote: StumpVote,
}

/// A [`StumpWinnow`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Winnow {
    thresholds: Thresholds,
    eta: f64,
    gains: Vec<f64>,
    vote: StumpVote,
}

impl TryFrom<Winnow> for StumpWinnow {
    type Error = Error;

    fn try_from(winnow: Winnow) -> Result<Self, Error> {
        let Winnow { thresholds, eta, gains, vote } = winnow;
        OutOfRange::check("the step size", eta, "greater than 0", |eta| eta > 0.0)?;
        Error::check_len("gains", thresholds.iter().map(Vec::len).sum(), gains.len())?;
        Error::check_len("features of the vote", thresholds.len(), vote.features.len())?;
        for (own, (of_vote, _)) in thresholds.iter().zip(vote.features.iter()) {
            Error::check_len("thresholds of a feature", own.len(), of_vote.len())?;
        }
        Ok(StumpWinnow { thresholds, eta, gains, vote })
    }
}

/// The ascending thresholds of every feature.
type Thresholds = Vec<Vec<f64>>;

/// A weighted vote of decision stumps.
///
/// The score adds up a step function of every feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Steps")]
pub struct StumpVote {
    /// The thresholds of every feature, and what the feature adds to the score below the first,
    /// between every two and beyond the last of them.
    #[serde(with = "crate::shared")]
    features: Arc<Vec<(Vec<f64>, Vec<f64>)>>,
    /// The score of the sample of zeros.
    at_zero: f64,
}

/// A [`StumpVote`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    features: Vec<(Vec<f64>, Vec<f64>)>,
    at_zero: f64,
}

impl TryFrom<Steps> for StumpVote {
    type Error = Error;

    fn try_from(Steps { features, at_zero }: Steps) -> Result<Self, Error> {
        for (thresholds, steps) in &features {
            Error::check_len("steps of a feature", thresholds.len() + 1, steps.len())?;
        }
        Ok(StumpVote { features: Arc::new(features), at_zero })
    }
}

/// Returns the step that a value falls on.
fn step_of(thresholds: &[f64], value: f64) -> usize {
    thresholds.partition_point(|&threshold| threshold < value)
}

impl StumpVote {
    /// Takes one weight for every threshold of every feature, in order.
    fn new(thresholds: &Thresholds, mut weights: impl Iterator<Item = f64>) -> Self {
        let feature = |thresholds: &Vec<f64>| {
            let of_thresholds: Vec<f64> = weights.by_ref().take(thresholds.len()).collect();
            let mut step: f64 = -of_thresholds.iter().sum::<f64>();
            let mut steps = vec![step];
            for weight in of_thresholds {
                step += 2.0 * weight;
                steps.push(step);
            }
            (thresholds.clone(), steps)
        };
        let features: Vec<_> = thresholds.iter().map(feature).collect();
        let zero = |(thresholds, steps): &(Vec<f64>, Vec<f64>)| steps[step_of(thresholds, 0.0)];
        let at_zero = features.iter().map(zero).sum();
        StumpVote { features: Arc::new(features), at_zero }
    }
}

impl Scorer for StumpVote {
    fn score(&self, x: &Sample<'_>) -> f64 {
        let mut score = self.at_zero;
        x.for_each(|feature, value| {
            let (thresholds, steps) = &self.features[feature];
            score += steps[step_of(thresholds, value)] - steps[step_of(thresholds, 0.0)];
        });
        score
    }

    fn columns(&self) -> Option<usize> {
        Some(self.features.len())
    }
}

impl StumpWinnow {
    /// Returns a learner of stumps at the midpoints between distinct values of every feature, at
    /// most `thresholds` of them, at even ranks; `eta` is the step size.
    ///
    /// # Errors
    /// No thresholds asked for, or a step size that is not positive. [`Error::NoStumps`]: no feature
    /// has two values.
    pub fn new(design: &Design, thresholds: usize, eta: f64) -> Result<Self, Error> {
        OutOfRange::check("the step size", eta, "greater than 0", |eta| eta > 0.0)?;
        let most = thresholds;
        OutOfRange::check("the number of thresholds", most as f64, "at least 1", |most| {
            most >= 1.0
        })?;
        let of_feature = |values: Vec<(f64, usize)>| {
            let mut distinct: Vec<f64> = values.iter().map(|&(value, _)| value).collect();
            if values.len() < design.rows() {
                distinct.push(0.0);
            }
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            let gaps = distinct.len().saturating_sub(1);
            let taken = gaps.min(most);
            (0..taken)
                .map(|k| (2 * k + 1) * gaps / (2 * taken))
                .map(|gap| 0.5 * distinct[gap] + 0.5 * distinct[gap + 1])
                .collect()
        };
        let thresholds: Thresholds =
            StumpSearch::new(design).features.into_iter().map(of_feature).collect();
        let stumps: usize = thresholds.iter().map(Vec::len).sum();
        if stumps == 0 {
            return Err(Error::NoStumps);
        }
        let vote = StumpVote::new(&thresholds, std::iter::repeat(0.0));
        Ok(StumpWinnow { thresholds, eta, gains: vec![0.0; stumps], vote })
    }

    /// Returns the number of stumps N, negatives not counted.
    pub fn stumps(&self) -> usize {
        self.gains.len()
    }
}

impl Scorer for StumpWinnow {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.vote.score(x)
    }

    fn columns(&self) -> Option<usize> {
        self.vote.columns()
    }
}

impl OnlineLearner for StumpWinnow {
    type Snapshot = StumpVote;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let margin = y * self.score(x);
        if !margin.is_finite() {
            return Err(margins_optim::Error::Diverged(margin));
        }
        if margin > 0.0 {
            return Ok(());
        }
        let mut features = vec![0.0; self.thresholds.len()];
        x.add_to(1.0, &mut features);
        let mut gains = self.gains.iter_mut();
        for (thresholds, value) in self.thresholds.iter().zip(&features) {
            for (threshold, gain) in thresholds.iter().zip(gains.by_ref()) {
                *gain += if value > threshold { y } else { -y };
            }
        }
        // exp(eta c) - exp(-eta c) over the sum of exp(eta c) + exp(-eta c), relative to the
        // largest.
        let largest = self.gains.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let of_sign = |c: f64, sign: f64| (self.eta * (sign * c - largest)).exp();
        let total: f64 = self.gains.iter().map(|&c| of_sign(c, 1.0) + of_sign(c, -1.0)).sum();
        let weights = self.gains.iter().map(|&c| (of_sign(c, 1.0) - of_sign(c, -1.0)) / total);
        self.vote = StumpVote::new(&self.thresholds, weights);
        Ok(())
    }

    fn snapshot(&self) -> StumpVote {
        self.vote.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(signs: &[bool]) -> Labels {
        let mut signs: Vec<f64> = signs.iter().map(|&s| if s { 1.0 } else { -1.0 }).collect();
        (signs[0], signs[1]) = (1.0, -1.0);
        Labels::from_signs(signs).unwrap()
    }

    proptest! {
        #[test]
        fn no_stump_has_less_weighted_error(
            rows in prop::collection::vec((prop::array::uniform3(-2i8..3), any::<bool>(), 0.01..1.0f64), 2..20),
            sparse: bool,
        ) {
            let labels = labels(&rows.iter().map(|row| row.1).collect::<Vec<_>>());
            let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let values: Vec<[f64; 3]> = rows.iter().map(|row| row.0.map(f64::from)).collect();
            let design = if sparse {
                let stored = |x: &[f64; 3]| {
                    let all = x.iter().copied().enumerate();
                    all.filter(|&(_, value)| value != 0.0).collect::<Vec<_>>()
                };
                Design::from_sparse_rows(&values.iter().map(stored).collect::<Vec<_>>(), 3).unwrap()
            } else {
                Design::from_rows(&values).unwrap()
            };
            let edge = |stump: &Stump| -> f64 {
                let parts = design.samples().zip(labels.signs()).zip(&weights);
                parts.map(|((x, y), p)| p * y * stump.score(&x)).sum()
            };
            let (best, claimed) = StumpSearch::new(&design).best(&labels, &weights).unwrap();
            prop_assert!((edge(&best) - claimed).abs() < 1e-12);
            for feature in 0..3 {
                for threshold in -3..3 {
                    for sign in [1.0, -1.0] {
                        let threshold = f64::from(threshold) + 0.5;
                        let other = edge(&Stump { feature, threshold, sign });
                        prop_assert!(other <= claimed + 1e-12);
                    }
                }
            }
        }

        #[test]
        fn winnow_is_the_weighted_vote_of_its_stumps_within_the_mistake_bound(seed in 0u64..50) {
            use rand::{RngExt, SeedableRng};
            let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let rows: Vec<[f64; 4]> = (0..60).map(|_| std::array::from_fn(|_| random.random())).collect();
            let design = Design::from_rows(&rows).unwrap();
            let (gamma, most) = (1.0 / 3.0, 5);
            let mut learner = StumpWinnow::new(&design, most, gamma).unwrap();
            let stumps: Vec<Stump> = learner.thresholds.iter().enumerate().flat_map(|(feature, of)| {
                of.iter().map(move |&threshold| Stump { feature, threshold, sign: 1.0 })
            }).collect();
            // The majority of three stumps has margin 1/3.
            let target = |x: &Sample<'_>| stumps[2].score(x) + stumps[7].score(x) - stumps[16].score(x);
            let mut mistakes = 0;
            for _ in 0..40 {
                for x in design.samples() {
                    let y = target(&x).signum();
                    mistakes += usize::from(y * learner.score(&x) <= 0.0);
                    learner.step(&x, y).unwrap();
                }
            }
            prop_assert!(mistakes as f64 <= 2.0 * (2.0 * stumps.len() as f64).ln() / (gamma * gamma));
            let weight = |c: f64| 2.0 * (gamma * c).sinh();
            let total: f64 = learner.gains.iter().map(|&c| 2.0 * (gamma * c).cosh()).sum();
            for x in design.samples() {
                prop_assert!(target(&x) * learner.score(&x) > 0.0);
                let by_definition: f64 = stumps.iter().zip(&learner.gains)
                    .map(|(stump, &c)| weight(c) * stump.score(&x)).sum::<f64>() / total;
                prop_assert!((learner.score(&x) - by_definition).abs() < 1e-12);
            }
        }
    }
}

//! Isotonic regression of outcomes on scores, by pooling adjacent violators.

use super::{check_scores, outcome, relative_weights};
use crate::Error;

/// Isotonic regression of the outcomes on the scores: the nondecreasing function p that minimises
/// `sum_i c_i (p(f_i) - 1[y_i = +1])^2`, by pooling adjacent violators, after pooling equal scores.
///
/// The minimiser is determined at the fitted scores only, where it takes one value on each block of
/// adjacent scores: the weighted frequency of +1. Between two blocks
/// [`probability`](Self::probability) is linear, below the first and above the last it is constant.
/// A fit takes O(n log n), a probability O(log blocks).
///
/// Source: Zadrozny and Elkan 2002; Barlow, Bartholomew, Bremner and Brunk 1972.
#[derive(Debug, Clone, PartialEq)]
pub struct IsotonicRegression {
    /// The blocks, ascending in score and in mean.
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    first: f64,
    last: f64,
    weight: f64,
    positive: f64,
}

impl Block {
    fn mean(&self) -> f64 {
        self.positive / self.weight
    }

    fn pool(&mut self, next: &Block) {
        self.last = next.last;
        self.weight += next.weight;
        self.positive += next.positive;
    }
}

impl IsotonicRegression {
    /// Fits held-out scores and their signs, +1 or -1, with weights >= 0 (1 if none are given); a
    /// sample of weight zero is left out.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Empty`]: the slices are of different or zero length.
    /// [`Error::NotFinite`]: a score is not finite. [`Error::Entry`]: a sign is not +1 or -1, or a
    /// weight is negative or not finite. [`Error::OneClass`]: the samples of positive weight are of
    /// one class.
    pub fn fit(scores: &[f64], signs: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        check_scores(scores, signs)?;
        let weights = relative_weights(weights, scores.len())?;
        let mut samples: Vec<Block> = scores
            .iter()
            .zip(signs)
            .zip(weights)
            .map(|((&f, &y), weight)| (f, outcome(y), weight))
            .filter(|&(_, _, weight)| weight > 0.0)
            .map(|(f, y, weight)| Block { first: f, last: f, weight, positive: weight * y })
            .collect();
        if samples.iter().all(|b| b.positive == 0.0) || samples.iter().all(|b| b.positive > 0.0) {
            return Err(Error::OneClass(samples.len()));
        }
        samples.sort_by(|a, b| a.first.total_cmp(&b.first));
        let mut blocks: Vec<Block> = Vec::new();
        // Zeros of both signs are a tie.
        for tied in samples.chunk_by(|a, b| a.first == b.first) {
            let mut block = tied[0];
            tied[1..].iter().for_each(|sample| block.pool(sample));
            while let Some(last) = blocks.pop_if(|last| last.mean() >= block.mean()) {
                let next = std::mem::replace(&mut block, last);
                block.pool(&next);
            }
            blocks.push(block);
        }
        Ok(IsotonicRegression { blocks })
    }

    /// Returns P(y = +1) at a score: nondecreasing; NaN at NaN.
    pub fn probability(&self, score: f64) -> f64 {
        if score.is_nan() {
            return f64::NAN;
        }
        let above = self.blocks.partition_point(|block| block.last < score);
        let (left, right) = match (above.checked_sub(1), self.blocks.get(above)) {
            (Some(left), Some(right)) if score < right.first => (&self.blocks[left], right),
            (_, Some(block)) => return block.mean(),
            (Some(last), None) => return self.blocks[last].mean(),
            (None, None) => return f64::NAN,
        };
        // The difference of halves of large scores does not overflow.
        let gap = 0.5 * right.first - 0.5 * left.last;
        let share = if gap > 0.0 { (0.5 * score - 0.5 * left.last) / gap } else { 0.0 };
        (left.mean() + share * (right.mean() - left.mean())).min(right.mean())
    }

    /// Returns the blocks of adjacent scores that share a probability, ascending: smallest score,
    /// largest score, probability.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (f64, f64, f64)> {
        self.blocks.iter().map(|block| (block.first, block.last, block.mean()))
    }
}

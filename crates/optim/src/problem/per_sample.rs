//! Numbers of every sample that mostly need few bits: signs and weights.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use margins_data::Labels;

use crate::problem::summation::BLOCK;

/// Room for the numbers of a block of samples.
pub(crate) type Room = [f64; BLOCK];

/// The signs `y_i` of samples.
#[derive(Debug, Clone)]
pub(crate) enum Signs<'a> {
    /// The signs of labels, which have a byte for each.
    Of { positive: &'a [bool], labels: &'a Labels },
    /// Signs given as numbers.
    Given(Cow<'a, [f64]>),
}

impl<'a> Signs<'a> {
    pub(crate) fn of_labels(labels: &'a Labels) -> Self {
        Signs::Of { positive: labels.positive(), labels }
    }
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> f64 {
        match self {
            Signs::Of { positive, .. } => sign(positive[i]),
            Signs::Given(signs) => signs[i],
        }
    }
    #[inline(always)]
    pub(crate) fn of<'r>(&'r self, rows: Range<usize>, room: &'r mut Room) -> &'r [f64] {
        match self {
            Signs::Of { positive, .. } => {
                let room = &mut room[..rows.len()];
                let pairs = room.iter_mut().zip(&positive[rows]);
                pairs.for_each(|(y, &positive)| *y = sign(positive));
                room
            }
            Signs::Given(signs) => &signs[rows],
        }
    }

    /// Returns all signs, in memory that the first call of all takes.
    pub(crate) fn all(&self) -> &[f64] {
        match self {
            Signs::Of { labels, .. } => labels.signs(),
            Signs::Given(signs) => signs,
        }
    }
}

#[inline(always)]
fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// The weights `c_i / n` of samples.
#[derive(Debug, Clone)]
pub(crate) enum Weights {
    /// A weight that all of `count` samples have, a block of it, and the weights of all where
    /// somebody has asked for them.
    Equal { weight: f64, block: Box<Room>, count: usize, all: OnceLock<Vec<f64>> },
    /// One per sample.
    Each(Vec<f64>),
}

impl Weights {
    /// Returns the same weight for `count` samples.
    pub(crate) fn equal(weight: f64, count: usize) -> Self {
        Weights::Equal { weight, block: Box::new([weight; BLOCK]), count, all: OnceLock::new() }
    }
    pub(crate) fn len(&self) -> usize {
        match self {
            Weights::Equal { count, .. } => *count,
            Weights::Each(weights) => weights.len(),
        }
    }
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> f64 {
        match self {
            Weights::Equal { weight, .. } => *weight,
            Weights::Each(weights) => weights[i],
        }
    }
    #[inline(always)]
    pub(crate) fn of(&self, rows: Range<usize>) -> &[f64] {
        match self {
            Weights::Equal { block, .. } => &block[..rows.len()],
            Weights::Each(weights) => &weights[rows],
        }
    }

    /// Returns all weights, in memory that the first call takes.
    pub(crate) fn all(&self) -> &[f64] {
        match self {
            Weights::Equal { weight, count, all, .. } => all.get_or_init(|| vec![*weight; *count]),
            Weights::Each(weights) => weights,
        }
    }
    pub(crate) fn times(&self, factors: &[f64]) -> Self {
        let product = |(i, factor): (usize, &f64)| self.get(i) * factor;
        Weights::Each(factors.iter().enumerate().map(product).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_numbers_agree() {
        let signs: Vec<f64> = (0..100).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let labels = Labels::from_signs(signs.clone()).expect("two classes");
        let weights = Weights::equal(0.01, 100);
        let each = Weights::Each(vec![0.01; 100]);
        for of_labels in [Signs::of_labels(&labels), Signs::Given(Cow::Borrowed(&signs))] {
            let mut room = [0.0; BLOCK];
            assert_eq!(of_labels.of(30..94, &mut room), &signs[30..94]);
            assert!((0..100).all(|i| of_labels.get(i) == signs[i]));
            assert_eq!(of_labels.all(), signs);
        }
        for weights in [weights, each] {
            assert_eq!(weights.of(98..100), [0.01; 2]);
            assert_eq!((weights.len(), weights.get(99)), (100, 0.01));
            assert_eq!(weights.times(&signs).get(1), -0.01);
            assert_eq!(weights.all(), [0.01; 100]);
        }
    }
}

//! The parts of a sample that are learned from and selected with.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::sphere::SphereSample;

/// Rows to learn from and rows to select with.
pub(crate) struct Split {
    training: Vec<usize>,
    selection: Vec<usize>,
}

impl Split {
    /// Splits rows of these weights: a fifth of them, `most` at most, are held out.
    pub(crate) fn new(weights: &[f64], most: usize, seed: u64) -> Result<Self, Error> {
        const SHARE: usize = 5;
        let mut rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        if rows.len() < 2 {
            let found = rows.len();
            return Err(Error::TooFew { what: "samples of positive weight", needed: 2, found });
        }
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let held_out = most.clamp(1, rows.len().div_ceil(SHARE));
        Ok(Split { selection: rows.split_off(rows.len() - held_out), training: rows })
    }

    pub(crate) fn training_rows(&self) -> &[usize] {
        &self.training
    }

    /// Returns the rows to select with, ascending.
    pub(crate) fn into_selection(self) -> Vec<usize> {
        let mut rows = self.selection;
        rows.sort_unstable();
        rows
    }

    /// Returns the sample with the weight 0 for all rows but those to select with.
    pub(crate) fn selection_sample<'a>(
        &self,
        sample: &SphereSample<'a>,
    ) -> Result<SphereSample<'a>, Error> {
        sample.clone().with_weights(only(&self.selection, sample.weights()))
    }

    /// Returns the weights of rows, 0 for those to select with.
    pub(crate) fn training_weights(&self, weights: &[f64]) -> Vec<f64> {
        only(&self.training, weights)
    }

    /// Returns `count` draws of training rows of these weights, with their signs.
    pub(crate) fn draws<'b>(
        &'b self,
        weights: &'b [f64],
        signs: &'b [f64],
        count: usize,
        seed: u64,
    ) -> Box<dyn Iterator<Item = (usize, f64)> + 'b> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let first = weights[self.training[0]];
        let signed = |row: usize| (row, signs[row]);
        if self.training.iter().all(|&row| weights[row] == first) {
            let passes = std::iter::repeat_with(move || {
                let mut order = self.training.clone();
                order.shuffle(&mut random);
                order
            });
            return Box::new(passes.flatten().take(count).map(signed));
        }
        let mut sum = 0.0;
        let cumulative: Vec<f64> = self
            .training
            .iter()
            .map(|&row| {
                sum += weights[row];
                sum
            })
            .collect();
        Box::new((0..count).map(move |_| {
            let level = random.random::<f64>() * sum;
            let at = cumulative.partition_point(|&c| c <= level).min(cumulative.len() - 1);
            signed(self.training[at])
        }))
    }
}

/// Returns the weights of some rows, 0 for all others.
fn only(rows: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut kept = vec![0.0; weights.len()];
    rows.iter().for_each(|&row| kept[row] = weights[row]);
    kept
}

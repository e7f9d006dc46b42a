//! The parts of a sample that are learned from and selected with.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::sphere::SphereSample;

/// Rows to learn from and rows to select with. The rows to select with stay in the sample, whose
/// other rows have the weight 0.
pub(crate) struct Split {
    training: Vec<usize>,
    selection: Vec<usize>,
}

impl Split {
    pub(crate) fn new(sample: &SphereSample<'_>, most: usize, seed: u64) -> Result<Self, Error> {
        const SHARE: usize = 5;
        let mut rows: Vec<usize> =
            (0..sample.rows()).filter(|&row| sample.weights()[row] > 0.0).collect();
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

    pub(crate) fn selection_sample<'a>(
        &self,
        sample: &SphereSample<'a>,
    ) -> Result<SphereSample<'a>, Error> {
        let mut weights = vec![0.0; sample.rows()];
        self.selection.iter().for_each(|&row| weights[row] = sample.weights()[row]);
        sample.clone().with_weights(weights)
    }

    /// Returns `count` draws of training rows with their signs.
    pub(crate) fn draws<'b>(
        &'b self,
        sample: &'b SphereSample<'_>,
        count: usize,
        seed: u64,
    ) -> Box<dyn Iterator<Item = (usize, f64)> + 'b> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let weights = sample.weights();
        let first = weights[self.training[0]];
        let signed = |row: usize| (row, sample.signs()[row]);
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

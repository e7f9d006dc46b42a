//! Samples that the driver fetches.

use std::collections::BTreeMap;

use margins_losses::MarginLoss;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Question;
use crate::problem::EmpiricalRisk;
use crate::shards::{Answer, Failure, Merging, Partial, SampledRows, StoredRows};

impl<L: MarginLoss + ?Sized> Question<'_, L> {
    pub(super) fn sample(&mut self, share: f64) -> Result<Answer, Failure> {
        let chosen = self.drawn(share);
        let weights = self.risk.weights();
        let signs = chosen.iter().map(|&i| self.part.signs[i]).collect();
        let weights = chosen.iter().map(|&i| weights[i]).collect();
        // Features are not read where none are asked for.
        let rows = match &chosen[..] {
            [] => StoredRows::default(),
            _ => StoredRows::of(&*self.design()?, chosen),
        };
        Ok(Answer::Sampled(Box::new(SampledRows { rows, signs, weights })))
    }

    /// Returns this share of the samples that count, drawn at random: a larger share has those of a
    /// smaller one.
    fn drawn(&self, share: f64) -> Vec<usize> {
        const SEED: u64 = 1;
        let weights = self.risk.weights();
        let mut chosen: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let count = (share.clamp(0.0, 1.0) * chosen.len() as f64) as usize;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        random.set_stream(self.part.number as u64);
        chosen.shuffle(&mut random);
        chosen.truncate(count);
        chosen.sort_unstable();
        chosen
    }

    pub(super) fn merged(
        &mut self,
        merging: &Merging,
        of: f64,
        share: f64,
    ) -> Result<Answer, Failure> {
        let design = self.design()?;
        let most = share * design.stored() as f64;
        let taken = if of < 1.0 {
            let chosen = self.drawn(of);
            let signs: Vec<f64> = chosen.iter().map(|&i| self.part.signs[i]).collect();
            let weights = chosen.iter().map(|&i| self.risk.weights.get(i)).collect();
            let risk = EmpiricalRisk::of_part(self.risk.loss(), &signs, weights);
            merging.take(&risk, &design.select(&chosen), most)?
        } else {
            merging.take(&self.risk, &design, most)?
        };
        Ok(match taken {
            Ok(samples) => Answer::Sampled(Box::new(samples)),
            Err(values) => Answer::Sums(Partial { added: vec![values], ..Partial::default() }),
        })
    }

    pub(super) fn rows(&mut self, wanted: &BTreeMap<usize, Vec<u32>>) -> Result<Answer, Failure> {
        let Some(wanted) = wanted.get(&self.part.number).filter(|rows| !rows.is_empty()) else {
            return Ok(Answer::Rows(Box::default()));
        };
        let count = self.part.rows.len();
        if let Some(row) = wanted.iter().find(|&&row| row as usize >= count) {
            return Err(format!("row {row} is not among the {count} rows, counted from 0").into());
        }
        let rows = wanted.iter().map(|&row| row as usize);
        Ok(Answer::Rows(Box::new(StoredRows::of(&*self.design()?, rows))))
    }
}

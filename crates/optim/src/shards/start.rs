//! The start of a fit: near the minimiser for some of the samples, which the driver fetches, or at
//! that for all of them.

use std::borrow::Cow;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::Error;
use crate::path::{fit, fit_to_part};
use crate::problem::{EmpiricalRisk, Lambda, Objective, part_of};
use crate::shards::workers::sampled;
use crate::shards::{Ask, Failure, SampledRows, Sharded, Workers};
use crate::solve::{LARGEST_DENSE_ORDER, Options};

impl<W: Workers, L: MarginLoss + ?Sized> Sharded<'_, W, L> {
    /// Returns intercept and coefficients of a fit to some of the samples, which are fetched: a few
    /// steps there take the place of as many over all of them. Where features are too many for Gram
    /// matrices, so that every product takes a round, all samples are fetched if that many may be.
    /// `None` where the samples are not many beside the features either.
    pub(super) fn start(
        &mut self,
        lambda: Lambda,
        options: &Options<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, Error> {
        /// The share of the tolerance that a fit to all samples goes to.
        const SHARE: f64 = 0.5;
        let Some(share) = self.share() else { return Ok(None) };
        let sampled = self.ask(Ask::Sample { share }).and_then(sampled).map_err(Error::Shards)?;
        sampled.check(self.shape.1).map_err(Error::Shards)?;
        if !(sampled.signs.contains(&1.0) && sampled.signs.contains(&-1.0)) {
            return Ok(None);
        }
        let all: f64 = self.totals.iter().sum();
        let found: f64 = sampled.weights.iter().sum();
        let weights = sampled.weights.iter().map(|c| c * all / found).collect();
        let (signs, design) = sampled.into_design(self.shape.1, self.sparse)?;
        let risk = EmpiricalRisk::of_part(self.loss, &signs, weights);
        let risk = if self.intercept { risk } else { risk.without_intercept() };
        let mut part = Objective { risk, design: Cow::Owned(design) };
        if let Some(factors) = &self.factors {
            part.design.to_mut().scale_columns(factors);
        }
        let fit = if share < 1.0 {
            fit_to_part(&part, lambda, options)
        } else {
            let tolerance = SHARE * options.tolerance;
            fit(&part, lambda, &Options { tolerance, watch: None, history: false, ..*options })
        };
        Ok(fit.ok().map(|fit| (fit.intercept, fit.coef)))
    }

    /// Returns the share of the samples that is worth a fit of its own, if they may be fetched.
    fn share(&self) -> Option<f64> {
        let most = self.workers.most_sampled();
        if self.shape.1 > LARGEST_DENSE_ORDER && self.stored <= most {
            return Some(1.0);
        }
        let share = part_of(self.shape, self.stored, most)? as f64 / self.shape.0 as f64;
        (share * self.stored as f64 <= most as f64).then_some(share)
    }
}

impl SampledRows {
    /// Refuses lists that do not belong to the same samples, and columns that are no features.
    fn check(&self, features: usize) -> Result<(), Failure> {
        let SampledRows { lengths, columns, values, signs, weights } = self;
        let (rows, stored) = (lengths.len(), columns.len());
        let announced: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let fits = signs.len() == rows
            && weights.len() == rows
            && values.len() == stored
            && announced == stored as u64
            && columns.iter().all(|&column| (column as usize) < features);
        if fits { Ok(()) } else { Err("a shard sampled rows whose parts do not fit".into()) }
    }

    /// Returns the signs and the features of samples whose parts fit.
    fn into_design(self, features: usize, sparse: bool) -> Result<(Vec<f64>, Design), Error> {
        let SampledRows { lengths, columns, values, signs, .. } = self;
        if sparse {
            let design = Design::from_stored(&lengths, columns, values, features)?;
            return Ok((signs, design));
        }
        let mut samples = DMatrix::zeros(features, lengths.len());
        let mut stored = columns.into_iter().zip(values);
        for (mut sample, &length) in samples.column_iter_mut().zip(&lengths) {
            for (column, x) in stored.by_ref().take(length as usize) {
                sample[column as usize] = x;
            }
        }
        Ok((signs, Design::from_samples(samples)?))
    }
}

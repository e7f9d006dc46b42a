//! The start of a fit: the minimiser for some of the samples, which the driver fetches, or for all of
//! them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::Error;
use crate::method::{Fit, LARGEST_DENSE_ORDER, Nearness, Options, radius_near};
use crate::path::{Start, fit, fit_to_part};
use crate::problem::summation::variance;
use crate::problem::{Lambda, Objective, part_of};
use crate::shards::few_samples::FewSamples;
use crate::shards::workers::sampled;
use crate::shards::{Ask, Failure, SampledRows, Sharded, StoredRows};

impl Sharded<'_> {
    /// Fetches some of the samples, if that is worth it. Where features are many, so that every product
    /// takes a round, these are all samples if the driver may hold so many, and else as many as it may.
    pub(super) fn sample(&mut self) -> Result<Option<FewSamples>, Error> {
        if self.weighting.joint.is_some() {
            return Ok(None);
        }
        let Some(share) = self.share() else { return Ok(None) };
        let sampled = self.ask(Ask::Sample { share }).and_then(sampled).map_err(Error::Shards)?;
        sampled.check(self.shape.1).map_err(Error::Shards)?;
        if !(sampled.signs.contains(&1.0) && sampled.signs.contains(&-1.0)) {
            return Ok(None);
        }
        let all: f64 = self.totals.iter().sum();
        let found: f64 = sampled.weights.iter().sum();
        let weights: Vec<f64> = sampled.weights.iter().map(|c| c * all / found).collect();
        let mut design = sampled.rows.into_design(self.shape.1, self.sparse)?;
        if let Some(factors) = &self.factors {
            design.scale_columns(factors);
        }
        let share = if share < 1.0 { found / all } else { 1.0 };
        let (design, signs) = (Arc::new(design), sampled.signs);
        let centre = vec![0.0; signs.len()];
        Ok(Some(FewSamples { design, signs, weights, share, centre }))
    }

    /// Returns the point of a fit to samples that were fetched: a few steps there take
    /// the place of as many over all of them. `None` of samples to which a fit is no start for all, for
    /// they are too few beside the features.
    pub(super) fn start(
        &self,
        few: &FewSamples,
        lambda: Lambda,
        options: &Options<'_>,
    ) -> Option<Start> {
        /// The share of the tolerance that a fit to all samples goes to.
        const SHARE: f64 = 0.5;
        let is_all = few.share == 1.0;
        if !is_all && few.signs.len() < self.fewest() {
            return None;
        }
        let risk = few.risk(self.loss);
        let risk = if self.intercept { risk } else { risk.without_intercept() };
        let free = self.free.clone();
        let part = Objective::made_of(risk, Cow::Borrowed(&*few.design)).with_free(free).ok()?;
        let fit = if is_all {
            let tolerance = SHARE * options.tolerance;
            fit(&part, lambda, &Options { tolerance, watch: None, history: false, ..*options })
        } else {
            fit_to_part(&part, lambda, options)
        };
        let Fit { intercept, coef, .. } = fit.ok()?;
        let mut scores = vec![0.0; few.signs.len()];
        part.design.multiply(&coef, &mut scores);
        let samples = scores.len();
        let radius = radius_near(variance(&scores), coef.len() + 1, samples).filter(|_| !is_all);
        let nearness = radius.map(|radius| Nearness { radius, samples });
        Some(Start { point: Some((intercept, coef)), nearness })
    }

    /// Returns the smallest number of samples whose fit is a start for all. Where every product takes a
    /// round, a start saves so many that fewer will do, and any number where samples are merged, which
    /// needs a point whose margins are not all the same.
    fn fewest(&self) -> usize {
        let order = self.shape.1 + 1;
        match (self.has_many_features(), self.loss.is_differentiable()) {
            (false, _) => 4 * order,
            (true, true) => order / 2,
            (true, false) => 1,
        }
    }

    /// Returns true if features are too many for Gram matrices, so that every product takes a round.
    pub(super) fn has_many_features(&self) -> bool {
        self.shape.1 > LARGEST_DENSE_ORDER
    }

    /// Returns the share of the samples that is worth fetching, if they may be fetched.
    fn share(&self) -> Option<f64> {
        let most = self.workers.most_sampled();
        if self.has_many_features() {
            return (most > 0).then(|| (most as f64 / self.stored.max(1) as f64).min(1.0));
        }
        let share = part_of(self.shape, self.stored, most)? as f64 / self.shape.0 as f64;
        (share * self.stored as f64 <= most as f64).then_some(share)
    }
}

impl SampledRows {
    pub(super) fn append(&mut self, other: SampledRows) {
        self.rows.append(other.rows);
        self.signs.extend(other.signs);
        self.weights.extend(other.weights);
    }

    /// Refuses lists that do not belong to the same samples, and columns that are no features.
    pub(super) fn check(&self, features: usize) -> Result<(), Failure> {
        let rows = self.rows.len();
        let fits = self.signs.len() == rows && self.weights.len() == rows;
        if fits && self.rows.fit(features) { Ok(()) } else { Err(StoredRows::misfit()) }
    }
}

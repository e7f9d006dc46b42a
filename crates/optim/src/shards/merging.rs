//! Samples that shards merge, so that those near a kink of the loss fit into the memory of the driver.
//!
//! The driver solves the merged problem, and sends its duals back. Every shard spreads them over its
//! samples, where they are feasible duals like any other, which certify the solution for all samples.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::certificate::Evaluator;
use crate::method::{DualAscent, Options, ProximalNewton, Status, System, Watch, stopping};
use crate::path::minimum_with_duals;
use crate::problem::{EmpiricalRisk, Lines, Objective, Point};
use crate::shards::part::check_coefficients;
use crate::shards::slots::Spread;
use crate::shards::workers::merged;
use crate::shards::{Ask, Failure, GivenPoint, Merging, SampledRows, Sharded, StoredRows};
use crate::space::MergedProblem;
use crate::{Error, Lambda};

/// The seed of the order in which samples are visited.
const SEED: u64 = 1;

impl Merging {
    pub(super) fn lines<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        design: &Design,
    ) -> Result<Lines, Failure> {
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            return Err(format!("{} is no radius about margins", self.radius).into());
        }
        let at = |place: &GivenPoint| {
            check_coefficients(&place.coef, design)?;
            let mut products = vec![0.0; design.rows()];
            design.multiply(&place.coef, &mut products);
            let mut margins = risk.margins();
            margins.set(&products, place.intercept);
            Ok::<_, Failure>(margins)
        };
        let about = at(&self.about)?;
        let mut left = vec![false; design.rows()];
        let lines = risk.lines(about.get(), self.radius, &left);
        for place in &self.left {
            lines.leavers(at(place)?.slopes()).into_iter().for_each(|i| left[i] = true);
        }
        let stays = !left.contains(&true);
        Ok(if stays { lines } else { risk.lines(about.get(), self.radius, &left) })
    }

    /// Returns the duals that samples get from those of the merged problem.
    pub(super) fn spread<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        design: &Design,
        signs: &[f64],
        duals: &[f64],
    ) -> Result<Vec<f64>, Failure> {
        let risk = EmpiricalRisk::of_part(loss, signs, vec![1.0; signs.len()]);
        let lines = self.lines(&risk, design)?;
        if lines.len() != duals.len() {
            let (found, expected) = (duals.len(), lines.len());
            return Err(format!("{found} duals for {expected} samples that are merged").into());
        }
        Ok(lines.spread(duals))
    }

    /// Returns samples, merged, if those alone have at most so many values, else the number of these.
    pub(super) fn take<L: MarginLoss + ?Sized>(
        &self,
        risk: &EmpiricalRisk<'_, L>,
        design: &Design,
        most: f64,
    ) -> Result<Result<SampledRows, f64>, Failure> {
        if design.rows() == 0 {
            return Ok(Ok(SampledRows::default()));
        }
        let lines = self.lines(risk, design)?;
        let values: usize = lines.alone().iter().map(|&i| design.sample(i).stored()).sum();
        if values as f64 > most {
            return Ok(Err(values as f64));
        }
        let whole = Objective::made_of(risk.clone(), Cow::Borrowed(design));
        let merged = whole.merged(lines).ok_or("means of samples overflow")?;
        let Objective { risk, design, .. } = merged.objective;
        let rows = StoredRows::of(&design, 0..design.rows());
        let (signs, weights) = (risk.signs().to_vec(), risk.weights().to_vec());
        Ok(Ok(SampledRows { rows, signs, weights }))
    }
}

pub(super) struct Solved {
    pub(super) intercept: f64,
    pub(super) coef: Vec<f64>,
    /// The duals, as all samples have them; none where the problem is about a part of them.
    pub(super) duals: Option<Spread>,
}

impl Sharded<'_> {
    /// Returns the solution of a merged problem of a share of the samples; `None` if the driver cannot
    /// hold the problem.
    pub(super) fn solution_of(
        &mut self,
        lambda: Lambda,
        problem: &MergedProblem<'_>,
    ) -> Result<Option<Solved>, Error> {
        if self.failure.is_some() {
            return Ok(None);
        }
        let &MergedProblem { about, radius, left, of, .. } = problem;
        let left = left.iter().map(|point| self.place(point)).collect();
        let merging = Merging { about: self.place(about), radius, left };
        let share = self.share_merged();
        let answers = self.ask(Ask::Merged { merging: merging.clone(), of, share });
        let Some((rows, counts)) = answers.and_then(merged).map_err(Error::Shards)? else {
            return Ok(None);
        };
        if !(rows.signs.contains(&1.0) && rows.signs.contains(&-1.0)) {
            return Ok(None);
        }
        let objective = self.objective_of(rows, of)?;
        let Some((point, duals)) = solve(&objective, lambda, problem) else {
            return Ok(None);
        };
        if of < 1.0 {
            return Ok(Some(Solved { intercept: point.intercept, coef: point.coef, duals: None }));
        }
        let mut rest = &duals[..];
        let mut next = |(partition, count): (usize, &usize)| {
            let (own, others) = rest.split_at(*count);
            rest = others;
            (partition, own.to_vec())
        };
        let duals: BTreeMap<usize, Vec<f64>> = counts.iter().enumerate().map(&mut next).collect();
        let spread = self.slots.spread(merging, duals);
        let Point { intercept, coef, .. } = point;
        Ok(Some(Solved { intercept, coef, duals: Some(spread) }))
    }

    /// Returns the share of the stored values that a merged problem may have, which takes half of the
    /// memory a value that a fit to samples takes.
    pub(super) fn share_merged(&self) -> f64 {
        const A_SAMPLED_VALUE: f64 = 2.0;
        let most = A_SAMPLED_VALUE * self.workers.most_sampled() as f64;
        (most / self.stored.max(1) as f64).min(1.0)
    }

    /// Returns the objective of samples that were fetched, of which a share stands for all.
    fn objective_of(
        &self,
        sampled: SampledRows,
        of: f64,
    ) -> Result<Objective<'_, dyn MarginLoss + '_>, Error> {
        sampled.check(self.shape.1).map_err(Error::Shards)?;
        let SampledRows { rows, signs, mut weights } = sampled;
        if of < 1.0 {
            let all: f64 = self.totals.iter().sum();
            let found: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|c| *c *= all / found);
        }
        let mut design = rows.into_design(self.shape.1, self.sparse)?;
        if let Some(factors) = &self.factors {
            design.scale_columns(factors);
        }
        let none = EmpiricalRisk::of_part(self.loss, &[], Vec::new());
        let risk = none.of_samples(signs, weights);
        let risk = if self.intercept { risk } else { risk.without_intercept() };
        Ok(Objective::made_of(risk, Cow::Owned(design)))
    }

    /// Returns a place as shards know it, without the factors of features.
    fn place(&self, point: &Point<()>) -> GivenPoint {
        GivenPoint { coef: Arc::new(self.scaled(&point.coef)), intercept: point.intercept }
    }
}

fn solve<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    problem: &MergedProblem<'_>,
) -> Option<(Point, Vec<f64>)> {
    let design = &objective.design;
    let mut evaluator = Evaluator::in_memory(objective);
    let MergedProblem { about, tolerance, deadline, stop, .. } = *problem;
    let see = stopping(stop);
    let mut point = Point::at(design, about.intercept, about.coef.clone());
    let watch = Some(Watch::new(&see));
    let options = Options { tolerance, deadline, watch, ..Options::default() };
    let system = System::for_features(design.columns());
    // Proximal steps take many products where their systems have no factor.
    if matches!(system, System::ConjugateGradients(..)) {
        let mut method = DualAscent::new(design, system, SEED);
        let ending = method.minimize(&mut evaluator, lambda, &mut point, &options);
        let duals = (ending.status == Status::Converged).then(|| method.duals())??;
        return Some((point, duals.to_vec()));
    }
    let mut method = ProximalNewton::new(system);
    method.begin_near(None);
    let ending = method.minimize(&mut evaluator, lambda, &mut point, &options);
    match ending.status {
        Status::Converged => Some((point, method.duals()?.to_vec())),
        _ => minimum_with_duals(objective, lambda, &options),
    }
}

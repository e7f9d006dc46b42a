//! A partition with what a shard keeps of it between messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::shards::pair::Pair;
use crate::shards::{
    Definition, Failure, FoldDraw, Kept, ProximalStep, Request, Rows, Spot, Weighting,
};

/// Returns the features of a partition, which may have to be read.
pub(super) type FetchDesign<'q> = dyn FnMut() -> Result<Arc<Design>, Failure> + 'q;

pub(super) struct Part<'q> {
    pub(super) number: usize,
    pub(super) rows: &'q Rows,
    pub(super) signs: &'q [f64],
    pub(super) folds: Option<&'q [u32]>,
    pub(super) design: &'q mut FetchDesign<'q>,
}

impl Part<'_> {
    /// Returns true if a sample is in a fold.
    pub(super) fn is_in(&self, i: usize, fold: Option<u32>) -> bool {
        fold.is_some() && self.folds.map(|folds| folds[i]) == fold
    }

    /// Returns the weight of a sample with its cost, 0 in the fold that is held out.
    pub(super) fn count(&self, i: usize, weighting: &Weighting) -> f64 {
        let is_out = self.is_in(i, weighting.held_out);
        if is_out { 0.0 } else { self.rows.given(i, &weighting.costs) }
    }

    pub(super) fn weights(&self, weighting: &Weighting) -> Vec<f64> {
        let weight = |(i, &y): (usize, &f64)| {
            let factor = if y > 0.0 { weighting.positive } else { weighting.negative };
            factor * self.count(i, weighting)
        };
        self.signs.iter().enumerate().map(weight).collect()
    }
}

/// The state of a partition that a shard keeps between requests.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    slots: BTreeMap<u64, Vec<f64>>,
    /// The signs of the samples, with the class that is positive.
    signs: Option<(u32, Arc<Vec<f64>>)>,
    /// The samples of the two classes that alone take part.
    pair: Option<Arc<Pair>>,
    /// The folds that were drawn last.
    folds: Option<(FoldDraw, Arc<Vec<u32>>)>,
    /// The curvatures at the scores that were asked for last.
    pub(super) curvatures: Option<(Spot, Weighting, Vec<f64>)>,
}

impl State {
    /// Drops and computes what a request asks to.
    pub(super) fn prepare<L: MarginLoss + ?Sized>(
        &mut self,
        loss: &L,
        partition: usize,
        rows: &Rows,
        design: &mut FetchDesign<'_>,
        request: &Request,
    ) -> Result<(), Failure> {
        // Duals that others follow from are dropped after these.
        let is_base = |slot: &u64| {
            request.define.iter().any(|Definition { kept, .. }| {
                matches!(kept, Kept::Duals { from: Some(base), .. } if base == slot)
            })
        };
        let (bases, others): (Vec<u64>, Vec<u64>) =
            request.forget.iter().partition(|slot| is_base(slot));
        for slot in others {
            self.slots.remove(&slot);
        }
        if !request.define.is_empty() {
            let design = design()?;
            for Definition { slot, kept } in &request.define {
                let numbers = match kept {
                    Kept::Products(coef) if request.weighting.joint.is_some() => coef.to_vec(),
                    Kept::Products(coef) => {
                        check_coefficients(coef, &design)?;
                        let mut products = vec![0.0; rows.len()];
                        design.multiply(coef, &mut products);
                        products
                    }
                    Kept::Duals { from, steps } => {
                        self.duals(loss, rows, &design, &request.weighting, (*from, steps))?
                    }
                    Kept::Spread { merging, duals } => {
                        let signs = self.signs(rows, request.weighting.class);
                        let duals = duals.get(&partition).map_or(&[][..], Vec::as_slice);
                        merging.spread(loss, &design, &signs, duals)?
                    }
                };
                self.slots.insert(*slot, numbers);
            }
        }
        for slot in bases {
            self.slots.remove(&slot);
        }
        Ok(())
    }

    /// Returns the duals to which proximal steps lead from those of a slot, or from zeros.
    fn duals<L: MarginLoss + ?Sized>(
        &mut self,
        loss: &L,
        rows: &Rows,
        design: &Design,
        weighting: &Weighting,
        (from, steps): (Option<u64>, &[ProximalStep]),
    ) -> Result<Vec<f64>, Failure> {
        let joint = weighting.joint.as_ref();
        let rivals = joint.map_or(1, |problem| problem.classes.len().saturating_sub(1));
        let first = match from {
            Some(slot) => self.slot(slot)?.to_vec(),
            None => vec![0.0; rows.len() * rivals],
        };
        if let Some(problem) = joint {
            let places = problem.places(rows, &vec![0.0; rows.len()])?;
            let take = |duals: Vec<f64>, step: &ProximalStep| {
                problem.step(loss, step, design, &places, &duals)
            };
            return steps.iter().try_fold(first, take);
        }
        let signs = self.signs(rows, weighting.class);
        steps.iter().try_fold(first, |duals, step| step.take(loss, design, &signs, duals))
    }

    pub(super) fn slot(&self, number: u64) -> Result<&[f64], Failure> {
        let kept = self.slots.get(&number).map(Vec::as_slice);
        kept.ok_or_else(|| format!("slot {number} is unknown: the shard was rebuilt").into())
    }

    /// Returns +1 for the samples of a class and -1 for all others.
    pub(super) fn signs(&mut self, rows: &Rows, class: u32) -> Arc<Vec<f64>> {
        match &self.signs {
            Some((of, signs)) if *of == class => Arc::clone(signs),
            _ => {
                let signs = Arc::new(rows.signs(class));
                self.signs = Some((class, Arc::clone(&signs)));
                signs
            }
        }
    }

    /// Returns the samples that take part, with their folds, if these are not all of them.
    pub(super) fn pair(
        &mut self,
        rows: &Rows,
        folds: Option<&[u32]>,
        weighting: &Weighting,
    ) -> Option<Arc<Pair>> {
        let is_same = match &self.pair {
            Some(pair) => pair.is_of(weighting),
            None => weighting.against.is_none(),
        };
        if !is_same {
            // What is kept is of other samples.
            let of = |classes| Arc::new(Pair::new(rows, folds, classes, weighting.draw));
            let (pair, folds) = (weighting.pair().map(of), self.folds.take());
            *self = State { pair, folds, ..State::default() };
        }
        self.pair.clone()
    }

    pub(super) fn draw(&mut self, rows: &Rows, partition: usize, draw: FoldDraw) -> Arc<Vec<u32>> {
        match &self.folds {
            Some((of, folds)) if *of == draw => Arc::clone(folds),
            _ => {
                let folds = Arc::new(rows.draw(partition, draw));
                self.folds = Some((draw, Arc::clone(&folds)));
                folds
            }
        }
    }
}

/// Refuses coefficients that are not one per feature.
pub(super) fn check_coefficients(coef: &[f64], design: &Design) -> Result<(), Failure> {
    let (found, features) = (coef.len(), design.columns());
    if found == features {
        return Ok(());
    }
    Err(format!("{found} coefficients for {features} features").into())
}

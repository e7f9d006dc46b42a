//! Answers the questions of messages about one partition.

mod errors;
mod fetched;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::problem::{
    Block, EmpiricalRisk, FreePart, Margins, Mobility, Rivals, ScoresAt, weighted,
};
use crate::products::weighted_gram;
use crate::shards::joint::JointQuestion;
use crate::shards::part::{Part, State, check_coefficients};
use crate::shards::{
    Answer, Ask, Description, DualStep, Failure, JointProblem, Partial, Spot, Weighting,
};
use crate::space::Extent;

/// The subject of a request: a partition with its stored values and its weights.
pub(super) struct Question<'q, L: MarginLoss + ?Sized> {
    risk: EmpiricalRisk<'q, L>,
    /// The strength and the slot of the centre with which the loss is smoothed, and the risk with it.
    smoothed: OnceCell<(f64, Option<u64>, EmpiricalRisk<'q, L>)>,
    part: Part<'q>,
    state: &'q mut State,
    weighting: &'q Weighting,
}

impl<'q, L: MarginLoss + ?Sized> Question<'q, L> {
    pub(super) fn new(
        loss: &'q L,
        part: Part<'q>,
        state: &'q mut State,
        weighting: &'q Weighting,
    ) -> Self {
        let risk = EmpiricalRisk::of_part(loss, part.signs, part.weights(weighting));
        Question { risk, smoothed: OnceCell::new(), part, state, weighting }
    }

    pub(super) fn answer(mut self, ask: &Ask) -> Result<Answer, Failure> {
        let is_same = matches!(
            ask,
            Ask::Describe { .. } | Ask::Columns { .. } | Ask::Rows(_) | Ask::Errors { .. }
        );
        if let Some(problem) = self.weighting.joint.as_deref().filter(|_| !is_same) {
            return self.joint_answer(problem, ask);
        }
        let sums = match ask {
            Ask::Describe { factors } => return self.describe(factors.as_deref()),
            Ask::Columns { magnitudes, centres } => {
                return Ok(Answer::Sums(self.columns(magnitudes, centres)?));
            }
            Ask::Risks(spots) => self.risks(spots)?,
            Ask::Slopes { at, direction } => self.slopes(at, direction.as_ref())?,
            Ask::Sums { at, gradient } => return self.sums(at, *gradient),
            Ask::Diagonal(at) => self.diagonal(at)?,
            Ask::Normal { at, shift, vector } => self.normal(at, *shift, vector)?,
            Ask::Gram(at) => self.gram(at)?,
            Ask::ClassGrams { .. } => return Err("the samples are of two classes".into()),
            Ask::Duals(steps) => self.dual_sums(steps)?,
            Ask::Violation { free, direction } => {
                let block = self.block(free)?;
                let largest = vec![self.risk.violation(&block, direction)];
                return Ok(Answer::Sums(Partial { largest, ..Partial::default() }));
            }
            Ask::Block { free, duals, by } => self.block_sums(free, duals, *by)?,
            Ask::Pull { duals, accurately } => self.pull(duals, *accurately)?,
            Ask::FenchelYoung { at, duals } => return self.fenchel_young(at, duals),
            Ask::Moments { at, centre } => self.moments(at, *centre)?,
            Ask::Bent { at, radii } => return self.bent(at, radii),
            Ask::Margins(at) => return self.margins(at),
            Ask::Errors { fold, scheme, classes, rules, probabilities, scores } => {
                let (scheme, classes) = (*scheme, *classes);
                let (probabilities, list) = (*probabilities, *scores);
                let rules = errors::Rules { scheme, classes, rules, probabilities, list };
                return Ok(Answer::Sums(self.errors(*fold, &rules)?));
            }
            Ask::Sample { share } => return self.sample(*share),
            Ask::Rows(wanted) => return self.rows(wanted),
            Ask::Merged { merging, of, share } => return self.merged(merging, *of, *share),
        };
        Ok(Answer::Sums(Partial { added: sums, ..Partial::default() }))
    }

    /// Returns the answer to a question about all classes at once.
    fn joint_answer(&mut self, problem: &JointProblem, ask: &Ask) -> Result<Answer, Failure> {
        let design = self.design()?;
        let weights = self.risk.weights();
        let counts: Vec<f64> =
            (0..weights.len()).map(|i| self.part.count(i, self.weighting)).collect();
        JointQuestion {
            loss: self.risk.loss(),
            problem,
            state: self.state,
            places: &problem.places(self.part.rows, weights)?,
            weights,
            counts: &counts,
        }
        .answer(&design, ask)
    }

    fn design(&mut self) -> Result<Arc<Design>, Failure> {
        (self.part.design)()
    }

    /// Returns the scores of a combination of slots, less the intercept.
    fn scores(&self, spot: &Spot) -> Result<Cow<'_, [f64]>, Failure> {
        if let [(factor, number)] = spot.terms[..]
            && factor == 1.0
        {
            return Ok(Cow::Borrowed(self.state.slot(number)?));
        }
        let mut scores = vec![0.0; self.part.rows.len()];
        for &(factor, number) in &spot.terms {
            scores
                .iter_mut()
                .zip(self.state.slot(number)?)
                .for_each(|(score, f)| *score += factor * f);
        }
        Ok(Cow::Owned(scores))
    }

    /// Returns the risk with the loss that is evaluated in a place.
    fn risk_of(&self, spot: &Spot) -> Result<&EmpiricalRisk<'q, L>, Failure> {
        let Spot { smoothing: strength, centre, .. } = *spot;
        if strength == 0.0 {
            return Ok(&self.risk);
        }
        let centres = match centre {
            Some(slot) => Cow::Borrowed(self.state.slot(slot)?),
            None => Cow::Owned(vec![0.0; self.risk.sample_count()]),
        };
        let (made, about, risk) = self.smoothed.get_or_init(|| {
            let risk = self.risk.clone().smoothed(centres.into_owned(), strength);
            (strength, centre, risk)
        });
        if *made == strength && *about == centre && strength > 0.0 && strength.is_finite() {
            return Ok(risk);
        }
        Err(format!("the loss cannot be smoothed by {made} and {strength} in one answer").into())
    }

    /// Returns the margins and slopes at scores, and the slope in the intercept.
    fn at(&self, spot: &Spot) -> Result<(Margins<'_, L>, f64), Failure> {
        let mut margins = self.risk_of(spot)?.margins();
        let slope = margins.set(&self.scores(spot)?, spot.intercept);
        Ok((margins, slope))
    }

    /// Returns the curvatures at scores, which are kept for the next question.
    fn curvatures(&mut self, spot: &Spot) -> Result<&[f64], Failure> {
        let is_kept = self.state.curvatures.as_ref().is_some_and(|(at, weighting, kept)| {
            at == spot && weighting == self.weighting && kept.len() == self.part.rows.len()
        });
        if !is_kept {
            let mut margins = self.risk_of(spot)?.margins();
            margins.set_margins(ScoresAt::of(&self.scores(spot)?), spot.intercept);
            let curvatures = margins.curvatures();
            self.state.curvatures = Some((spot.clone(), self.weighting.clone(), curvatures));
        }
        Ok(self.state.curvatures.as_ref().map_or(&[], |(_, _, kept)| kept))
    }

    fn describe(&mut self, factors: Option<&[f64]>) -> Result<Answer, Failure> {
        let mut design = self.design()?;
        if let Some(factors) = factors {
            check_coefficients(factors, &design)?;
            if let Some(factor) = factors.iter().find(|factor| !factor.is_finite()) {
                return Err(format!("{factor} is no factor of a feature").into());
            }
            Arc::make_mut(&mut design).scale_columns(factors);
        }
        let Part { rows, signs, folds, .. } = self.part;
        let held_out = self.weighting.held_out;
        let joint = self.weighting.joint.as_deref();
        let places: Vec<u32> = match joint {
            Some(problem) => problem.places(rows, self.risk.weights())?,
            None => signs.iter().map(|&y| u32::from(y < 0.0)).collect(),
        };
        let count = joint.map_or(2, |problem| problem.classes.len());
        let (mut totals, mut squares) = (vec![0.0; count], vec![0.0; count]);
        for ((x, &c), &place) in design.samples().zip(self.risk.weights()).zip(&places) {
            totals[place as usize] += c;
            squares[place as usize] += weighted(c, x.squared_norm());
        }
        let mut extent = Extent::of(&design);
        if let Some(problem) = joint {
            let rivals = Rivals::new(Cow::Owned(places), count);
            extent = extent.over_rivals(&design, &rivals, problem.intercepts);
        }
        Ok(Answer::Described(Box::new(Description {
            loss: self.risk.loss().specification(),
            rows: (0..design.rows()).filter(|&i| !self.part.is_in(i, held_out)).count(),
            features: design.columns(),
            sparse: design.is_sparse(),
            stored: design.stored(),
            has_folds: folds.is_some(),
            totals,
            squares,
            extent,
        })))
    }

    fn columns(&mut self, magnitudes: &[f64], centres: &[f64]) -> Result<Partial, Failure> {
        let design = self.design()?;
        check_coefficients(magnitudes, &design)?;
        check_coefficients(centres, &design)?;
        let p = design.columns();
        let (mut added, mut largest) = (vec![0.0; 3 * p], vec![f64::NEG_INFINITY; 2 * p]);
        let (mut counts, mut rows) = (vec![0usize; p], 0);
        for (i, sample) in design.samples().enumerate() {
            let c = self.part.count(i, self.weighting);
            if c > 0.0 {
                rows += 1;
                sample.for_each(|column, x| {
                    let z = x / magnitudes[column] - centres[column];
                    let sums = added[3 * column..].iter_mut().zip([c, c * z, c * z * z]);
                    sums.for_each(|(sum, term)| *sum += term);
                    let ends = largest[2 * column..].iter_mut().zip([-x, x]);
                    ends.for_each(|(end, x)| *end = end.max(x));
                    counts[column] += 1;
                });
            }
        }
        let gaps = largest.chunks_mut(2).zip(counts).filter(|(_, count)| *count < rows);
        gaps.for_each(|(ends, _)| ends.iter_mut().for_each(|end| *end = end.max(0.0)));
        Ok(Partial { added, largest, listed: Vec::new() })
    }

    fn risks(&self, spots: &[Spot]) -> Result<Vec<f64>, Failure> {
        let risk = |spot: &Spot| {
            let mut margins = self.risk_of(spot)?.margins();
            Ok(margins.risk_at(&self.scores(spot)?, spot.intercept))
        };
        spots.iter().map(risk).collect()
    }

    fn slopes(&self, spots: &[Spot], direction: Option<&Spot>) -> Result<Vec<f64>, Failure> {
        let direction = match direction {
            Some(spot) => Some((self.scores(spot)?, spot.intercept)),
            None => None,
        };
        let mut out = Vec::with_capacity(4 * spots.len());
        for spot in spots {
            let (margins, slope) = self.at(spot)?;
            let along = direction.as_ref().map_or(0.0, |(scores, intercept)| {
                let pull = |(i, d): (usize, &f64)| margins.pull(i) * (d + intercept);
                scores.iter().enumerate().map(pull).sum()
            });
            out.extend([slope, margins.total_slope(), margins.curvature(), along]);
        }
        Ok(out)
    }

    fn sums(&mut self, at: &Spot, gradient: bool) -> Result<Answer, Failure> {
        let design = if gradient { Some(self.design()?) } else { None };
        let (mut margins, slope) = self.at(at)?;
        let sums = margins.sums();
        let mut added =
            vec![sums.risk, sums.size, sums.slopes, sums.arguments, sums.curvature, slope];
        if let Some(design) = design {
            let start = added.len();
            added.resize(start + design.columns(), 0.0);
            design.multiply_transposed_by(|i| margins.pull(i), &mut added[start..]);
        }
        Ok(Answer::Sums(Partial { added, largest: vec![sums.largest], listed: Vec::new() }))
    }

    fn diagonal(&mut self, at: &Spot) -> Result<Vec<f64>, Failure> {
        let design = self.design()?;
        let curvatures = self.curvatures(at)?;
        let mut out = vec![0.0; design.columns() + 1];
        out[0] = curvatures.iter().sum();
        for (sample, &d) in design.samples().zip(curvatures) {
            if d > 0.0 {
                sample.for_each(|column, x| out[column + 1] += d * x * x);
            }
        }
        Ok(out)
    }

    fn normal(&mut self, at: &Spot, shift: f64, vector: &[f64]) -> Result<Vec<f64>, Failure> {
        let design = self.design()?;
        check_coefficients(vector, &design)?;
        let mut out = vec![0.0; design.columns() + 1];
        let curvatures = self.curvatures(at)?;
        out[0] = design.multiply_normal(curvatures, shift, vector, &mut out[1..]);
        Ok(out)
    }

    fn gram(&mut self, at: &Spot) -> Result<Vec<f64>, Failure> {
        let design = self.design()?;
        let q = design.columns() + 1;
        let mut gram = DMatrix::zeros(q, q);
        weighted_gram(&design, self.curvatures(at)?, &mut gram);
        let columns = gram.column_iter().enumerate();
        Ok(columns.flat_map(|(j, column)| column.as_slice()[j..].to_vec()).collect())
    }

    fn dual_sums(&mut self, steps: &[DualStep]) -> Result<Vec<f64>, Failure> {
        let duals = self.duals(steps)?;
        let sizes = self.risk.weights().iter().zip(&duals);
        let size: f64 = sizes.map(|(&c, s)| weighted(c, s.abs())).sum();
        Ok(vec![size, self.risk.imbalance(&duals), self.risk.room(&duals)])
    }

    fn block_sums(
        &mut self,
        free: &FreePart,
        steps: &[DualStep],
        by: Mobility,
    ) -> Result<Vec<f64>, Failure> {
        let duals = self.duals(steps)?;
        let block = self.block(free)?;
        Ok(self.risk.block_sums(&block, &duals, by).into_list())
    }

    fn block(&mut self, free: &FreePart) -> Result<Block, Failure> {
        let design = self.design()?;
        match free.columns.get().last() {
            Some(&last) if last >= design.columns() => {
                Err(format!("feature {last} is free, of {} features", design.columns()).into())
            }
            _ => Ok(Block::of(&design, free)),
        }
    }

    fn pull(&mut self, duals: &[DualStep], accurately: bool) -> Result<Vec<f64>, Failure> {
        let design = self.design()?;
        let duals = self.duals(duals)?;
        let pulls = self.risk.pulls(&duals);
        let mut out = vec![0.0; design.columns()];
        if accurately {
            design.multiply_transposed_accurately(&pulls, &mut out);
        } else {
            design.multiply_transposed(&pulls, &mut out);
        }
        Ok(out)
    }

    fn duals(&mut self, steps: &[DualStep]) -> Result<Vec<f64>, Failure> {
        let mut duals = vec![0.0; self.part.rows.len()];
        for step in steps {
            match step {
                DualStep::Slopes(at) => duals = self.at(at)?.0.duals(),
                DualStep::Predict { at, change } => {
                    let curvatures = self.at(at)?.0.curvatures();
                    let scores = self.scores(change)?;
                    let change = |i: usize| scores[i] + change.intercept;
                    self.risk.predict(&mut duals, &curvatures, change);
                }
                DualStep::PullIn(factor) => self.risk.pull_in(&mut duals, *factor),
                DualStep::Shift(by) => self.risk.shift(&mut duals, *by),
                DualStep::Block { free, by } => {
                    let block = self.block(free)?;
                    self.risk.move_block(&block, &mut duals, by);
                }
                DualStep::Kept(slot) => duals = self.state.slot(*slot)?.to_vec(),
            }
        }
        Ok(duals)
    }

    fn fenchel_young(&mut self, at: &Spot, duals: &[DualStep]) -> Result<Answer, Failure> {
        let duals = self.duals(duals)?;
        let (margins, _) = self.at(at)?;
        let sum = margins.risk.fenchel_young(margins.get(), &duals);
        Ok(Answer::Sums(Partial {
            added: vec![sum.sum, sum.rounding],
            largest: vec![f64::from(u8::from(sum.contradicted))],
            listed: Vec::new(),
        }))
    }

    /// Returns the margins that count, with their weights as the samples came with them.
    fn counted(&self, at: &Spot) -> Result<Vec<(f64, f64, f64)>, Failure> {
        let margins = self.risk.margins_of(&self.scores(at)?, at.intercept);
        let rows = (0..margins.len()).filter(|&i| self.risk.weights.get(i) > 0.0);
        let count = |i| self.part.count(i, self.weighting);
        Ok(rows.map(|i| (margins[i], self.part.signs[i], count(i))).collect())
    }

    fn moments(&self, at: &Spot, centre: f64) -> Result<Vec<f64>, Failure> {
        let mut sums = vec![0.0; 5];
        for (u, y, c) in self.counted(at)? {
            let apart = u - centre;
            let is_wrong = (u * y > 0.0) != (y > 0.0);
            let terms = [1.0, f64::from(u8::from(is_wrong)), apart, apart.powi(2), apart.powi(3)];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += c * term);
        }
        Ok(sums)
    }

    fn bent(&mut self, at: &Spot, radii: &[f64]) -> Result<Answer, Failure> {
        let design = self.design()?;
        let margins = self.risk.margins_of(&self.scores(at)?, at.intercept);
        let stored: Vec<f64> = design.samples().map(|x| x.stored() as f64).collect();
        let all = design.stored().max(1) as f64;
        let share = |&radius: &f64| {
            let bent = self.risk.bent(&margins, radius);
            bent.into_iter().map(|i| stored[i]).sum::<f64>() / all
        };
        let largest = radii.iter().map(share).collect();
        Ok(Answer::Sums(Partial { largest, ..Partial::default() }))
    }

    fn margins(&self, at: &Spot) -> Result<Answer, Failure> {
        /// The largest number of margins that a partition lists.
        const MOST: usize = 128;
        let margins: Vec<f64> = self.counted(at)?.into_iter().map(|(u, _, _)| u).collect();
        let largest = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let listed = margins.iter().copied().step_by(margins.len().div_ceil(MOST).max(1)).collect();
        Ok(Answer::Sums(Partial { added: Vec::new(), largest: vec![largest, -least], listed }))
    }
}

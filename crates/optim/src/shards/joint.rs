//! Answers the questions of messages about several classes in one problem.
//!
//! The scores of a sample are k numbers. None is kept: they follow from the coefficients of slots, for
//! some samples at a time, whose sums are then added in their order.

use std::borrow::Cow;
use std::ops::Range;

use margins_data::{Design, parallel};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::problem::{EmpiricalRisk, JointForm, Mobility, Point, Rivals, Weights};
use crate::shards::part::State;
use crate::shards::{
    Answer, Ask, DualStep, Failure, JointProblem, Partial, ProximalStep, Rows, Spot,
};
use crate::space::joint::{JointSamples, Multinomial, Pairwise, lower_triangle};
use crate::space::{Curvature, Duals, Scores};

/// The largest number of scores that are computed at a time; so few in tests that samples take several
/// turns.
const SCORES: usize = if cfg!(test) { 50 } else { 1 << 18 };

/// The samples of a partition, as a problem for all classes knows them.
pub(super) struct JointQuestion<'q, L: MarginLoss + ?Sized> {
    pub(super) loss: &'q L,
    pub(super) problem: &'q JointProblem,
    pub(super) state: &'q State,
    /// The places of the classes of the samples.
    pub(super) places: &'q [u32],
    /// The weights in the objective.
    pub(super) weights: &'q [f64],
    /// The weights as the samples came with them.
    pub(super) counts: &'q [f64],
}

impl JointProblem {
    /// Returns the number k of classes.
    pub(super) fn count(&self) -> usize {
        self.classes.len()
    }

    /// Returns the number of coefficients for so many features.
    pub(super) fn coefficients(&self, features: usize) -> usize {
        let intercepts = if self.intercepts { self.count().saturating_sub(1) } else { 0 };
        self.count() * features + intercepts
    }

    /// Returns the place of the class of every sample among those that take part; 0 for others, whose
    /// samples must have the weight 0.
    pub(super) fn places(&self, rows: &Rows, weights: &[f64]) -> Result<Vec<u32>, Failure> {
        if self.count() < 2 || !self.classes.is_sorted_by(|a, b| a < b) {
            let classes = &self.classes;
            return Err(format!("{classes:?} are no two or more classes in order").into());
        }
        let place = |(i, class): (usize, &u32)| match self.classes.binary_search(class) {
            Ok(place) => Ok(place as u32),
            Err(_) if weights[i] == 0.0 => Ok(0),
            Err(_) => Err(format!("row {i} is of class {class}, which takes no part").into()),
        };
        rows.classes().iter().enumerate().map(place).collect()
    }

    fn check_coefficients(&self, coef: &[f64], design: &Design) -> Result<(), Failure> {
        let (found, wanted) = (coef.len(), self.coefficients(design.columns()));
        if found == wanted {
            return Ok(());
        }
        Err(format!("{found} coefficients of a problem that has {wanted}").into())
    }

    /// Returns the rows that are computed at the same time, in order; none of no rows but one part.
    fn parts(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let most = (SCORES / self.count()).max(1);
        (0..rows.div_ceil(most).max(1)).map(move |k| k * most..rows.min((k + 1) * most))
    }

    /// Returns the duals to which a proximal step leads.
    pub(super) fn step<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        step: &ProximalStep,
        design: &Design,
        places: &[u32],
        before: &[f64],
    ) -> Result<Vec<f64>, Failure> {
        self.check_coefficients(&step.coef, design)?;
        check_strength(step.strength)?;
        let (k, each) = (self.count(), self.count() - 1);
        if before.len() != places.len() * each {
            return Err("duals are not of these samples".into());
        }
        let of_part = |rows: Range<usize>| -> Result<Vec<f64>, Failure> {
            let rivals = Rivals::new(Cow::Borrowed(&places[rows.clone()]), k);
            let weights = Weights::equal(1.0, rows.len());
            let risk = EmpiricalRisk::of_margins(loss, Weights::equal(1.0, rivals.pairs()));
            let risk = Pairwise::new(&risk, &rivals);
            let part = part_of(design, &rows);
            let of_samples = (&rivals, &weights);
            let mut samples = JointSamples::of_part(&part, of_samples, self.intercepts, risk);
            let before = before[rows.start * each..rows.end * each].to_vec();
            samples.smooth_about(Some(before), step.strength);
            let scores = samples.products(&step.coef);
            samples.set(&scores, 0.0);
            Ok(samples.duals())
        };
        let parts: Vec<_> = self.parts(places.len()).collect();
        Ok(parallel::try_map(0..parts.len(), |k| of_part(parts[k].clone()))?.concat())
    }
}

/// Refuses a strength that smooths nothing.
fn check_strength(strength: f64) -> Result<(), Failure> {
    if strength > 0.0 && strength.is_finite() {
        return Ok(());
    }
    Err(format!("{strength} is no strength of a proximal step").into())
}

/// Returns some of the samples in a row.
fn part_of<'d>(design: &'d Design, rows: &Range<usize>) -> Cow<'d, Design> {
    if rows.len() == design.rows() {
        return Cow::Borrowed(design);
    }
    Cow::Owned(design.select(&rows.clone().collect::<Vec<_>>()))
}

impl<L: MarginLoss + ?Sized> JointQuestion<'_, L> {
    /// Returns the answer to a question, some samples at a time: as many parts in parallel as there are
    /// threads.
    pub(super) fn answer(&self, design: &Design, ask: &Ask) -> Result<Answer, Failure> {
        let parts: Vec<_> = self.problem.parts(self.places.len()).collect();
        let sums = Partial::of_parts(parts.len(), |k| self.of_part(design, parts[k].clone(), ask))?;
        Ok(Answer::Sums(sums))
    }

    fn of_part(&self, design: &Design, rows: Range<usize>, ask: &Ask) -> Result<Partial, Failure> {
        let JointQuestion { loss, problem, state, .. } = *self;
        let rivals = &Rivals::new(Cow::Borrowed(&self.places[rows.clone()]), problem.count());
        let weights = &Weights::Each(self.weights[rows.clone()].to_vec());
        let counts = &self.counts[rows.clone()];
        let part = part_of(design, &rows);
        let (of_samples, has_intercepts) = ((rivals, weights), problem.intercepts);
        let of_margins = EmpiricalRisk::of_margins(loss, Pairwise::<L>::weights(weights, rivals));
        let samples = match problem.form {
            JointForm::Pairwise => {
                let risk = Pairwise::new(&of_margins, rivals);
                JointSamples::of_part(&part, of_samples, has_intercepts, risk)
            }
            JointForm::Multinomial => {
                let risk = Multinomial::new(weights, rivals);
                JointSamples::of_part(&part, of_samples, has_intercepts, risk)
            }
            JointForm::CrammerSinger => {
                return Err("the largest hinge is for samples in memory".to_owned().into());
            }
        };
        JointPart { samples, problem, state, design: &part, rows, weights, counts }.answer(ask)
    }
}

/// Some of the samples of a partition.
struct JointPart<'p> {
    samples: JointSamples<'p>,
    problem: &'p JointProblem,
    state: &'p State,
    design: &'p Design,
    rows: Range<usize>,
    weights: &'p Weights,
    counts: &'p [f64],
}

impl JointPart<'_> {
    fn answer(mut self, ask: &Ask) -> Result<Partial, Failure> {
        let added = match ask {
            Ask::Risks(spots) => self.risks(spots)?,
            Ask::Slopes { at, direction } => self.slopes(at, direction.as_ref())?,
            Ask::Sums { at, gradient } => return self.sums(at, *gradient),
            Ask::Diagonal(at) => {
                self.keep_curvatures(at)?;
                let mut out = vec![0.0; self.coefficients() + 1];
                self.samples.diagonal(&mut out);
                out
            }
            Ask::Normal { at, vector, .. } => {
                self.problem.check_coefficients(vector, self.design)?;
                self.keep_curvatures(at)?;
                let mut out = vec![0.0; self.coefficients() + 1];
                self.samples.normal(0.0, vector, &mut out[1..]);
                out
            }
            Ask::Gram(at) => self.gram(at)?,
            Ask::ClassGrams { at, share } => {
                if !(*share > 0.0 && *share <= 1.0) {
                    return Err(format!("{share} is no share of the samples").into());
                }
                self.keep_curvatures(at)?;
                self.samples.sampled_grams(*share)
            }
            Ask::Duals(steps) => {
                let duals = self.duals(steps)?;
                vec![self.samples.total_dual(&duals), 0.0, 0.0]
            }
            Ask::Block { duals, by, .. } => self.block_sums(duals, *by)?,
            Ask::Pull { duals, accurately } => {
                let duals = self.duals(duals)?;
                let mut out = vec![0.0; self.coefficients()];
                self.samples.pull(&duals, *accurately, &mut out);
                out
            }
            Ask::FenchelYoung { at, duals } => return self.fenchel_young(at, duals),
            Ask::Moments { at, centre } => self.moments(at, *centre)?,
            Ask::Margins(at) => return self.margins(at),
            _ => return Err("that is no question about all classes at once".into()),
        };
        Ok(Partial { added, ..Partial::default() })
    }

    fn coefficients(&self) -> usize {
        self.problem.coefficients(self.design.columns())
    }

    /// Returns the scores of a combination of slots.
    fn scores(&mut self, spot: &Spot) -> Result<Vec<f64>, Failure> {
        let mut coef = vec![0.0; self.coefficients()];
        for &(factor, number) in &spot.terms {
            let of_slot = self.state.slot(number)?;
            self.problem.check_coefficients(of_slot, self.design)?;
            coef.iter_mut().zip(of_slot).for_each(|(w, x)| *w += factor * x);
        }
        Ok(self.samples.products(&coef))
    }

    /// Makes the loss the one that is evaluated in a place, and returns the scores there.
    fn go_to(&mut self, spot: &Spot) -> Result<Vec<f64>, Failure> {
        if spot.smoothing != 0.0 {
            check_strength(spot.smoothing)?;
        }
        let each = self.problem.count() - 1;
        let centre = match spot.centre {
            Some(slot) => {
                let all = self.state.slot(slot)?;
                let own = all.get(self.rows.start * each..self.rows.end * each);
                Some(own.ok_or("a centre is not of these samples")?.to_vec())
            }
            None => None,
        };
        self.samples.smooth_about(centre, spot.smoothing);
        self.scores(spot)
    }

    fn set(&mut self, spot: &Spot) -> Result<(), Failure> {
        let scores = self.go_to(spot)?;
        self.samples.set(&scores, 0.0);
        Ok(())
    }

    fn keep_curvatures(&mut self, spot: &Spot) -> Result<(), Failure> {
        self.set(spot)?;
        self.samples.keep_curvatures();
        Ok(())
    }

    fn risks(&mut self, spots: &[Spot]) -> Result<Vec<f64>, Failure> {
        let risk = |spot: &Spot| {
            let scores = self.go_to(spot)?;
            Ok(self.samples.risk_at(&scores, 0.0))
        };
        spots.iter().map(risk).collect()
    }

    /// No intercept is settled: the slope along the direction alone is asked for.
    fn slopes(&mut self, spots: &[Spot], direction: Option<&Spot>) -> Result<Vec<f64>, Failure> {
        let point = |products| Point { intercept: 0.0, coef: Vec::new(), products };
        let direction = direction.map(|spot| self.scores(spot)).transpose()?.map(point);
        let mut out = Vec::with_capacity(4 * spots.len());
        for spot in spots {
            let at = point(self.go_to(spot)?);
            let along = direction.as_ref().map(|to| self.samples.along(&at, to, 0.0));
            out.extend([0.0, 0.0, 0.0, along.unwrap_or(0.0)]);
        }
        Ok(out)
    }

    fn sums(&mut self, at: &Spot, gradient: bool) -> Result<Partial, Failure> {
        self.set(at)?;
        let sums = self.samples.sums();
        let mut added =
            vec![sums.risk, sums.size, sums.slopes, sums.arguments, sums.curvature, 0.0];
        if gradient {
            let start = added.len();
            added.resize(start + self.coefficients(), 0.0);
            self.samples.gradient(&mut added[start..]);
        }
        Ok(Partial { added, largest: vec![sums.largest], listed: Vec::new() })
    }

    fn gram(&mut self, at: &Spot) -> Result<Vec<f64>, Failure> {
        self.keep_curvatures(at)?;
        let q = self.coefficients() + 1;
        let mut gram = DMatrix::zeros(q, q);
        self.samples.gram(&mut gram);
        Ok(lower_triangle(&gram))
    }

    fn duals(&mut self, steps: &[DualStep]) -> Result<Vec<f64>, Failure> {
        let mut duals: Option<Vec<f64>> = None;
        for step in steps {
            let before = duals.take().ok_or("duals begin with the slopes at scores");
            duals = Some(match step {
                DualStep::Slopes(at) => {
                    self.set(at)?;
                    self.samples.duals()
                }
                DualStep::Predict { at, change } => {
                    self.keep_curvatures(at)?;
                    let products = self.scores(change)?;
                    let change = Point { intercept: 0.0, coef: Vec::new(), products };
                    self.samples.predict(before?, &change)
                }
                DualStep::Block { by, .. } => {
                    let mut duals = before?;
                    self.samples.move_duals(&mut duals, by);
                    duals
                }
                _ => return Err("that is no step of duals of all classes at once".into()),
            });
        }
        duals.ok_or_else(|| "there are no duals without slopes".into())
    }

    fn block_sums(&mut self, steps: &[DualStep], by: Mobility) -> Result<Vec<f64>, Failure> {
        let duals = self.duals(steps)?;
        Ok(self.samples.block_sums(&duals, by).into_list())
    }

    fn fenchel_young(&mut self, at: &Spot, duals: &[DualStep]) -> Result<Partial, Failure> {
        let duals = self.duals(duals)?;
        self.set(at)?;
        let sum = self.samples.fenchel_young(&duals);
        Ok(Partial {
            added: vec![sum.sum, sum.rounding],
            largest: vec![f64::from(u8::from(sum.contradicted))],
            listed: Vec::new(),
        })
    }

    /// The margin of a sample is the least that it has over a rival.
    fn moments(&mut self, at: &Spot, centre: f64) -> Result<Vec<f64>, Failure> {
        self.set(at)?;
        let mut sums = vec![0.0; 5];
        for (i, u) in self.samples.least_margins().enumerate() {
            if self.weights.get(i) > 0.0 {
                let apart = u - centre;
                let is_wrong = f64::from(u8::from(u <= 0.0));
                let terms = [1.0, is_wrong, apart, apart.powi(2), apart.powi(3)];
                let c = self.counts[i];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += c * term);
            }
        }
        Ok(sums)
    }

    fn margins(&mut self, at: &Spot) -> Result<Partial, Failure> {
        /// The largest number of margins that a part lists.
        const MOST: usize = 128;
        self.set(at)?;
        let of_samples = self.samples.margins().chunks_exact(self.problem.count() - 1);
        let counted = of_samples.enumerate().filter(|(i, _)| self.weights.get(*i) > 0.0);
        let margins: Vec<f64> = counted.flat_map(|(_, margins)| margins.iter().copied()).collect();
        let largest = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
        let listed = margins.iter().copied().step_by(margins.len().div_ceil(MOST).max(1)).collect();
        Ok(Partial { added: Vec::new(), largest: vec![largest, -least], listed })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use margins_data::Classes;
    use margins_losses::LossRegistry;

    use super::*;
    use crate::path::{Training, joint_path};
    use crate::problem::JointObjective;
    use crate::shards::{BinaryProblem, Block, Resident, Shard, Threads, joint_path_over_shards};
    use crate::{Lambda, Options};

    /// Samples that are computed a few at a time have the minimum of all.
    #[test]
    fn parts_add_up() {
        let entry = |i: usize, j: usize| ((i * 37 + j * 101 + i * i * 13) % 199) as f64 / 99.5;
        let rows: Vec<Vec<f64>> = (0..70).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect();
        let design = Design::from_rows(&rows).expect("finite");
        let classes: Vec<u32> = (0..70).map(|i| (i * i / 3 % 3) as u32).collect();
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let labels = Classes::from_indices(classes.clone(), names).expect("classes");
        let lambdas = [Lambda::new(0.1).expect("positive"), Lambda::new(0.01).expect("positive")];
        for (name, form, tolerance) in [
            ("logistic", JointForm::Multinomial, 1e-9),
            ("logistic", JointForm::Pairwise, 1e-9),
            ("hinge", JointForm::Pairwise, 1e-6),
        ] {
            let loss: Arc<dyn MarginLoss> =
                Arc::from(LossRegistry::standard().parse(name).expect("a loss"));
            let options = Options { tolerance, ..Options::default() };
            let objective = JointObjective::new(&*loss, form, &design, &labels).expect("fits");
            let here = joint_path(&objective, &lambdas, &options, &|_| {}).expect("fits");
            let mut blocks = Resident::default();
            blocks.insert(0, Block::new(design.clone(), classes.clone()).expect("a block"));
            let mut workers = Threads::new(vec![Shard::new(Arc::clone(&loss), blocks)]);
            let training = Training { options, ..Training::new(&*loss) };
            let problem = BinaryProblem::default();
            let there = joint_path_over_shards(
                &mut workers,
                &training,
                (form, 3),
                &problem,
                &lambdas,
                None,
            )
            .expect("fits");
            for (a, b) in here.iter().zip(&there) {
                let (a, b) = (&a.report, &b.report);
                assert!(a.converged() && b.converged(), "{name} {form:?} {b:?}");
                let gaps = a.duality_gap + b.duality_gap;
                assert!((a.objective - b.objective).abs() <= gaps, "{name} {form:?} {a:?} {b:?}");
            }
        }
    }
}

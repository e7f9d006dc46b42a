//! Implements the trait of samples by messages to shards.

use std::cell::Cell;
use std::sync::Arc;

use margins_losses::{HomogeneousTail, Interval};
use nalgebra::DMatrix;

use super::{DualMove, MOST_SLOTS, OF_SUMS, Sharded, Slopes, steps, sums_of};
use crate::Error;
use crate::certificate::contradicts_itself;
use crate::problem::{
    Balance, BlockMove, FenchelYoung, FreeColumns, JointForm, Lambda, MarginSummary, Need, Point,
    Products, Sums, balance, is_unbounded, settle,
};
use crate::shards::few_samples::FewSamples;
use crate::shards::merging::Solved;
use crate::shards::{Ask, Handle, ProximalStep, Spot};
use crate::space::joint::{are_worth, has_no_flow, share_of};
use crate::space::{
    Curvature, Decline, Duals, Extent, MergedProblem, SampledCurvatures, Scores, Smoothing, Space,
};

impl Sharded<'_> {
    /// Returns the numbers of samples, of features and of classes in one problem.
    fn sizes(&self) -> Option<(usize, usize, usize)> {
        let k = self.joint()?.classes.len();
        Some((self.shape.0 / (k - 1), self.features(), k))
    }

    fn is_multinomial(&self) -> bool {
        self.joint().is_some_and(|problem| problem.form == JointForm::Multinomial)
    }
}

impl Space for Sharded<'_> {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn is_sparse(&self) -> bool {
        self.sparse
    }

    fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn free(&self) -> FreeColumns {
        self.free.clone()
    }

    fn tail(&self) -> Option<HomogeneousTail> {
        if self.is_multinomial() { None } else { self.loss.homogeneous_tail() }
    }

    fn decline(&self) -> Decline {
        if self.is_multinomial() { Decline::Bounded } else { Decline::of(self.loss) }
    }

    fn extent(&self) -> &Extent {
        &self.extent
    }

    fn mean_square(&self) -> f64 {
        self.mean_square
    }

    fn check_loss(&self) -> Result<(), Error> {
        if self.is_multinomial() { Ok(()) } else { Need::Convexity.check(self.loss) }
    }

    fn is_unbounded(&self) -> bool {
        match (self.joint(), &self.totals[..]) {
            (Some(problem), totals) => {
                let domain = self.loss.conjugate_domain().unwrap_or(Interval::REALS);
                let is_pairwise = problem.form == JointForm::Pairwise;
                is_pairwise && problem.intercepts && has_no_flow(domain, totals.to_vec())
            }
            (None, &[positive, negative]) => {
                self.intercept && is_unbounded(self.loss, [positive, negative])
            }
            _ => false,
        }
    }

    fn rounds(&self) -> usize {
        self.rounds
    }

    fn failure(&mut self) -> Option<Error> {
        // The samples stay failed: nothing can be asked of them any more.
        let reason = self.failure.as_ref()?.to_string();
        let failure = self.failure.replace(reason.into())?;
        Some(Error::Shards(failure))
    }
}

impl Scores for Sharded<'_> {
    type Products = Handle;

    fn products(&mut self, coef: &[f64]) -> Handle {
        self.slots.products(self.scaled(coef))
    }

    fn set(&mut self, products: &Handle, intercept: f64) -> f64 {
        self.set_intercept_with_sums(products, intercept, false).slope
    }

    fn settle(&mut self, products: &Handle, intercept: f64) -> f64 {
        if !self.intercept {
            self.go_to(self.locate(products, 0.0, MOST_SLOTS));
            self.state.residual = 0.0;
            return 0.0;
        }
        // A slope so far above its rounding costs a certificate less than 1e-15 of F, and most
        // rounds of a search are for the last digits.
        const ENOUGH: f64 = 1e6;
        // A Newton step from a slope so small is the last one, for it squares the error.
        const NEAR: f64 = 1e-4;
        let nears = Cell::new(false);
        let set = |samples: &mut Self, b| {
            let Slopes { slope, size, .. } = if nears.get() {
                samples.set_intercept_with_sums(products, b, true)
            } else {
                samples.set_intercept(products, b)
            };
            nears.set(slope.abs() <= NEAR * size);
            [slope, ENOUGH * size]
        };
        let curvature = |samples: &mut Self| {
            samples.known_slopes(&samples.here()).map_or(f64::NAN, |slopes| slopes.curvature)
        };
        let (b, residual) = settle(self, intercept, set, curvature);
        self.state.residual = residual;
        b
    }

    fn settle_step(&mut self, point: &Point<Handle>, direction: &Point<Handle>, t: f64) -> f64 {
        self.make_room(point, direction);
        let products = point.products.plus(t, &direction.products);
        self.settle(&products, point.intercept + t * direction.intercept)
    }

    fn along(&mut self, point: &Point<Handle>, direction: &Point<Handle>, t: f64) -> f64 {
        self.make_room(point, direction);
        let at = |t: f64| {
            let intercept = point.intercept + t * direction.intercept;
            self.located(point.products.plus(t, &direction.products), intercept)
        };
        // The search along a line asks for these next.
        let trials = [t, 0.5 * t, 2.0 * t, 0.25 * t];
        let count = self.workers.trials().clamp(1, trials.len());
        let spots: Vec<Spot> = trials[..count].iter().map(|&t| at(t).spot()).collect();
        self.go_to(at(t));
        if let Some(slopes) = self.known_slopes(&spots[0]) {
            return slopes.along;
        }
        let (terms, intercept) = (direction.products.terms(), direction.intercept);
        self.slopes(spots, Some(Spot { terms, intercept, ..Spot::default() })).along
    }

    fn risk_at(&mut self, products: &Handle, intercept: f64) -> f64 {
        if let &[positive, negative] = &self.totals[..]
            && products.is_zero()
            && self.joint().is_none()
        {
            // All scores are the intercept.
            return positive * self.loss.value(intercept) + negative * self.loss.value(-intercept);
        }
        let spot = self.locate(products, intercept, MOST_SLOTS).spot();
        self.added(Ask::Risks(vec![spot]), 1)[0]
    }

    fn sums(&mut self) -> Sums {
        let sums = match self.state.sums {
            Some(sums) => sums,
            None => sums_of(&self.ask_sums(false)),
        };
        Sums { residual: self.state.residual, ..sums }
    }

    fn violation(&mut self, intercept: f64, coef: &[f64]) -> f64 {
        if self.joint().is_some() {
            // Every two classes have samples: one of them is on the wrong side of any direction.
            let moves = self.free.get().iter().any(|&j| coef[j] != 0.0);
            return f64::from(u8::from(moves));
        }
        let free = self.free_part();
        let direction = free.of(intercept, &self.scaled(coef));
        self.sum(Ask::Violation { free, direction }, 0, 1).largest[0]
    }

    fn gradient(&mut self, out: &mut [f64]) {
        match self.state.gradient.take() {
            Some(gradient) => self.write(&gradient, out),
            None => {
                let answer = self.ask_sums(true);
                self.write(&answer.added[OF_SUMS..], out);
            }
        }
    }

    fn known(&self, lambda: Lambda) -> Option<(f64, Vec<f64>)> {
        self.points.and_then(|points| points.find(lambda)).filter(|(intercept, coef)| {
            coef.len() == self.shape.1 && coef.iter().chain([intercept]).all(|w| w.is_finite())
        })
    }

    fn reached(&mut self, lambda: Lambda, intercept: f64, coef: &[f64]) {
        let Some(points) = self.points.filter(|_| self.failure.is_none()) else { return };
        self.failure = points.keep(lambda, intercept, coef).err();
    }

    /// The point is in one slot afterwards, as the next lambdas begin with it.
    fn is_contradicted(&mut self, point: &Point<Handle>) -> bool {
        if self.is_multinomial() {
            return false;
        }
        let at = self.locate(&point.products, point.intercept, 1);
        let answer = self.sum(Ask::Margins(at.spot()), 0, 2);
        let mut margins = answer.listed;
        margins.extend([answer.largest[0], -answer.largest[1]]);
        contradicts_itself(self.loss, &margins)
    }

    fn summary(&mut self) -> MarginSummary {
        let at = self.here();
        let sums = self.added(Ask::Moments { at: at.clone(), centre: 0.0 }, 5);
        let (total, mean) = (sums[0], sums[2] / sums[0]);
        let sums = self.added(Ask::Moments { at, centre: mean }, 5);
        let variance = sums[3] / total;
        let skewness = if variance > 0.0 { sums[4] / total / variance.powf(1.5) } else { 0.0 };
        MarginSummary { error: sums[1] / total, mean, variance, skewness }
    }

    fn all_beyond(&mut self, point: &Point<Handle>, from: f64) -> bool {
        let at = self.locate(&point.products, point.intercept, MOST_SLOTS);
        -self.sum(Ask::Margins(at.spot()), 0, 2).largest[1] >= from
    }
}

impl Curvature for Sharded<'_> {
    fn keep_curvatures(&mut self) {
        self.state.kept.clone_from(&self.state.at);
    }

    fn forget_curvatures(&mut self) {
        self.state.kept = None;
    }

    fn sampled(&mut self) -> Option<SampledCurvatures> {
        let (few, at) = (self.few.as_ref()?, self.state.kept.as_ref()?);
        let coef = self.unscaled(at.products.coefficients());
        Some(few.curved(self.loss, &coef, at.intercept, at.smoothing))
    }

    fn curvature(&mut self) -> f64 {
        // Sums where the margins are may have come already.
        if let Some(sums) = self.state.sums.filter(|_| self.kept() == self.here()) {
            return sums.curvature;
        }
        let ask = Ask::Sums { at: self.kept(), gradient: false };
        sums_of(&self.sum(ask, OF_SUMS, 1)).curvature
    }

    fn normal(&mut self, shift: f64, v: &[f64], out: &mut [f64]) -> f64 {
        let ask = Ask::Normal { at: self.kept(), shift, vector: self.scaled(v) };
        let sums = self.added(ask, out.len() + 1);
        self.write(&sums[1..], out);
        sums[0]
    }

    fn gram(&mut self, out: &mut DMatrix<f64>) {
        let q = out.nrows();
        let triangle = self.added(Ask::Gram(self.kept()), q * (q + 1) / 2);
        let factor = |j: usize| match &self.factors {
            Some(factors) if j > 0 => factors[j - 1],
            _ => 1.0,
        };
        let mut entries = triangle.into_iter();
        for j in 0..q {
            for i in j..q {
                out[(i, j)] = entries.next().unwrap_or(f64::NAN) * factor(i) * factor(j);
            }
        }
    }

    fn classes(&self) -> Option<(usize, usize)> {
        /// 32 MB of an answer.
        const ENTRIES: usize = 1 << 22;
        let (n, p, k) = self.sizes()?;
        are_worth((n, p, k), ENTRIES).then_some((k, p))
    }

    fn class_grams(&mut self) -> Option<Vec<f64>> {
        let (k, p) = self.classes()?;
        let (n, ..) = self.sizes()?;
        let each = (p + 1) * (p + 2) / 2;
        let ask = Ask::ClassGrams { at: self.kept(), share: share_of(n, p) };
        let mut sums = self.added(ask, k * each);
        if let Some(factors) = &self.factors {
            let factor = |j: usize| if j > 0 { factors[j - 1] } else { 1.0 };
            for of_class in sums.chunks_exact_mut(each) {
                let places = (0..=p).flat_map(|j| (j..=p).map(move |i| (i, j)));
                let entries = of_class.iter_mut().zip(places);
                entries.for_each(|(entry, (i, j))| *entry *= factor(i) * factor(j));
            }
        }
        Some(sums)
    }

    fn diagonal(&mut self, out: &mut [f64]) {
        let sums = self.added(Ask::Diagonal(self.kept()), out.len());
        out.copy_from_slice(&sums);
        self.scale(&mut out[1..]);
        self.scale(&mut out[1..]);
    }
}

impl Duals for Sharded<'_> {
    type Duals = Vec<DualMove>;

    fn predict(&mut self, mut duals: Vec<DualMove>, change: &Point<Handle>) -> Vec<DualMove> {
        let change = self.locate(&change.products, change.intercept, MOST_SLOTS);
        duals.extend(self.state.kept.clone().map(|kept| DualMove::Predict(kept, change)));
        duals
    }

    fn duals(&mut self) -> Vec<DualMove> {
        self.state.at.clone().map(DualMove::Slopes).into_iter().collect()
    }

    fn balance(&mut self, duals: &mut Vec<DualMove>) {
        if !self.free.is_empty() {
            let free = self.free_part();
            let moved = |moves: &[BlockMove]| {
                let moves = moves.iter().map(|by| DualMove::Block(free.clone(), by.clone()));
                duals.iter().cloned().chain(moves).collect::<Vec<_>>()
            };
            let moves = balance(|moves, by| self.block_sums(&moved(moves), by));
            *duals = moved(&moves);
            return;
        }
        let [_, excess, room] = self.dual_sums(duals);
        if !self.intercept || excess == 0.0 || excess.is_nan() {
            return;
        }
        let shifted = |by| {
            let mut moved = duals.clone();
            moved.push(DualMove::Shift(by));
            self.dual_sums(&moved)[1]
        };
        duals.push(match Balance::of(excess, room, shifted) {
            Balance::Factor(factor) => DualMove::PullIn(factor),
            Balance::Shift(by) => DualMove::Shift(by),
        });
    }

    fn total_dual(&mut self, duals: &Vec<DualMove>) -> f64 {
        self.dual_sums(duals)[0]
    }

    fn pull(&mut self, duals: &Vec<DualMove>, accurately: bool, out: &mut [f64]) {
        let sums = self.added(Ask::Pull { duals: steps(duals), accurately }, out.len());
        self.write(&sums, out);
    }

    fn imbalance(&mut self, duals: &Vec<DualMove>) -> f64 {
        self.dual_sums(duals)[1]
    }

    fn fenchel_young(&mut self, duals: &Vec<DualMove>) -> FenchelYoung {
        let answer = self.sum(Ask::FenchelYoung { at: self.here(), duals: steps(duals) }, 2, 1);
        let (sum, rounding) = (answer.added[0], answer.added[1]);
        FenchelYoung { sum, rounding, contradicted: answer.largest[0] > 0.0 }
    }
}

impl Smoothing for Sharded<'_> {
    fn is_smoothed(&self) -> bool {
        !self.is_multinomial() && !self.loss.is_differentiable()
    }

    fn smooth(&mut self, strength: f64) {
        self.smoothing = strength;
    }

    fn centre(&mut self, at: Option<&Point<Handle>>) {
        let Some(point) = at else {
            self.centre = None;
            self.few.iter_mut().for_each(FewSamples::forget_centre);
            return;
        };
        let (intercept, strength) = (point.intercept, self.smoothing);
        let step = |coef| ProximalStep { coef: Arc::new(coef), intercept, strength };
        self.centre = Some(self.slots.centre(self.centre.as_ref(), step(self.scaled(&point.coef))));
        if let Some(few) = &mut self.few {
            self.failure =
                few.take(self.loss, &step(point.coef.clone())).err().or(self.failure.take());
        }
    }

    fn solve_merged(
        &mut self,
        lambda: Lambda,
        merged: &MergedProblem<'_>,
    ) -> Option<(f64, Vec<f64>, Vec<DualMove>)> {
        if self.joint().is_some() {
            return None;
        }
        match self.solution_of(lambda, merged) {
            Ok(solved) => solved.map(|Solved { intercept, coef, duals }| {
                (intercept, coef, duals.map(DualMove::Spread).into_iter().collect())
            }),
            Err(Error::Shards(failure)) => {
                self.failure = Some(failure);
                None
            }
            // A part of the samples may be too few.
            Err(_) => None,
        }
    }

    fn widest_radius(&mut self, about: &Point<Handle>) -> Option<f64> {
        /// The share of a merged problem that is left for samples that will have left their lines.
        const SPARE: f64 = 0.5;
        /// The largest radius that is tried.
        const LARGEST: f64 = 4.0;
        /// The number of radii that are tried, each half of the one before.
        const COUNT: i32 = 16;
        if self.joint().is_some() {
            return None;
        }
        let share = if self.free.is_empty() { self.share_merged() } else { 0.0 };
        if share == 0.0 || share == 1.0 {
            return (share == 1.0).then_some(MergedProblem::ALL);
        }
        let radii: Vec<f64> = (0..COUNT).map(|k| LARGEST * 0.5f64.powi(k)).collect();
        let at = self.locate(&about.products, about.intercept, MOST_SLOTS);
        let at = Spot { smoothing: 0.0, ..at.spot() };
        // Every partition may send the same share of its values.
        let shares = self.sum(Ask::Bent { at, radii: radii.clone() }, 0, radii.len()).largest;
        let most = SPARE * share;
        radii.into_iter().zip(shares).find(|(_, found)| *found <= most).map(|(radius, _)| radius)
    }

    fn farthest(&mut self, one: &Point<Handle>, other: &Point<Handle>) -> f64 {
        let change = other.step(-1.0, one);
        let at = self.locate(&change.products, change.intercept, MOST_SLOTS);
        let at = Spot { smoothing: 0.0, ..at.spot() };
        let sum = self.sum(Ask::Margins(at), 0, 2);
        sum.largest[0].max(sum.largest[1])
    }
}

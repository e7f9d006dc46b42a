//! Margins at a point with the slopes there, computed block by block.

use std::borrow::Cow;
use std::ops::Range;

use margins_losses::MarginLoss;

use crate::problem::intercept::settle;
use crate::problem::summation::{BLOCK, block_of_three, sum_of_blocks};
use crate::problem::{EmpiricalRisk, MarginSummary, Point, Room, Sums};

/// The margins of one point after another, with the slopes of the loss there.
pub struct Margins<'r, L: MarginLoss + ?Sized> {
    pub(crate) risk: Cow<'r, EmpiricalRisk<'r, L>>,
    /// The margins `u_i`.
    margins: Vec<f64>,
    /// The slopes `L'(u_i)`.
    slopes: Vec<f64>,
    /// The derivative of the risk in the intercept, which keeps the dual point from being feasible.
    residual: f64,
    /// The mean size `(1/n) sum c_i |L(u_i)|` where the risk was evaluated last.
    size: f64,
}

/// The scores of a point, less the intercept, or of one ahead of it along a direction.
#[derive(Clone, Copy)]
pub(crate) struct ScoresAt<'s> {
    products: &'s [f64],
    /// The length of the step and the products of the direction.
    step: Option<(f64, &'s [f64])>,
}

impl<'s> ScoresAt<'s> {
    /// Returns the scores of a point with these products.
    pub(crate) fn of(products: &'s [f64]) -> Self {
        ScoresAt { products, step: None }
    }

    /// Writes the margins of a block of samples with these signs.
    #[inline(always)]
    fn write_margins(&self, rows: Range<usize>, signs: &[f64], intercept: f64, out: &mut [f64]) {
        let own = self.products[rows.clone()].iter().zip(signs);
        match self.step {
            None => out.iter_mut().zip(own).for_each(|(u, (f, y))| *u = y * (f + intercept)),
            Some((t, direction)) => {
                let own = own.zip(&direction[rows]);
                out.iter_mut()
                    .zip(own)
                    .for_each(|(u, ((f, y), d))| *u = y * (f + t * d + intercept));
            }
        }
    }
}

/// Returns the blocks of `count` samples.
fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |first| first..(first + BLOCK).min(count))
}

/// Returns `c l`, and 0 for a weight of 0, even if the loss overflows: a sample of weight 0 is
/// none.
#[inline(always)]
pub fn weighted(c: f64, l: f64) -> f64 {
    if c == 0.0 { 0.0 } else { c * l }
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns memory to evaluate the risk in.
    pub fn margins(&self) -> Margins<'_, L> {
        Margins::of(Cow::Borrowed(self))
    }

    /// Returns memory to evaluate the risk in with a [smoothed](Self::smoothed) loss, about centres or
    /// zeros; a strength of 0 smooths nothing.
    pub(crate) fn smoothed_margins(
        &self,
        centres: Option<&[f64]>,
        strength: f64,
    ) -> Margins<'_, L> {
        if strength == 0.0 {
            return self.margins();
        }
        let centres = centres.map_or_else(|| vec![0.0; self.weights.len()], <[f64]>::to_vec);
        Margins::of(Cow::Owned(self.clone().smoothed(centres, strength)))
    }
}

impl<'r, L: MarginLoss + ?Sized> Margins<'r, L> {
    /// Returns memory to evaluate a risk in.
    pub(crate) fn of(risk: Cow<'r, EmpiricalRisk<'r, L>>) -> Self {
        let n = risk.weights.len();
        Margins { risk, margins: vec![0.0; n], slopes: vec![0.0; n], residual: 0.0, size: 0.0 }
    }
}

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns the margins `u_i`.
    pub fn get(&self) -> &[f64] {
        &self.margins
    }

    /// Returns the slopes `L'(u_i)`.
    pub(crate) fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Returns the duals `s_i = -L'(u_i)`.
    pub(crate) fn duals(&self) -> Vec<f64> {
        self.slopes.iter().map(|slope| -slope).collect()
    }

    /// Returns a summary of the margins that are set, of the samples of positive weight.
    pub fn summary(&self) -> MarginSummary {
        self.risk.summary_of(&self.margins)
    }

    pub(crate) fn set_margins(&mut self, scores: ScoresAt<'_>, intercept: f64) {
        let room: &mut Room = &mut [0.0; BLOCK];
        for rows in blocks(self.margins.len()) {
            let signs = self.risk.signs.of(rows.clone(), room);
            scores.write_margins(rows.clone(), signs, intercept, &mut self.margins[rows]);
        }
    }

    /// Sets margins and slopes and returns the derivative of the risk in the intercept.
    pub fn set(&mut self, scores: &[f64], intercept: f64) -> f64 {
        self.set_to(ScoresAt::of(scores), intercept)
    }

    fn set_to(&mut self, scores: ScoresAt<'_>, intercept: f64) -> f64 {
        self.set_margins(scores, intercept);
        self.set_slopes()
    }

    /// Sets margins and slopes to those of scores that are each the sum of two numbers.
    pub(crate) fn set_accurately(&mut self, high: &[f64], low: &[f64], intercept: f64) {
        let scores = high.iter().zip(low).enumerate();
        for (u, (i, (high, low))) in self.margins.iter_mut().zip(scores) {
            // The sum and what rounding takes from it (Knuth 1969).
            let sum = high + intercept;
            let part = sum - high;
            let lost = (high - (sum - part)) + (intercept - part);
            *u = self.risk.signs.get(i) * (sum + (lost + low));
        }
        let slope = self.set_slopes();
        self.residual = if self.risk.intercept { slope } else { 0.0 };
    }

    /// Sets the slopes at the margins and returns the derivative of the risk in the intercept.
    fn set_slopes(&mut self) -> f64 {
        self.risk.derivatives(0, &self.margins, &mut self.slopes);
        let (signs, slopes) = (&self.risk.signs, &self.slopes);
        let room: &mut Room = &mut [0.0; BLOCK];
        let [slope] = self.sum(|rows, weights| {
            let signs = signs.of(rows.clone(), room);
            block_of_three(signs, weights, &slopes[rows], &|y, c, l| [y * weighted(c, l)])
        });
        slope
    }

    /// Returns the sums over all samples of what `block` makes of some and of their weights, added
    /// pairwise.
    fn sum<const N: usize>(
        &self,
        mut block: impl FnMut(Range<usize>, &[f64]) -> [f64; N],
    ) -> [f64; N] {
        let weights = &self.risk.weights;
        sum_of_blocks(self.margins.len(), |rows| block(rows.clone(), weights.of(rows)))
    }

    /// Returns `(1/n) sum c_i |L'(u_i)|`, to which the rounding of the sum of the slopes is
    /// relative.
    pub(crate) fn total_slope(&self) -> f64 {
        let [total] = self.sum(|rows, weights| {
            let slopes = &self.slopes[rows];
            block_of_three(weights, slopes, slopes, &|c, l, _| [weighted(c, l.abs())])
        });
        total
    }

    /// Returns `c_i L''(u_i) / n` at the margins that are set.
    pub fn curvatures(&self) -> Vec<f64> {
        let mut curvatures = vec![0.0; self.margins.len()];
        self.risk.second_derivatives(0, &self.margins, &mut curvatures);
        for (i, d) in curvatures.iter_mut().enumerate() {
            *d = weighted(self.risk.weights.get(i), *d);
        }
        curvatures
    }

    /// Returns the sum of the curvatures, none of which it holds.
    pub(crate) fn curvature(&self) -> f64 {
        let mut total = 0.0;
        self.each_curvature(|_, d| total += d);
        total
    }

    /// Returns the sum of products of the curvatures with some numbers, and the sum of the curvatures.
    pub(crate) fn curvature_with(&self, numbers: &[f64]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        self.each_curvature(|i, d| {
            sums[0] += d * numbers[i];
            sums[1] += d;
        });
        sums
    }

    /// Calls a function with every sample and its curvature.
    #[inline(always)]
    fn each_curvature(&self, mut add: impl FnMut(usize, f64)) {
        for rows in blocks(self.margins.len()) {
            let bends = &mut [0.0; BLOCK][..rows.len()];
            self.risk.second_derivatives(rows.start, &self.margins[rows.clone()], bends);
            let weights = self.risk.weights.of(rows.clone());
            bends.iter().zip(weights).zip(rows).for_each(|((d, c), i)| add(i, weighted(*c, *d)));
        }
    }

    /// Fits `curvatures` to a change of the scores that they predict, and returns which share of
    /// the predicted change of slopes was wrong.
    ///
    /// Where a margin would pass a kink of `L'`, the tangent on either side may point to the other,
    /// again and again, and the chord over the change takes its place. Called again with the change
    /// that the new curvatures predict, a curvature goes to the geometric mean of itself and the
    /// chord, which balances overshooting in either direction.
    pub fn fit_curvatures(&self, change: impl Fn(usize) -> f64, curvatures: &mut [f64]) -> f64 {
        // On smooth stretches chord and tangent agree better than this.
        const APART: f64 = 0.5;
        // A chord of 0 says no more than that the curvature is smaller.
        const SHRINK: f64 = 0.125;
        let moved = |(i, u): (usize, &f64)| u + self.risk.signs.get(i) * change(i);
        let ahead: Vec<f64> = self.margins.iter().enumerate().map(moved).collect();
        let mut slopes = vec![0.0; ahead.len()];
        self.risk.derivatives(0, &ahead, &mut slopes);
        let (mut wrong, mut total) = (0.0, 0.0);
        for i in 0..ahead.len() {
            let step = ahead[i] - self.margins[i];
            let change = slopes[i] - self.slopes[i];
            let chord = weighted(self.risk.weights.get(i), change / step);
            let before = curvatures[i];
            let largest = before.max(chord);
            total += (largest * step).powi(2);
            if (chord - before).abs() > APART * largest {
                wrong += ((chord - before) * step).powi(2);
                curvatures[i] =
                    if before > 0.0 { (before * chord).sqrt().max(SHRINK * before) } else { chord };
            }
        }
        if total > 0.0 { (wrong / total).sqrt() } else { 0.0 }
    }

    /// Returns the minimiser of the risk over the intercept, to the last bits, by Newton steps from
    /// `intercept` kept inside a bracket; the risk is convex and its derivative monotone. Margins
    /// and slopes are set to it. A risk without intercept has the minimiser 0.
    pub fn settle(&mut self, scores: &[f64], intercept: f64) -> f64 {
        self.settle_at(ScoresAt::of(scores), intercept)
    }

    /// Does what [`settle`](Self::settle) does at `point + t direction`, whose products are not kept.
    pub(crate) fn settle_step(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        let scores = ScoresAt { products: &point.products, step: Some((t, &direction.products)) };
        self.settle_at(scores, point.intercept + t * direction.intercept)
    }

    fn settle_at(&mut self, scores: ScoresAt<'_>, intercept: f64) -> f64 {
        if !self.risk.intercept {
            self.set_to(scores, 0.0);
            self.residual = 0.0;
            return 0.0;
        }
        let set = |margins: &mut Self, b| [margins.set_to(scores, b), margins.total_slope()];
        let curvature = |margins: &mut Self| margins.curvature();
        let (b, residual) = settle(self, intercept, set, curvature);
        self.residual = residual;
        b
    }

    /// Returns the risk at the margins that are set.
    pub fn risk(&mut self) -> f64 {
        let [risk, size] = self.sum(|rows, weights| {
            let values = &mut [0.0; BLOCK][..rows.len()];
            self.risk.values(rows.start, &self.margins[rows], values);
            block_of_three(weights, values, values, &|c, l, _| {
                let term = weighted(c, l);
                [term, term.abs()]
            })
        });
        self.size = size;
        risk
    }

    /// Returns the sums at the margins that are set.
    pub fn sums(&mut self) -> Sums {
        let risk = self.risk();
        let [arguments, slopes] = self.sum(|rows, weights| {
            let (slopes, margins) = (&self.slopes[rows.clone()], &self.margins[rows]);
            block_of_three(weights, slopes, margins, &|c, l, u| {
                let slope = weighted(c, l.abs());
                [slope * (1.0 + u.abs()), slope]
            })
        });
        let curvature = self.curvature();
        let largest = self.margins.iter().fold(0.0f64, |size, u| size.max(u.abs()));
        let (size, residual) = (self.size, self.residual);
        Sums { risk, size, residual, slopes, arguments, curvature, largest }
    }

    /// Returns how far the risk can change if each margin moves by at most `reach(i)`: for a convex
    /// loss at most `(1/n) sum c_i reach(i) max(|L'(u_i - reach(i))|, |L'(u_i + reach(i))|)`.
    pub fn change_within(&self, reach: impl Fn(usize) -> f64) -> f64 {
        let mut steepest = vec![0.0f64; self.margins.len()];
        let mut slopes = steepest.clone();
        for side in [-1.0, 1.0] {
            let moved = |(i, u): (usize, &f64)| u + side * reach(i);
            let ahead: Vec<f64> = self.margins.iter().enumerate().map(moved).collect();
            self.risk.derivatives(0, &ahead, &mut slopes);
            steepest.iter_mut().zip(&slopes).for_each(|(s, l)| *s = s.max(l.abs()));
        }
        let weight = |i: usize| self.risk.weights.get(i);
        let steepest = steepest.into_iter().enumerate();
        steepest.map(|(i, slope)| weighted(weight(i), slope * reach(i))).sum()
    }

    /// Returns the risk at any point; the slopes are not set.
    pub fn risk_at(&mut self, scores: &[f64], intercept: f64) -> f64 {
        self.set_margins(ScoresAt::of(scores), intercept);
        self.risk()
    }

    /// Writes the derivatives of the risk in the scores, `c_i y_i L'(u_i) / n`.
    pub fn gradient(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, z)| *z = self.pull(i));
    }

    #[inline(always)]
    pub(crate) fn pull(&self, i: usize) -> f64 {
        self.risk.signs.get(i) * weighted(self.risk.weights.get(i), self.slopes[i])
    }

    /// Writes the derivatives of the risk in the scores of some samples, where these are the present ones
    /// and some changes and a shift.
    pub(crate) fn pulls_ahead(
        &self,
        rows: Range<usize>,
        changes: &[f64],
        shift: f64,
        out: &mut [f64],
    ) {
        let (room, ahead): (&mut Room, &mut Room) = (&mut [0.0; BLOCK], &mut [0.0; BLOCK]);
        for block in blocks(rows.len()) {
            let rows = rows.start + block.start..rows.start + block.end;
            let signs = self.risk.signs.of(rows.clone(), room);
            let ahead = &mut ahead[..rows.len()];
            let moved = self.margins[rows.clone()].iter().zip(signs).zip(&changes[block.clone()]);
            ahead.iter_mut().zip(moved).for_each(|(v, ((u, y), f))| *v = u + y * (f + shift));
            let out = &mut out[block];
            self.risk.derivatives(rows.start, ahead, out);
            let factors = signs.iter().zip(self.risk.weights.of(rows));
            out.iter_mut().zip(factors).for_each(|(z, (y, c))| *z = y * weighted(*c, *z));
        }
    }

    /// Returns the derivative of the risk along a line of points, at `point + t direction`, to
    /// which margins and slopes are set.
    pub fn slope_along(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        let room: &mut Room = &mut [0.0; BLOCK];
        for rows in blocks(self.margins.len()) {
            let signs = self.risk.signs.of(rows.clone(), room);
            let products =
                point.products[rows.clone()].iter().zip(&direction.products[rows.clone()]);
            let margins = self.margins[rows].iter_mut().zip(signs);
            for ((u, y), (product, change)) in margins.zip(products) {
                *u = y * (product + point.intercept + t * (change + direction.intercept));
            }
        }
        self.risk.derivatives(0, &self.margins, &mut self.slopes);
        let mut slope = 0.0;
        for i in 0..self.slopes.len() {
            let change = direction.products[i] + direction.intercept;
            slope += self.pull(i) * change;
        }
        slope
    }
}

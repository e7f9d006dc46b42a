//! Feasible points of the dual, `sum c_i s_i y_i = 0` with every `s_i` in the domain of the
//! conjugate.

use margins_losses::{Interval, MarginLoss};

use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{EmpiricalRisk, Margins};

/// Returns true if no duals in the domain of a loss sum to zero, of classes with these total weights.
///
/// The same is true in floating point if the best constant score is beyond it: the smallest slopes are
/// then those of the largest numbers, as for [`PowerHockeyStick`](margins_losses::PowerHockeyStick) with
/// r near 1.
pub(crate) fn is_unbounded<L: MarginLoss + ?Sized>(
    loss: &L,
    [positive, negative]: [f64; 2],
) -> bool {
    let Interval { lower, upper } = loss.conjugate_domain().unwrap_or(Interval::REALS);
    let (least, most) = (positive.min(negative), positive.max(negative));
    // Rounding may part sums that are equal.
    let slack = SUM_ERROR * UNIT * most;
    let share = most / (most + least);
    let is_beyond = || {
        loss.is_differentiable() && share < 1.0 && loss.population_minimizer(share).is_infinite()
    };
    upper * least < lower * most - slack * lower.abs() || is_beyond()
}

/// The move that makes duals sum to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Balance {
    /// Every dual moves by this factor times its distance to the nearer end of the domain.
    Factor(f64),
    /// All duals move by this amount, as far as the domain lets them.
    Shift(f64),
}

impl Balance {
    /// Returns the move for duals with an excess `(1/n) sum c_i s_i y_i` and a total room;
    /// `shifted` returns the excess of the given duals after a shift.
    pub(crate) fn of(excess: f64, room: f64, mut shifted: impl FnMut(f64) -> f64) -> Self {
        // Duals take half of the room, so that they do not reach an open end.
        const MOST: f64 = 0.5;
        let factor = excess / room;
        if factor.abs() <= MOST {
            return Balance::Factor(factor);
        }
        let (mut low, mut high) = (0.0, 1.0f64.copysign(excess));
        while shifted(high) * excess > 0.0 && high.is_finite() {
            (low, high) = (high, 2.0 * high);
        }
        let mut last = high;
        loop {
            let middle = low + 0.5 * (high - low);
            if middle == low || middle == high || !middle.is_finite() {
                return Balance::Shift(last);
            }
            last = middle;
            if shifted(middle) * excess > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns the interval in which every `s_i` lies.
    pub(crate) fn domain(&self) -> Interval {
        self.loss.conjugate_domain().unwrap_or(Interval::REALS)
    }

    /// Returns true if no dual is feasible, so that F falls without bound along the intercept,
    /// for any lambda. With the domain `[l, h]` of the conjugate and the total weights `C+` and
    /// `C-` of the classes, the ranges `[l C+, h C+]` and `[l C-, h C-]` of the sums that must be
    /// equal do then not meet, or only at margins beyond floating point.
    pub fn is_unbounded(&self) -> bool {
        let weight_of = |sign: f64| {
            let [total] = sum(self.weights.len(), &|i| {
                [if self.signs.get(i) == sign { self.weights.get(i) } else { 0.0 }]
            });
            total
        };
        self.intercept && is_unbounded(self.loss, [weight_of(1.0), weight_of(-1.0)])
    }

    /// Returns `c_i s_i y_i / n`, of which v is the image under X'.
    pub fn pulls(&self, duals: &[f64]) -> Vec<f64> {
        let pull = |(i, s): (usize, &f64)| self.signs.get(i) * self.weights.get(i) * s;
        duals.iter().enumerate().map(pull).collect()
    }

    /// Returns `(1/n) sum c_i s_i y_i`.
    pub fn imbalance(&self, duals: &[f64]) -> f64 {
        let term = |i: usize| [self.signs.get(i) * self.weights.get(i) * duals[i]];
        let [imbalance] = sum(duals.len(), &term);
        imbalance
    }

    /// Moves duals in their domain to where they sum to zero, if there is an intercept.
    ///
    /// Every dual moves by its distance to the nearer end of the domain times one factor, so that
    /// the duals at an end, which near an optimum are right, stay there. Where that is too little
    /// room, all move by the same amount as far as the domain lets them.
    pub fn balance(&self, duals: &mut [f64]) {
        let excess = self.imbalance(duals);
        if !self.intercept || excess == 0.0 {
            return;
        }
        let given = duals.to_vec();
        let mut shifted = |by: f64| {
            duals.copy_from_slice(&given);
            self.shift(duals, by);
            self.imbalance(duals)
        };
        match Balance::of(excess, self.room(&given), &mut shifted) {
            Balance::Factor(factor) => {
                duals.copy_from_slice(&given);
                self.pull_in(duals, factor);
            }
            Balance::Shift(by) => {
                shifted(by);
            }
        }
    }

    /// Returns the distance of a dual to the nearer end of the domain; 1 if there is no end.
    pub(crate) fn room_of(&self, s: f64) -> f64 {
        let domain = self.domain();
        let room = (s - domain.lower).min(domain.upper - s);
        if room.is_finite() { room } else { 1.0 }
    }

    /// Returns the sum of the distances of duals to the nearer ends of the domain,
    /// `(1/n) sum c_i room(s_i)`.
    pub(crate) fn room(&self, duals: &[f64]) -> f64 {
        let rooms = duals.iter().enumerate();
        rooms.map(|(i, &s)| self.weights.get(i) * self.room_of(s)).sum()
    }

    /// Moves every dual by a factor times its distance to the nearer end of the domain.
    pub(crate) fn pull_in(&self, duals: &mut [f64], factor: f64) {
        let domain = self.domain();
        for (i, s) in duals.iter_mut().enumerate() {
            let y = self.signs.get(i);
            *s = (*s - factor * y * self.room_of(*s)).clamp(domain.lower, domain.upper);
        }
    }

    /// Moves every dual by the same amount, as far as the domain lets it.
    pub(crate) fn shift(&self, duals: &mut [f64], by: f64) {
        let domain = self.domain();
        for (i, s) in duals.iter_mut().enumerate() {
            *s = (*s - by * self.signs.get(i)).clamp(domain.lower, domain.upper);
        }
    }

    /// Moves duals by `-L''(u_i) y_i d_i` for a change d of the scores, given `c_i L''(u_i)/n`, and
    /// keeps them in the domain of the conjugate.
    pub(crate) fn predict(
        &self,
        duals: &mut [f64],
        curvatures: &[f64],
        change: impl Fn(usize) -> f64,
    ) {
        let domain = self.domain();
        for (i, s) in duals.iter_mut().enumerate() {
            let curvature = curvatures[i];
            let bend = if curvature > 0.0 { curvature / self.weights.get(i) } else { 0.0 };
            *s = (*s - bend * (self.signs.get(i) * change(i))).clamp(domain.lower, domain.upper);
        }
    }
}

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns feasible duals at a settled intercept, `-s_i` subgradients of L at the margins. If
    /// the intercept rests on kinks, the duals on either side of it, a hair apart, are mixed to the
    /// sum zero.
    pub fn settled_duals(&mut self, scores: &[f64], intercept: f64) -> Vec<f64> {
        let slope = self.set(scores, intercept);
        let mut duals = self.duals();
        if self.risk.intercept && slope.abs() > 1e-12 * self.total_slope() {
            let mut hair = f64::EPSILON * intercept.abs().max(1.0);
            while hair.is_finite() {
                let other = self.set(scores, intercept - hair.copysign(slope));
                if other * slope <= 0.0 {
                    let share = slope / (slope - other);
                    let domain = self.risk.domain();
                    for (s, slope) in duals.iter_mut().zip(self.slopes()) {
                        let mixed = (1.0 - share) * *s - share * slope;
                        *s = mixed.clamp(domain.lower, domain.upper);
                    }
                    break;
                }
                hair *= 2.0;
            }
        }
        self.risk.balance(&mut duals);
        duals
    }
}

//! Feasible points of the dual, `sum c_i s_i y_i = 0` with every `s_i` in the domain of the
//! conjugate.

use margins_losses::{Interval, MarginLoss};

use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{EmpiricalRisk, Margins};

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns the interval in which every `s_i` lies.
    pub(crate) fn domain(&self) -> Interval {
        self.loss.conjugate_domain().unwrap_or(Interval::REALS)
    }

    /// Returns true if no dual is feasible, so that F falls without bound along the intercept,
    /// whatever lambda. With the domain `[l, h]` of the conjugate and the total weights `C+` and
    /// `C-` of the classes, the ranges `[l C+, h C+]` and `[l C-, h C-]` of the sums that must be
    /// equal do then not meet.
    pub fn is_unbounded(&self) -> bool {
        let Interval { lower, upper } = self.domain();
        let weight_of = |sign: f64| {
            let [total] = sum(self.signs.len(), &|i| {
                [if self.signs[i] == sign { self.weights[i] } else { 0.0 }]
            });
            total
        };
        let (positive, negative) = (weight_of(1.0), weight_of(-1.0));
        let (least, most) = (positive.min(negative), positive.max(negative));
        // Rounding may part sums that are equal.
        let slack = SUM_ERROR * UNIT * most;
        self.intercept && (upper * least < lower * most - slack * lower.abs())
    }

    /// Returns `(1/n) sum c_i s_i y_i`.
    pub fn imbalance(&self, duals: &[f64]) -> f64 {
        let [imbalance] = sum(duals.len(), &|i| [self.signs[i] * self.weights[i] * duals[i]]);
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
        // Duals take half of the room, so that they do not reach an open end.
        const MOST: f64 = 0.5;
        let domain = self.domain();
        let room = |s: f64| {
            let room = (s - domain.lower).min(domain.upper - s);
            if room.is_finite() { room } else { 1.0 }
        };
        let total: f64 = self.weights.iter().zip(&*duals).map(|(c, &s)| c * room(s)).sum();
        let factor = excess / total;
        if factor.abs() <= MOST {
            for (s, y) in duals.iter_mut().zip(self.signs.iter()) {
                *s = (*s - factor * y * room(*s)).clamp(domain.lower, domain.upper);
            }
            return;
        }
        let given = duals.to_vec();
        let shift = |duals: &mut [f64], by: f64| {
            for ((s, &from), y) in duals.iter_mut().zip(&given).zip(self.signs.iter()) {
                *s = (from - by * y).clamp(domain.lower, domain.upper);
            }
            self.imbalance(duals)
        };
        let (mut low, mut high) = (0.0, 1.0f64.copysign(excess));
        while shift(duals, high) * excess > 0.0 && high.is_finite() {
            (low, high) = (high, 2.0 * high);
        }
        loop {
            let middle = low + 0.5 * (high - low);
            if middle == low || middle == high || !middle.is_finite() {
                break;
            }
            if shift(duals, middle) * excess > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns feasible duals at a settled intercept, `-s_i` subgradients of L at the margins. If
    /// the intercept rests on kinks, the duals on either side of it, a hair apart, are mixed to the
    /// sum zero.
    pub(crate) fn settled_duals(&mut self, scores: &[f64], intercept: f64) -> Vec<f64> {
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

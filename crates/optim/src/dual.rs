//! Feasible points of the dual, `sum c_i s_i y_i = 0` with every `s_i` in the domain of the conjugate,
//! and what they certify about a point of the primal.

use margins_losses::{Interval, MarginLoss};

use crate::certificate::{Evaluator, norm, valued};
use crate::point::Point;
use crate::risk::EmpiricalRisk;
use crate::summation::{SUM_ERROR, UNIT, sum};
use crate::{Certificate, Lambda, Objective};

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Where every `s_i` lies.
    pub(crate) fn domain(&self) -> Interval {
        self.loss.conjugate_domain().unwrap_or(Interval::REALS)
    }

    /// Returns true if no dual is feasible, so that F falls without bound along the intercept, whatever lambda: with the
    /// domain `[l, h]` of the conjugate and the total weights `C+` and `C-` of the classes, the ranges `[l C+, h C+]` and
    /// `[l C-, h C-]` of the sums that must be equal do not meet.
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
        // Sums that should be equal differ by rounding.
        let slack = SUM_ERROR * UNIT * most;
        self.intercept && (upper * least < lower * most - slack * lower.abs())
    }

    /// `(1/n) sum c_i s_i y_i`.
    pub(crate) fn imbalance(&self, duals: &[f64]) -> f64 {
        let [imbalance] = sum(duals.len(), &|i| [self.signs[i] * self.weights[i] * duals[i]]);
        imbalance
    }

    /// Moves duals in their domain to where they sum to zero; nothing to do without an intercept.
    ///
    /// Every dual moves by its distance to the nearer end of the domain times one factor, so that those
    /// at an end, and near an optimum those are right, stay there. Where that is too little room, all
    /// move by the same amount as far as the domain lets them.
    pub(crate) fn balance(&self, duals: &mut [f64]) {
        let excess = self.imbalance(duals);
        if !self.intercept || excess == 0.0 {
            return;
        }
        // Half of the room, so that an open end is not reached.
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

    /// `-(1/n) sum c_i L*(-s_i)`.
    pub(crate) fn dual_value(&self, duals: &[f64]) -> f64 {
        let samples = self.weights.iter().zip(duals).filter(|(c, _)| **c > 0.0);
        -samples.map(|(c, &s)| c * self.loss.conjugate(s)).sum::<f64>()
    }

    /// Returns `(1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i)`.
    ///
    /// By the Fenchel-Young inequality no term is negative. One that is, beyond what rounding and a search for the
    /// conjugate may leave, is evidence against the loss; within that it counts as zero.
    pub fn fenchel_young(&self, margins: &[f64], duals: &[f64]) -> FenchelYoung {
        let mut values = vec![0.0; margins.len()];
        self.values(margins, &mut values);
        let (mut least, mut largest) = (0.0f64, 0.0f64);
        let mut terms = vec![[0.0; 2]; margins.len()];
        for (i, out) in terms.iter_mut().enumerate().filter(|(i, _)| self.weights[*i] > 0.0) {
            let (c, s, value) = (self.weights[i], duals[i], values[i]);
            let (conjugate, product) = (self.conjugate(i, s), s * margins[i]);
            let size = value.abs() + conjugate.abs() + product.abs();
            let term = value + conjugate + product;
            (least, largest) = (least.min(term), largest.max(size));
            // A NaN must not be lost.
            *out = [c * if term < 0.0 { 0.0 } else { term }, c * size];
        }
        let [sum, size] = sum(terms.len(), &|i| terms[i]);
        let rounding = (SUM_ERROR + TERM_ERROR) * UNIT * size;
        let contradicted = largest.is_finite() && least < -CONJUGATE_ERROR * largest;
        FenchelYoung { sum, rounding, contradicted }
    }
}

/// The error, relative to the largest size of the terms of a Fenchel-Young sum, that a conjugate may have which is found
/// by a numerical search from derivatives that are themselves differences.
pub(crate) const CONJUGATE_ERROR: f64 = 1e-6;

/// Units of roundoff of a loss, its conjugate and a product.
const TERM_ERROR: f64 = 8.0;

/// The part of a gap that belongs to the loss.
#[derive(Debug, Clone, Copy)]
pub struct FenchelYoung {
    /// The sum itself.
    pub sum: f64,
    /// How far rounding can have moved it.
    pub rounding: f64,
    /// True if a term is negative beyond rounding.
    pub contradicted: bool,
}

impl FenchelYoung {
    /// Returns the certificate of a point with this objective, computed to `rounding`, whose gap is this sum and `rest`.
    pub fn certificate(self, objective: f64, rounding: f64, rest: f64) -> Certificate {
        let gap = self.sum + rest;
        // Duals at an open end of the domain have no conjugate: no bound, but no sign of overflow either.
        let gap = if gap.is_nan() || self.contradicted { f64::INFINITY } else { gap };
        let certificate = Certificate::new(objective, gap, rounding + self.rounding, f64::NAN);
        Certificate { contradicted: self.contradicted, ..certificate }
    }
}

/// Returns what feasible duals `s` certify about a point whose margins are set, given a bound on the
/// distance of w to `v/(2 lambda)`, `v = (1/n) sum c_i s_i y_i x_i`:
///
/// `F - D = (1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i) + lambda ||w - v/(2 lambda)||^2`,
///
/// a sum without cancellation. What rounding left of the balance counts times the size of intercept and margins.
fn certificate<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    lambda: Lambda,
    point: &Point,
    duals: &[f64],
    distance: f64,
) -> Certificate {
    let (objective, rounding) = valued(&mut evaluator.margins, &evaluator.extent, lambda, point);
    let risk = &evaluator.objective.risk;
    let margins = evaluator.margins.get();
    let unbalanced = if risk.intercept { risk.imbalance(duals).abs() } else { 0.0 };
    let least = point.intercept.abs().max(1.0);
    let size = margins.iter().fold(least, |size, u| size.max(u.abs()));
    let apart = (lambda.get().sqrt() * distance).powi(2);
    let rest = apart + unbalanced * size;
    risk.fenchel_young(margins, duals).certificate(objective, rounding, rest)
}

/// Duals with the point that belongs to them and what they are worth.
#[derive(Debug, Clone)]
pub(crate) struct DualPoint {
    /// `s`, feasible.
    pub(crate) duals: Vec<f64>,
    /// `w = v/(2 lambda)` with the intercept that is best for it.
    pub(crate) point: Point,
    pub(crate) certificate: Certificate,
}

impl DualPoint {
    /// The duals are balanced first; `intercept` is where the search for the best one begins.
    pub(crate) fn at<L: MarginLoss + ?Sized>(
        evaluator: &mut Evaluator<'_, '_, L>,
        lambda: Lambda,
        mut duals: Vec<f64>,
        intercept: f64,
    ) -> Self {
        let objective = evaluator.objective;
        objective.risk.balance(&mut duals);
        let (coef, error) = coefficients(evaluator, lambda, &duals);
        let mut point = Point::at(&objective.design, intercept, coef);
        evaluator.passes += 2;
        evaluator.settle_intercept(&mut point);
        let certificate = certificate(evaluator, lambda, &point, &duals, error);
        DualPoint { duals, point, certificate }
    }

    /// Takes over the point if its F is smaller and the duals if their bound is larger, and the smaller one of the gap
    /// between the two and that of the certificate of both.
    pub(crate) fn improve(&mut self, duals: &[f64], point: &Point, certificate: Certificate) {
        let before = self.certificate;
        let lower = before.dual_objective().max(certificate.dual_objective());
        if certificate.dual_objective() > before.dual_objective() {
            self.duals.copy_from_slice(duals);
        }
        let of_point = if certificate.objective < before.objective {
            self.point.clone_from(point);
            certificate
        } else {
            before
        };
        // The bound has had its rounding taken off.
        let gap = (of_point.objective - lower).max(0.0);
        let (rounding, gradient_norm) = (of_point.rounding, of_point.gradient_norm);
        let across = Certificate::new(of_point.objective, gap, rounding, gradient_norm);
        let contradicted = before.contradicted || certificate.contradicted;
        self.certificate = Certificate { contradicted, ..of_point.or(across) };
    }
}

/// `c_i s_i y_i / n`, of which v is the image under X'.
pub(crate) fn pulls<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    duals: &[f64],
) -> Vec<f64> {
    let samples = risk.signs.iter().zip(&risk.weights).zip(duals);
    samples.map(|((y, c), s)| y * c * s).collect()
}

/// Returns `v/(2 lambda)`, and how far rounding can have moved it.
///
/// Sums are made in twice the working precision where their rounding would show in a certificate: where samples are so
/// large, and lambda so small, that its square divided by lambda is no longer far below the size of F.
pub(crate) fn coefficients<L: MarginLoss + ?Sized>(
    evaluator: &Evaluator<'_, '_, L>,
    lambda: Lambda,
    duals: &[f64],
) -> (Vec<f64>, f64) {
    /// Of the gap, relative to the mean size of the duals.
    const VISIBLE: f64 = 1e-12;
    let Objective { risk, design } = evaluator.objective;
    let weights = &risk.weights;
    let [total] = sum(duals.len(), &|i| [weights[i] * duals[i].abs()]);
    let pulls = pulls(risk, duals);
    let mut coef = vec![0.0; design.columns()];
    let mut error = evaluator.extent.pull_error(total);
    if 0.25 * error * error / lambda.get() > VISIBLE * total {
        design.multiply_transposed_accurately(&pulls, &mut coef);
        error = evaluator.extent.accurate_pull_error(total);
    } else {
        design.multiply_transposed(&pulls, &mut coef);
    }
    for w in &mut coef {
        *w *= 0.5 / lambda.get();
    }
    (coef, 0.5 * error / lambda.get())
}

/// Returns what feasible duals certify about any point, and `w - v/(2 lambda)`.
pub(crate) fn certify<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    lambda: Lambda,
    point: &Point,
    duals: &[f64],
) -> (Certificate, Vec<f64>) {
    evaluator.intercept_slope(point);
    let (coef, error) = coefficients(evaluator, lambda, duals);
    evaluator.passes += 1;
    let apart: Vec<f64> = coef.iter().zip(&point.coef).map(|(v, w)| w - v).collect();
    let certificate = certificate(evaluator, lambda, point, duals, norm(&apart) + error);
    (certificate, apart)
}

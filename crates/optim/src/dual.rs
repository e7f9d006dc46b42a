//! Feasible points of the dual, `sum c_i s_i y_i = 0` with every `s_i` in the domain of the conjugate,
//! and what they certify about a point of the primal.

use margins_losses::{Interval, MarginLoss};

use crate::certificate::{Certificate, Evaluator};
use crate::point::{Point, dot};
use crate::risk::EmpiricalRisk;
use crate::{Lambda, Objective};

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Where every `s_i` lies.
    pub(crate) fn domain(&self) -> Interval {
        self.loss.conjugate_domain().unwrap_or(Interval::REALS)
    }

    /// `(1/n) sum c_i s_i y_i`.
    pub(crate) fn imbalance(&self, duals: &[f64]) -> f64 {
        pulls(self, duals).iter().sum()
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

    /// `L(u) + L*(-s) + s u`, which by the Fenchel-Young inequality is not negative.
    pub(crate) fn fenchel_young_of(&self, u: f64, s: f64) -> f64 {
        let term = self.loss.value(u) + self.loss.conjugate(s) + s * u;
        // A NaN must not be lost.
        if term < 0.0 { 0.0 } else { term }
    }

    /// `(1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i)`.
    fn fenchel_young(&self, margins: &[f64], duals: &[f64]) -> f64 {
        let samples = self.weights.iter().zip(margins).zip(duals);
        samples
            .filter(|((c, _), _)| **c > 0.0)
            .map(|((c, &u), &s)| c * self.fenchel_young_of(u, s))
            .sum()
    }
}

/// What feasible duals `s` certify about a point whose margins are set, given the square of the
/// distance of w to `v/(2 lambda)`, `v = (1/n) sum c_i s_i y_i x_i`:
///
/// `F - D = (1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i) + lambda ||w - v/(2 lambda)||^2`,
///
/// a sum without cancellation. What rounding left of the balance counts times the size of the margins.
fn gap<L: MarginLoss + ?Sized>(
    evaluator: &Evaluator<'_, '_, L>,
    lambda: Lambda,
    duals: &[f64],
    distance: f64,
) -> f64 {
    let risk = &evaluator.objective.risk;
    let margins = evaluator.margins.get();
    let unbalanced = if risk.intercept { risk.imbalance(duals).abs() } else { 0.0 };
    let size = margins.iter().fold(1.0f64, |size, u| size.max(u.abs()));
    let gap = risk.fenchel_young(margins, duals) + lambda.get() * distance + unbalanced * size;
    if gap.is_nan() { f64::INFINITY } else { gap }
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
        let coef = coefficients(objective, lambda, &duals);
        let mut point = Point::at(&objective.design, intercept, coef);
        evaluator.passes += 2;
        evaluator.settle_intercept(&mut point);
        let duality_gap = gap(evaluator, lambda, &duals, 0.0);
        let certificate = certificate(evaluator, lambda, &point, duality_gap);
        DualPoint { duals, point, certificate }
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

/// `v/(2 lambda)`.
pub(crate) fn coefficients<L: MarginLoss + ?Sized>(
    objective: &Objective<'_, L>,
    lambda: Lambda,
    duals: &[f64],
) -> Vec<f64> {
    let mut coef = vec![0.0; objective.design.columns()];
    objective.design.multiply_transposed(&pulls(&objective.risk, duals), &mut coef);
    for w in &mut coef {
        *w *= 0.5 / lambda.get();
    }
    coef
}

/// A gap beside the objective of a point whose margins are set.
fn certificate<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    lambda: Lambda,
    point: &Point,
    duality_gap: f64,
) -> Certificate {
    let objective = evaluator.margins.risk() + lambda.get() * dot(&point.coef, &point.coef);
    Certificate { objective, duality_gap, gradient_norm: f64::NAN }
}

/// What duals certify about any point: `distance` is the square of that of w to `v/(2 lambda)`.
pub(crate) fn certify<L: MarginLoss + ?Sized>(
    evaluator: &mut Evaluator<'_, '_, L>,
    lambda: Lambda,
    point: &Point,
    duals: &[f64],
    distance: f64,
) -> Certificate {
    evaluator.intercept_slope(point);
    let duality_gap = gap(evaluator, lambda, duals, distance);
    certificate(evaluator, lambda, point, duality_gap)
}

//! What feasible duals certify about a point, and the point that belongs to them.

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::{Certificate, Evaluator, valued};
use crate::problem::summation::{norm, sum};
use crate::problem::{EmpiricalRisk, Objective, Point};

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

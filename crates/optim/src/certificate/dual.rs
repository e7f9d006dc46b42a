//! Certificates by feasible duals, and the point that belongs to such duals.

use margins_losses::MarginLoss;

use crate::Lambda;
use crate::certificate::{Certificate, Evaluator, Valued};
use crate::problem::summation::{dot, norm};
use crate::problem::{FenchelYoung, Margins, Point};
use crate::space::{Duals, InMemory, Samples, Scores};

impl FenchelYoung {
    /// Returns the certificate of a point with this objective, computed to `rounding`, whose gap is
    /// this sum and `rest`.
    pub fn certificate(self, objective: f64, rounding: f64, rest: f64) -> Certificate {
        let gap = self.sum + rest;
        // A dual at an open end of the domain has no conjugate: it gives no bound, but is no sign
        // of overflow either.
        let gap = if gap.is_nan() || self.contradicted { f64::INFINITY } else { gap };
        let certificate = Certificate::new(objective, gap, rounding + self.rounding, f64::NAN);
        Certificate { contradicted: self.contradicted, ..certificate }
    }
}

/// Returns the certificate that feasible duals `s` give of a point whose margins are set, given a
/// bound on the distance of w to `v/(2 lambda)`, `v = (1/n) sum c_i s_i y_i x_i`:
///
/// `F - D = (1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i) + lambda ||w - v/(2 lambda)||^2`.
///
/// The sum suffers no cancellation. The imbalance that rounding left in the intercept, and that in the
/// free columns in units of their sizes and coefficients, count times the size of intercept and
/// margins.
fn certificate<S: Samples, P>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<P>,
    duals: &S::Duals,
    distance: f64,
    of_columns: f64,
) -> Certificate {
    let Valued { objective, rounding, sums, .. } = evaluator.valued(lambda, point);
    let samples = &mut evaluator.samples;
    let unbalanced = if samples.has_intercept() { samples.imbalance(duals).abs() } else { 0.0 };
    let size = sums.largest.max(point.intercept.abs()).max(1.0);
    let apart = (lambda.get().sqrt() * distance).powi(2);
    let rest = apart + (unbalanced + of_columns) * size;
    samples.fenchel_young(duals).certificate(objective, rounding, rest)
}

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// Returns the certificate that feasible duals give of a point to which the margins are set, given
    /// its objective, how far the rounding of the products that scores are made of can have moved that,
    /// and the norm of `2 lambda f - v`, `v = (1/n) sum c_i s_i y_i x_i`, for the function f of the
    /// point. For a loss with kinks it is far tighter than the
    /// [certificate by the slopes](Self::certificate), which take one side of every kink.
    pub fn certificate_by_duals(
        &mut self,
        lambda: Lambda,
        objective: f64,
        product_rounding: f64,
        norm: f64,
        duals: &[f64],
    ) -> Certificate {
        let sums = self.sums();
        let rounding = sums.rounding_of_products(objective, product_rounding);
        let unbalanced = if self.risk.intercept { self.risk.imbalance(duals).abs() } else { 0.0 };
        let apart = (0.5 * norm / lambda.get().sqrt()).powi(2);
        let rest = apart + unbalanced * sums.largest.max(1.0);
        let certificate =
            self.risk.fenchel_young(self.get(), duals).certificate(objective, rounding, rest);
        Certificate { gradient_norm: norm, ..certificate }
    }
}

/// Duals with the point that belongs to them and the bound that they give.
#[derive(Debug, Clone)]
pub(crate) struct DualPoint {
    /// The duals `s`, which are feasible.
    pub(crate) duals: Vec<f64>,
    /// The point `w = v/(2 lambda)` with the intercept that is best for it.
    pub(crate) point: Point,
    pub(crate) certificate: Certificate,
}

impl DualPoint {
    /// Returns the point of duals, which are balanced first; `intercept` is where the search for
    /// the best intercept begins.
    pub(crate) fn at<L: MarginLoss + ?Sized>(
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        mut duals: Vec<f64>,
        intercept: f64,
    ) -> Self {
        evaluator.samples.balance(&mut duals);
        let coefficients = coefficients(&mut evaluator.samples, lambda, &duals);
        evaluator.passes += 1;
        Self::with(evaluator, lambda, duals, coefficients, intercept)
    }

    /// Returns the point of those of two duals that give the larger bound once they are balanced, of the
    /// second if the bounds are the same; each comes with its intercept, as for [`at`](Self::at).
    pub(crate) fn better_of<L: MarginLoss + ?Sized>(
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        both: [(Vec<f64>, f64); 2],
    ) -> Self {
        let samples = &mut evaluator.samples;
        let [one, other] = both.map(|(mut duals, intercept)| {
            samples.balance(&mut duals);
            let coefficients = coefficients(samples, lambda, &duals);
            let penalty = lambda.get() * dot(&coefficients.0, &coefficients.0);
            let bound = samples.objective.risk.dual_value(&duals) - penalty;
            (bound, duals, coefficients, intercept)
        });
        evaluator.passes += 2;
        let (_, duals, coefficients, intercept) = if one.0 > other.0 { one } else { other };
        Self::with(evaluator, lambda, duals, coefficients, intercept)
    }

    /// Returns the point of balanced duals, given its coefficients and how far rounding can have moved them.
    fn with<L: MarginLoss + ?Sized>(
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        duals: Vec<f64>,
        (coef, error): (Vec<f64>, f64),
        intercept: f64,
    ) -> Self {
        let mut point = Point { intercept, products: evaluator.samples.products(&coef), coef };
        evaluator.passes += 1;
        evaluator.settle_intercept(&mut point);
        let certificate = certificate(evaluator, lambda, &point, &duals, error, 0.0);
        DualPoint { duals, point, certificate }
    }

    /// Returns a point with kept duals, which are feasible; for none, with the slopes at the point,
    /// whose intercept is settled.
    pub(crate) fn start<L: MarginLoss + ?Sized>(
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
        kept: Option<Vec<f64>>,
        point: &mut Point,
    ) -> Self {
        let duals = kept.unwrap_or_else(|| {
            evaluator.settle_intercept(point);
            let mut slopes = evaluator.samples.duals();
            evaluator.samples.balance(&mut slopes);
            slopes
        });
        let (certificate, apart) = certify(evaluator, lambda, point, &duals);
        let square = point.coef.iter().zip(&apart).map(|(w, d)| (w - d).powi(2)).sum::<f64>();
        let linear = evaluator.samples.objective.risk.dual_value(&duals);
        let mut start = DualPoint { duals, point: point.clone(), certificate };
        if let Some(scale) = best_scale(linear, lambda.get() * square) {
            let scaled: Vec<f64> = start.duals.iter().map(|s| scale * s).collect();
            let (certificate, _) = certify(evaluator, lambda, point, &scaled);
            start.improve(&scaled, point, certificate);
        }
        start
    }

    /// Returns the norm of the gradient of F at the point.
    pub(crate) fn gradient_norm<L: MarginLoss + ?Sized>(
        &self,
        evaluator: &mut Evaluator<InMemory<'_, '_, L>>,
        lambda: Lambda,
    ) -> f64 {
        evaluator.intercept_slope(&self.point);
        evaluator.set_gradient(lambda, &self.point);
        norm(&evaluator.gradient)
    }

    /// Takes over the point if its F is smaller and the duals if their bound is larger. The gap
    /// becomes the smaller one of the gap between the two and the gap of the certificate of both.
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
        // The rounding is already subtracted from the bound.
        let gap = (of_point.objective - lower).max(0.0);
        let (rounding, gradient_norm) = (of_point.rounding, of_point.gradient_norm);
        let across = Certificate::new(of_point.objective, gap, rounding, gradient_norm);
        let contradicted = before.contradicted || certificate.contradicted;
        self.certificate = Certificate { contradicted, ..of_point.or(across) };
    }
}

/// Returns the factor by which duals give the largest bound, if it is less than 1: duals of a larger
/// lambda may be far too large. The bound `t a - t^2 b` of the duals `t s` is exact where conjugates
/// are linear, as those of the hinge are, with `a = -(1/n) sum c_i L*(-s_i)` and
/// `b = lambda ||v/(2 lambda)||^2`.
fn best_scale(linear: f64, penalty: f64) -> Option<f64> {
    let scale = 0.5 * linear / penalty;
    (scale > 0.0 && scale < 1.0).then_some(scale)
}

/// Returns `v/(2 lambda)`, and how far rounding can have moved it.
///
/// Sums are made in twice the working precision where their rounding would show in a certificate:
/// where samples are so large, and lambda so small, that its square divided by lambda is no longer
/// far below the size of F.
pub(crate) fn coefficients<S: Samples>(
    samples: &mut S,
    lambda: Lambda,
    duals: &S::Duals,
) -> (Vec<f64>, f64) {
    /// The share of the gap, relative to the mean size of the duals, from which on rounding shows.
    const VISIBLE: f64 = 1e-12;
    let total = samples.total_dual(duals);
    let mut coef = vec![0.0; samples.shape().1];
    let usual_error = samples.extent().pull_error(total);
    let accurately = 0.25 * usual_error * usual_error / lambda.get() > VISIBLE * total;
    samples.pull(duals, accurately, &mut coef);
    for w in &mut coef {
        *w *= 0.5 / lambda.get();
    }
    let extent = samples.extent();
    let error = if accurately { extent.accurate_pull_error(total) } else { usual_error };
    (coef, 0.5 * error / lambda.get())
}

/// Returns the certificate that feasible duals give of any point, and `w - v/(2 lambda)`.
pub(crate) fn certify<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<S::Products>,
    duals: &S::Duals,
) -> (Certificate, Vec<f64>) {
    evaluator.intercept_slope(point);
    certify_set(evaluator, lambda, point, duals)
}

/// Returns the certificate of a point whose intercept is settled, with or without its products: by the
/// slopes, which are balanced if there are free columns.
pub(crate) fn certificate_of<S: Samples, P>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<P>,
) -> Certificate {
    let by_slopes = evaluator.certificate(lambda, point);
    if evaluator.free.is_empty() {
        return by_slopes;
    }
    let mut duals = evaluator.samples.duals();
    evaluator.samples.balance(&mut duals);
    evaluator.passes += 1;
    let (certificate, _) = certify_set(evaluator, lambda, point, &duals);
    Certificate { gradient_norm: by_slopes.gradient_norm, ..certificate }
}

/// Does what [`certify`] does for a point to which the margins are set already.
pub(crate) fn certify_set<S: Samples, P>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<P>,
    duals: &S::Duals,
) -> (Certificate, Vec<f64>) {
    let (coef, error) = coefficients(&mut evaluator.samples, lambda, duals);
    evaluator.passes += 1;
    let of_columns = imbalance_of_columns(evaluator, lambda, duals, (&point.coef, &coef));
    let mut apart: Vec<f64> = coef.iter().zip(&point.coef).map(|(v, w)| w - v).collect();
    evaluator.free.get().iter().for_each(|&j| apart[j] = 0.0);
    let distance = norm(&apart) + error;
    let certificate = certificate(evaluator, lambda, point, duals, distance, of_columns);
    (certificate, apart)
}

/// Returns the sum of `|v_j| max(|w_j|, 1/m_j)` over the free columns, `m_j` the largest size of the
/// feature; infinity if the imbalance is more than rounding, so that the duals are not feasible.
fn imbalance_of_columns<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    duals: &S::Duals,
    (at, of_duals): (&[f64], &[f64]),
) -> f64 {
    /// The share of the mean dual that rounding stays below.
    const ROUNDING: f64 = 1e-10;
    let Evaluator { samples, free, .. } = evaluator;
    if free.is_empty() {
        return 0.0;
    }
    let (mut relative, mut weighted) = (0.0, 0.0);
    for j in free.with_dependent() {
        let size = samples.extent().size(j);
        if size > 0.0 {
            let imbalance = 2.0 * lambda.get() * of_duals[j].abs();
            relative += imbalance / size;
            weighted += imbalance * at[j].abs().max(1.0 / size);
        }
    }
    if relative <= ROUNDING * samples.total_dual(duals) { weighted } else { f64::INFINITY }
}

/// Returns a multiple of a point, a few units of rounding larger, with its certificate by the same duals,
/// if that shows more.
///
/// Rounding leaves margins on a kink just short of it, where the loss has the slope of that side. Near a
/// minimum of almost zero this is all that F consists of beside the penalty, and all that its rounding
/// consists of. A little farther out both vanish.
pub(crate) fn clear_of_kinks<S: Samples>(
    evaluator: &mut Evaluator<S>,
    lambda: Lambda,
    point: &Point<S::Products>,
    duals: &S::Duals,
    known: Certificate,
) -> Option<(Point<S::Products>, Certificate)> {
    /// The powers of four by which the point grows, in units of rounding.
    const POWERS: std::ops::RangeInclusive<i32> = 1..=8;
    let multiples = POWERS.map(|k| {
        let multiple = point.scaled(1.0 + 4f64.powi(k) * f64::EPSILON);
        let (certificate, _) = certify(evaluator, lambda, &multiple, duals);
        (multiple, Certificate { gradient_norm: known.gradient_norm, ..certificate })
    });
    let gap = |(_, certificate): &(Point<S::Products>, Certificate)| certificate.duality_gap;
    let best = multiples.min_by(|a, b| gap(a).total_cmp(&gap(b)));
    best.filter(|best| gap(best) < known.duality_gap)
}

use std::borrow::Cow;

use margins_data::Labels;
use margins_losses::MarginLoss;

use crate::point::Point;
use crate::report::MarginSummary;
use crate::self_consistency::contradicts_itself;
use crate::summation::{SUM_ERROR, UNIT, sum};
use crate::{Certificate, Error, Lambda};

/// The first part of every objective, `(1/n) sum_i c_i L(y_i (b + f_i))`, as a function of the intercept
/// `b` and of scores `f`, wherever they come from.
///
/// n counts all samples, those of weight 0 included: a held-out sample is a sample of weight zero.
#[derive(Debug)]
pub struct EmpiricalRisk<'a, L: MarginLoss + ?Sized> {
    pub(crate) loss: &'a L,
    pub(crate) signs: Cow<'a, [f64]>,
    /// `c_i / n`.
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: bool,
    smoothing: Option<Smoothing>,
}

/// Where the dual is held to, and how firmly.
#[derive(Debug, Clone)]
struct Smoothing {
    /// `a_i`.
    centres: Vec<f64>,
    /// `sigma`.
    strength: f64,
}

impl<L: MarginLoss + ?Sized> Clone for EmpiricalRisk<'_, L> {
    fn clone(&self) -> Self {
        EmpiricalRisk {
            loss: self.loss,
            signs: self.signs.clone(),
            weights: self.weights.clone(),
            intercept: self.intercept,
            smoothing: self.smoothing.clone(),
        }
    }
}

impl<'a, L: MarginLoss + ?Sized> EmpiricalRisk<'a, L> {
    /// Every sample with weight 1, and an intercept.
    ///
    /// # Errors
    /// Labels of one class only.
    pub fn new(loss: &'a L, labels: &'a Labels) -> Result<Self, Error> {
        for (sign, class) in [(1.0, labels.positive_class()), (-1.0, labels.negative_class())] {
            if !labels.signs().contains(&sign) {
                return Err(Error::OneClass(class.to_owned()));
            }
        }
        Ok(EmpiricalRisk {
            loss,
            signs: Cow::Borrowed(labels.signs()),
            weights: vec![1.0 / labels.len() as f64; labels.len()],
            intercept: true,
            smoothing: None,
        })
    }

    /// Multiplies the loss of sample i by `weights[i]`.
    ///
    /// # Errors
    /// Another number of weights than of samples; a weight that is negative or not finite; a class of
    /// which no sample has a positive weight.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, Error> {
        if weights.len() != self.weights.len() {
            return Err(Error::Shape {
                what: "weights, one a row",
                expected: self.weights.len(),
                found: weights.len(),
            });
        }
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        for (ours, c) in self.weights.iter_mut().zip(weights) {
            *ours *= c;
        }
        for sign in [1.0, -1.0] {
            let present = |(y, c): (&f64, &f64)| *y == sign && *c > 0.0;
            if !self.signs.iter().zip(&self.weights).any(present) {
                return Err(Error::OneClass(format!("{sign:+}")));
            }
        }
        Ok(self)
    }

    /// The mean over some of the samples; `None` where a class has no weight among them, and of a smoothed
    /// loss.
    pub(crate) fn select(&self, rows: &[usize]) -> Option<Self> {
        let share = rows.len() as f64 / self.weights.len() as f64;
        let signs: Vec<f64> = rows.iter().map(|&i| self.signs[i]).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| self.weights[i] / share).collect();
        let weight_of = |sign: f64| {
            signs.iter().zip(&weights).filter(|(y, _)| **y == sign).map(|(_, c)| c).sum::<f64>()
        };
        let usable = self.smoothing.is_none() && weight_of(1.0) > 0.0 && weight_of(-1.0) > 0.0;
        usable.then_some(EmpiricalRisk {
            loss: self.loss,
            signs: Cow::Owned(signs),
            weights,
            intercept: self.intercept,
            smoothing: None,
        })
    }

    /// The same with another loss, not smoothed.
    pub(crate) fn with_loss<'b, M: MarginLoss + ?Sized>(&self, loss: &'b M) -> EmpiricalRisk<'b, M>
    where
        'a: 'b,
    {
        let (signs, weights, intercept) =
            (self.signs.clone(), self.weights.clone(), self.intercept);
        EmpiricalRisk { loss, signs, weights, intercept, smoothing: None }
    }

    /// Fixes the intercept at 0.
    #[must_use]
    pub fn without_intercept(mut self) -> Self {
        self.intercept = false;
        self
    }

    /// Puts in the place of the loss of sample i the smoothed one of a proximal step in the dual,
    ///
    /// `e_i(u) = max_s -L*(-s) - s u - (sigma/2) (s - a_i)^2`,
    ///
    /// which is differentiable whether `L` is or not, with `e_i'(u) = -s_i`, the maximiser, which
    /// [`MarginLoss::dual_step`] gives: the Moreau envelope of `L` about `u - sigma a_i`, up to a
    /// constant. At the minimiser of F with these losses the `s_i` are the proximal point of `a` in the
    /// dual of F (Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in
    /// convex programming*, Math. Oper. Res. 1, 1976).
    pub(crate) fn smoothed(mut self, centres: Vec<f64>, strength: f64) -> Self {
        debug_assert_eq!(centres.len(), self.weights.len());
        self.smoothing = Some(Smoothing { centres, strength });
        self
    }

    /// `L(u_i)`, one a sample.
    pub(crate) fn values(&self, margins: &[f64], out: &mut [f64]) {
        match &self.smoothing {
            None => self.loss.values(margins, out),
            Some(smoothing) => smoothing.each(self.loss, margins, out, |a, s, v| {
                self.loss.value(v) + 0.5 * smoothing.strength * (s - a) * (s + a)
            }),
        }
    }

    /// `L'(u_i)`, one a sample.
    fn derivatives(&self, margins: &[f64], out: &mut [f64]) {
        match &self.smoothing {
            None => self.loss.derivatives(margins, out),
            Some(smoothing) => smoothing.each(self.loss, margins, out, |_, s, _| -s),
        }
    }

    /// `L''(u_i)`, one a sample.
    fn second_derivatives(&self, margins: &[f64], out: &mut [f64]) {
        // Beyond rounding of the slopes.
        const APART: f64 = 1e-9;
        match &self.smoothing {
            None => self.loss.second_derivatives(margins, out),
            Some(smoothing) => smoothing.each(self.loss, margins, out, |_, s, v| {
                let at_kink = !self.loss.is_differentiable()
                    && (s + self.loss.derivative(v)).abs() > APART * (1.0 + s.abs());
                if at_kink {
                    1.0 / smoothing.strength
                } else {
                    let curvature = self.loss.second_derivative(v);
                    curvature / (1.0 + smoothing.strength * curvature)
                }
            }),
        }
    }

    /// Returns `L*(-s)` for sample i, with the term that smoothing adds to it.
    pub(crate) fn conjugate(&self, i: usize, s: f64) -> f64 {
        let conjugate = self.loss.conjugate(s);
        match &self.smoothing {
            None => conjugate,
            Some(Smoothing { centres, strength }) => {
                conjugate + 0.5 * strength * (s - centres[i]).powi(2)
            }
        }
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The loss.
    pub fn loss(&self) -> &'a L {
        self.loss
    }

    /// `y_i`.
    pub fn signs(&self) -> &[f64] {
        &self.signs
    }

    /// `c_i / n`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether the loss has a dual, which every certificate and some solvers are built on.
    ///
    /// # Errors
    /// A loss that is not convex.
    pub fn check_convex(&self) -> Result<(), Error> {
        if self.loss.is_convex() {
            return Ok(());
        }
        Err(Error::Unsuitable {
            loss: self.loss.specification(),
            lacks: "is not convex, and without convexity no duality gap certifies a fit",
            alternative: "lhs and logistic are convex",
        })
    }

    /// Whether the loss has what Newton and MM are built on.
    ///
    /// # Errors
    /// A loss that is not convex or has a kink.
    pub fn check_loss(&self) -> Result<(), Error> {
        self.check_convex()?;
        if self.loss.is_differentiable() {
            return Ok(());
        }
        Err(Error::Unsuitable {
            loss: self.loss.specification(),
            lacks: "has a kink, and this solver needs a differentiable loss",
            alternative: "for linear classifiers the sdca and bundle solvers take it; smoothed-hinge and \
                          squared-hinge are the differentiable relatives of the hinge",
        })
    }

    /// What the margins of scores are like, of the samples that count.
    pub(crate) fn margin_summary(&self, scores: &[f64], intercept: f64) -> MarginSummary {
        self.summary_of(&self.margins_of(scores, intercept))
    }

    /// Whether the loss, if it says that it is convex, contradicts that at the margins of scores.
    pub(crate) fn is_contradicted(&self, scores: &[f64], intercept: f64) -> bool {
        let mut margins = self.margins_of(scores, intercept);
        let mut weights = self.weights.iter();
        margins.retain(|_| weights.next().is_some_and(|&c| c > 0.0));
        self.loss.is_convex() && contradicts_itself(self.loss, &margins)
    }

    fn margins_of(&self, scores: &[f64], intercept: f64) -> Vec<f64> {
        scores.iter().zip(self.signs.iter()).map(|(f, y)| y * (f + intercept)).collect()
    }

    fn summary_of(&self, margins: &[f64]) -> MarginSummary {
        let counted = |values: &[f64]| -> Vec<f64> {
            let pairs = values.iter().zip(&self.weights);
            pairs.filter(|(_, c)| **c > 0.0).map(|(value, _)| *value).collect()
        };
        MarginSummary::new(&counted(margins), &counted(&self.signs))
    }

    /// Whether every margin, of the samples that count, is at least `from`.
    pub fn all_beyond(&self, scores: &[f64], intercept: f64, from: f64) -> bool {
        let samples = scores.iter().zip(self.signs.iter()).zip(&self.weights);
        samples.into_iter().all(|((f, y), &c)| c == 0.0 || y * (f + intercept) >= from)
    }

    /// Memory to evaluate the risk in.
    pub fn margins(&self) -> Margins<'_, L> {
        let n = self.weights.len();
        Margins {
            risk: self,
            margins: vec![0.0; n],
            slopes: vec![0.0; n],
            residual: 0.0,
            size: 0.0,
            ahead: vec![0.0; n],
            scratch: vec![0.0; n],
        }
    }
}

impl Smoothing {
    /// `out[i]` from `a_i`, the maximiser `s_i` and the proximal point `v_i = u_i + sigma (s_i - a_i)`.
    fn each<L: MarginLoss + ?Sized>(
        &self,
        loss: &L,
        margins: &[f64],
        out: &mut [f64],
        value: impl Fn(f64, f64, f64) -> f64,
    ) {
        for ((o, &u), &a) in out.iter_mut().zip(margins).zip(&self.centres) {
            let s = loss.dual_step(a, u, self.strength);
            *o = value(a, s, u + self.strength * (s - a));
        }
    }
}

/// The margins of one point after another, with the slopes of the loss there.
pub struct Margins<'r, L: MarginLoss + ?Sized> {
    risk: &'r EmpiricalRisk<'r, L>,
    /// `u_i`.
    margins: Vec<f64>,
    /// `L'(u_i)`.
    slopes: Vec<f64>,
    /// Derivative of the risk in the intercept: what keeps the dual point from being feasible.
    residual: f64,
    /// `(1/n) sum c_i |L(u_i)|` where the risk was evaluated last.
    size: f64,
    ahead: Vec<f64>,
    scratch: Vec<f64>,
}

/// Units of roundoff to which a loss is taken to compute its value, relative to that value, and to see its argument,
/// relative to the larger of that argument and 1.
const LOSS_ERROR: f64 = 4.0;

/// `c l`, and 0 for a weight of 0 though the loss overflows: such a sample is none.
#[inline(always)]
pub(crate) fn weighted(c: f64, l: f64) -> f64 {
    if c == 0.0 { 0.0 } else { c * l }
}

impl<L: MarginLoss + ?Sized> Margins<'_, L> {
    /// `u_i`.
    pub fn get(&self) -> &[f64] {
        &self.margins
    }

    /// `L'(u_i)`.
    pub(crate) fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// `s_i = -L'(u_i)`.
    pub(crate) fn duals(&self) -> Vec<f64> {
        self.slopes.iter().map(|slope| -slope).collect()
    }

    /// What the margins that are set are like, of the samples that count.
    pub fn summary(&self) -> MarginSummary {
        self.risk.summary_of(&self.margins)
    }

    fn set_margins(&mut self, scores: &[f64], intercept: f64) {
        let pairs = scores.iter().zip(self.risk.signs.iter());
        for (u, (score, sign)) in self.margins.iter_mut().zip(pairs) {
            *u = sign * (score + intercept);
        }
    }

    /// Sets margins and slopes and returns the derivative of the risk in the intercept.
    pub fn set(&mut self, scores: &[f64], intercept: f64) -> f64 {
        self.set_margins(scores, intercept);
        self.risk.derivatives(&self.margins, &mut self.slopes);
        let (signs, weights) = (&self.risk.signs, &self.risk.weights);
        let [slope] = sum(signs.len(), &|i| [signs[i] * weighted(weights[i], self.slopes[i])]);
        slope
    }

    /// Returns `(1/n) sum c_i |L'(u_i)|`: what rounding of the sum of the slopes is relative to.
    pub(crate) fn total_slope(&self) -> f64 {
        let weights = &self.risk.weights;
        let [total] = sum(weights.len(), &|i| [weighted(weights[i], self.slopes[i].abs())]);
        total
    }

    /// `c_i L''(u_i) / n` at the margins that are set.
    pub fn curvatures(&mut self) -> &[f64] {
        self.risk.second_derivatives(&self.margins, &mut self.scratch);
        for (d, c) in self.scratch.iter_mut().zip(&self.risk.weights) {
            *d = weighted(*c, *d);
        }
        &self.scratch
    }

    /// Fits `curvatures` to a change of the scores that they predict: where a margin would pass a kink
    /// of `L'`, the tangent on either side may point to the other, again and again, and the chord over
    /// the change takes its place. Called again with the change that the new curvatures predict, a
    /// curvature goes to the geometric mean of itself and the chord, which balances overshooting in
    /// either direction. Returns how much of the predicted change of slopes was wrong, as a share.
    pub fn fit_curvatures(&mut self, change: impl Fn(usize) -> f64, curvatures: &mut [f64]) -> f64 {
        // On smooth stretches chord and tangent agree better than this.
        const APART: f64 = 0.5;
        // A chord of 0 says no more than that the curvature is smaller.
        const SHRINK: f64 = 0.125;
        let mut ahead = std::mem::take(&mut self.ahead);
        for (i, u) in ahead.iter_mut().enumerate() {
            *u = self.margins[i] + self.risk.signs[i] * change(i);
        }
        self.risk.derivatives(&ahead, &mut self.scratch);
        let (mut wrong, mut total) = (0.0, 0.0);
        for i in 0..ahead.len() {
            let step = ahead[i] - self.margins[i];
            let change = self.scratch[i] - self.slopes[i];
            let chord = weighted(self.risk.weights[i], change / step);
            let before = curvatures[i];
            let largest = before.max(chord);
            total += (largest * step).powi(2);
            if (chord - before).abs() > APART * largest {
                wrong += ((chord - before) * step).powi(2);
                curvatures[i] =
                    if before > 0.0 { (before * chord).sqrt().max(SHRINK * before) } else { chord };
            }
        }
        self.ahead = ahead;
        if total > 0.0 { (wrong / total).sqrt() } else { 0.0 }
    }

    /// The minimum of the risk over the intercept, to the last bits, by Newton steps from `intercept`
    /// kept inside a bracket; the risk is convex and its derivative monotone. Margins and slopes are
    /// set to it. Where the risk has no intercept that is 0.
    pub fn settle(&mut self, scores: &[f64], intercept: f64) -> f64 {
        if !self.risk.intercept {
            self.set(scores, 0.0);
            self.residual = 0.0;
            return 0.0;
        }
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut reach = 1.0f64;
        let mut previous = f64::INFINITY;
        let mut b = intercept;
        loop {
            let slope = self.set(scores, b);
            self.residual = slope;
            let settled = slope.abs() <= 2.0 * f64::EPSILON * self.total_slope();
            if slope.is_nan() || (settled && slope.is_finite()) {
                return b;
            }
            if slope > 0.0 {
                high = b;
            } else {
                low = b;
            }
            let curvature: f64 = self.curvatures().iter().sum();
            let newton = b - slope / curvature;
            // A Newton step that did not halve the slope gives way to bisection.
            let progressed = slope.abs() <= 0.5 * previous;
            let next = if progressed && low < newton && newton < high {
                newton
            } else if low.is_finite() && high.is_finite() {
                low + 0.5 * (high - low)
            } else {
                reach *= 2.0;
                b - reach.copysign(slope)
            };
            let resolution = 2.0 * f64::EPSILON * b.abs();
            if !next.is_finite() || (next - b).abs() <= resolution {
                return b;
            }
            previous = slope.abs();
            b = next;
        }
    }

    /// Feasible duals at a settled intercept, `-s_i` subgradients of L at the margins. If the intercept
    /// rests on kinks, the duals on either side of it, a hair apart, are mixed to the sum zero.
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
                    for (s, slope) in duals.iter_mut().zip(&self.slopes) {
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

    /// The risk at the margins that are set.
    pub fn risk(&mut self) -> f64 {
        self.risk.values(&self.margins, &mut self.scratch);
        let weights = &self.risk.weights;
        let [risk, size] = sum(weights.len(), &|i| {
            let term = weighted(weights[i], self.scratch[i]);
            [term, term.abs()]
        });
        self.size = size;
        risk
    }

    /// Returns how far rounding can have moved an objective that consists of the [`risk`](Self::risk), evaluated
    /// last, and a penalty, if every score is right to `score_error`.
    ///
    /// With the unit roundoff `u` and sums that lose at most `k u` of the sizes of their terms, that is
    ///
    /// `u (k + 4) ((1/n) sum c_i |L(u_i)| + penalty) + (1/n) sum c_i |L'(u_i)| (4 u (1 + |u_i|) + score_error)`.
    pub(crate) fn rounding(&self, objective: f64, score_error: f64) -> f64 {
        let weights = &self.risk.weights;
        let [arguments, slopes] = sum(weights.len(), &|i| {
            let slope = weighted(weights[i], self.slopes[i].abs());
            [slope * (1.0 + self.margins[i].abs()), slope]
        });
        let terms = self.size + (objective.abs() + self.size);
        let rounding = UNIT * ((SUM_ERROR + LOSS_ERROR) * terms + LOSS_ERROR * arguments);
        rounding + score_error * slopes
    }

    /// Returns how far scores are off that were computed to a few units of their size.
    fn usual_score_error(&self) -> f64 {
        const UNITS: f64 = 16.0;
        UNITS * UNIT * self.margins.iter().fold(0.0f64, |size, u| size.max(u.abs()))
    }

    /// The risk at any point; the slopes are not set.
    pub fn risk_at(&mut self, scores: &[f64], intercept: f64) -> f64 {
        self.set_margins(scores, intercept);
        self.risk()
    }

    /// Derivatives of the risk in the scores, `c_i y_i L'(u_i) / n`.
    pub fn gradient(&self, out: &mut [f64]) {
        let factors = self.risk.signs.iter().zip(&self.risk.weights).zip(&self.slopes);
        for (z, ((y, c), slope)) in out.iter_mut().zip(factors) {
            *z = y * weighted(*c, *slope);
        }
    }

    /// Derivative of the risk along a line of points, at `point + t direction`, to which margins and
    /// slopes are set.
    pub fn slope_along(&mut self, point: &Point, direction: &Point, t: f64) -> f64 {
        let signs = &self.risk.signs;
        for i in 0..self.margins.len() {
            let score = point.products[i] + point.intercept;
            let change = direction.products[i] + direction.intercept;
            self.margins[i] = signs[i] * (score + t * change);
        }
        self.risk.derivatives(&self.margins, &mut self.slopes);
        let mut slope = 0.0;
        for i in 0..self.slopes.len() {
            let change = direction.products[i] + direction.intercept;
            slope += signs[i] * weighted(self.risk.weights[i], self.slopes[i]) * change;
        }
        slope
    }

    /// Returns the certificate of a point with a settled intercept, from its objective, evaluated last, the norm of
    /// the gradient in the coefficients and the largest norm R of a sample. Scores are taken to be right to a few
    /// units of their size.
    pub fn certificate(
        &mut self,
        lambda: Lambda,
        objective: f64,
        norm: f64,
        radius: f64,
    ) -> Certificate {
        let rounding = self.rounding(objective, self.usual_score_error());
        self.certificate_within(lambda, objective, rounding, norm, radius)
    }

    /// Returns the certificate of a point with a settled intercept whose objective is right to `rounding`.
    ///
    /// What rounding left of the slope `r` in the intercept is allowed for: shifting every `s_i` by a
    /// share of `r` in proportion to `L''(u_i)` makes the dual point feasible. To first order that
    /// changes D by at most `|r| R ||g|| / (2 lambda)`, to second order by
    /// `r^2 R^2 / (4 lambda) + r^2 / (2 k)`, `k` the curvature of F in the intercept.
    pub(crate) fn certificate_within(
        &mut self,
        lambda: Lambda,
        objective: f64,
        rounding: f64,
        norm: f64,
        radius: f64,
    ) -> Certificate {
        let r = self.residual.abs();
        let gradient_norm = norm.hypot(r);
        if !gradient_norm.is_finite() {
            return Certificate::new(objective, f64::NAN, rounding, gradient_norm);
        }
        // In this order no square underflows that the gap does not.
        let mut duality_gap = (0.5 * (norm + r * radius) / lambda.get().sqrt()).powi(2);
        if r > 0.0 {
            let curvature: f64 = self.curvatures().iter().sum();
            // Without curvature nothing can be shifted; the bound then moves by r times the distance
            // to a minimiser, for which the size of the scores stands in: r is rounding, and so is
            // this.
            let shift = 0.5 * r * r / curvature;
            let size = self.margins.iter().fold(1.0f64, |size, u| size.max(u.abs()));
            duality_gap += if shift.is_finite() { shift } else { r * size };
        }
        Certificate::new(objective, duality_gap, rounding, gradient_norm)
    }
}

//! Claims of a loss about the class probabilities that its scores stand for.

use super::{Examination, within_hull};
use crate::{Interval, kink_at_zero};

/// The class probabilities at which the minimisers are checked.
const ETAS: [f64; 12] = [0.001, 0.02, 0.1, 0.3, 0.45, 0.499, 0.51, 0.6, 0.75, 0.9, 0.97, 0.999];

impl Examination<'_> {
    pub(super) fn population_minimizer(&mut self) {
        let loss = self.loss;
        let (slope, kink) = (loss.derivative(0.0), kink_at_zero(loss));
        let criterion = kink.is_none() && slope < 0.0;
        let calibrated = loss.is_classification_calibrated();
        self.require(
            !loss.is_convex() || calibrated == criterion,
            "is_classification_calibrated: not the criterion of convex losses",
            || format!("claimed {calibrated}, the slope at 0 is {slope:e}, the kink {kink:?}"),
        );
        for eta in ETAS.into_iter().chain([0.0, 1.0]) {
            let risk = |u: f64| {
                // A certain class makes the other one's loss, infinite or not, irrelevant.
                let weigh =
                    |weight: f64, u: f64| if weight > 0.0 { weight * loss.value(u) } else { 0.0 };
                weigh(eta, u) + weigh(1.0 - eta, -u)
            };
            let u = loss.population_minimizer(eta);
            let right_side = u * (eta - 0.5) > 0.0;
            self.require(!calibrated || right_side, "population_minimizer: wrong side", || {
                format!("eta = {eta}: {u:e}, though calibration is claimed")
            });
            // Where it jumps, 1 - eta may fall on either side.
            let mirrored = [-1e-9, 0.0, 1e-9]
                .map(|e| loss.population_minimizer((1.0 - eta + e).clamp(0.0, 1.0)));
            let slack = if u.is_finite() { 1e-9 * (1.0 + u.abs()) } else { 0.0 };
            self.require(within_hull(-u, mirrored, slack), "population_minimizer: not odd", || {
                format!("{u:e} at {eta}, {:e} at 1 - {eta}", mirrored[1])
            });
            // An infinite minimiser is a limit: approach it.
            let best = risk(if u.is_finite() { u } else { 1e9f64.copysign(u) });
            let nearby = [0.0, 0.99 * u, 1.01 * u].into_iter().filter(|u| u.is_finite());
            for other in self.margins.clone().into_iter().chain(nearby) {
                let at_other = risk(other);
                let slack = 1e-9 * (1.0 + best.abs());
                self.require(
                    best <= at_other + slack || at_other.is_nan(),
                    "population_minimizer: not the minimiser",
                    || format!("eta = {eta}: risk {best:e} at {u:e}, {at_other:e} at {other:e}"),
                );
            }
            if loss.is_convex() && u.is_finite() {
                let e = 1e-8 * u.abs().max(1.0);
                let slope = |u: f64| eta * loss.derivative(u) - (1.0 - eta) * loss.derivative(-u);
                let slack = 1e-8 * (eta * loss.derivative(u).abs()) + 1e-12;
                self.require(
                    within_hull(0.0, [slope(u - e), slope(u), slope(u + e)], slack),
                    "population_minimizer: not stationary",
                    || format!("eta = {eta}: slope {:e} at {u:e}", slope(u)),
                );
            }
        }
    }

    pub(super) fn probability(&mut self) {
        let loss = self.loss;
        let far = [-1e6, 1e6, f64::NEG_INFINITY, f64::INFINITY];
        let mut before = 0.0;
        let mut scores = self.margins.clone();
        scores.extend(far);
        scores.sort_by(f64::total_cmp);
        for score in scores {
            let Some(probability) = loss.probability(score) else { return };
            self.require((0.0..=1.0).contains(&probability), "probability: not one", || {
                format!("{probability} at score {score}")
            });
            self.require(probability >= before - 1e-12, "probability: falls", || {
                format!("to {probability} at score {score}")
            });
            before = probability;
        }
        for eta in ETAS {
            let [below, at, above] =
                [eta - 5e-4, eta, eta + 5e-4].map(|e| loss.population_minimizer(e));
            if below < at && at < above && at.is_finite() {
                let probability = loss.probability(at);
                self.require(
                    probability.is_some_and(|p| (p - eta).abs() <= 1e-7),
                    "probability: not the inverse of population_minimizer",
                    || format!("{probability:?} at the minimiser {at:e} for eta = {eta}"),
                );
            }
        }
    }

    pub(super) fn undecided_scores(&mut self) {
        let loss = self.loss;
        let undecided = loss.undecided_scores();
        self.require(
            undecided.is_some() == loss.probability(0.0).is_some(),
            "undecided_scores: not known exactly where probability is",
            || format!("{undecided:?}, probability {:?}", loss.probability(0.0)),
        );
        let Some(Interval { lower, upper }) = undecided else { return };
        self.require(lower == -upper && upper >= 0.0, "undecided_scores: not around 0", || {
            format!("from {lower} to {upper}")
        });
        for share in [0.0, 0.5, 1.0] {
            let probability = loss.probability(share * upper);
            self.require(
                probability.is_some_and(|p| (p - 0.5).abs() <= 1e-12),
                "undecided_scores: the odds are not even inside",
                || format!("{probability:?} at score {}", share * upper),
            );
        }
        let beyond = upper + 1e-3 * (1.0 + upper);
        let probability = loss.probability(beyond);
        self.require(
            upper.is_infinite() || probability.is_some_and(|p| p > 0.5),
            "undecided_scores: the odds are even outside too",
            || format!("{probability:?} at score {beyond}"),
        );
    }

    pub(super) fn psi_transform(&mut self) {
        let loss = self.loss;
        if !loss.is_convex() {
            return self.psi_transform_is_convex();
        }
        for a in [0.0, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let Some(psi) = loss.psi_transform(a) else { return };
            let eta = 0.5 * (1.0 + a);
            let u = loss.population_minimizer(eta);
            let expected = loss.value(0.0) - eta * loss.value(u) - (1.0 - eta) * loss.value(-u);
            // Without an attained infimum the risk at the minimiser is no number.
            let expected = if expected.is_nan() { f64::INFINITY } else { expected };
            self.require(
                psi == expected || (psi - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
                "psi_transform: not L(0) - H",
                || format!("{psi:e} at {a}, not {expected:e}"),
            );
        }
        self.psi_transform_is_convex();
    }

    /// Requires that Psi is convex with `Psi(0) = 0`, so that `Psi(a)/a` does not fall, down to the
    /// least `a`.
    fn psi_transform_is_convex(&mut self) {
        let mut before: Option<(f64, f64)> = None;
        for exponent in -140..=0 {
            let a = 10f64.powi(exponent);
            let Some(psi) = self.loss.psi_transform(a) else { return };
            self.require(psi >= 0.0, "psi_transform: negative", || format!("{psi:e} at {a:e}"));
            if let Some((last_a, last_psi)) = before {
                self.require(
                    last_psi / last_a <= psi / a * (1.0 + 1e-12),
                    "psi_transform: not convex",
                    || format!("{last_psi:e} at {last_a:e}, but {psi:e} at {a:e}"),
                );
            }
            before = Some((a, psi));
        }
    }
}

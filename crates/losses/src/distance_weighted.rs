//! The loss of distance-weighted discrimination.

use crate::scalar_search::newton_root;
use crate::vectorized::{batch, power};
use crate::{Error, HomogeneousTail, Interval, MarginLoss};

/// The loss of generalised distance-weighted discrimination, `q > 0`: with `k = q/(q+1)`,
///
/// `L(u) = 1 - u` for `u <= k`, `(k/u)^q / (q+1)` for `u > k`,
///
/// and `(k/u)^q / (q+1)` is `u^(-q) q^q / (q+1)^(q+1)`. Convex, differentiable, 1-Lipschitz, at
/// least 0, with `L''` at most `(q+1)^2/q` (it jumps from 0 to that at `u = k`, where it is
/// returned), classification-calibrated. For `q = 1` it is distance-weighted discrimination; as
/// `q` grows it tends to [`Hinge`](crate::Hinge). Its slope beyond `k` is `-(k/u)^(q+1)`, where
/// that of [`PowerHockeyStick`](crate::PowerHockeyStick) has an exponent below 1. Conjugate `L*(-t)
/// = -t^k` on [0, 1]; population minimiser `k (eta/(1-eta))^(1/(q+1))` for `eta > 1/2` and its
/// mirror image below; at `eta = 1/2` every point of [-k, k].
///
/// Sources: Marron, Todd and Ahn, *Distance-weighted discrimination*, JASA 102 (2007); Wang and
/// Zou, *Another look at distance-weighted discrimination*, JRSS B 80 (2018).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceWeighted {
    q: f64,
    /// The margin `q/(q+1)` where the line ends, which is the exponent of the conjugate too.
    knee: f64,
}

impl DistanceWeighted {
    /// Returns the loss with this exponent.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `q` is within 0.01 to 100, where powers keep their digits.
    pub fn new(q: f64) -> Result<Self, Error> {
        let requirement = "a number from 0.01 to 100";
        let q = Error::check("dwd", "q", q, requirement, |q| (0.01..=100.0).contains(&q))?;
        Ok(DistanceWeighted { q, knee: q / (q + 1.0) })
    }

    /// Returns the exponent with which the tail of the loss decays.
    pub fn q(&self) -> f64 {
        self.q
    }
}

impl MarginLoss for DistanceWeighted {
    fn name(&self) -> &str {
        "dwd"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("q", self.q)]
    }

    fn value(&self, u: f64) -> f64 {
        if u > self.knee { (u / self.knee).powf(-self.q) / (self.q + 1.0) } else { 1.0 - u }
    }

    fn derivative(&self, u: f64) -> f64 {
        -(u.max(self.knee) / self.knee).powf(-self.q - 1.0)
    }

    fn second_derivative(&self, u: f64) -> f64 {
        if u >= self.knee { (self.q + 1.0) * (u / self.knee).powf(-self.q - 1.0) / u } else { 0.0 }
    }

    fn curvature(&self) -> Option<f64> {
        Some((self.q + 1.0) / self.knee)
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=1.0).contains(&t) { -t.powf(self.knee) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn proximal(&self, point: f64, step: f64) -> f64 {
        if point + step <= self.knee {
            return point + step;
        }
        // v - step (k/v)^(q+1) = point with v > k: concave, so Newton from the left never
        // overshoots.
        let condition = |v: f64| {
            let pull = step * (self.knee / v).powf(self.q + 1.0);
            (v - pull - point, 1.0 + (self.q + 1.0) * pull / v)
        };
        newton_root(condition, point.max(self.knee), point + step)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn psi_transform(&self, a: f64) -> Option<f64> {
        // eta - eta^(1-k) (1-eta)^k at eta = (1 + a)/2.
        Some(-0.5 * (1.0 + a) * (-2.0 * self.knee * a.atanh()).exp_m1())
    }

    fn undecided_scores(&self) -> Option<Interval> {
        Some(Interval::new(-self.knee, self.knee))
    }

    fn population_minimizer(&self, eta: f64) -> f64 {
        let beyond = |odds: f64| self.knee * odds.powf(1.0 / (self.q + 1.0));
        if eta > 0.5 {
            beyond(eta / (1.0 - eta))
        } else if eta < 0.5 {
            -beyond((1.0 - eta) / eta)
        } else {
            0.0
        }
    }

    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        Some(HomogeneousTail { from: self.knee, degree: self.q + 1.0 })
    }

    batch! { loss =>
        values: |u| {
            let beyond = if u > loss.knee { u / loss.knee } else { 1.0 };
            let tail = power(beyond, -loss.q) / (loss.q + 1.0);
            if u > loss.knee { tail } else { 1.0 - u }
        };
        derivatives: |u| {
            -power(if u > loss.knee { u / loss.knee } else { 1.0 }, -loss.q - 1.0)
        };
        second_derivatives: |u| {
            let beyond = if u > loss.knee { u / loss.knee } else { 1.0 };
            let tail = (loss.q + 1.0) * power(beyond, -loss.q - 1.0) / u;
            if u >= loss.knee { tail } else { 0.0 }
        };
    }
}

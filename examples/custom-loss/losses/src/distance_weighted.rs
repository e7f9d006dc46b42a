//! The loss of distance-weighted discrimination, as a crate outside of the workspace adds it.

use margins_losses::{Error, HomogeneousTail, Interval, MarginLoss};

/// The loss of generalised distance-weighted discrimination: with `v = q/(q+1)`
///
/// `L(u) = 1 - u` for `u <= v`, `v^q / ((q+1) u^q)` beyond.
///
/// Convex, differentiable, 1-Lipschitz, positive, with `L''` at most `(q+1)/v` (reached at `v` from
/// above), classification-calibrated. Conjugate `L*(-t) = -t^v` on [0, 1]. Hinge loss in the limit
/// of large q.
///
/// Source: Wang and Zou, *Another look at distance-weighted discrimination*, JRSS B 80 (2018).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceWeighted {
    q: f64,
}

impl DistanceWeighted {
    /// With the exponent of the tail.
    ///
    /// # Errors
    /// An exponent that is not from 0.01 to 100.
    pub fn new(q: f64) -> Result<Self, Error> {
        let q = Error::check("dwd", "q", q, "a number from 0.01 to 100", |q| {
            (0.01..=100.0).contains(&q)
        })?;
        Ok(DistanceWeighted { q })
    }

    /// `v`, where the tail begins.
    fn bend(&self) -> f64 {
        self.q / (self.q + 1.0)
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
        let v = self.bend();
        if u <= v { 1.0 - u } else { (v / u).powf(self.q) / (self.q + 1.0) }
    }

    fn derivative(&self, u: f64) -> f64 {
        let v = self.bend();
        if u <= v { -1.0 } else { -(v / u).powf(self.q + 1.0) }
    }

    fn second_derivative(&self, u: f64) -> f64 {
        let v = self.bend();
        if u < v { 0.0 } else { (self.q + 1.0) / u * (v / u).powf(self.q + 1.0) }
    }

    fn curvature(&self) -> Option<f64> {
        Some((self.q + 1.0) / self.bend())
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=1.0).contains(&t) { -t.powf(self.bend()) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn homogeneous_tail(&self) -> Option<HomogeneousTail> {
        Some(HomogeneousTail { from: self.bend(), degree: self.q + 1.0 })
    }
}

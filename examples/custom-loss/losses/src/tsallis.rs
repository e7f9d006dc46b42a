//! The loss of the Tsallis entropy, as a crate outside of the workspace adds it.

use margins_losses::{Error, Interval, MarginLoss};

/// The Fenchel-Young loss of the Tsallis entropy of two classes,
/// `H(p) = (1 - p^alpha - (1-p)^alpha) / (alpha (alpha - 1))`:
///
/// `L(u) = max over p in [0, 1] of H(p) - p u`, so that `L'(u) = -p` at the maximiser.
///
/// Convex, differentiable, 1-Lipschitz, at least 0, and 0 from `u = 1/(alpha - 1)` on: a score that
/// large stands for certainty. `L''` is at most `2^(alpha-3)`, classification-calibrated. Conjugate
/// `L*(-t) = -H(t)` on [0, 1]. `alpha = 2` is the loss of the sparsemax, `alpha -> 1` the logistic
/// loss.
///
/// Source: Blondel, Martins and Niculae, *Learning with Fenchel-Young losses*, JMLR 21 (2020).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tsallis {
    alpha: f64,
}

impl Tsallis {
    /// With the order of the entropy.
    ///
    /// # Errors
    /// An order that is not from 1.01 to 2.
    pub fn new(alpha: f64) -> Result<Self, Error> {
        let alpha = Error::check("tsallis", "alpha", alpha, "a number from 1.01 to 2", |alpha| {
            (1.01..=2.0).contains(&alpha)
        })?;
        Ok(Tsallis { alpha })
    }

    /// `H(p)` for p up to 1/2 without cancellation.
    fn entropy(&self, p: f64) -> f64 {
        let a = self.alpha;
        let p = p.min(1.0 - p);
        (-(a * (-p).ln_1p()).exp_m1() - p.powf(a)) / (a * (a - 1.0))
    }

    /// The maximiser p for `u >= 0`, at most 1/2.
    ///
    /// With `z = p^(alpha-1)` it solves `(1 - p)^(alpha-1) - z = (alpha-1) u`, whose left side
    /// falls with a slope from -1 to -2: Newton from a bracketed start needs a few steps.
    fn maximizer(&self, u: f64) -> f64 {
        let k = self.alpha - 1.0;
        let target = k * u;
        if target >= 1.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 0.5f64.powf(k));
        let mut z = 0.5 * (1.0 - target);
        for _ in 0..100 {
            z = if low < z && z < high { z } else { 0.5 * (low + high) };
            let p = z.powf(1.0 / k);
            let excess = (k * (-p).ln_1p()).exp() - z - target;
            if excess > 0.0 {
                low = z;
            } else {
                high = z;
            }
            let slope = -(1.0 - p).powf(k - 1.0) * z.powf(1.0 / k - 1.0) - 1.0;
            let next = z - excess / slope;
            if (next - z).abs() <= 4.0 * f64::EPSILON * z || low == high {
                z = next.clamp(low, high);
                break;
            }
            z = next;
        }
        z.powf(1.0 / k)
    }
}

impl MarginLoss for Tsallis {
    fn name(&self) -> &str {
        "tsallis"
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha)]
    }

    fn value(&self, u: f64) -> f64 {
        // L(-u) = L(u) + u.
        let p = self.maximizer(u.abs());
        let beyond = if p == 0.0 { 0.0 } else { (self.entropy(p) - p * u.abs()).max(0.0) };
        beyond + (-u).max(0.0)
    }

    fn derivative(&self, u: f64) -> f64 {
        let p = self.maximizer(u.abs());
        if u >= 0.0 { -p } else { p - 1.0 }
    }

    fn second_derivative(&self, u: f64) -> f64 {
        let p = self.maximizer(u.abs());
        let k = self.alpha - 2.0;
        if (self.alpha - 1.0) * u.abs() > 1.0 { 0.0 } else { 1.0 / (p.powf(k) + (1.0 - p).powf(k)) }
    }

    fn curvature(&self) -> Option<f64> {
        Some(2.0f64.powf(self.alpha - 3.0))
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn conjugate(&self, t: f64) -> f64 {
        if (0.0..=1.0).contains(&t) { -self.entropy(t) } else { f64::INFINITY }
    }

    fn conjugate_domain(&self) -> Option<Interval> {
        Some(Interval::new(0.0, 1.0))
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }
}

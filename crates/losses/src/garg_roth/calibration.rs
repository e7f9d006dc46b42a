//! The Psi-transform of Garg and Roth's loss, in the variables `x = sqrt(alpha) u` and
//! `b = beta/sqrt(alpha)`.
//!
//! Put `P = exp(-x^2)`, `Q = exp(b x)`, and let h(a) be the least of `((1+a) P + (1-a) Q)/2` over
//! the `x` beyond its local maximum, where
//!
//! `(1+a) 2 x P = (1-a) b Q`, (1)
//!
//! which makes x increase with a. The lowest conditional risk at `eta = (1+a)/2` is h(a) for a
//! calibrated loss, and that over the scores of the wrong sign is the smaller of 1 and h(-a), so
//! that `psi~(a) = min(1, h(-a)) - h(a)`.
//!
//! * Where `h(-a) <= 1`, psi~ is concave. With `t = (1+a)/(1-a)`, x+ and x- the solutions of (1) at
//!   a and -a, and `q(x) = 2 x + b - 1/x > 0`, the derivative of (1) gives `psi~'' <= 0` exactly if
//!   `exp(b x+)/q(x+) <= t exp(b x-)/q(x-)`. As q increases, `b (x+ - x-) <= log t` suffices, and
//!   as by (1) `b x + x^2 - log x` differs by `2 log t` between x- and x+, that follows from
//!   `2 x - 1/x >= b` on [x-, x+]. If x- were less than
//!   `(b + sqrt(b^2 + 8))/4 <= 0.8405`, where this holds with equality, then by (1)
//!   `h(-a) <= 1` would say `b (exp(x^2) - 1) >= 2 x (1 - exp(-b x))` at x-, or
//!   `(exp(y) - 1)/y >= 2 (1 - exp(-z))/z` at `y = x^2 <= 0.7065` and `z = b x <= 0.4128`: but the
//!   left side is at most 1.454, the right at least 1.638.
//! * Elsewhere psi~ is `1 - h`, which is convex.
//!
//! So Psi is the line from 0 that touches `1 - h`, and `1 - h` beyond. The tangent of `1 - h` at a
//! meets 0 at `1 - (P + Q)/2`: it passes through the origin where `P + Q = 2`, of whose two
//! solutions it is the larger, and has the slope `(Q - P)/2 = 1 - P` there.

use super::GargRoth;
use crate::scalar_search::monotone_root;

/// The `x` at which `log(2 - exp(-x^2))/x` has its maximum.
const CRITICAL_X: f64 = 0.937_740_402_833_455_5;
/// The square of that maximum, the largest `beta^2/alpha` of a calibrated loss, and what its
/// rounding leaves.
const CRITICAL_SQUARE: (f64, f64) = (0.241_209_327_434_555_56, -8.483_342_318_908_248e-18);

impl GargRoth {
    /// Returns `1 - b^2/b'^2`, b' the largest b of a calibrated loss, accurate relative to its
    /// value.
    pub(super) fn slack(&self) -> f64 {
        let product = |x: f64, y: f64| (x * y, x.mul_add(y, -(x * y)));
        let (limit, limit_rest) = product(CRITICAL_SQUARE.0, self.alpha);
        let (square, square_rest) = product(self.beta, self.beta);
        let rest = (limit_rest - square_rest) + CRITICAL_SQUARE.1 * self.alpha;
        ((limit - square) + rest) / limit
    }

    /// Returns Psi of a calibrated loss, by the line and the curve of this module.
    pub(super) fn calibrated_psi(&self, a: f64) -> f64 {
        if a >= 1.0 {
            return 1.0;
        }
        let b = self.beta / self.alpha.sqrt();
        let touching = self.touching(b);
        let p = (-touching * touching).exp();
        let line = -(-touching * touching).exp_m1() * a;
        // Condition (1), which has a larger x than the touching one exactly if `a` is larger.
        let log_odds = 2.0 * a.atanh();
        let condition = |x: f64| b * x + x * x + (b / (2.0 * x)).ln() - log_odds;
        if condition(touching) >= 0.0 {
            return line;
        }
        // The differences from the touching point, so that nothing cancels.
        let x = monotone_root(condition, touching, 1e200);
        let step = x - touching;
        let fall = -(-step * (x + touching)).exp_m1() * (1.0 + a) * p;
        let rise = (b * step).exp_m1() * (1.0 - a) * (2.0 - p);
        line + 0.5 * (fall - rise).max(0.0)
    }

    /// Returns the larger solution of `exp(-x^2) + exp(b x) = 2`.
    fn touching(&self, b: f64) -> f64 {
        /// The slack below which the solutions are so near each other that they are taken from
        /// their series in its root.
        const NEAR: f64 = 1e-6;
        const SERIES: [f64; 4] = [
            0.849_245_363_035_519_5,
            0.309_847_993_852_448_9,
            0.311_717_149_388_715_35,
            0.204_218_073_102_706_14,
        ];
        let slack = self.slack();
        if slack < NEAR {
            let root = slack.sqrt();
            return CRITICAL_X + root * SERIES.iter().rev().fold(0.0, |sum, c| c + root * sum);
        }
        monotone_root(|x| b * x - (-(-x * x).exp_m1()).ln_1p(), CRITICAL_X, 1e200)
    }
}

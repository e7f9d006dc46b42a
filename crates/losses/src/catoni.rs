//! The function `rho` of Catoni and Giulini with its derivatives: quadratic near 0, linear beyond
//! `sqrt 2`, twice continuously differentiable.
//!
//! `rho(u) = u^2/2 - u^4/24` for `|u| <= sqrt 2`, `2 sqrt(2)/3 |u| - 1/2` beyond;
//! `psi = rho'`, so that `psi(u) = u - u^3/6` between the two saturated values.
//!
//! Source: Catoni and Giulini 2017, as used by Holland, *Classification using margin pursuit*
//! (2019), equation 4.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// The value `2 sqrt(2)/3` at which [`psi`] saturates.
pub const SATURATION: f64 = 2.0 * SQRT_2 / 3.0;

/// Returns `rho(u)`: even, convex, at least 0.
#[inline(always)]
pub fn rho(u: f64) -> f64 {
    let inner = u.abs().min(SQRT_2);
    inner * inner * (0.5 - inner * inner / 24.0) + SATURATION * (u.abs() - inner)
}

/// Returns `psi(u) = rho'(u)`: odd, nondecreasing, bounded by [`SATURATION`].
#[inline(always)]
pub fn psi(u: f64) -> f64 {
    let inner = u.clamp(-SQRT_2, SQRT_2);
    inner * (1.0 - inner * inner / 6.0)
}

/// Returns `psi'(u) = rho''(u)`: `1 - u^2/2` up to `sqrt 2`, 0 beyond.
#[inline(always)]
pub fn psi_prime(u: f64) -> f64 {
    let inner = u.clamp(-SQRT_2, SQRT_2);
    let bend = 1.0 - 0.5 * inner * inner;
    if bend < 0.0 { 0.0 } else { bend }
}

/// Returns the conjugate `rho*(a) = sup_u (a u - rho(u))`, finite for `|a| <=` [`SATURATION`].
///
/// With `psi(v) = a`, a cubic solved by `v = 2 sqrt 2 sin(asin(3a/(2 sqrt 2))/3)`, it is
/// `a v - rho(v) = v^2/2 - v^4/8`.
pub fn rho_conjugate(a: f64) -> f64 {
    if a.abs() > SATURATION {
        return f64::INFINITY;
    }
    let v = 2.0 * SQRT_2 * ((a / SATURATION).asin() / 3.0).sin();
    v * v * (0.5 - 0.125 * v * v)
}

/// Returns the root t in `bracket` of `sum_i c_i psi((t - x_i)/s)`, the M-estimate of location of
/// the values `x_i` with weights `c_i > 0`, given as pairs `(x_i, c_i)`; `start` is where the
/// search begins.
///
/// The sum is nondecreasing in t, and flat only where every value is saturated: the bracket must
/// hold a root, and where it holds an interval of them any of it is returned. A Newton step is
/// taken if it stays inside the bracket and is at most half as long as the step before, else the
/// bracket is halved; the end is a sum that is zero within its own rounding error, or a step within
/// that of t. O(n) a step.
pub fn location(
    sample: &(impl Iterator<Item = (f64, f64)> + Clone),
    scale: f64,
    start: f64,
    (mut lower, mut upper): (f64, f64),
) -> f64 {
    const MAX_STEPS: usize = 200;
    let mut t = start;
    let mut last_step = upper - lower;
    for _ in 0..MAX_STEPS {
        let balance = Balance::at(t, sample.clone(), scale);
        if balance.value.abs() <= f64::EPSILON * balance.magnitude {
            break;
        }
        *if balance.value < 0.0 { &mut lower } else { &mut upper } = t;
        let newton = t - balance.value / balance.slope * scale;
        let inside = newton > lower && newton < upper;
        let next = if inside && (newton - t).abs() <= 0.5 * last_step {
            newton
        } else {
            f64::midpoint(lower, upper)
        };
        last_step = (next - t).abs();
        t = next;
        if last_step <= f64::EPSILON * t.abs() {
            break;
        }
    }
    t
}

/// The sum `sum_i c_i psi((t - x_i)/s)`, its derivative in t/s, and the sum of its terms'
/// magnitudes, in which the saturated values of both sides cancel before rounding.
#[derive(Default)]
struct Balance {
    value: f64,
    slope: f64,
    magnitude: f64,
}

impl Balance {
    fn at(t: f64, sample: impl Iterator<Item = (f64, f64)>, scale: f64) -> Self {
        let mut balance = Balance::default();
        let mut sides = 0.0;
        for (x, c) in sample {
            let u = (t - x) / scale;
            if u.abs() < FRAC_1_SQRT_2 {
                balance.add(c * psi(u), c * psi_prime(u));
            } else {
                sides += c.copysign(u);
                let v = SQRT_2 - u.abs();
                if v > 0.0 {
                    // psi falls short of its saturation by this much.
                    let deficit = v * v * (FRAC_1_SQRT_2 - v / 6.0);
                    balance.add(-c * deficit.copysign(u), c * v * (SQRT_2 - 0.5 * v));
                }
            }
        }
        balance.add(SATURATION * sides, 0.0);
        balance
    }

    fn add(&mut self, value: f64, slope: f64) {
        self.value += value;
        self.slope += slope;
        self.magnitude += value.abs();
    }
}

//! The function `rho` of Catoni and Giulini with its derivatives: quadratic near 0, linear beyond
//! `sqrt 2`, twice continuously differentiable.
//!
//! `rho(u) = u^2/2 - u^4/24` for `|u| <= sqrt 2`, `2 sqrt(2)/3 |u| - 1/2` beyond;
//! `psi = rho'`, so that `psi(u) = u - u^3/6` between the two saturated values.
//!
//! Source: Catoni and Giulini 2017, as used by Holland, *Classification using margin pursuit*
//! (2019), equation 4.

use std::f64::consts::SQRT_2;

/// `2 sqrt(2)/3`, the value at which [`psi`] saturates.
pub const SATURATION: f64 = 2.0 * SQRT_2 / 3.0;

/// `rho(u)`: even, convex, at least 0.
#[inline(always)]
pub fn rho(u: f64) -> f64 {
    let inner = u.abs().min(SQRT_2);
    inner * inner * (0.5 - inner * inner / 24.0) + SATURATION * (u.abs() - inner)
}

/// `psi(u) = rho'(u)`: odd, nondecreasing, bounded by [`SATURATION`].
#[inline(always)]
pub fn psi(u: f64) -> f64 {
    let inner = u.clamp(-SQRT_2, SQRT_2);
    inner * (1.0 - inner * inner / 6.0)
}

/// `psi'(u) = rho''(u)`: `1 - u^2/2` up to `sqrt 2`, 0 beyond.
#[inline(always)]
pub fn psi_prime(u: f64) -> f64 {
    let inner = u.clamp(-SQRT_2, SQRT_2);
    let bend = 1.0 - 0.5 * inner * inner;
    if bend < 0.0 { 0.0 } else { bend }
}

/// The conjugate `rho*(a) = sup_u (a u - rho(u))`, finite for `|a| <=` [`SATURATION`].
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

//! Elementwise maps over slices, compiled for every instruction set and dispatched at run time, and
//! the branch-free elementary functions that they need.
//!
//! The maps apply the same arithmetic to every element, so their results do not depend on the
//! instruction set: there is no reduction and no contraction to fused operations.

use pulp::{Arch, Simd, WithSimd};
use std::f64::consts::LN_2;

/// Fills `out[i] = f(input[i])`. To be worth it the closure must be branch-free, own what it
/// captures and, unless it is tiny, be `#[inline(always)]`: only an inlined closure is compiled
/// for each instruction set.
///
/// # Panics
/// If the slices differ in length: a programming error of the caller.
#[inline(always)]
pub(crate) fn map(input: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64 + Copy) {
    assert_eq!(input.len(), out.len(), "input and output of a batch evaluation differ in length");
    Arch::new().dispatch(Map { input, out, f });
}

/// Defines batch methods of [`MarginLoss`](crate::MarginLoss) by the function of one margin that
/// each of them maps; with `loss =>` in front the functions may use the loss by that name.
macro_rules! batch {
    ($loss:ident => $($method:ident: |$u:ident| $value:expr;)+) => {
        $(fn $method(&self, margins: &[f64], out: &mut [f64]) {
            let $loss = *self;
            $crate::vectorized::map(
                margins,
                out,
                #[inline(always)]
                move |$u| $value,
            );
        })+
    };
    ($($method:ident: |$u:ident| $value:expr;)+) => {
        batch! { _loss => $($method: |$u| $value;)+ }
    };
}
pub(crate) use batch;

/// The loop of [`map`]. Not a closure, because the standard library's way to call one is a function
/// that is not inlined if the body is long.
struct Map<'a, F> {
    input: &'a [f64],
    out: &'a mut [f64],
    f: F,
}

impl<F: Fn(f64) -> f64> WithSimd for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Map { input, out, f } = self;
        for (o, &u) in out.iter_mut().zip(input) {
            *o = f(u);
        }
    }
}

/// The polynomial with these coefficients, constant first, by Horner's rule. Written out, because a
/// loop over the coefficients keeps the compiler from vectorising the loop over the elements.
macro_rules! polynomial {
    ($x:expr; $coefficient:expr) => { $coefficient };
    ($x:expr; $coefficient:expr, $($rest:expr),+) => {
        $coefficient + $x * polynomial!($x; $($rest),+)
    };
}

/// The number `ln 2` without its last 32 bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xffff_ffff);
/// The rest of `ln 2`, to twice the working precision.
const LN_2_LOW: f64 = (LN_2 - LN_2_HIGH) + 2.319_046_813_846_299_6e-17;

/// A number that, added to a whole number of size below 2^51, puts its integer into the low
/// mantissa bits.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// Returns the natural logarithm of a positive normal number, within about one unit in the last
/// place; infinity and NaN are returned as they come.
///
/// With `x = 2^k m`, `m` between `sqrt(1/2)` and `sqrt 2`, and `s = (m-1)/(m+1)`, the logarithm is
/// `k ln 2 + 2 artanh s`; the series of artanh needs ten terms for `|s| <= 0.172`.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    ln_parts(x).0
}

/// Returns [`ln`] and what its last addition lost.
#[inline(always)]
fn ln_parts(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const BIAS: u64 = 1 << 11;
    let bits = x.to_bits();
    // Exponent of x relative to [sqrt(1/2), sqrt 2), biased to stay positive in unsigned
    // arithmetic.
    let biased = (bits.wrapping_sub(SQRT_HALF).wrapping_add(BIAS << 52)) >> 52;
    let exponent = biased.wrapping_sub(BIAS & 0xfff);
    let k = f64::from_bits(0x4330_0000_0000_0000 + ((exponent.wrapping_add(BIAS)) & 0xfff))
        - (4_503_599_627_370_496.0 + BIAS as f64);
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let series = polynomial!(z; 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0,
        1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0);
    // 2 artanh s = 2 s + 2 s z series, with 2 s = f - s f kept apart so that f enters unrounded.
    let half_square = 0.5 * f * f;
    let tail = s * (half_square + 2.0 * z * series);
    let (whole, part) = (k * LN_2_HIGH, f - (half_square - (tail + k * LN_2_LOW)));
    let logarithm = whole + part;
    (if x <= f64::MAX { logarithm } else { x }, part - (logarithm - whole))
}

/// The largest argument with a finite exponential.
const EXP_MAX: f64 = 709.782_712_893_384;
/// The smallest argument whose exponential is not taken for 0, of size 1e-307.
const EXP_MIN: f64 = -708.0;

/// Returns `t` and `p` with `exp x = (1 + t) 2 p`, for arguments from [`EXP_MIN`] to [`EXP_MAX`].
///
/// With `x = k ln 2 + r`, `|r| <= ln 2 / 2`, `t = exp r - 1` needs thirteen terms of its series and
/// `p = 2^(k-1)` is always representable.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::LOG2_E + SHIFTER;
    let k = shifted - SHIFTER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let series = polynomial!(r; 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0,
        1.0 / 5040.0, 1.0 / 40_320.0, 1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0,
        1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0);
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(0.5f64.to_bits()));
    (r + r * r * series, power)
}

/// Returns the exponential, within about one unit in the last place.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let (t, p) = exp_parts(x);
    let exponential = if x < EXP_MIN { 0.0 } else { 2.0 * ((1.0 + t) * p) };
    if x > EXP_MAX { f64::INFINITY } else { exponential }
}

/// Returns a positive normal number to a power of size 128 at most, within 1e-14 of itself where
/// that is no less than 1e-300; infinity goes to its limit.
///
/// The product of exponent and logarithm is made of halves of 26 bits, whose product is exact.
#[inline(always)]
pub(crate) fn power(x: f64, exponent: f64) -> f64 {
    let half = |y: f64| f64::from_bits(y.to_bits() & !0x7ff_ffff);
    let (logarithm, lost) = ln_parts(x);
    let (head, front) = (half(logarithm), half(exponent));
    let high = front * head;
    let low = front * ((logarithm - head) + lost) + (exponent - front) * logarithm;
    let product = high + low;
    let leading = exp(product);
    let result = leading + leading * (low - (product - high));
    if x <= f64::MAX { result } else { exp(exponent * x) }
}

/// Returns `exp(x) - 1`, to full relative accuracy also for tiny `x`.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let (t, p) = exp_parts(x);
    let difference = if x < EXP_MIN { -1.0 } else { 2.0 * (t * p + (p - 0.5)) };
    if x > EXP_MAX { f64::INFINITY } else { difference }
}

/// Returns `ln(1 + x)` for `x >= 0`, to full relative accuracy also for tiny `x`.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let y = 1.0 + x;
    // What rounding 1 + x lost, to first order.
    ln(y) + (x - (y - 1.0)) / y
}

#[cfg(test)]
mod tests {
    use super::{exp, exp_m1, ln, ln_1p, map, power};
    use proptest::prelude::*;

    fn ulps(got: f64, want: f64) -> f64 {
        (got - want).abs() / (want.abs() * f64::EPSILON).max(f64::MIN_POSITIVE)
    }

    proptest! {
        #[test]
        fn ln_is_within_two_ulps(exponent in -300.0..300.0f64) {
            let x = 10f64.powf(exponent);
            prop_assert!(ulps(ln(x), x.ln()) <= 2.0, "ln({x}) = {} not {}", ln(x), x.ln());
        }

        #[test]
        fn ln_near_one_is_within_two_ulps(offset in -0.3..0.42f64, scale in 0.0..16.0f64) {
            let x = 1.0 + offset * 10f64.powf(-scale);
            prop_assert!(ulps(ln(x), x.ln()) <= 2.0, "ln({x:e}) = {:e} not {:e}", ln(x), x.ln());
        }

        #[test]
        fn exp_is_within_two_ulps(x in -700.0..700.0f64) {
            prop_assert!(ulps(exp(x), x.exp()) <= 2.0, "exp({x}) = {} not {}", exp(x), x.exp());
        }

        #[test]
        fn power_is_accurate(log_x in 0.0..200.0f64, share in -1.0..1.0f64) {
            let (x, exponent) = (log_x.exp(), share * (600.0 / log_x).min(128.0));
            let (got, want) = (power(x, exponent), x.powf(exponent));
            prop_assert!((got - want).abs() <= 1e-14 * want, "{x:e}^{exponent}: {got:e} not {want:e}");
        }

        #[test]
        fn exp_m1_is_within_three_ulps(exponent in -300.0..2.8f64, negative: bool) {
            let x = if negative { -10f64.powf(exponent) } else { 10f64.powf(exponent) };
            prop_assert!(ulps(exp_m1(x), x.exp_m1()) <= 3.0, "{x}: {} {}", exp_m1(x), x.exp_m1());
        }

        #[test]
        fn ln_1p_is_within_three_ulps(exponent in -300.0..0.0f64) {
            let x = 10f64.powf(exponent);
            prop_assert!(ulps(ln_1p(x), x.ln_1p()) <= 3.0);
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp_m1(0.0), 0.0);
        for x in [-1e6, f64::NEG_INFINITY, 1e6, f64::INFINITY, 710.0] {
            assert_eq!(exp(x), x.exp());
            assert_eq!(exp_m1(x), x.exp_m1());
        }
        for x in [709.7, 709.2, -707.9] {
            assert!(ulps(exp(x), x.exp()) <= 2.0, "exp({x})");
        }
        assert_eq!((power(f64::INFINITY, -0.5), power(f64::INFINITY, 0.5)), (0.0, f64::INFINITY));
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(f64::NAN).is_nan() && exp(f64::NAN).is_nan() && exp_m1(f64::NAN).is_nan());
        assert!(ulps(ln(f64::MAX), f64::MAX.ln()) <= 2.0);
        let mut out = [0.0; 3];
        map(&[1.0, 2.0, 3.0], &mut out, |x| 2.0 * x);
        assert_eq!(out, [2.0, 4.0, 6.0]);
    }
}

//! Twice the working precision as unevaluated sums of two doubles: a number is `high + low` with
//! `|low|` at most half a unit in the last place of `high`. Relative errors of sums and products
//! are of the order 2^-104, as long as nothing overflows or underflows.

use std::ops::{Add, Mul, Sub};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    low: f64,
}

/// Returns `a + b` exactly, for any order of sizes (Knuth).
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let b_part = high - a;
    DoubleDouble { high, low: (a - (high - b_part)) + (b - b_part) }
}

/// Returns `a b` exactly, by splitting each factor into halves of 26 bits (Dekker and Veltkamp):
/// portable and faster than a fused multiplication where the processor may not have one.
fn two_product(a: f64, b: f64) -> DoubleDouble {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let split = |x: f64| {
        let scaled = SPLITTER * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let high = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low;
    DoubleDouble { high, low }
}

impl From<f64> for DoubleDouble {
    fn from(x: f64) -> Self {
        DoubleDouble { high: x, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = two_sum(self.high, other.high);
        let low = two_sum(self.low, other.low);
        let carried = two_sum(high.high, high.low + low.high);
        two_sum(carried.high, carried.low + low.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + DoubleDouble { high: -other.high, low: -other.low }
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = two_product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        two_sum(product.high, product.low + cross)
    }
}

impl Mul<DoubleDouble> for f64 {
    type Output = DoubleDouble;

    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        DoubleDouble::from(self) * other
    }
}

//! Exact scaling by powers of two.

use serde::{Deserialize, Serialize};

/// Returns `2^k` for a normal number, `k` from -1022 to 1023.
pub(crate) const fn power_of_two(k: i64) -> f64 {
    assert!(-1022 <= k && k <= 1023);
    f64::from_bits(((1023 + k) as u64) << 52)
}

/// A positive number `mantissa 2^exponent` with a mantissa in [1, 2), of any size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scaled {
    mantissa: f64,
    exponent: i64,
}

impl Scaled {
    /// Takes a finite number that is not negative apart; `None` for 0.
    pub(crate) fn new(value: f64) -> Option<Self> {
        if value <= 0.0 {
            return None;
        }
        // Subnormal numbers have no exponent of their own.
        let (value, shift) =
            if value.is_normal() { (value, 0) } else { (value * power_of_two(64), 64) };
        let exponent = (value.to_bits() >> 52) as i64 - 1023;
        let mantissa = f64::from_bits(value.to_bits() & ((1 << 52) - 1) | 1023 << 52);
        Some(Scaled { mantissa, exponent: exponent - shift })
    }

    /// Returns the product with a finite number that is not negative, rounded once; `None` for 0.
    pub(crate) fn times(self, factor: f64) -> Option<Self> {
        let factor = Scaled::new(factor)?;
        let product = Scaled::new(self.mantissa * factor.mantissa)?;
        Some(product.shifted(self.exponent + factor.exponent))
    }

    /// Returns the product with `2^k`.
    pub(crate) fn shifted(self, k: i64) -> Self {
        Scaled { exponent: self.exponent + k, ..self }
    }

    pub(crate) fn exponent(self) -> i64 {
        self.exponent
    }

    /// Returns the natural logarithm.
    pub(crate) fn ln(self) -> f64 {
        self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// Returns the floating-point number; 0 or infinity outside the range of `f64`.
    pub(crate) fn value(self) -> f64 {
        match self.exponent {
            ..-1022 => 0.0,
            -1022..=1023 => self.mantissa * power_of_two(self.exponent),
            1024.. => f64::INFINITY,
        }
    }

    /// Returns true if the mantissa is in [1, 2), as it may not be in what was read from elsewhere.
    pub(crate) fn is_normalised(self) -> bool {
        (1.0..2.0).contains(&self.mantissa)
    }

    #[cfg(test)]
    pub(crate) fn is_power_of_two(self) -> bool {
        self.mantissa == 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_its_mantissa_and_exponent(x in prop::num::f64::POSITIVE | prop::num::f64::SUBNORMAL) {
            let x = x.abs();
            prop_assume!(x > 0.0);
            let scaled = Scaled::new(x).unwrap();
            prop_assert!(scaled.is_normalised());
            let half = scaled.exponent.div_euclid(2);
            let value = scaled.mantissa * 2f64.powi(half as i32) * 2f64.powi((scaled.exponent - half) as i32);
            prop_assert_eq!(value, x);
        }

        #[test]
        fn products_are_those_of_floating_point(x in 1e-100..1e100f64, y in 1e-100..1e100f64) {
            let product = Scaled::new(x).unwrap().times(y).unwrap();
            prop_assert_eq!(product.value(), x * y);
        }
    }
}

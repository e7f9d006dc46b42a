//! Numbers compared by their decimal digits: `f64` merges whole numbers above 2^53.

use std::cmp::Ordering;

/// The exact value of a number in decimal notation.
///
/// The value is `0.d1 d2 ... dk * 10^point`, negated for a negative number. Leading and trailing
/// zeros are dropped, so that equal numbers have equal fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ExactDecimal {
    is_negative: bool,
    /// The exponent, the smallest one for zero.
    point: i64,
    /// The digits, none for zero.
    digits: String,
}

impl ExactDecimal {
    /// Returns the number that a text spells, such as `-1.50` or `15e-1`, without the blanks around
    /// it. Returns `None` for infinities, NaN and exponents that 32 bits do not hold.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        let leading_zeros = all.len() - digits.len();
        if digits.is_empty() {
            return Some(ExactDecimal {
                is_negative: false,
                point: i64::MIN,
                digits: String::new(),
            });
        }
        let point = whole.len() as i64 - leading_zeros as i64 + i64::from(exponent);
        let digits = digits.trim_end_matches('0').to_owned();
        Some(ExactDecimal { is_negative, point, digits })
    }

    /// Returns true if the number has no fraction.
    pub(crate) fn is_whole(&self) -> bool {
        self.digits.is_empty() || self.digits.len() as i64 <= self.point
    }

    /// Returns the digits of a number whose magnitude is at least 1, without an exponent.
    pub(crate) fn plain(&self) -> String {
        let point = usize::try_from(self.point).unwrap_or(0);
        let sign = if self.is_negative { "-" } else { "" };
        match self.digits.split_at_checked(point) {
            Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
            _ => format!("{sign}{:0<point$}", self.digits),
        }
    }
}

impl Ord for ExactDecimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitudes = || (self.point, &self.digits).cmp(&(other.point, &other.digits));
        match (self.is_negative, other.is_negative) {
            (false, false) => magnitudes(),
            (true, true) => magnitudes().reverse(),
            (is_negative, _) => {
                if is_negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for ExactDecimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(text: &str) -> ExactDecimal {
        ExactDecimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn spellings_of_a_number_are_equal() {
        for spellings in [
            vec!["1", "+1", "1.0", "01", "1.", "10e-1", ".1e1", "0.001E+3", " 1 "],
            vec!["0", "-0", "0.0", ".0", "0e5"],
            vec!["-1.5", "-15e-1", "-001.50"],
            vec!["9007199254740993", "9007199254740993.0", "9.007199254740993e15"],
        ] {
            for text in &spellings {
                assert_eq!(exact(text), exact(spellings[0]), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_decimal_number_has_no_value() {
        for text in ["", ".", "-", "e5", "1e", "1e99999999999", "inf", "nan", "1_0", "0x1", "1 0"] {
            assert_eq!(ExactDecimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn digits_beyond_64_bits_count() {
        let ascending = [
            "-1e400",
            "-12345678901234567891",
            "-12345678901234567890",
            "-0.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.5",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            "1e400",
        ];
        assert!(ascending.is_sorted_by(|a, b| exact(a) < exact(b)));
        assert!(exact("12345678901234567890").is_whole() && exact("0").is_whole());
        assert!(!exact("9007199254740992.5").is_whole() && !exact("0.1").is_whole());
    }

    #[test]
    fn plain_digits_have_no_exponent() {
        for (text, plain) in [
            ("9007199254740993.0", "9007199254740993"),
            ("-9.0071992547409935e15", "-9007199254740993.5"),
            ("+12e18", "12000000000000000000"),
        ] {
            assert_eq!(exact(text).plain(), plain);
        }
    }

    proptest! {
        /// Numbers of few digits are in the order of their floating-point values.
        #[test]
        fn the_order_is_numeric(a in "[-+]?[0-9]{1,4}(\\.[0-9]{0,3})?(e-?[0-9])?", b in "[-+]?[0-9]{1,4}(\\.[0-9]{0,3})?(e-?[0-9])?") {
            let (x, y): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            prop_assert_eq!(exact(&a).cmp(&exact(&b)), x.partial_cmp(&y).unwrap());
            prop_assert_eq!(exact(&a).is_whole(), x.fract() == 0.0);
        }
    }
}

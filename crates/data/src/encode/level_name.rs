//! The names that numbers have as categories.

use crate::decimal;
use crate::exact_decimal::ExactDecimal;

pub(super) fn name_of(number: f64) -> String {
    // Minus zero is zero.
    (number + 0.0).to_string()
}

/// The magnitude below which 64 bits represent every whole number.
pub(super) const MOST_EXACT: f64 = (1_u64 << 53) as f64;

/// Returns a number that is written like this as the name of a category. From 2^53 on, where whole
/// numbers share a value in 64 bits, the name has all of the digits written.
pub(super) fn name_of_written(number: f64, written: &str) -> String {
    let exact = if number.abs() < MOST_EXACT { None } else { ExactDecimal::parse(written) };
    exact.map_or_else(|| name_of(number), |exact| exact.plain())
}

/// Returns true if a decimal number surely is its own name: few digits, none of them a zero that could be
/// left out. Other numbers may be their own names too.
pub(super) fn names_itself(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let are_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits.len() <= decimal::DIGITS
        && are_digits(whole)
        && are_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && !fraction.ends_with('0')
        && cell != "-0"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_that_names_itself_has_this_name(cell in "-?[01]?[0-9]{0,3}[.]?[0-9]{0,14}") {
            let number: Option<f64> = cell.parse().ok();
            let name = number.map(name_of);
            prop_assert!(!names_itself(&cell) || name.as_deref() == Some(&cell), "{cell}: {name:?}");
        }
    }

    #[test]
    fn short_decimals_name_themselves() {
        for cell in ["0", "7", "-7", "10", "39.1", "-0.5", "123456789012.5"] {
            assert!(names_itself(cell) && name_of(cell.parse().unwrap()) == cell, "{cell}");
        }
        for cell in ["", "-", "-0", "007", "7.0", "7.", ".5", "1e3", "+1", "1234567890123456", "x"]
        {
            assert!(!names_itself(cell), "{cell}");
        }
    }
}

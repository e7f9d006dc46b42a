//! Parses decimal numbers, fast for those with a few digits and no exponent.

use std::num::ParseFloatError;

/// The most digits that a number of 64 bits surely holds, as it does the powers of ten up to them.
pub(crate) const DIGITS: usize = 15;

/// The powers of ten that divide the digits for the point among them.
const POWERS: [f64; DIGITS + 1] =
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[inline]
pub(crate) fn parse(text: &str) -> Result<f64, ParseFloatError> {
    match leading(text.as_bytes()) {
        Some((value, length)) if length == text.len() => Ok(value),
        _ => text.parse(),
    }
}

/// Returns the number that a text says, if it says one.
#[inline]
pub(crate) fn number(text: &str) -> Option<f64> {
    // Besides digits, "inf" and "nan" say one.
    let begins =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'i' | b'I' | b'n' | b'N');
    text.as_bytes().first().filter(|byte| begins(byte)).and_then(|_| parse(text).ok())
}

/// Returns the finite number before the first comma or the end of the text, with its length; `None`
/// unless the text begins with a number, and that with a digit, a point or a minus.
#[inline]
pub(crate) fn leading(text: &[u8]) -> Option<(f64, usize)> {
    leading_before(text, |byte| byte == b',')
}

/// Returns the finite number before the first byte that ends it, or before the end of the text, as
/// [`leading`] does.
#[inline]
pub(crate) fn leading_before(text: &[u8], ends: impl Fn(u8) -> bool) -> Option<(f64, usize)> {
    // A text as long as that seldom has few digits.
    let is_long = text
        .first_chunk::<{ DIGITS + 1 }>()
        .is_some_and(|text| !text.iter().any(|&byte| ends(byte)));
    let few = if is_long { None } else { few_digits(text, &ends) };
    few.or_else(|| any_digits(text, ends))
}

/// Returns a number of few digits without an exponent as [`leading_before`] does; `None` of others.
///
/// Digits and power are exact, so that their quotient is the nearest number to the decimal one.
#[inline]
fn few_digits(text: &[u8], ends: impl Fn(u8) -> bool) -> Option<(f64, usize)> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let (mut value, mut digits, mut point) = (0_u64, 0, None);
    let mut at = sign;
    while let Some(&byte) = text.get(at).filter(|&&byte| !ends(byte)) {
        match byte {
            b'0'..=b'9' if digits < DIGITS => {
                value = 10 * value + u64::from(byte - b'0');
                digits += 1;
            }
            b'.' if point.is_none() => point = Some(digits),
            _ => return None,
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let magnitude = match point {
        None => value as f64,
        Some(before) => value as f64 / POWERS[digits - before],
    };
    Some((if sign == 1 { -magnitude } else { magnitude }, at))
}

/// Returns a number of any digits, perhaps with an exponent, as [`leading_before`] does.
fn any_digits(text: &[u8], ends: impl Fn(u8) -> bool) -> Option<(f64, usize)> {
    // Infinities and NaN begin with letters, and a plus may begin a word for a gap.
    text.first().filter(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'))?;
    let (value, length) = fast_float2::parse_partial::<f64, _>(text).ok()?;
    let has_end = text.get(length).is_none_or(|&byte| ends(byte));
    (has_end && value.is_finite()).then_some((value, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_decimal_is_what_the_standard_library_makes_of_it(text in "-?[0-9]{0,9}[.]?[0-9]{0,9}") {
            prop_assert_eq!(parse(&text).map(f64::to_bits), text.parse::<f64>().map(f64::to_bits));
        }

        #[test]
        fn what_leads_is_what_stands_before_the_comma(text in "-?[0-9]{0,3}[.]?[0-9]{0,25}(e[-+]?[0-9]{1,3})?", rest in ",?[0-9]{0,9}") {
            let whole = if rest.starts_with(',') { format!("{text}{rest}") } else { text.clone() };
            let expected = text.parse::<f64>().ok().filter(|value| value.is_finite());
            let found = leading(whole.as_bytes());
            prop_assert_eq!(found.map(|(value, length)| (value.to_bits(), length)), expected.map(|value| (value.to_bits(), text.len())));
        }

        #[test]
        fn a_text_is_a_number_as_the_standard_library_has_it(text in "[-+ .,0-9eEinfatyINFATY]{0,9}") {
            prop_assert_eq!(number(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits));
        }

        #[test]
        fn any_text_is_what_the_standard_library_makes_of_it(text in "[-+.,0-9eE]{0,20}") {
            prop_assert_eq!(parse(&text).map(f64::to_bits), text.parse::<f64>().map(f64::to_bits));
        }
    }

    #[test]
    fn infinities_and_nan_are_numbers() {
        for text in ["inf", "-inf", "+Infinity", "INF", "nan", "NaN", "-nan"] {
            assert!(number(text).is_some_and(|x| !x.is_finite()), "{text}");
        }
    }

    #[test]
    fn a_decimal_ends_at_a_comma_or_with_the_text() {
        assert_eq!(leading(b"39.1,-18.7"), Some((39.1, 4)));
        assert_eq!(leading(b"-18.7"), Some((-18.7, 5)));
        assert_eq!(leading(b"123456789012345,"), Some((123_456_789_012_345.0, 15)));
        assert_eq!(leading(b"0.50196078431372548,1"), Some((0.501_960_784_313_725_5, 19)));
        assert_eq!(leading(b"-1e3"), Some((-1000.0, 4)));
        for other in [
            "", ",", "-", ".", "-.", "1 ,", "1e", "1e999", "1.2.3", "+1", "-inf", "nan", "1_000",
            "0x1p3", "x",
        ] {
            assert_eq!(leading(other.as_bytes()), None, "{other}");
        }
    }
}

//! Numbers for reading: how many digits tables, reports and pages show.

/// Returns a number with at most so many significant digits before trailing zeros are dropped, in
/// scientific notation below 0.001 and from a million on.
///
/// ```
/// use margins_data::digits::number;
///
/// assert_eq!(number(0.073907, 3), "0.0739");
/// assert_eq!([1.0, 1234.5678, 3.5e8].map(|x| number(x, 6)), ["1", "1234.57", "3.5e8"]);
/// ```
pub fn number(x: f64, digits: usize) -> String {
    let size = x.abs();
    if !x.is_finite() {
        x.to_string()
    } else if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
        trimmed(&format!("{x:.decimals$}"))
    } else {
        let text = format!("{x:.*e}", digits.saturating_sub(1));
        match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
            None => text,
        }
    }
}

/// Returns a decimal without the zeros at its end.
fn trimmed(decimal: &str) -> String {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        decimal.to_owned()
    }
}

/// Returns a duality gap with two significant digits, such as `7.2e-11`.
pub fn gap(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") }
}

/// Returns a share in per cent, without the sign: with one decimal from 10 % on, else with two.
///
/// ```
/// use margins_data::digits::percent;
///
/// assert_eq!([0.15152, 0.0505, 0.0].map(percent), ["15.2", "5.05", "0.00"]);
/// ```
pub fn percent(share: f64) -> String {
    let decimals = if (100.0 * share).abs() < 9.995 { 2 } else { 1 };
    format!("{:.decimals$}", 100.0 * share)
}

/// Returns the decimals of a value with this standard error: up to the second significant digit of the
/// standard error, or two if that is 0 or not finite.
pub fn decimals(standard_error: f64) -> usize {
    if standard_error == 0.0 {
        return 2;
    }
    // Of NaN and infinity there is no exponent.
    let text = format!("{standard_error:.1e}");
    let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    exponent.map_or(2, |exponent| (1 - exponent).clamp(0, 9) as usize)
}

/// Returns a value and its standard error with the same [decimals].
///
/// ```
/// use margins_data::digits::with_error;
///
/// assert_eq!(with_error(15.488, 1.2632, " %"), "15.5 % +- 1.3");
/// ```
pub fn with_error(value: f64, standard_error: f64, unit: &str) -> String {
    let decimals = decimals(standard_error);
    format!("{value:.decimals$}{unit} +- {standard_error:.decimals$}")
}

/// Returns a specification such as `gaussian:sigma=0.07255288234418139` with numbers of at most six
/// significant digits.
///
/// ```
/// use margins_data::digits::specification;
///
/// assert_eq!(specification("gaussian:sigma=0.07255288234418139"), "gaussian:sigma=0.0725529");
/// ```
pub fn specification(text: &str) -> String {
    let mut short = String::new();
    for part in text.split_inclusive([':', ',', '=', '+', '*', '(', ')', ' ']) {
        let end = part.trim_end_matches([':', ',', '=', '+', '*', '(', ')', ' ']);
        match end.parse::<f64>() {
            Ok(x) if end.len() > 8 => short += &number(x, 6),
            _ => short += end,
        }
        short += &part[end.len()..];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_the_digits_asked_for() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-12.3456789, "-12.3457"),
            (123_456.7, "123457"),
            (1e-7, "1e-7"),
            (0.05, "0.05"),
            (100.0, "100"),
            (3.5e8, "3.5e8"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x, 6), text);
        }
        assert_eq!(number(-2.0 / 3.0 * 1e-9, 1), "-7e-10");
    }

    #[test]
    fn values_have_the_digits_of_their_standard_errors() {
        assert_eq!(with_error(16.67, 16.67, ""), "17 +- 17");
        assert_eq!(with_error(12.5, 0.999_999, ""), "12.5 +- 1.0");
        assert_eq!(with_error(0.91234, 0.000_321, ""), "0.91234 +- 0.00032");
        assert_eq!(with_error(0.0, 0.0, ""), "0.00 +- 0.00");
        assert_eq!(with_error(5.0, f64::NAN, ""), "5.00 +- NaN");
    }

    #[test]
    fn shares_never_gain_a_digit_by_rounding() {
        assert_eq!([0.09994, 0.09996, 1.0].map(percent), ["9.99", "10.0", "100.0"]);
    }

    #[test]
    fn specifications_keep_all_but_the_digits_of_long_numbers() {
        let long = "gaussian:sigma=1.2345678901e-9 + poly:degree=3,scale=0.333333333333,offset=1";
        let short = "gaussian:sigma=1.23457e-9 + poly:degree=3,scale=0.333333,offset=1";
        assert_eq!(specification(long), short);
    }
}

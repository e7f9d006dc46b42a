//! Numbers for reading.

/// Returns a number with at most four significant digits.
pub(super) fn short(x: f64) -> String {
    rounded(x, 4)
}

/// Returns a number with at most so many significant digits, of at least two.
pub(super) fn rounded(x: f64, digits: usize) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !x.is_finite() {
        x.to_string()
    } else if (1e-3..1e5).contains(&size) {
        let decimals = (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.decimals$}");
        let trimmed =
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        trimmed.to_owned()
    } else {
        let decimals = digits - 2;
        format!("{x:.decimals$e}")
    }
}

/// Returns a share in per cent, on one line.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}\u{a0}%", 100.0 * share)
}

/// Returns a number of seconds.
pub(super) fn duration(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{} ms", short(1e3 * seconds))
    } else {
        format!("{} s", short(seconds))
    }
}

/// Returns a power of ten given by its exponent.
pub(super) fn power_of_ten(exponent: f64) -> String {
    let is_whole = (exponent - exponent.round()).abs() < 1e-9;
    let exponent = if is_whole { exponent.round() } else { exponent };
    if (-3.0..4.0).contains(&exponent) {
        let power = 10f64.powf(exponent);
        let digits = f64::max(if is_whole { 0.0 } else { 1.0 } - exponent.floor(), 0.0) as usize;
        format!("{power:.digits$}")
    } else if is_whole {
        format!("1e{exponent}")
    } else {
        format!("{:.1e}", 10f64.powf(exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_read_at_a_glance() {
        let all = [-7.5, -6.0, -2.0, -0.5, -1e-17, 0.0, 0.25, 1.0, 2.5, 3.0, 4.0].map(power_of_ten);
        let expected =
            ["3.2e-8", "1e-6", "0.01", "0.32", "1", "1", "1.8", "10", "316", "1000", "1e4"];
        assert_eq!(all, expected);
    }

    #[test]
    fn short_times_are_told_in_milliseconds() {
        assert_eq!([4.776e-2, 1.25, 75.0].map(duration), ["47.76 ms", "1.25 s", "75 s"]);
    }
}

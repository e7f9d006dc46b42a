//! Numbers of a page: times, ticks, and values by the rules of [`digits`].

use margins_data::digits;

/// Returns a number with at most four significant digits.
pub(super) fn short(x: f64) -> String {
    digits::number(x, 4)
}

/// Returns a share in per cent, on one line.
pub(super) fn percent(share: f64) -> String {
    digits::percent(share) + "\u{a0}%"
}

/// Returns a number and its standard error, which narrow cells show on two lines.
pub(super) fn with_error(value: f64, standard_error: f64, unit: &str) -> String {
    digits::with_error(value, standard_error, unit).replace("+-", "±").replace(" %", "\u{a0}%")
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
    fn short_times_are_in_milliseconds() {
        assert_eq!([4.776e-2, 1.25, 75.0].map(duration), ["47.76 ms", "1.25 s", "75 s"]);
    }
}

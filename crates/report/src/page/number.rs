//! Numbers for reading.

/// Returns a number with at most four significant digits.
pub(super) fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !x.is_finite() {
        x.to_string()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.digits$}");
        let trimmed =
            if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        trimmed.to_owned()
    } else {
        format!("{x:.2e}")
    }
}

/// Returns a share in per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Returns a power of ten given by its exponent.
pub(super) fn power_of_ten(exponent: f64) -> String {
    if (exponent - exponent.round()).abs() < 1e-9 {
        format!("1e{exponent:.0}")
    } else {
        format!("{:.0e}", 10f64.powf(exponent))
    }
}

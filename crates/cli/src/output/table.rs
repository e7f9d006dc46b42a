//! Plain tables for reading.

use std::io::{Result, Write};

/// Columns or coefficients listed in a table.
pub(crate) const MOST_LISTED: usize = 20;

/// Rows of cells, numbers to the right, under a header.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<S: AsRef<str>>(header: &[S]) -> Self {
        let header = header.iter().map(|name| name.as_ref().to_owned()).collect();
        Table { header, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let width = |k: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(k));
            cells.map(|cell| cell.chars().count()).chain([self.header[k].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let mut line = |cells: &[String]| {
            let padded: Vec<String> =
                cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            writeln!(out, "{}", padded.join("  ").trim_end())
        };
        line(&self.header)?;
        for row in &self.rows {
            line(row)?;
        }
        Ok(())
    }
}

/// Writes names on the left and values behind them.
pub(crate) fn facts(out: &mut dyn Write, facts: &[(&str, String)]) -> Result<()> {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in facts {
        writeln!(out, "{name:<width$}  {value}")?;
    }
    Ok(())
}

/// Returns a number with at most six significant digits, in the notation that is shorter to read.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if !x.is_finite() {
        x.to_string()
    } else if x == 0.0 || (1e-3..1e6).contains(&size) {
        let digits = if x == 0.0 { 0 } else { (5 - size.log10().floor() as i32).max(0) as usize };
        trimmed(&format!("{x:.digits$}"))
    } else {
        let text = format!("{x:.5e}");
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

/// Returns a gap with two significant digits.
pub(crate) fn gap(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") }
}

/// Returns a share in per cent.
pub(crate) fn percent(x: f64) -> String {
    format!("{:.2}", 100.0 * x)
}

#[cfg(test)]
mod tests {
    use super::{number, percent};

    #[test]
    fn numbers_have_at_most_six_digits() {
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
            assert_eq!(number(x), text);
        }
        assert_eq!(percent(0.12345), "12.35");
    }
}

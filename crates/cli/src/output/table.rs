//! Plain tables for reading.

use std::io::{Result, Write};

use margins::data::digits;

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
        let length = |cell: &String| cell.chars().count();
        let width = |k: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(k));
            cells.map(length).chain([length(&self.header[k])]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        // The width of a format is limited to 65,535 characters, so the cells are padded by hand.
        let pad = |(cell, width): (&String, &usize)| " ".repeat(width - length(cell)) + cell;
        let mut line = |cells: &[String]| {
            let padded: Vec<String> = cells.iter().zip(&widths).map(pad).collect();
            writeln!(out, "{}", padded.join("  ").trim_end())
        };
        line(&self.header)?;
        for row in &self.rows {
            line(row)?;
        }
        Ok(())
    }
}

/// Writes names on the left and values behind them, each on one line.
pub(crate) fn facts(out: &mut dyn Write, facts: &[(&str, String)]) -> Result<()> {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in facts {
        writeln!(out, "{name:<width$}  {}", escaped(value.chars()))?;
    }
    Ok(())
}

/// Returns the name of a column, feature or member as a cell: control characters are escaped, and a
/// long name is cut.
pub(crate) fn name_cell(name: &str) -> String {
    const LONGEST: usize = 60;
    let rest = if name.chars().nth(LONGEST).is_some() { "..." } else { "" };
    escaped(name.chars().take(LONGEST)) + rest
}

/// Returns the names of two classes on a line.
pub(crate) fn two_classes(positive: &str, negative: &str) -> String {
    format!("'{}' positive, '{}' negative", name_cell(positive), name_cell(negative))
}

/// Returns a text as a cell of a CSV file, in quotes if it needs them.
pub(crate) fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Returns a text whose control characters, which would break a line, are escaped.
fn escaped(text: impl Iterator<Item = char>) -> String {
    let mut line = String::new();
    for c in text {
        if c.is_control() { line.extend(c.escape_debug()) } else { line.push(c) }
    }
    line
}

/// Returns a number with at most six significant digits.
pub(crate) fn number(x: f64) -> String {
    digits::number(x, 6)
}

#[cfg(test)]
mod tests {
    use super::{Table, facts, name_cell};

    #[test]
    fn cells_and_facts_stay_on_one_line() {
        assert_eq!(name_cell("note=x\ny"), "note=x\\ny");
        assert_eq!(name_cell(&"é".repeat(61)), "é".repeat(60) + "...");
        let mut out = Vec::new();
        facts(&mut out, &[("classes", "'a\tb'\u{7f}".to_owned())]).unwrap();
        assert_eq!(out, b"classes  'a\\tb'\\u{7f}\n");
    }

    #[test]
    fn cells_may_be_wider_than_a_format_allows() {
        let mut table = Table::new(&["a", "b"]);
        table.row(vec!["x".repeat(70_000), "1".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let widths = out.split(|&byte| byte == b'\n').map(<[u8]>::len);
        assert_eq!(widths.collect::<Vec<_>>(), [70_003, 70_003, 0]);
    }
}

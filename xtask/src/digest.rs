//! Figures as text, for snapshots.

use margins_experiments::Figure;

/// Returns the CSV of a figure for a snapshot: every twentieth row, numbers to ten digits, because
/// the last ones are the platform's business.
pub(crate) fn digest(figure: &Figure) -> String {
    let shorten = |line: &str| -> String {
        let cell = |cell: &str| match cell.parse::<f64>() {
            Ok(number) => format!("{number:.9e}"),
            Err(_) => cell.to_owned(),
        };
        line.split(',').map(cell).collect::<Vec<_>>().join(",")
    };
    let text = figure.csv();
    let rows: Vec<String> = text.lines().step_by(20).map(shorten).collect();
    rows.join("\n")
}

//! Charts of plain characters for terminals.

use super::table::number;
use margins::data::digits;
use std::io::{IsTerminal, Result, Write};

use margins::optim::ErrorCurve;

use crate::terminal;

/// The lines of a chart between its frame.
const HEIGHT: usize = 12;

/// The columns that a chart needs at least, and takes at most.
const WIDTHS: (usize, usize) = (40, 100);

/// A terminal to draw on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Canvas {
    /// The number of columns.
    width: usize,
    /// True if there is nothing but ASCII.
    plain: bool,
}

impl Canvas {
    /// Returns the terminal that standard output is, if it is one.
    pub(crate) fn of_output() -> Option<Self> {
        if !std::io::stdout().is_terminal() {
            return None;
        }
        Some(Canvas { width: terminal::width(), plain: terminal::is_plain() })
    }
}

/// Draws a chart below an empty line, if standard output is a terminal.
pub(crate) fn write_chart(out: &mut dyn Write, chart: &Chart) -> Result<()> {
    match Canvas::of_output() {
        Some(canvas) => chart.write(out, canvas),
        None => Ok(()),
    }
}

/// Values along the logarithm of lambda.
pub(crate) struct Chart {
    /// The name of the values.
    title: String,
    points: Vec<Point>,
    /// The meaning of the marks of points.
    legend: &'static str,
}

/// A value at a lambda.
pub(crate) struct Point {
    pub(crate) lambda: f64,
    pub(crate) value: f64,
    /// Half the length of the bar around the value.
    pub(crate) spread: f64,
    /// A letter drawn instead of the point.
    pub(crate) mark: Option<char>,
}

impl Chart {
    /// Returns the chart of these points.
    pub(crate) fn new(title: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Self {
        let finite = |point: &Point| point.value.is_finite() && point.spread.is_finite();
        Chart {
            title: title.into(),
            points: points.into_iter().filter(finite).collect(),
            legend: "",
        }
    }

    /// Returns the chart of the measure of a cross-validation, shares in per cent.
    pub(crate) fn of_curve(curve: &ErrorCurve) -> Self {
        let (scale, unit) = if curve.measure.is_share() { (100.0, " %") } else { (1.0, "") };
        let points = (0..curve.lambdas.len()).map(|k| Point {
            lambda: curve.lambdas[k].get(),
            value: scale * curve.mean_measure[k],
            spread: scale * curve.measure_standard_error[k],
            mark: match k {
                k if k == curve.best => Some('B'),
                k if k == curve.one_standard_error => Some('S'),
                _ => None,
            },
        });
        let legend = "B is the best, S the largest lambda within one standard error of it";
        Chart {
            legend,
            ..Chart::new(format!("{}{unit} with standard errors", curve.measure), points)
        }
    }

    /// Draws the chart below an empty line, if there is a curve to draw and room for it.
    pub(crate) fn write(&self, out: &mut dyn Write, canvas: Canvas) -> Result<()> {
        if self.points.len() < 2 || canvas.width < WIDTHS.0 {
            return Ok(());
        }
        let (low, high) = self.range();
        let labels = [digits::number(high, 3), digits::number(low, 3)];
        let margin = labels.iter().map(String::len).max().unwrap_or(0);
        let columns = canvas.width.min(WIDTHS.1) - margin - 3;
        let cells = self.cells(columns, canvas.plain);
        let (side, corner, floor) =
            if canvas.plain { ('|', '+', '-') } else { ('│', '└', '─') };
        writeln!(out, "\n{}", self.title)?;
        for (row, cells) in cells.iter().enumerate() {
            let label = match row {
                0 => &labels[0],
                _ if row == HEIGHT - 1 => &labels[1],
                _ => "",
            };
            let line: String = cells.iter().collect();
            writeln!(out, "{label:>margin$} {side}{}", line.trim_end())?;
        }
        let floor: String = std::iter::repeat_n(floor, columns).collect();
        writeln!(out, "{:margin$} {corner}{floor}", "")?;
        let (first, last) = self.lambdas();
        let (first, last) = (format!("lambda {}", number(first)), number(last));
        let gap = columns.saturating_sub(first.len());
        writeln!(out, "{:margin$}  {first}{last:>gap$}", "")?;
        if !self.legend.is_empty() {
            writeln!(out, "{:margin$}  {}", "", self.legend)?;
        }
        Ok(())
    }

    /// Returns the smallest and the largest lambda.
    fn lambdas(&self) -> (f64, f64) {
        extremes(self.points.iter().map(|point| point.lambda))
    }

    /// Returns the smallest and the largest value, bars included.
    fn range(&self) -> (f64, f64) {
        let ends = |point: &Point| [point.value - point.spread, point.value + point.spread];
        extremes(self.points.iter().flat_map(ends))
    }

    /// Returns the characters of the chart, row by row from above. Marks hide points, and points bars.
    fn cells(&self, columns: usize, plain: bool) -> Vec<Vec<char>> {
        let (dot, bar) = if plain { ('o', ':') } else { ('●', '┊') };
        let ((first, last), (low, high)) = (self.lambdas(), self.range());
        let column = |point: &Point| place(point.lambda.ln(), (first.ln(), last.ln()), columns);
        let row = |value: f64| HEIGHT - 1 - place(value, (low, high), HEIGHT);
        let mut cells = vec![vec![' '; columns]; HEIGHT];
        for point in self.points.iter().filter(|point| point.spread > 0.0) {
            let (top, bottom) = (row(point.value + point.spread), row(point.value - point.spread));
            cells[top..=bottom].iter_mut().for_each(|cells| cells[column(point)] = bar);
        }
        let (marked, plain): (Vec<&Point>, _) =
            self.points.iter().partition(|point| point.mark.is_some());
        for point in plain.into_iter().chain(marked) {
            cells[row(point.value)][column(point)] = point.mark.unwrap_or(dot);
        }
        cells
    }
}

/// Returns the place of a value among that many between the ends of a range.
fn place(value: f64, (low, high): (f64, f64), count: usize) -> usize {
    let share = if high > low { (value - low) / (high - low) } else { 0.5 };
    ((share * (count - 1) as f64).round() as usize).min(count - 1)
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(ends, |(low, high), value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(points: Vec<Point>, canvas: Canvas) -> String {
        let mut text = Vec::new();
        let chart = Chart { legend: "B is the best", ..Chart::new("error %", points) };
        chart.write(&mut text, canvas).expect("memory");
        String::from_utf8(text).expect("UTF-8")
    }

    /// A valley with its bottom in the middle.
    fn valley(count: i32) -> Vec<Point> {
        let at = |k: i32| Point {
            lambda: 10f64.powi(-k),
            value: 10.0 + f64::from(k - count / 2).powi(2),
            spread: 2.0,
            mark: (k == count / 2).then_some('B'),
        };
        (0..count).map(at).collect()
    }

    #[test]
    fn charts_have_bars_points_and_marks() {
        for plain in [false, true] {
            let text = drawn(valley(7), Canvas { width: 50, plain });
            insta::assert_snapshot!(if plain { "plain" } else { "fine" }, text);
            assert_eq!(text.is_ascii(), plain);
            assert!(text.lines().all(|line| line.chars().count() <= 50));
        }
    }

    #[test]
    fn there_is_no_chart_without_a_curve_or_room() {
        let canvas = Canvas { width: 80, plain: true };
        assert_eq!(drawn(valley(1), canvas), "");
        assert_eq!(drawn(valley(7), Canvas { width: 39, ..canvas }), "");
        let unbounded = |point: Point| Point { value: f64::NEG_INFINITY, ..point };
        assert_eq!(drawn(valley(7).into_iter().map(unbounded).collect(), canvas), "");
    }

    /// The points of a constant stand in a row.
    #[test]
    fn a_constant_is_a_line() {
        let flat = |point: Point| Point { value: 5.0, spread: 0.0, mark: None, ..point };
        let text =
            drawn(valley(30).into_iter().map(flat).collect(), Canvas { width: 60, plain: true });
        let points =
            text.lines().filter(|line| line.contains('|')).map(|line| line.matches('o').count());
        assert_eq!(points.filter(|&points| points > 0).collect::<Vec<_>>(), [30], "{text}");
    }
}

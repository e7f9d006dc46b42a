//! A figure as data: charts that become one CSV file, one SVG picture, and the charts of a page.

use margins_report::page::chart::{self, Chart};
pub(crate) use margins_report::page::chart::{Axis, Series, Style};

pub(crate) type Points = Vec<(f64, f64)>;

pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) panels: Vec<Chart>,
}

/// Returns a panel with a short name, which the CSV file has, and a title.
pub(crate) fn panel(
    key: &str,
    title: impl Into<String>,
    [x, y]: [Axis; 2],
    series: Vec<Series>,
) -> Chart {
    let ends: Vec<String> = series.iter().map(ends).collect();
    let description = format!("{} along {}. {}.", y.label, x.label, ends.join("; "));
    Chart { key: key.to_owned(), title: title.into(), description, x, y, series }
}

/// Returns the ends of a series in words.
fn ends(series: &Series) -> String {
    match (series.points.first(), series.points.last()) {
        (Some(first), Some(last)) => format!(
            "{}: {} points from {:.3} at {:.3} to {:.3} at {:.3}",
            series.name,
            series.points.len(),
            first.1,
            first.0,
            last.1,
            last.0
        ),
        _ => format!("{}: no points", series.name),
    }
}

/// Returns an axis with these ends.
pub(crate) fn between(label: &'static str, range: (f64, f64)) -> Axis {
    Axis { range: Some(range), ..Axis::new(label) }
}

/// Returns an axis of categories.
pub(crate) fn categories(label: &'static str, names: &'static [&'static str]) -> Axis {
    Axis { names, ..between(label, (-0.5, names.len() as f64 - 0.5)) }
}

/// Returns a function at evenly spaced points of a range, both ends included.
pub(crate) fn curve(range: (f64, f64), f: impl Fn(f64) -> f64) -> Points {
    const STEPS: usize = 200;
    let at = |k: usize| range.0 + (range.1 - range.0) * k as f64 / STEPS as f64;
    (0..=STEPS).map(|k| (at(k), f(at(k)))).collect()
}

/// Returns the power of x that y grows with: the slope of a line through the logarithms, by least
/// squares.
pub(crate) fn power(points: &[(f64, f64)]) -> f64 {
    let logarithms: Points = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logarithms.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logarithms.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logarithms.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// Returns points `(x, y, standard error)` in a style with bars.
pub(crate) fn with_bars(
    name: impl Into<String>,
    points: impl IntoIterator<Item = (f64, f64, f64)>,
    style: fn(Vec<f64>) -> Style,
) -> Series {
    let (points, bars) = points.into_iter().map(|(x, y, bar)| ((x, y), bar)).unzip();
    Series::new(name, points, style(bars))
}

impl Figure {
    /// Returns rows `panel,series,x,y`, numbers in the shortest form that reads back the same, and a
    /// standard error after them if any point has one.
    pub(crate) fn csv(&self) -> String {
        let bars = |series: &Series| match &series.style {
            Style::Bars(bars) | Style::Beside(bars) => Some(bars.clone()),
            _ => None,
        };
        let mut all = self.panels.iter().flat_map(|panel| &panel.series);
        let with_bars = all.any(|series| bars(series).is_some());
        let header = if with_bars { ",standard_error" } else { "" };
        let mut text = format!("panel,series,x,y{header}\n");
        for panel in &self.panels {
            for series in &panel.series {
                let bars = bars(series);
                for (k, (x, y)) in series.points.iter().enumerate() {
                    let bar = match (with_bars, &bars) {
                        (true, Some(bars)) => format!(",{}", bars[k]),
                        (true, None) => ",".to_owned(),
                        (false, _) => String::new(),
                    };
                    text += &format!("{},{},{x},{y}{bar}\n", panel.key, series.name);
                }
            }
        }
        text
    }

    /// Returns the charts of a page, one a panel, with names that no other figure has.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let chart = |panel: &Chart| {
            let key = panel.key.replace(|c: char| !c.is_alphanumeric(), "-");
            Chart { key: format!("{}-{key}", self.name), ..panel.clone() }
        };
        self.panels.iter().map(chart).collect()
    }

    /// Returns the picture with all panels.
    pub(crate) fn svg(&self) -> String {
        chart::svg(&self.charts())
    }
}

/// Returns the CSV of a figure for a snapshot: every twentieth row, numbers to ten digits, because
/// the last ones are the platform's business.
#[cfg(test)]
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

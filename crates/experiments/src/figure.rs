//! A figure as data: charts that become one CSV file, one SVG picture, and the charts of a page.

use margins_data::digits;
use margins_report::page::chart::{self, Chart};
pub use margins_report::page::chart::{Axis, Series, Style};

/// Points `(x, y)` in the order of the line through them.
pub type Points = Vec<(f64, f64)>;

/// Charts under one name.
pub struct Figure {
    /// The name of the files.
    pub name: String,
    /// The charts.
    pub panels: Vec<Chart>,
}

/// Returns a panel: its short name in the CSV file, its title, its axes and its series.
pub fn panel(key: &str, title: impl Into<String>, [x, y]: [Axis; 2], series: Vec<Series>) -> Chart {
    let ends: Vec<String> = series.iter().map(ends).collect();
    let description = format!("{} along {}. {}.", y.label, x.label, ends.join("; "));
    Chart { key: key.to_owned(), title: title.into(), description, x, y, series }
}

/// Returns the ends of a series in words.
fn ends(series: &Series) -> String {
    let short = |value: f64| digits::number(value, 4);
    let ends = match (series.points.first(), series.points.last()) {
        (Some(first), Some(last)) if series.points.len() > 1 && first.0 == last.0 => {
            format!("at {}", short(first.0))
        }
        (Some(first), Some(last)) => {
            let [x, y, to_x, to_y] = [first.0, first.1, last.0, last.1].map(short);
            format!("{} points from {y} at {x} to {to_y} at {to_x}", series.points.len())
        }
        _ => "no points".to_owned(),
    };
    format!("{}: {ends}", series.name)
}

/// Returns an axis with these ends.
pub fn between(label: &'static str, range: (f64, f64)) -> Axis {
    Axis { range: Some(range), ..Axis::new(label) }
}

/// Returns an axis of categories.
pub fn categories(label: &'static str, names: &'static [&'static str]) -> Axis {
    Axis { names, ..between(label, (-0.5, names.len() as f64 - 0.5)) }
}

/// Returns a function at evenly spaced points of a range, both ends included.
pub fn curve(range: (f64, f64), f: impl Fn(f64) -> f64) -> Points {
    const STEPS: usize = 200;
    let at = |k: usize| range.0 + (range.1 - range.0) * k as f64 / STEPS as f64;
    (0..=STEPS).map(|k| (at(k), f(at(k)))).collect()
}

/// Returns the power of x that y grows with: the slope of a line through the logarithms, by least
/// squares.
pub fn power(points: &[(f64, f64)]) -> f64 {
    let logarithms: Points = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logarithms.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logarithms.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logarithms.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// Returns points `(x, y, standard error)` in a style with bars, [`Style::Bars`] or [`Style::Beside`].
pub fn with_bars(
    name: impl Into<String>,
    points: impl IntoIterator<Item = (f64, f64, f64)>,
    style: fn(Vec<f64>) -> Style,
) -> Series {
    let (points, bars) = points.into_iter().map(|(x, y, bar)| ((x, y), bar)).unzip();
    Series::new(name, points, style(bars))
}

impl Figure {
    /// Returns the figure of panels, whose files have this name.
    pub fn new(name: impl Into<String>, panels: Vec<Chart>) -> Self {
        Figure { name: name.into(), panels }
    }

    /// Returns rows `panel,series,x,y`, numbers in the shortest form that reads back the same, and a
    /// standard error after them if any point has one.
    pub fn csv(&self) -> String {
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
    pub fn charts(&self) -> Vec<Chart> {
        let chart = |panel: &Chart| {
            let key = panel.key.replace(|c: char| !c.is_alphanumeric(), "-");
            Chart { key: format!("{}-{key}", self.name), ..panel.clone() }
        };
        self.panels.iter().map(chart).collect()
    }

    /// Returns the picture with all panels.
    pub fn svg(&self) -> String {
        chart::svg(&self.charts())
    }
}

//! Charts: what they show as data, their SVG, and the figure of a page with a text alternative and the
//! numbers behind it.

mod drawing;

use maud::{Markup, PreEscaped, html};

use super::number::short;

pub use super::axis::Axis;
pub use drawing::COLOURS;

/// A picture of numbers.
#[derive(Clone)]
pub struct Chart {
    /// The name of the chart on its page, which no other chart there has.
    pub key: String,
    /// The line above the picture.
    pub title: String,
    /// The text alternative of the picture.
    pub description: String,
    /// The axis at the bottom.
    pub x: Axis,
    /// The axis on the left. Points outside of a given range are left out.
    pub y: Axis,
    /// The curves and points.
    pub series: Vec<Series>,
}

/// Points under one name.
#[derive(Clone)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points in the order of the line through them.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub style: Style,
    /// The number of the colour, and of the marker and the dashes that go with it; by default the place
    /// of the series in its chart.
    pub colour: Option<usize>,
}

/// A way to draw points.
#[derive(Clone)]
pub enum Style {
    /// A line through the points, with a marker at each if they are few.
    Line,
    /// A line with markers and a bar of this half-length at each point.
    Bars(Vec<f64>),
    /// Markers with a bar of this half-length at each, beside those of the other series of this style
    /// at the same place, which is that of a category.
    Beside(Vec<f64>),
    /// A large dot at each point.
    Marks,
    /// A ring around each point, which hides no dot in it.
    Rings,
    /// A small dot at each of many points.
    Dots,
    /// A thin dashed line through the points: a guide for the eye.
    Dashed,
    /// A line from every first point to the second after it.
    Pieces,
    /// Cells around the points, the stronger the smaller the value.
    Cells(Vec<f64>),
}

impl Series {
    /// Returns points in a style, in the colour of their place in the chart.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>, style: Style) -> Self {
        Series { name: name.into(), points, style, colour: None }
    }

    /// Returns a line.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series::new(name, points, Style::Line)
    }

    /// Returns the series in the colour of this number, which is that of another series if they belong
    /// together.
    pub fn coloured(self, number: usize) -> Self {
        Series { colour: Some(number), ..self }
    }

    /// Returns what stands beside each point: the length of its bar, or the value of its cell.
    pub(super) fn third(&self) -> Option<&[f64]> {
        match &self.style {
            Style::Bars(thirds) | Style::Beside(thirds) | Style::Cells(thirds) => Some(thirds),
            _ => None,
        }
    }

    /// Returns half the length of the bar at a point, 0 if it has none.
    pub(super) fn bar(&self, point: usize) -> f64 {
        match &self.style {
            Style::Bars(lengths) | Style::Beside(lengths) => lengths[point],
            _ => 0.0,
        }
    }
}

impl Chart {
    /// Returns the figure of a page: picture, words, and the numbers behind them.
    pub fn figure(&self) -> Markup {
        let drawing = drawing::of(self);
        let title = format!("{}-title", self.key);
        html! {
            figure {
                figcaption { (self.title) }
                svg role="img" xmlns="http://www.w3.org/2000/svg"
                    viewBox={ "0 0 " (drawing::WIDTH) " " (drawing.height) }
                    aria-labelledby=(title) aria-describedby=(self.text_id()) {
                    title id=(title) { (self.title) }
                    (drawing.content)
                }
                p id=(self.text_id()) { (self.description) }
                details {
                    summary { "The numbers" }
                    div.scroll { (self.table()) }
                }
            }
        }
    }

    fn text_id(&self) -> String {
        format!("{}-text", self.key)
    }

    fn table(&self) -> Markup {
        let third = self.series.iter().find_map(|series| match series.style {
            Style::Bars(_) | Style::Beside(_) => Some("standard error"),
            Style::Cells(_) => Some("value"),
            _ => None,
        });
        html! {
            table {
                thead { tr {
                    th scope="col" { "series" }
                    th scope="col" { (self.x.label) }
                    th scope="col" { (self.y.label) }
                    @if let Some(third) = third { th scope="col" { (third) } }
                } }
                tbody { @for series in &self.series {
                    @for (k, (x, y)) in series.points.iter().enumerate() { tr {
                        td { (series.name) }
                        td.number { (self.x.value(*x)) }
                        td.number { (short(*y)) }
                        @if third.is_some() {
                            td.number { @if let Some(thirds) = series.third() { (short(thirds[k])) } }
                        }
                    } }
                } }
            }
        }
    }
}

/// Returns charts as the text of one SVG file, two in a row, each under its title.
pub fn svg(charts: &[Chart]) -> String {
    const TITLE: f64 = 26.0;
    const GAP: f64 = 16.0;
    let (mut top, mut content) = (0.0, String::new());
    for row in charts.chunks(2) {
        let mut height: f64 = 0.0;
        for (k, chart) in row.iter().enumerate() {
            let drawing = drawing::of(chart);
            height = height.max(drawing.height);
            let left = k as f64 * (drawing::WIDTH + GAP);
            let panel = html! {
                g transform={ "translate(" (left) " " (top) ")" } {
                    (drawing::title(&chart.title))
                    g transform={ "translate(0 " (TITLE) ")" } { (drawing.content) }
                }
            };
            content += &panel.into_string();
        }
        top += TITLE + height + GAP;
    }
    let columns = charts.len().clamp(1, 2) as f64;
    let width = columns * drawing::WIDTH + (columns - 1.0) * GAP;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(top)
            viewBox={ "0 0 " (width) " " (top) } {
            rect width="100%" height="100%" fill=(drawing::PAPER) {}
            (PreEscaped(content))
        }
    };
    picture.into_string()
}

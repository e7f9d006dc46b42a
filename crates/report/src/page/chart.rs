//! Charts as SVG in the colours of the page, with a text alternative, a legend and their numbers.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::number::short;

pub use super::axis::Axis;

const SIZE: (u32, u32) = (420, 280);
/// The colours of the light page: the style sheet turns them into those of the reader's.
const INK: RGBColor = RGBColor(0x1b, 0x25, 0x30);
/// The colour around marks and rings, so that they stand out from what lies below.
const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
const GRID: RGBColor = RGBColor(0xc8, 0xd0, 0xd8);
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x0a, 0x5a, 0xb5),
    RGBColor(0xc8, 0x3c, 0x28),
    RGBColor(0x0a, 0x80, 0x60),
    RGBColor(0x80, 0x50, 0xa8),
    RGBColor(0xa0, 0x68, 0x00),
    RGBColor(0x5c, 0x66, 0x70),
    RGBColor(0xb8, 0x30, 0x80),
    RGBColor(0x20, 0x78, 0x90),
];

type Area<'d> = DrawingArea<SVGBackend<'d>, Shift>;
type Plane<'c, 'd> = ChartContext<'c, SVGBackend<'d>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A picture of numbers.
pub struct Chart {
    /// The name of the chart on its page, which no other chart there has.
    pub key: String,
    /// The line above the picture.
    pub title: String,
    /// What the picture shows, for who cannot see it.
    pub description: String,
    /// The axis at the bottom.
    pub x: Axis,
    /// The axis on the left. Points outside of a given range are left out.
    pub y: Axis,
    /// The curves and points, each in a colour of its own.
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
}

/// A way to draw points.
#[derive(Clone)]
pub enum Style {
    /// A line through the points.
    Line,
    /// A line with a bar of this half-length at each point.
    Bars(Vec<f64>),
    /// A large dot at each point.
    Marks,
    /// A ring around each point, which hides no dot in it.
    Rings,
    /// A small dot at each of many points.
    Dots,
    /// A dashed line through the points.
    Dashed,
    /// A line from every first point to the second after it.
    Pieces,
    /// Cells around the points, the stronger the smaller the value.
    Cells(Vec<f64>),
}

impl Series {
    /// Returns a line.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, style: Style::Line }
    }

    /// Returns the class of the symbol in the legend beside that of its colour.
    fn symbol(&self) -> &'static str {
        match self.style {
            Style::Rings => " ring",
            Style::Dashed => " dashed",
            _ => "",
        }
    }

    /// Returns what stands beside each point: the length of its bar, or the value of its cell.
    fn third(&self) -> Option<&[f64]> {
        match &self.style {
            Style::Bars(thirds) | Style::Cells(thirds) => Some(thirds),
            _ => None,
        }
    }
}

impl Chart {
    /// Returns the figure: picture, legend, and the numbers behind them.
    pub fn figure(&self) -> Markup {
        html! {
            figure {
                figcaption { (self.title) }
                (self.picture())
                @if self.needs_legend() {
                    p.legend {
                        @for (k, series) in self.series.iter().enumerate() {
                            span { i.{ "c" (k % COLOURS.len()) (series.symbol()) } {} (series.name) " " }
                        }
                    }
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

    /// Returns false where the axis has the name of the only series.
    fn needs_legend(&self) -> bool {
        !matches!(&self.series[..], [one] if one.name == self.y.label)
    }

    fn picture(&self) -> Markup {
        let mut drawn = String::new();
        let area = SVGBackend::with_string(&mut drawn, SIZE).into_drawing_area();
        // Text in memory takes all that is drawn.
        let complete = self.draw(&area).is_ok();
        drop(area);
        let content = drawn.split_once('>').map_or("", |(_, rest)| rest);
        let content = content.trim_end().trim_end_matches("</svg>");
        let title = format!("{}-title", self.key);
        html! {
            svg role="img" xmlns="http://www.w3.org/2000/svg"
                viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) }
                aria-labelledby=(title) aria-describedby=(self.text_id()) {
                title id=(title) { (self.title) }
                @if complete { (PreEscaped(content)) }
            }
        }
    }

    fn table(&self) -> Markup {
        let third = self.series.iter().find_map(|series| match series.style {
            Style::Bars(_) => Some("standard error"),
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

    fn draw(&self, area: &Area<'_>) -> Outcome {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (low, high) = self.x.ends(points().map(|point| self.x.place(point.0)));
        let bars = self.series.iter().flat_map(|series| {
            let bar = |k: usize| match &series.style {
                Style::Bars(lengths) => lengths[k],
                _ => 0.0,
            };
            let ends = move |(k, point): (usize, &(f64, f64))| [point.1 - bar(k), point.1 + bar(k)];
            series.points.iter().enumerate().flat_map(ends)
        });
        let (bottom, top) = self.y.ends(bars.map(|y| self.y.place(y)));
        let (x_digits, y_digits) = (self.x.digits(low, high), self.y.digits(bottom, top));
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_top(12)
            .margin_right(16)
            .x_label_area_size(44)
            .y_label_area_size(self.y.room(bottom, top))
            .build_cartesian_2d(low..high, bottom..top)?;
        let names_below = self.x.most_beside(low, high, SIZE.0 - self.y.room(bottom, top));
        let text = ("sans-serif", 16).into_font().color(&INK);
        chart
            .configure_mesh()
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .x_label_formatter(&|x| self.x.label_of(*x, x_digits))
            .y_label_formatter(&|y| self.y.label_of(*y, y_digits))
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_labels(names_below)
            .y_labels(self.y.most_named(bottom, top))
            .draw()?;
        for (k, series) in self.series.iter().enumerate() {
            self.plot(&mut chart, series, COLOURS[k % COLOURS.len()])?;
        }
        drop(chart);
        area.present()?;
        Ok(())
    }

    fn plot(&self, chart: &mut Plane<'_, '_>, series: &Series, colour: RGBColor) -> Outcome {
        let place = |x: f64, y: f64| (self.x.place(x), self.y.place(y));
        let (across, ends) = (chart.x_range(), chart.y_range());
        let size = (across.end - across.start, ends.end - ends.start);
        let places = series.points.iter().map(|&(x, y)| place(x, y));
        let places: Vec<(f64, f64)> =
            places.filter(|at| ends.start <= at.1 && at.1 <= ends.end).collect();
        let thick = colour.stroke_width(2);
        match &series.style {
            Style::Line if is_one_place(&places, size) => {
                chart.draw_series(circles(&places, 3, colour.filled()))?;
            }
            Style::Line => {
                chart.draw_series([PathElement::new(places, thick)])?;
            }
            Style::Dashed => {
                chart.draw_series([DashedPathElement::new(places, 5, 4, thick)])?;
            }
            Style::Dots => {
                chart.draw_series(circles(&places, 2, colour.filled()))?;
            }
            Style::Marks => {
                chart.draw_series(circles(&places, 7, PAPER.filled()))?;
                chart.draw_series(circles(&places, 5, colour.filled()))?;
            }
            Style::Rings => {
                chart.draw_series(circles(&places, 8, PAPER.stroke_width(6)))?;
                chart.draw_series(circles(&places, 8, thick))?;
            }
            Style::Pieces => {
                let piece = |ends: &[(f64, f64)]| PathElement::new(ends, thick);
                chart.draw_series(places.chunks_exact(2).map(piece))?;
            }
            Style::Bars(lengths) => {
                let ends = series.points.iter().zip(lengths).map(|(&(x, y), length)| {
                    PathElement::new([place(x, y - length), place(x, y + length)], colour)
                });
                chart.draw_series(ends)?;
                chart.draw_series([PathElement::new(places.clone(), thick)])?;
                chart.draw_series(circles(&places, 2, colour.filled()))?;
            }
            Style::Cells(values) => {
                chart.draw_series(cells(&places, values, colour))?;
            }
        }
        Ok(())
    }
}

/// Returns true for a line that would not be seen in a picture of this size.
fn is_one_place(places: &[(f64, f64)], size: (f64, f64)) -> bool {
    const LEAST: f64 = 1e-3;
    let is_near = |(x, y): (f64, f64)| {
        (x - places[0].0).abs() <= LEAST * size.0 && (y - places[0].1).abs() <= LEAST * size.1
    };
    places.iter().copied().all(is_near)
}

/// Returns a circle of so many pixels around each place.
fn circles(places: &[(f64, f64)], radius: u32, style: ShapeStyle) -> Vec<Circle<(f64, f64), u32>> {
    places.iter().map(|&at| Circle::new(at, radius, style)).collect()
}

/// Returns cells of a grid, the stronger the smaller the value.
fn cells(places: &[(f64, f64)], values: &[f64], colour: RGBColor) -> Vec<Rectangle<(f64, f64)>> {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = values.iter().fold(start, |(low, high), &v| (low.min(v), high.max(v)));
    let distance = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = places.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        let steps = all.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 1e-9);
        steps.fold(f64::INFINITY, f64::min).min(1.0) / 2.0
    };
    let (width, height) = (distance(|at| at.0), distance(|at| at.1));
    let cell = |(&(x, y), &value): (&(f64, f64), &f64)| {
        let share = if most > least { (value - least) / (most - least) } else { 0.0 };
        let corners = [(x - width, y - height), (x + width, y + height)];
        Rectangle::new(corners, colour.mix(1.0 - 0.92 * share).filled())
    };
    places.iter().zip(values).map(cell).collect()
}

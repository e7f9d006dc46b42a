//! A figure as data: panels of curves that become one CSV file, one SVG picture, and the charts of a
//! page.

use margins_report::page::chart::{self, Chart};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::Failure;

pub(crate) type Points = Vec<(f64, f64)>;

/// One curve, or the points of one kind.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Points,
    pub(crate) style: Style,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Style {
    Line,
    /// A guide, such as a vertical line at a threshold, in the colour of this number.
    Guide(usize),
    /// Separate points, such as roots.
    Marks,
    /// Samples, in the colour of this number.
    Dots(usize),
    /// One point for each of a few categories, x being their number, beside those of the other
    /// series.
    Categories(&'static [&'static str]),
    /// Every two points are the ends of a piece of a curve, in the colour of this number.
    Pieces(usize),
}

pub(crate) struct Panel {
    /// Short name in the CSV file.
    pub(crate) key: &'static str,
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) range: (f64, f64),
}

pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) panels: Vec<Panel>,
}

/// Steps of a curve.
const STEPS: usize = 200;

/// Returns a function at evenly spaced points of a range, both ends included.
pub(crate) fn curve(range: (f64, f64), f: impl Fn(f64) -> f64) -> Points {
    let at = |k: usize| range.0 + (range.1 - range.0) * k as f64 / STEPS as f64;
    (0..=STEPS).map(|k| (at(k), f(at(k)))).collect()
}

/// Returns a curve with its name.
pub(crate) fn line(name: impl Into<String>, points: Points) -> Series {
    Series { name: name.into(), points, style: Style::Line }
}

const PANEL: (u32, u32) = (470, 360);
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 50, 32),
    RGBColor(0, 128, 96),
    RGBColor(230, 140, 0),
    RGBColor(117, 76, 168),
    RGBColor(90, 90, 90),
    RGBColor(184, 48, 128),
    RGBColor(32, 120, 144),
];

impl Figure {
    /// Returns rows `panel,series,x,y`, numbers in the shortest form that reads back the same.
    pub(crate) fn csv(&self) -> String {
        let mut text = String::from("panel,series,x,y\n");
        for panel in &self.panels {
            for series in &panel.series {
                for (x, y) in &series.points {
                    text += &format!("{},{},{x},{y}\n", panel.key, series.name);
                }
            }
        }
        text
    }

    /// Returns the charts of a page, one a panel.
    pub(crate) fn charts(&self) -> impl Iterator<Item = Chart> {
        self.panels.iter().map(|panel| panel.chart(self.name))
    }

    /// Returns the picture with all panels.
    pub(crate) fn svg(&self) -> Result<String, Failure> {
        let columns = self.panels.len().min(2);
        let rows = self.panels.len().div_ceil(columns);
        let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            root.fill(&WHITE)?;
            for (area, panel) in root.split_evenly((rows, columns)).iter().zip(&self.panels) {
                panel.draw(area)?;
            }
            root.present()?;
        }
        Ok(text)
    }
}

type Plane<'c, 'd> = ChartContext<'c, SVGBackend<'d>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws filled circles; the second radius is that of the legend.
fn circles(
    chart: &mut Plane<'_, '_>,
    name: &str,
    points: impl Iterator<Item = (f64, f64)>,
    [radius, in_legend]: [i32; 2],
    colour: RGBColor,
) -> Result<(), Failure> {
    chart
        .draw_series(points.map(|point| Circle::new(point, radius, colour.filled())))?
        .label(name)
        .legend(move |(x, y)| Circle::new((x + 9, y), in_legend, colour.filled()));
    Ok(())
}

/// Draws lines of this style.
fn strokes(
    chart: &mut Plane<'_, '_>,
    name: &str,
    lines: impl IntoIterator<Item = PathElement<(f64, f64)>>,
    style: ShapeStyle,
) -> Result<(), Failure> {
    chart
        .draw_series(lines)?
        .label(name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    Ok(())
}

impl Panel {
    fn draw(&self, area: &DrawingArea<SVGBackend, Shift>) -> Result<(), Failure> {
        let (x, y) = (self.x.range, self.y.range);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .caption(&self.title, ("sans-serif", 15))
            .x_label_area_size(36)
            .y_label_area_size(46)
            .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
        let categories = self.categories();
        let name = |x: &f64| match categories {
            None => x.to_string(),
            Some(_) if x.fract() != 0.0 || *x < 0.0 => String::new(),
            Some(names) => names.get(*x as usize).copied().unwrap_or_default().to_owned(),
        };
        let mut mesh = chart.configure_mesh();
        if categories.is_some() {
            mesh.x_label_formatter(&name).disable_x_mesh();
        }
        mesh.x_desc(self.x.label)
            .y_desc(self.y.label)
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_labels(7)
            .y_labels(7)
            .draw()?;
        let mut lines = 0;
        for (number, series) in self.series.iter().enumerate() {
            self.plot(&mut chart, number, series, &COLOURS[lines % COLOURS.len()])?;
            lines += usize::from(matches!(series.style, Style::Line));
        }
        chart
            .configure_series_labels()
            .position(self.free_corner())
            .label_font(("sans-serif", 11))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(())
    }

    /// Draws a series, a line in the colour given; `number` is its place among all series.
    fn plot(
        &self,
        chart: &mut Plane<'_, '_>,
        number: usize,
        series: &Series,
        of_line: &RGBColor,
    ) -> Result<(), Failure> {
        let (low, high) = self.y.range;
        let inside =
            series.points.iter().copied().filter(|point| low <= point.1 && point.1 <= high);
        let (name, colour) = (&series.name, |number: usize| COLOURS[number % COLOURS.len()]);
        match series.style {
            Style::Line => {
                let style = of_line.stroke_width(2);
                let points: Points = inside.collect();
                strokes(chart, name, [PathElement::new(points, style)], style)
            }
            Style::Pieces(number) => {
                let style = colour(number).stroke_width(1);
                let pieces = series.points.chunks_exact(2);
                strokes(chart, name, pieces.map(|ends| PathElement::new(ends, style)), style)
            }
            Style::Guide(number) => {
                let style = colour(number).stroke_width(1);
                let points = series.points.iter().copied();
                chart.draw_series(DashedLineSeries::new(points, 4, 4, style))?.label(name).legend(
                    move |(x, y)| DashedPathElement::new([(x, y), (x + 18, y)], 4, 4, style),
                );
                Ok(())
            }
            Style::Dots(number) => circles(chart, name, inside, [2, 3], colour(number)),
            Style::Categories(_) => {
                let beside = inside.map(|(x, y)| (x + self.shift(number), y));
                circles(chart, name, beside, [4, 4], colour(number))
            }
            Style::Marks => circles(chart, name, inside, [4, 4], colour(1)),
        }
    }

    /// Returns how far from its category a series is, side by side with the others over the middle
    /// half of the category.
    fn shift(&self, number: usize) -> f64 {
        0.5 * ((number as f64 + 0.5) / self.series.len() as f64 - 0.5)
    }

    fn categories(&self) -> Option<&'static [&'static str]> {
        self.series.iter().find_map(|series| match series.style {
            Style::Categories(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the panel for the page of a figure.
    fn chart(&self, figure: &str) -> Chart {
        let axis = |axis: &Axis, names| chart::Axis {
            range: Some(axis.range),
            names,
            ..chart::Axis::new(axis.label)
        };
        let series = |(number, series): (usize, &Series)| {
            let shift = match series.style {
                Style::Categories(_) => self.shift(number),
                _ => 0.0,
            };
            chart::Series {
                name: series.name.clone(),
                points: series.points.iter().map(|(x, y)| (x + shift, *y)).collect(),
                style: match series.style {
                    Style::Line => chart::Style::Line,
                    Style::Guide(_) => chart::Style::Dashed,
                    Style::Marks | Style::Categories(_) => chart::Style::Marks,
                    Style::Dots(_) => chart::Style::Dots,
                    Style::Pieces(_) => chart::Style::Pieces,
                },
            }
        };
        Chart {
            key: format!("{figure}-{}", self.key.replace(|c: char| !c.is_alphanumeric(), "-")),
            title: self.title.clone(),
            description: self.description(),
            x: axis(&self.x, self.categories().unwrap_or_default()),
            y: axis(&self.y, &[]),
            series: self.series.iter().enumerate().map(series).collect(),
        }
    }

    /// Returns in words what the picture shows: the ends of every series.
    fn description(&self) -> String {
        let ends = |series: &Series| match (series.points.first(), series.points.last()) {
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
        };
        let of_series: Vec<String> = self.series.iter().map(ends).collect();
        format!("{} along {}. {}.", self.y.label, self.x.label, of_series.join("; "))
    }

    /// Returns the corner of the picture, or the middle of its upper or lower edge, that the fewest
    /// points of the curves are in.
    fn free_corner(&self) -> SeriesLabelPosition {
        use SeriesLabelPosition::{
            LowerLeft, LowerMiddle, LowerRight, UpperLeft, UpperMiddle, UpperRight,
        };
        let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        // Lines may run below the labels where there are samples, samples may not.
        let samples = |series: &&Series| matches!(series.style, Style::Dots(_));
        let any = self.series.iter().any(|series| samples(&series));
        let size = if any { (0.45, 0.35) } else { (0.34, 0.4) };
        let crowd = |left: f64, low: f64| {
            let shown = self.series.iter().filter(|series| !any || samples(series));
            shown
                .flat_map(|series| &series.points)
                .filter(|point| {
                    let (x, y) = (share(point.0, self.x.range), share(point.1, self.y.range));
                    let (from_left, from_low) =
                        (x - left * (1.0 - size.0), y - low * (1.0 - size.1));
                    (0.0..size.0).contains(&from_left) && (0.0..size.1).contains(&from_low)
                })
                .count()
        };
        let places = [
            (UpperRight, crowd(1.0, 1.0)),
            (UpperLeft, crowd(0.0, 1.0)),
            (LowerRight, crowd(1.0, 0.0)),
            (LowerLeft, crowd(0.0, 0.0)),
            (UpperMiddle, crowd(0.5, 1.0)),
            (LowerMiddle, crowd(0.5, 0.0)),
        ];
        places.into_iter().min_by_key(|(_, crowd)| *crowd).map_or(UpperRight, |(place, _)| place)
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

//! The SVG of charts. Colours are those of the light page: the style sheet turns them into those of the
//! reader's.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::{Axis, Chart, Series, Style};

/// The width of a chart. Its height depends on its legend.
pub(super) const WIDTH: f64 = 440.0;
const PLOT_HEIGHT: f64 = 230.0;
const FONT: f64 = 13.0;
const LINE: f64 = 19.0;
/// The room to the right of the axis, and above it.
const RIGHT: f64 = 18.0;
const TOP: f64 = 8.0;
/// The length of the sample of a line in the legend.
const SAMPLE: f64 = 26.0;

const INK: &str = "#1B2530";
/// The colour around marks and rings, so that they stand out from what lies below.
pub(super) const PAPER: &str = "#FFFFFF";
const GRID: &str = "#C8D0D8";

/// The colours of series. For readers with any of the three kinds of colour blindness each two differ by
/// at least 15 in CIELAB; against white each has a contrast of at least 3.
pub const COLOURS: [&str; 8] =
    ["#0A5AB5", "#C8501E", "#60A060", "#6000E0", "#00A0C0", "#4D4D4D", "#602000", "#600060"];
/// The dashes of lines, by the number of the colour.
const DASHES: [&str; 8] = ["", "8 3", "2 3", "10 3 2 3", "5 2", "", "13 4", "3 2"];

/// The most points of a line with a marker at each.
const MOST_MARKERS: usize = 30;

/// A chart without its title.
pub(super) struct Drawing {
    pub(super) content: Markup,
    pub(super) height: f64,
}

/// Returns the title of a chart in a picture of several.
pub(super) fn title(text: &str) -> Markup {
    html! {
        text x=(WIDTH / 2.0) y="18" text-anchor="middle" font-family="sans-serif" font-size="14"
            font-weight="600" fill=(INK) { (text) }
    }
}

/// The width of a character, about that of the widest of the usual fonts.
const CHARACTER: f64 = 0.63 * FONT;

/// Returns how wide a text is at most, unless it is of wide letters alone.
fn width(text: &str) -> f64 {
    CHARACTER * text.chars().count() as f64
}

/// Returns the beginning of a text that is too wide for its place, and the width to draw it in; all of
/// it if it has room.
fn fitted(text: &str, room: f64) -> (String, Option<String>) {
    if width(text) <= room {
        return (text.to_owned(), None);
    }
    let count = (room / CHARACTER) as usize;
    let begin: String = text.chars().take(count.saturating_sub(1)).collect();
    (begin + "…", Some(n(room)))
}

/// Returns a chart without its title.
pub(super) fn of(chart: &Chart) -> Drawing {
    let legend = legend(chart);
    let plane = Plane::new(chart, legend.height);
    let (x, y) = (&plane.x, &plane.y);
    let clip = format!("{}-clip", chart.key);
    let (middle_x, middle_y) = ((x.start + x.end) / 2.0, (y.start + y.end) / 2.0);
    let content = html! {
        g font-family="sans-serif" font-size=(FONT) fill=(INK) {
            (legend.content)
            clipPath id=(clip) {
                rect x=(n(x.start)) y=(n(y.end)) width=(n(x.end - x.start)) height=(n(y.start - y.end)) {}
            }
            g stroke=(GRID) {
                @if chart.x.names.is_empty() { @for &at in &x.ticks {
                    line x1=(n(x.at(at))) x2=(n(x.at(at))) y1=(n(y.start)) y2=(n(y.end)) {}
                } }
                @for &at in &y.ticks {
                    line x1=(n(x.start)) x2=(n(x.end)) y1=(n(y.at(at))) y2=(n(y.at(at))) {}
                }
            }
            g stroke=(INK) {
                path fill="none" d={ "M" (n(x.start)) " " (n(y.end)) "V" (n(y.start)) "H" (n(x.end)) } {}
                @for at in x.minor() {
                    line x1=(n(x.at(at))) x2=(n(x.at(at))) y1=(n(y.start)) y2=(n(y.start + 3.0)) {}
                }
                @for at in y.minor() {
                    line x1=(n(x.start - 3.0)) x2=(n(x.start)) y1=(n(y.at(at))) y2=(n(y.at(at))) {}
                }
            }
            @for &at in &x.ticks {
                @if plane.slanted {
                    text text-anchor="end"
                        transform={ "translate(" (n(x.at(at) + 4.0)) " " (n(y.start + 16.0)) ") rotate(-35)" } {
                        (x.label(at))
                    }
                } @else {
                    text text-anchor="middle" x=(n(x.at(at))) y=(n(y.start + 21.0)) { (x.label(at)) }
                }
            }
            @for &at in &y.ticks {
                text text-anchor="end" x=(n(x.start - 6.0)) y=(n(y.at(at) + 4.5)) { (y.label(at)) }
            }
            text text-anchor="middle" x=(n(middle_x)) y=(n(plane.height - 8.0)) { (chart.x.label) }
            @if plane.label_above {
                text x="8" y=(n(y.end - 13.0)) { (chart.y.label) }
            } @else {
                text text-anchor="middle"
                    transform={ "translate(14 " (n(middle_y)) ") rotate(-90)" } { (chart.y.label) }
            }
            g clip-path={ "url(#" (clip) ")" } {
                @for (k, series) in chart.series.iter().enumerate() { (plane.lines(k, series)) }
            }
            @for (k, series) in chart.series.iter().enumerate() { (plane.markers(k, series)) }
        }
    };
    Drawing { content, height: plane.height }
}

/// A number of pixels.
fn n(pixels: f64) -> String {
    let text = format!("{pixels:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// An axis with its ends in pixels.
struct Scale<'c> {
    axis: &'c Axis,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    /// The places that are named.
    ticks: Vec<f64>,
    digits: usize,
}

impl<'c> Scale<'c> {
    fn new(axis: &'c Axis, (low, high): (f64, f64), most: usize) -> Self {
        let ticks = axis.ticks(low, high, most);
        let digits = axis.digits(&ticks);
        Scale { axis, low, high, start: 0.0, end: 1.0, ticks, digits }
    }

    /// Returns the pixel of a place.
    fn at(&self, place: f64) -> f64 {
        self.start + (place - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    fn label(&self, place: f64) -> String {
        self.axis.label_of(place, self.digits)
    }

    fn longest(&self) -> f64 {
        self.ticks.iter().map(|&at| width(&self.label(at))).fold(0.0, f64::max)
    }

    /// Returns the places between powers of ten of a logarithmic axis.
    fn minor(&self) -> Vec<f64> {
        const MOST_DECADES: f64 = 8.0;
        if !self.axis.is_log || self.high - self.low > MOST_DECADES {
            return Vec::new();
        }
        let decades = self.low.floor() as i32..=self.high.floor() as i32;
        let all = decades.flat_map(|k| (1..10).map(move |m| f64::from(k) + f64::from(m).log10()));
        all.filter(|at| (self.low..=self.high).contains(at)).collect()
    }

    fn contains(&self, place: f64) -> bool {
        let room = 1e-9 * (self.high - self.low);
        (self.low - room..=self.high + room).contains(&place)
    }
}

/// Both axes, and the series between them.
struct Plane<'c> {
    chart: &'c Chart,
    x: Scale<'c>,
    y: Scale<'c>,
    height: f64,
    /// True if the names below the axis are too long to stand beside each other.
    slanted: bool,
    /// True if the words of the left axis are longer than it, and stand above it.
    label_above: bool,
}

impl<'c> Plane<'c> {
    fn new(chart: &'c Chart, top: f64) -> Self {
        let (x, y) = (&chart.x, &chart.y);
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let bars = chart.series.iter().flat_map(|series| {
            let ends = move |(k, point): (usize, &(f64, f64))| {
                let bar = series.bar(k);
                [point.1 - bar, point.1 + bar]
            };
            series.points.iter().enumerate().flat_map(ends)
        });
        // A logarithmic axis has no place for the end of a bar below 0.
        let bars = bars.filter(|end| !y.is_log || *end > 0.0);
        let vertical = Scale::new(y, y.ends(bars.map(|end| y.place(end))), 6);
        let left = 30.0 + vertical.longest();
        let across = WIDTH - left - RIGHT;
        let ends = x.ends(points().map(|point| x.place(point.0)));
        let mut horizontal = Scale::new(x, ends, 7);
        for most in (1..7).rev() {
            if (horizontal.longest() + 12.0) * horizontal.ticks.len() as f64 <= across {
                break;
            }
            horizontal = Scale::new(x, ends, most);
        }
        let slanted = !x.names.is_empty()
            && horizontal.longest() + 8.0 > across / horizontal.ticks.len().max(1) as f64;
        let below = if slanted { 34.0 + 0.6 * horizontal.longest() } else { 48.0 };
        let label_above = width(y.label) > PLOT_HEIGHT;
        let top = if label_above { top + TOP + LINE + 5.0 } else { top + TOP };
        let bottom = top + PLOT_HEIGHT;
        let first = horizontal.ticks.first().map_or(0.0, |&at| width(&horizontal.label(at)));
        let left = if slanted { left.max(0.85 * first) } else { left };
        let x = Scale { start: left, end: WIDTH - RIGHT, ..horizontal };
        let y = Scale { start: bottom, end: top, ..vertical };
        Plane { chart, x, y, height: bottom + below, slanted, label_above }
    }

    /// Returns the pixels of a point, beside those of other series where it is one of a category.
    fn at(&self, number: usize, series: &Series, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let shift = if matches!(series.style, Style::Beside(_)) { self.shift(number) } else { 0.0 };
        let (x, y) = (self.chart.x.place(x), self.chart.y.place(y));
        let is_there = self.y.contains(y) && self.x.contains(x);
        is_there.then(|| (self.x.at(x + shift), self.y.at(y)))
    }

    /// Returns how far from its category a series is, over the middle of the category.
    fn shift(&self, number: usize) -> f64 {
        let is_beside = |series: &&Series| matches!(series.style, Style::Beside(_));
        let count = self.chart.series.iter().filter(is_beside).count();
        let place = self.chart.series[..number].iter().filter(is_beside).count();
        0.6 * ((place as f64 + 0.5) / count as f64 - 0.5)
    }

    /// Returns a path through all points, which the axes cut.
    fn path<'p>(&self, points: impl IntoIterator<Item = &'p (f64, f64)>) -> String {
        let (mut path, mut is_open) = (String::new(), false);
        for &(x, y) in points {
            let (x, y) = (self.chart.x.place(x), self.chart.y.place(y));
            if x.is_finite() && y.is_finite() {
                let (x, y) = (n(self.x.at(x)), n(self.y.at(y)));
                // Writing into a string does not fail.
                let _ = write!(path, "{}{x} {y}", if is_open { 'L' } else { 'M' });
                is_open = true;
            } else {
                is_open = false;
            }
        }
        path
    }

    /// Returns the lines of a series, which the axes cut.
    fn lines(&self, number: usize, series: &Series) -> Markup {
        let index = index(number, series);
        let stroke = COLOURS[index];
        let line = |width: &str, dashes: &str, path: String| {
            let dashes = (!dashes.is_empty()).then_some(dashes);
            html! {
                path fill="none" stroke=(stroke) stroke-width=(width) stroke-dasharray=[dashes] d=(path) {}
            }
        };
        match &series.style {
            Style::Line | Style::Bars(_) => line("2", DASHES[index], self.path(&series.points)),
            Style::Dashed => line("1.3", "4 4", self.path(&series.points)),
            Style::Pieces => {
                let pieces = series.points.chunks_exact(2).map(|ends| self.path(ends));
                line("1.5", "", pieces.collect())
            }
            Style::Cells(values) => self.cells(&series.points, values, stroke),
            _ => html! {},
        }
    }

    /// Returns the markers of a series with their bars. Points outside the axes have none.
    fn markers(&self, number: usize, series: &Series) -> Markup {
        let index = index(number, series);
        let colour = COLOURS[index];
        let points = series.points.iter().enumerate();
        let places: Vec<(usize, (f64, f64))> =
            points.filter_map(|(k, &point)| Some((k, self.at(number, series, point)?))).collect();
        let dots = |radius: f64| {
            html! { @for (_, (x, y)) in &places {
                circle cx=(n(*x)) cy=(n(*y)) r=(radius) fill=(colour) {}
            } }
        };
        // Of many points every few have a marker, other ones in each series.
        let step = series.points.len().div_ceil(MOST_MARKERS / 2);
        let has_marker =
            |k: usize| series.points.len() <= MOST_MARKERS || k % step == (index * step / 3) % step;
        match &series.style {
            // A line too short to be seen has its markers too.
            Style::Line if series.points.len() <= MOST_MARKERS || are_one(&places) => html! {
                @for (_, at) in &places { (marker(index, *at, 3.2)) }
            },
            Style::Bars(_) | Style::Beside(_) => html! {
                @for &(k, at) in places.iter().filter(|&&(k, _)| has_marker(k)) {
                    (self.bar(series.points[k].1, series.bar(k), at.0, colour))
                    (marker(index, at, 3.2))
                }
            },
            Style::Dots => dots(1.8),
            Style::Marks => html! { @for (_, (x, y)) in &places {
                circle cx=(n(*x)) cy=(n(*y)) r="5" fill=(colour) stroke=(PAPER) stroke-width="2" {}
            } },
            Style::Rings => html! { @for (_, (x, y)) in &places {
                circle cx=(n(*x)) cy=(n(*y)) r="7.5" fill="none" stroke=(PAPER) stroke-width="5" {}
                circle cx=(n(*x)) cy=(n(*y)) r="7.5" fill="none" stroke=(colour) stroke-width="2" {}
            } },
            _ => html! {},
        }
    }

    /// Returns the bar around a value at a pixel of the lower axis, with its ends.
    fn bar(&self, value: f64, length: f64, x: f64, colour: &str) -> Markup {
        if length.is_nan() || length <= 0.0 {
            return html! {};
        }
        let end = |value: f64| {
            let pixel = self.y.at(self.chart.y.place(value));
            pixel.clamp(self.y.end, self.y.start)
        };
        let (low, high) = (n(end(value - length)), n(end(value + length)));
        let (left, right) = (n(x - 3.0), n(x + 3.0));
        let path = format!("M{} {low}V{high}M{left} {low}H{right}M{left} {high}H{right}", n(x));
        html! { path fill="none" stroke=(colour) d=(path) {} }
    }

    /// Returns cells of a grid, the stronger the smaller the value.
    fn cells(&self, points: &[(f64, f64)], values: &[f64], colour: &str) -> Markup {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = values.iter().fold(start, |(low, high), &v| (low.min(v), high.max(v)));
        let places: Vec<(f64, f64)> =
            points.iter().map(|&(x, y)| (self.chart.x.place(x), self.chart.y.place(y))).collect();
        let distance = |of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = places.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            let steps = all.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 1e-9);
            steps.fold(f64::INFINITY, f64::min).min(1.0) / 2.0
        };
        let (half_width, half_height) = (distance(|at| at.0), distance(|at| at.1));
        html! { @for (&(x, y), value) in places.iter().zip(values) {
            @let share = if most > least { (value - least) / (most - least) } else { 0.0 };
            @let (left, right) = (self.x.at(x - half_width), self.x.at(x + half_width));
            @let (low, high) = (self.y.at(y - half_height), self.y.at(y + half_height));
            rect x=(n(left)) y=(n(high)) width=(n(right - left)) height=(n(low - high)) fill=(colour)
                fill-opacity=(format!("{:.3}", 1.0 - 0.92 * share)) {}
        } }
    }
}

/// Returns the number of the colour of a series, which is that of its marker and its dashes.
fn index(number: usize, series: &Series) -> usize {
    series.colour.unwrap_or(number) % COLOURS.len()
}

/// Returns true for points that are one place in the picture.
fn are_one(places: &[(usize, (f64, f64))]) -> bool {
    let is_near = |(x, y): (f64, f64)| {
        let first = places[0].1;
        (x - first.0).abs() < 0.5 && (y - first.1).abs() < 0.5
    };
    places.iter().all(|&(_, at)| is_near(at))
}

/// Returns the marker of a number, of half this width.
fn marker(index: usize, (x, y): (f64, f64), r: f64) -> Markup {
    let colour = COLOURS[index];
    let filled = |path: String| html! { path fill=(colour) d=(path) {} };
    let open =
        |path: String| html! { path fill="none" stroke=(colour) stroke-width="1.8" d=(path) {} };
    let (left, right, above, below) = (n(x - r), n(x + r), n(y - r), n(y + r));
    let (x, y) = (n(x), n(y));
    match index {
        0 => html! { circle cx=(x) cy=(y) r=(r) fill=(colour) {} },
        1 => filled(format!("M{left} {above}H{right}V{below}H{left}Z")),
        2 => filled(format!("M{left} {below}H{right}L{x} {above}Z")),
        3 => filled(format!("M{left} {y}L{x} {above}L{right} {y}L{x} {below}Z")),
        4 => open(format!("M{left} {above}L{right} {below}M{left} {below}L{right} {above}")),
        5 => open(format!("M{left} {y}H{right}M{x} {above}V{below}")),
        6 => filled(format!("M{left} {above}H{right}L{x} {below}Z")),
        _ => open(format!("M{left} {above}H{right}V{below}H{left}Z")),
    }
}

struct Legend {
    content: Markup,
    height: f64,
}

/// Returns the legend above the picture. A chart whose axis has the name of the only series has none.
fn legend(chart: &Chart) -> Legend {
    if matches!(&chart.series[..], [one] if one.name == chart.y.label) {
        return Legend { content: html! {}, height: 0.0 };
    }
    const BETWEEN: f64 = 18.0;
    const START: f64 = 8.0;
    let (mut x, mut y, mut content) = (START, 14.0, String::new());
    for (number, series) in chart.series.iter().enumerate() {
        let (name, length) = fitted(&series.name, WIDTH - START - SAMPLE - 12.0);
        let size = SAMPLE + 6.0 + width(&name);
        if x > START && x + size > WIDTH {
            (x, y) = (START, y + LINE);
        }
        let entry = html! {
            (sample(number, series, (x, y - 4.0)))
            text x=(n(x + SAMPLE + 6.0)) y=(n(y)) textLength=[length] { (name) }
        };
        content += &entry.into_string();
        x += size + BETWEEN;
    }
    Legend { content: PreEscaped(content), height: y + 6.0 }
}

/// Returns what a series looks like, to the left of its name.
fn sample(number: usize, series: &Series, (x, y): (f64, f64)) -> Markup {
    let index = index(number, series);
    let colour = COLOURS[index];
    let middle = (x + SAMPLE / 2.0, y);
    let line = |width: &str, dashes: &str| {
        let dashes = (!dashes.is_empty()).then_some(dashes);
        html! {
            path fill="none" stroke=(colour) stroke-width=(width) stroke-dasharray=[dashes]
                d={ "M" (n(x)) " " (n(y)) "h" (SAMPLE) } {}
        }
    };
    let circle = |radius: f64, filled: bool| {
        html! {
            circle cx=(n(middle.0)) cy=(n(middle.1)) r=(radius) stroke=(colour) stroke-width="1.8"
                fill=(if filled { colour } else { "none" }) {}
        }
    };
    match &series.style {
        Style::Line if series.points.len() > MOST_MARKERS => line("2", DASHES[index]),
        Style::Line | Style::Bars(_) => html! {
            (line("2", DASHES[index])) (marker(index, middle, 3.2))
        },
        Style::Beside(_) => marker(index, middle, 3.2),
        Style::Marks => circle(4.0, true),
        Style::Rings => circle(5.5, false),
        Style::Dots => circle(1.0, true),
        Style::Dashed => line("1.3", "4 4"),
        Style::Pieces => line("1.5", ""),
        Style::Cells(_) => html! {
            rect x=(n(middle.0 - 6.0)) y=(n(y - 6.0)) width="12" height="12" fill=(colour) {}
        },
    }
}

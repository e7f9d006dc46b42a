//! The crates of the workspace as a picture: a row a layer, what depends on nothing lowest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::crates::Arrows;

const BOX: (f64, f64) = (124.0, 36.0);
/// Distances between the centres of neighbours in a row, and between rows.
const STEP: (f64, f64) = (154.0, 88.0);
const MARGIN: f64 = 28.0;
/// Rounds of the search for an order with few crossings.
const SWEEPS: usize = 12;

const STYLE: &str = "
  svg { background: #ffffff; font: 15px system-ui, sans-serif; text-anchor: middle }
  rect { fill: #eef3f8; stroke: #41566b } text { fill: #14202b }
  path { fill: none; stroke: #41566b; stroke-width: 1.3 } marker path { fill: #41566b }
  @media (prefers-color-scheme: dark) {
    svg { background: #11171d }
    rect { fill: #22303d; stroke: #9db4ca } text { fill: #eaf1f8 }
    path { stroke: #9db4ca } marker path { fill: #9db4ca }
  }
";

/// Draws the crates that have arrows as SVG, for a light and a dark background.
pub(super) fn draw(arrows: &Arrows) -> String {
    let layers = Layers::new(arrows);
    let widest = layers.rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = STEP.0 * widest as f64 + 2.0 * MARGIN;
    let height = STEP.1 * layers.rows.len().saturating_sub(1) as f64 + BOX.1 + 2.0 * MARGIN;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<style>{STYLE}</style>\n\
         <marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 1 L8 4 L0 7 z\"/></marker>\n"
    );
    let places = layers.places(width / 2.0);
    for (from, used) in arrows {
        for to in used {
            let _ = writeln!(picture, "{}", arrow(&layers.route(from, to), &places));
        }
    }
    for (node, (x, y)) in &places {
        if let Node::Crate(name) = node {
            let (left, top, (wide, high)) = (x - BOX.0 / 2.0, y - BOX.1 / 2.0, BOX);
            let _ = writeln!(
                picture,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" rx=\"6\"/>\
                 <text x=\"{x}\" y=\"{}\">{name}</text>",
                y + 5.0
            );
        }
    }
    picture + "</svg>\n"
}

/// A place in a row: a crate, or an arrow on its way through the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node<'a> {
    Crate(&'a str),
    Pass { from: &'a str, to: &'a str, row: usize },
}

type Places<'a> = BTreeMap<Node<'a>, (f64, f64)>;

/// Crates and passing arrows in rows, the lowest first.
struct Layers<'a> {
    rows: Vec<Vec<Node<'a>>>,
    heights: BTreeMap<&'a str, usize>,
    links: Vec<(Node<'a>, Node<'a>)>,
}

impl<'a> Layers<'a> {
    fn new(arrows: &'a Arrows) -> Self {
        let used: BTreeSet<&str> = arrows.values().flatten().map(String::as_str).collect();
        let joined =
            arrows.iter().filter(|(name, below)| !below.is_empty() || used.contains(name.as_str()));
        let heights: BTreeMap<&str, usize> =
            joined.map(|(name, _)| (name.as_str(), height(arrows, name))).collect();
        let count = heights.values().max().map_or(0, |highest| highest + 1);
        let mut layers = Layers { rows: vec![Vec::new(); count], heights, links: Vec::new() };
        for (&name, &height) in &layers.heights {
            layers.rows[height].push(Node::Crate(name));
        }
        for (from, to) in
            arrows.iter().flat_map(|(from, used)| used.iter().map(move |to| (from, to)))
        {
            let route = layers.route(from, to);
            for node in &route[1..route.len() - 1] {
                if let Node::Pass { row, .. } = *node {
                    layers.rows[row].push(*node);
                }
            }
            layers.links.extend(route.windows(2).map(|link| (link[0], link[1])));
        }
        layers.untangle();
        layers
    }

    /// Returns an arrow as the nodes that it passes from row to row.
    fn route(&self, from: &'a str, to: &'a str) -> Vec<Node<'a>> {
        let between = self.heights[to] + 1..self.heights[from];
        let passes = between.rev().map(|row| Node::Pass { from, to, row });
        [Node::Crate(from)].into_iter().chain(passes).chain([Node::Crate(to)]).collect()
    }

    /// Orders each row by the mean places of the neighbours, upwards and downwards in turn.
    fn untangle(&mut self) {
        for sweep in 0..SWEEPS {
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            if sweep % 2 == 1 {
                order.reverse();
            }
            for row in order {
                let places = self.places(0.0);
                let mean = |node: &Node<'a>| {
                    let links = self.links.iter();
                    let ends = links.filter_map(|(above, below)| match node {
                        _ if node == above => Some(places[below].0),
                        _ if node == below => Some(places[above].0),
                        _ => None,
                    });
                    let (sum, count) =
                        ends.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
                    if count > 0.0 { sum / count } else { places[node].0 }
                };
                let mut nodes = self.rows[row].clone();
                nodes.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
                self.rows[row] = nodes;
            }
        }
    }

    /// Returns the centre of every node in rows about a vertical axis.
    fn places(&self, axis: f64) -> Places<'a> {
        let mut places = Places::new();
        for (height, row) in self.rows.iter().rev().enumerate() {
            let left = axis - STEP.0 * (row.len() as f64 - 1.0) / 2.0;
            let y = MARGIN + BOX.1 / 2.0 + STEP.1 * height as f64;
            places.extend(
                row.iter().enumerate().map(|(at, node)| (*node, (left + STEP.0 * at as f64, y))),
            );
        }
        places
    }
}

/// Returns the number of arrows on the longest way down from a crate.
fn height(arrows: &Arrows, name: &str) -> usize {
    let used = arrows.get(name).into_iter().flatten();
    used.map(|below| 1 + height(arrows, below)).max().unwrap_or(0)
}

/// Draws an arrow from the foot of its first crate to the head of its last.
fn arrow(route: &[Node<'_>], places: &Places<'_>) -> String {
    let half = |node: &Node<'_>| if matches!(node, Node::Crate(_)) { BOX.1 / 2.0 } else { 0.0 };
    let mut path = String::new();
    for link in route.windows(2) {
        let ((x, y), (below, foot)) = (places[&link[0]], places[&link[1]]);
        let (start, end) = (y + half(&link[0]), foot - half(&link[1]));
        if path.is_empty() {
            path = format!("M{x} {start}");
        }
        let middle = (start + end) / 2.0;
        let _ = write!(path, " C{x} {middle} {below} {middle} {below} {end}");
    }
    format!("<path d=\"{path}\" marker-end=\"url(#head)\"/>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(of: &[(&str, &[&str])]) -> Arrows {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        of.iter().map(|(name, used)| ((*name).to_owned(), names(used))).collect()
    }

    #[test]
    fn crates_stand_above_what_they_depend_on() {
        let arrows = arrows(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("alone", &[])]);
        let picture = draw(&arrows);
        assert!(!picture.contains(">alone<"));
        let layers = Layers::new(&arrows);
        let places = layers.places(0.0);
        let y = |name| places[&Node::Crate(name)].1;
        assert!(y("c") < y("b") && y("b") < y("a"));
        assert_eq!(picture.matches("marker-end").count(), 2);
    }

    #[test]
    fn long_arrows_keep_a_place_in_the_rows_between() {
        let arrows = arrows(&[("a", &[]), ("b", &[]), ("c", &["b"]), ("d", &["a", "c"])]);
        let layers = Layers::new(&arrows);
        assert!(layers.rows[1].contains(&Node::Pass { from: "d", to: "a", row: 1 }));
        assert_eq!(layers.route("d", "a").len(), 3);
    }

    #[test]
    fn rows_are_ordered_like_their_neighbours() {
        let arrows = arrows(&[("a", &[]), ("b", &[]), ("c", &["b"]), ("d", &["a"])]);
        let places = Layers::new(&arrows).places(0.0);
        let x = |name| places[&Node::Crate(name)].0;
        assert_eq!((x("c"), x("d")), (x("b"), x("a")));
    }

    #[test]
    fn no_crates_make_an_empty_picture() {
        assert!(!draw(&Arrows::new()).contains("<rect"));
    }
}

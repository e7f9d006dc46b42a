//! Figures 1, 2 and 3.

use margins::data::generate::GaussianMixture;
use margins::losses::{Hinge, LeakyHockeyStick, MarginLoss, PowerHockeyStick};

use super::comparison::stream;
use super::geometry::{Geometry, samples};
use crate::Failure;
use crate::figure::{Axis, Figure, Panel, Points, Series, Style, curve, line};

/// Returns the figure of the leaky hockey stick loss beside the hinge loss.
pub(crate) fn figure_1() -> Figure {
    let x = (-2.0, 6.0);
    let panel = Panel {
        key: "losses",
        title: "Leaky hockey stick and hinge loss".to_owned(),
        x: Axis { label: "margin u", range: x },
        y: Axis { label: "L(u)", range: (-2.2, 3.2) },
        series: vec![
            line("leaky hockey stick", curve(x, |u| LeakyHockeyStick.value(u))),
            line("hinge", curve(x, |u| Hinge.value(u))),
        ],
    };
    Figure { name: "lhs-fig1", panels: vec![panel] }
}

/// Returns the figure of the family between the line and the leaky hockey stick, to which it tends
/// as r grows.
pub(crate) fn figure_3() -> Result<Figure, Failure> {
    const EXPONENTS: [f64; 4] = [1.5, 2.0, 4.0, 10.0];
    let (x, y) = ((-2.0, 6.0), (-5.2, 3.2));
    let mut series = Vec::new();
    for r in EXPONENTS {
        let loss = PowerHockeyStick::new(r)?;
        series.push(line(format!("r = {r}"), curve(x, |u| loss.value(u))));
    }
    series.push(line("r to infinity: LHS", curve(x, |u| LeakyHockeyStick.value(u))));
    let reference = vec![(x.0, 1.0 - x.0), (x.1, 1.0 - x.1)];
    series.push(Series { name: "1 - u".to_owned(), points: reference, style: Style::Guide(5) });
    let panel = Panel {
        key: "losses",
        title: "Losses L_r of equation 15".to_owned(),
        x: Axis { label: "margin u", range: x },
        y: Axis { label: "L_r(u)", range: y },
        series,
    };
    Ok(Figure { name: "lhs-fig3", panels: vec![panel] })
}

/// Returns four geometries: the first two of a sequence of separable draws whose separators nearly
/// agree, and the first two whose separators do not.
///
/// Theorem 3 and both definitions of a margin in section 3.3 are without an intercept, so that all
/// separators go through the origin. Of *ten samples from each distribution* we take ten from each
/// normal distribution, thirty a class.
pub(crate) fn figure_2(seed: u64) -> Result<Figure, Failure> {
    /// Degrees between separators that nearly agree, at most, and between others, at least.
    const NEAR: f64 = 3.0;
    const FAR: f64 = 10.0;
    const MOST_DRAWS: usize = 1000;
    let mut random = stream(seed, 0, 0);
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for _ in 0..MOST_DRAWS {
        let separated = Separated::new(Geometry::draw(&mut random)?)?;
        let degrees = separated.degrees();
        if degrees <= NEAR && near.len() < 2 {
            near.push(separated);
        } else if degrees >= FAR && far.len() < 2 {
            far.push(separated);
        }
        if near.len() + far.len() == 4 {
            break;
        }
    }
    near.append(&mut far);
    let height = near.iter().map(Separated::reach).fold(0.0, f64::max) * 1.04;
    // So that an angle of the plane is that of the picture.
    let (width, height) = ((height * ASPECT).ceil(), (height * ASPECT).ceil() / ASPECT);
    let panels = near.iter().zip(["a", "b", "c", "d"]);
    let panels = panels.map(|(separated, key)| separated.panel(key, width, height)).collect();
    Ok(Figure { name: "lhs-fig2", panels })
}

/// Width over height of the plane in a panel.
const ASPECT: f64 = 1.5;

/// Samples with their separators, each the angle of its normal.
struct Separated {
    geometry: Geometry,
    machine: f64,
    product: f64,
}

impl Separated {
    /// Returns the separators, if both ways to the product of margins lead to the same direction.
    fn new(geometry: Geometry) -> Result<Self, Failure> {
        const AGREEMENT: f64 = 1e-6;
        let product = geometry.product_of_margins();
        let limit = geometry.limit_of_the_path()?;
        if (product - limit).abs() > AGREEMENT {
            return Err(format!(
                "the product of margins is largest at the angle {product}, and the path ends at {limit}"
            )
            .into());
        }
        let machine = geometry.largest_margin()?;
        Ok(Separated { geometry, machine, product })
    }

    fn degrees(&self) -> f64 {
        (self.machine - self.product).abs().to_degrees()
    }

    /// Returns half the height of a picture that has all samples in it.
    fn reach(&self) -> f64 {
        let reach = |(x, _): ([f64; 2], f64)| x[1].abs().max(x[0].abs() / ASPECT);
        samples(&self.geometry.data).map(reach).fold(0.0, f64::max)
    }

    fn panel(&self, key: &'static str, width: f64, height: f64) -> Panel {
        let dots = |name: &str, of: f64, colour: usize| {
            let inside = samples(&self.geometry.data).filter(|&(_, sign)| sign == of);
            let points = inside.map(|([x, y], _)| (x, y)).collect();
            Series { name: name.to_owned(), points, style: Style::Dots(colour) }
        };
        let separator = |name: &str, normal: f64, style: Style| Series {
            name: name.to_owned(),
            points: through_the_origin(normal, width, height),
            style,
        };
        Panel {
            key,
            title: format!("({key}) separators {:.1} degrees apart", self.degrees()),
            x: Axis { label: "x1", range: (-width, width) },
            y: Axis { label: "x2", range: (-height, height) },
            series: vec![
                dots("y = +1", 1.0, 0),
                dots("y = -1", -1.0, 1),
                Series {
                    name: "Bayes".to_owned(),
                    points: bayes_boundary(&self.geometry.mixture, width, height),
                    style: Style::Pieces(5),
                },
                separator("least margin (SVM)", self.machine, Style::Guide(4)),
                separator("product of margins (LHS)", self.product, Style::Pieces(2)),
            ],
        }
    }
}

/// Returns the line with this angle of its normal, from edge to edge.
fn through_the_origin(normal: f64, width: f64, height: f64) -> Points {
    let (x, y) = (-normal.sin(), normal.cos());
    let reach = (width / x.abs()).min(height / y.abs());
    vec![(-reach * x, -reach * y), (reach * x, reach * y)]
}

/// Returns the points where both classes are equally likely: the zero line of the logarithm of the
/// ratio of their densities, by linear interpolation on the two triangles of every square of a
/// grid.
fn bayes_boundary(mixture: &GaussianMixture, width: f64, height: f64) -> Points {
    const SQUARES: usize = 120;
    let at = |k: usize, reach: f64| (2.0 * k as f64 / SQUARES as f64 - 1.0) * reach;
    let corner = |i: usize, j: usize| {
        let (x, y) = (at(i, width), at(j, height));
        (x, y, mixture.log_density_ratio(&[x, y]))
    };
    let crossing = |a: (f64, f64, f64), b: (f64, f64, f64)| {
        let share = a.2 / (a.2 - b.2);
        let between = (a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1));
        ((a.2 > 0.0) != (b.2 > 0.0)).then_some(between)
    };
    let mut points = Points::new();
    for i in 0..SQUARES {
        for j in 0..SQUARES {
            for middle in [corner(i + 1, j), corner(i, j + 1)] {
                let (low, high) = (corner(i, j), corner(i + 1, j + 1));
                let edges = [(low, middle), (middle, high), (low, high)];
                points.extend(edges.into_iter().filter_map(|(a, b)| crossing(a, b)));
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::{Separated, figure_1, figure_2, figure_3};
    use crate::figure::digest;
    use crate::leaky_hockey_stick::comparison::stream;
    use crate::leaky_hockey_stick::geometry::Geometry;

    #[test]
    fn figures_keep_their_numbers() {
        insta::assert_snapshot!("fig1", digest(&figure_1()));
        insta::assert_snapshot!("fig2", digest(&figure_2(1).expect("four geometries")));
        insta::assert_snapshot!("fig3", digest(&figure_3().expect("valid parameters")));
    }

    #[test]
    fn the_machine_has_the_largest_least_margin() {
        let mut random = stream(7, 0, 0);
        for _ in 0..20 {
            let geometry = Geometry::draw(&mut random).expect("separable samples");
            let Separated { geometry, machine, .. } = Separated::new(geometry).expect("agreement");
            let least = geometry.least_margin(machine);
            assert!(least > 0.0);
            for step in 1..200 {
                for turn in [-1e-3, 1e-3] {
                    let other = geometry.least_margin(machine + turn * f64::from(step));
                    assert!(other < least, "{other} {least}");
                }
            }
        }
    }
}

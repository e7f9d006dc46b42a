//! Figures 1, 2 and 3.

use margins::data::generate::GaussianMixture;
use margins::losses::{Hinge, LeakyHockeyStick, MarginLoss, PowerHockeyStick};
use margins_experiments::Figure;
use margins_experiments::figure::{Axis, Points, Series, Style, between, curve, panel};

use super::comparison::stream;
use super::geometry::{Geometry, samples};
use crate::Failure;
use margins_report::page::chart::Chart;

/// Returns the figure of the leaky hockey stick loss beside the hinge loss, and what it shows.
pub(crate) fn figure_1() -> (Figure, String) {
    let x = (-2.0, 6.0);
    let lhs = curve(x, |u| LeakyHockeyStick.value(u));
    let hinge = curve(x, |u| Hinge.value(u));
    let up_to_one = lhs.iter().zip(&hinge).filter(|(lhs, _)| lhs.0 <= 1.0);
    let difference = up_to_one.map(|(lhs, hinge)| (lhs.1 - hinge.1).abs()).fold(0.0, f64::max);
    let finding = format!(
        "The losses {} up to the margin 1. Beyond it the hinge loss is 0, while the leaky hockey stick \
         goes on falling: it is {:.2} at the margin {}, and its slope {:.2}.",
        if difference == 0.0 { "agree" } else { "differ" },
        LeakyHockeyStick.value(x.1),
        x.1,
        LeakyHockeyStick.derivative(x.1)
    );
    let losses = panel(
        "losses",
        "Leaky hockey stick and hinge loss",
        [between("margin u", x), Axis::new("loss L(u)")],
        vec![Series::line("leaky hockey stick", lhs), Series::line("hinge", hinge)],
    );
    (Figure::new("lhs-fig1", vec![losses]), finding)
}

/// Returns the figure of the family between the line and the leaky hockey stick, to which it tends
/// as r grows, and what it shows.
pub(crate) fn figure_3() -> Result<(Figure, String), Failure> {
    const EXPONENTS: [f64; 4] = [1.5, 2.0, 4.0, 10.0];
    let x = (-2.0, 6.0);
    let mut series = Vec::new();
    for r in EXPONENTS {
        let loss = PowerHockeyStick::new(r)?;
        series.push(Series::line(format!("r = {r}"), curve(x, |u| loss.value(u))));
    }
    series.push(Series::line("r to infinity: LHS", curve(x, |u| LeakyHockeyStick.value(u))));
    let (mut agree, mut rise) = (true, true);
    for pair in series.windows(2) {
        for (low, high) in pair[0].points.iter().zip(&pair[1].points) {
            match low.0 > 1.0 {
                true => rise &= low.1 < high.1,
                false => agree &= low.1 == high.1,
            }
        }
    }
    let ends: Vec<String> = series
        .iter()
        .filter_map(|series| series.points.last())
        .map(|end| format!("{:.2}", end.1))
        .collect();
    let finding = format!(
        "The losses {} up to the margin 1, and beyond it they {} with r: at the margin {} they are {}, \
         the last being the leaky hockey stick; the line 1 - u is {:.2} there.",
        if agree { "agree" } else { "differ" },
        if rise { "rise" } else { "do not rise" },
        x.1,
        ends.join(", "),
        1.0 - x.1
    );
    let reference = vec![(x.0, 1.0 - x.0), (x.1, 1.0 - x.1)];
    series.push(Series::new("1 - u", reference, Style::Dashed));
    let losses = panel(
        "losses",
        "Losses L_r of equation 15",
        [between("margin u", x), Axis::new("loss L_r(u)")],
        series,
    );
    Ok((Figure::new("lhs-fig3", vec![losses]), finding))
}

/// Returns four geometries: the first two of a sequence of separable draws whose separators nearly
/// agree, and the first two whose separators do not; and how frequent either is among `draws`.
///
/// Theorem 3 and both definitions of a margin in section 3.3 are without an intercept, so that all
/// separators go through the origin. Of *ten samples from each distribution* we take ten from each
/// normal distribution, thirty a class.
pub(crate) fn figure_2(seed: u64, draws: usize) -> Result<(Figure, String), Failure> {
    /// Degrees between separators that nearly agree, at most, and between others, at least.
    const NEAR: f64 = 3.0;
    const FAR: f64 = 10.0;
    let mut random = stream(seed, 0, 0);
    let (mut near, mut far, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..draws {
        let geometry = Geometry::draw(&mut random)?;
        let turn = geometry.largest_least_margin() - geometry.product_of_margins();
        let degrees = turn.abs().to_degrees();
        all.push(degrees);
        if degrees <= NEAR && near.len() < 2 {
            near.push(Separated::new(geometry)?);
        } else if degrees >= FAR && far.len() < 2 {
            far.push(Separated::new(geometry)?);
        }
    }
    near.append(&mut far);
    all.sort_by(f64::total_cmp);
    let share = |of: &dyn Fn(f64) -> bool| {
        100.0 * all.iter().filter(|&&degrees| of(degrees)).count() as f64 / all.len() as f64
    };
    let finding = format!(
        "The pictures are selected: (a) and (b) are the first draws whose separators are at most {NEAR} \
         degrees apart, (c) and (d) the first ones with at least {FAR}. Of {draws} separable draws, \
         {:.0} % are of the first kind, {:.0} % of the second, and half are at most {:.1} degrees apart.",
        share(&|degrees| degrees <= NEAR),
        share(&|degrees| degrees >= FAR),
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    );
    let height = near.iter().map(Separated::reach).fold(0.0, f64::max) * 1.04;
    // So that an angle of the plane is that of the picture.
    let (width, height) = ((height * ASPECT).ceil(), (height * ASPECT).ceil() / ASPECT);
    let panels = near.iter().zip(["a", "b", "c", "d"]);
    let panels = panels.map(|(separated, key)| separated.panel(key, width, height)).collect();
    Ok((Figure::new("lhs-fig2", panels), finding))
}

/// Width over height of the plane in a panel.
const ASPECT: f64 = 1.65;

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

    fn panel(&self, key: &'static str, width: f64, height: f64) -> Chart {
        let dots = |name: &str, of: f64| {
            let inside = samples(&self.geometry.data).filter(|&(_, sign)| sign == of);
            Series::new(name, inside.map(|([x, y], _)| (x, y)).collect(), Style::Dots)
        };
        let separator = |name: &str, normal: f64, style: Style| {
            Series::new(name, through_the_origin(normal, width, height), style)
        };
        let boundary = bayes_boundary(&self.geometry.mixture, width, height);
        panel(
            key,
            format!("({key}) Separators {:.1} degrees apart", self.degrees()),
            [between("feature 1", (-width, width)), between("feature 2", (-height, height))],
            vec![
                dots("y = +1", 1.0),
                dots("y = -1", -1.0),
                Series::new("Bayes boundary", boundary, Style::Pieces).coloured(5),
                separator("largest minimal margin (SVM)", self.machine, Style::Dashed).coloured(3),
                separator("largest product of margins (LHS)", self.product, Style::Pieces)
                    .coloured(6),
            ],
        )
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
    use crate::digest::digest;
    use crate::leaky_hockey_stick::comparison::stream;
    use crate::leaky_hockey_stick::geometry::Geometry;

    #[test]
    fn figures_keep_their_numbers() {
        let (second, third) = (figure_2(1, 40).expect("draws"), figure_3().expect("parameters"));
        for (figure, finding) in [figure_1(), second, third] {
            let name = figure.name.trim_start_matches("lhs-");
            insta::assert_snapshot!(name, digest(&figure));
            insta::assert_snapshot!(format!("{name} finding"), finding);
        }
    }

    #[test]
    fn the_machine_has_the_largest_least_margin() {
        let mut random = stream(7, 0, 0);
        for _ in 0..20 {
            let geometry = Geometry::draw(&mut random).expect("separable samples");
            let Separated { geometry, machine, .. } = Separated::new(geometry).expect("agreement");
            let least = geometry.least_margin(machine);
            assert!(least > 0.0);
            assert!((geometry.largest_least_margin() - machine).abs() < 1e-6);
            for step in 1..200 {
                for turn in [-1e-3, 1e-3] {
                    let other = geometry.least_margin(machine + turn * f64::from(step));
                    assert!(other < least, "{other} {least}");
                }
            }
        }
    }
}

//! Figures 1, 2, 6 and 7 of *Classification using margin pursuit* (Holland 2019).

pub(crate) mod trajectories;

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use margins::calibration::MarginPursuitPsi;
use margins::calibration::cubic::getroot;
use margins::losses::catoni::{SATURATION, psi, psi_prime, rho};
use margins_experiments::Figure;
use margins_experiments::figure::{Axis, Points, Series, Style, between, curve, panel};

use crate::Failure;
use margins_report::page::chart::Chart;

/// The levels of figure 2 at scale 1.
const LEVELS: [(&str, f64); 5] = [
    ("gamma = sqrt(2)/2", FRAC_1_SQRT_2),
    ("gamma = sqrt(2) - 0.4", SQRT_2 - 0.4),
    ("gamma = sqrt(2) - 0.11", SQRT_2 - 0.11),
    ("gamma = sqrt(2) + 0.11", SQRT_2 + 0.11),
    ("gamma = 2 sqrt(2)", 2.0 * SQRT_2),
];

/// Colours of the guides at the level and at its distance from sqrt 2.
const LEVEL: usize = 4;
const DELTA: usize = 2;

/// Returns vertical lines at a distance to both sides of 0.
fn both_sides(name: &str, distance: f64, y: (f64, f64), colour: usize) -> Series {
    let points = vec![(-distance, y.0), (-distance, y.1), (distance, y.0), (distance, y.1)];
    Series::new(name, points, Style::Pieces).coloured(colour)
}

/// Returns the figure of rho with its first two derivatives, and what it shows.
pub(crate) fn figure_1() -> (Figure, String) {
    let x = (-3.0, 3.0);
    let [value, slope, second] = [rho, psi, psi_prime].map(|f| curve(x, f));
    let steepest = slope.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let beyond = second.iter().filter(|point| point.0.abs() > SQRT_2);
    let curvature = beyond.map(|point| point.1.abs()).fold(0.0, f64::max);
    let finding = format!(
        "The second derivative of rho is {:.0} at 0 and {curvature:.0} beyond sqrt 2, where rho is a \
         line. Its slope is at most {steepest:.3}, which bounds the pull of an outlier.",
        psi_prime(0.0)
    );
    let functions = panel(
        "rho",
        "The loss function of Catoni and Giulini",
        [between("u", x), Axis::new("value")],
        vec![
            Series::line("rho(u)", value),
            Series::line("rho'(u) = psi(u)", slope),
            Series::line("rho''(u)", second),
        ],
    );
    (Figure::new("margin-pursuit-fig1", vec![functions]), finding)
}

/// Returns the figure of H, Psi, and the inverse of Psi over the level and over the scale, and what it
/// shows.
pub(crate) fn figure_2() -> Result<(Figure, String), Failure> {
    const RISKS: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.4];
    const EPSILON: f64 = 0.5;
    const FIXED_LEVELS: [f64; 3] = [0.5, 1.0, 2.0];
    let unit = (0.0, 1.0);
    let transforms: Vec<(&str, MarginPursuitPsi)> = LEVELS
        .iter()
        .map(|&(name, gamma)| Ok((name, MarginPursuitPsi::new(gamma, 1.0)?)))
        .collect::<Result<_, margins::calibration::Error>>()?;
    let risk_of =
        |psi: &MarginPursuitPsi, eta: f64| psi.least_conditional_risk(eta).unwrap_or(f64::NAN);
    let h = transforms
        .iter()
        .map(|(name, psi)| Series::line(*name, curve(unit, |eta| risk_of(psi, eta))));
    let psi =
        transforms.iter().map(|(name, psi)| Series::line(*name, curve(unit, |a| psi.value(a))));
    let psi: Vec<Series> = psi.collect();

    let inverse = |gamma: f64, scale: f64, risk: f64| {
        MarginPursuitPsi::new(gamma, scale).map_or(f64::NAN, |psi| psi.inverse(risk))
    };
    let levels = (0.1, 4.0);
    let over_level = RISKS
        .iter()
        .map(|&a| Series::line(format!("a = {a}"), curve(levels, |gamma| inverse(gamma, 1.0, a))));
    let over_level: Vec<Series> = over_level.collect();
    let rises = psi.windows(2).all(|pair| never_above(&pair[0].points, &pair[1].points));
    let falling = |series: &Series| series.points.windows(2).all(|pair| pair[1].1 <= pair[0].1);
    let at = [10.0, 100.0, 1e4].map(|s| inverse(2.0, s, EPSILON / s));
    let undivided_at = [10.0, 1e4].map(|s| inverse(2.0, s, EPSILON));
    let finding = format!(
        "Psi {} with gamma at every excess, and its inverse at an excess surrogate risk {}. The paper \
         says that the inverse at eps/s levels off at a positive value as s grows. We find that it tends \
         to 0: for gamma = 2 it is {:.3}, {:.3} and {:.4} at s = 10, 100 and 10000. What levels off is \
         the inverse at eps: {:.3} and {:.3} at s = 10 and 10000.",
        if rises { "rises" } else { "does not rise" },
        if over_level.iter().all(falling) { "falls" } else { "does not fall" },
        at[0],
        at[1],
        at[2],
        undivided_at[0],
        undivided_at[1]
    );
    let scales = (0.1, 10.0);
    let over_scale = FIXED_LEVELS.iter().map(|&gamma| {
        Series::line(format!("gamma = {gamma}"), curve(scales, |s| inverse(gamma, s, EPSILON / s)))
    });
    // The text of the source says of eps/s what is true of eps: that the curve levels off.
    let undivided = Series::line("gamma = 2; at eps", curve(scales, |s| inverse(2.0, s, EPSILON)));
    let panels = vec![
        panel(
            "H",
            "Least conditional risk, s = 1",
            [between("eta", unit), Axis::new("H(eta)")],
            h.collect(),
        ),
        panel("Psi", "Psi-transform, s = 1", [between("a", unit), Axis::new("Psi(a)")], psi),
        panel(
            "inverse over gamma",
            "Inverse at an excess surrogate risk a, s = 1",
            [between("gamma", levels), Axis::new("inverse of Psi at a")],
            over_level,
        ),
        panel(
            "inverse over s",
            format!("Inverse at eps/s, eps = {EPSILON}"),
            [Axis::log("scale s"), Axis::new("inverse of Psi at eps/s")],
            over_scale.chain([undivided]).collect(),
        ),
    ];
    Ok((Figure::new("margin-pursuit-fig2", panels), finding))
}

/// Returns true if a curve is nowhere above another one at the same places.
fn never_above(low: &Points, high: &Points) -> bool {
    low.iter().zip(high).all(|(low, high)| low.1 <= high.1)
}

/// Returns the curve of `a u^3 + b u^2 + c u + d` over a range with its real roots there, and all of
/// them.
fn polynomial(
    [a, b, c, d]: [f64; 4],
    x: (f64, f64),
) -> Result<([Series; 2], Vec<f64>), margins::calibration::Error> {
    let roots = getroot(a, b, c, d)?.as_slice().to_vec();
    let inside = roots.iter().filter(|root| x.0 <= **root && **root <= x.1);
    let series = [
        Series::line("P(u)", curve(x, |u| ((a * u + b) * u + c) * u + d)),
        Series::new("real roots", inside.map(|&root| (root, 0.0)).collect(), Style::Marks),
    ];
    Ok((series, roots))
}

/// Returns numbers in words, as in `-1.23, 0.45`.
fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(|number| format!("{number:.3}")).collect::<Vec<_>>().join(", ")
}

/// Returns how far the nearest of some roots is from a number.
fn nearest(roots: &[f64], number: f64) -> f64 {
    roots.iter().map(|root| (root - number).abs()).fold(f64::INFINITY, f64::min)
}

/// Returns the figure of the double-cube condition at gamma = sqrt(2)/2, and what it shows.
pub(crate) fn figure_6() -> Result<(Figure, String), Failure> {
    const ETA: f64 = 0.7;
    let g = FRAC_1_SQRT_2;
    let alpha = (ETA - 1.0) / ETA;
    let coefficients = [
        1.0 - alpha,
        -3.0 * g * (1.0 + alpha),
        3.0 * (1.0 - alpha) * (g * g - 2.0),
        (1.0 + alpha) * (6.0 * g - g * g * g),
    ];
    let (x, y) = ((-3.0, 4.0), (-16.0, 16.0));
    let (series, roots) = polynomial(coefficients, x)?;
    let minimiser = MarginPursuitPsi::new(g, 1.0)?.minimizer(ETA)?;
    let inside: Vec<f64> = roots.iter().copied().filter(|root| root.abs() < g).collect();
    let finding = format!(
        "The polynomial has {} real roots, {}, where the text of the paper counts one. In (-gamma, \
         gamma), where the minimiser must be, there is {}; the minimiser is {minimiser:.3}.",
        roots.len(),
        listed(&roots),
        listed(&inside)
    );
    let mut series = Vec::from(series);
    series.push(both_sides("-gamma and gamma", g, y, LEVEL));
    let condition = panel(
        "double-cube",
        format!("Double-cube condition, gamma = sqrt(2)/2, eta = {ETA}"),
        [between("u", x), between("P(u)", y)],
        series,
    );
    Ok((Figure::new("margin-pursuit-fig6", vec![condition]), finding))
}

/// Returns the figure of the single-cube conditions at gamma = 2 sqrt(2) + 1/2, with their constant
/// terms corrected, and what it shows.
pub(crate) fn figure_7() -> Result<(Figure, String), Failure> {
    let g = 2.0 * SQRT_2 + 0.5;
    let delta = (SQRT_2 - g).abs();
    let transform = MarginPursuitPsi::new(g, 1.0)?;
    let mut findings = Vec::new();
    let mut of_sign = |key, title: &str, eta: f64, sign: f64| -> Result<Chart, Failure> {
        let alpha = (eta - 1.0) / eta;
        let constants = [
            6.0 * (g + alpha * SATURATION - g * g * g / 6.0),
            -6.0 * (g + SATURATION / alpha - g * g * g / 6.0),
        ];
        let [constant, printed] = if sign < 0.0 { constants } else { [constants[1], constants[0]] };
        let coefficients = |constant| [1.0, sign * 3.0 * g, 3.0 * g * g - 6.0, constant];
        let x = if sign < 0.0 { (-4.0, 7.0) } else { (-7.0, 4.0) };
        let y = (-60.0, 60.0);
        let (series, roots) = polynomial(coefficients(constant), x)?;
        let (_, of_printed) = polynomial(coefficients(printed), x)?;
        let minimiser = transform.minimizer(eta)?;
        let is_root = nearest(&roots, minimiser) < 1e-9;
        findings.push(format!(
            "At eta = {eta} the minimiser {minimiser:.3} {} of the condition with its constant term \
             corrected, which are {}. The condition as printed has {}, {:.2} away.",
            if is_root { "is one of the roots" } else { "is not one of the roots" },
            listed(&roots),
            listed(&of_printed),
            nearest(&of_printed, minimiser)
        ));
        let mut series = Vec::from(series);
        series.push(both_sides("-gamma and gamma", g, y, LEVEL));
        series.push(both_sides("-delta and delta", delta, y, DELTA));
        let title = format!("{title}, gamma = 2 sqrt(2) + 1/2, eta = {eta}");
        Ok(panel(key, title, [between("u", x), between("P(u)", y)], series))
    };
    let panels = vec![
        of_sign("minus", "Minus single-cube", 0.7, -1.0)?,
        of_sign("plus", "Plus single-cube", 0.3, 1.0)?,
    ];
    Ok((Figure::new("margin-pursuit-fig7", panels), findings.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::{figure_1, figure_2, figure_6, figure_7};
    use crate::digest::digest;

    #[test]
    fn figures_keep_their_numbers() {
        let figures = [figure_2(), figure_6(), figure_7()].map(|found| found.expect("a figure"));
        for (figure, finding) in figures.into_iter().chain([figure_1()]) {
            let name = figure.name.trim_start_matches("margin-pursuit-");
            insta::assert_snapshot!(name, digest(&figure));
            insta::assert_snapshot!(format!("{name} finding"), finding);
        }
    }
}

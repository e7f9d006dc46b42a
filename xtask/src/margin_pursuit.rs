//! Figures 1, 2, 6 and 7 of *Classification using margin pursuit* (Holland 2019).

pub(crate) mod trajectories;

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use margins::calibration::MarginPursuitPsi;
use margins::calibration::cubic::getroot;
use margins::losses::catoni::{SATURATION, psi, psi_prime, rho};

use crate::Failure;
use crate::figure::{Axis, Figure, Panel, Series, Style, curve, line};

/// The levels of figure 2 at scale 1.
const LEVELS: [(&str, f64); 5] = [
    ("gamma = sqrt(2)/2", FRAC_1_SQRT_2),
    ("gamma = sqrt(2) - 0.4", SQRT_2 - 0.4),
    ("gamma = sqrt(2) - 0.11", SQRT_2 - 0.11),
    ("gamma = sqrt(2) + 0.11", SQRT_2 + 0.11),
    ("gamma = 2 sqrt(2)", 2.0 * SQRT_2),
];

/// Colours of the guides at the level and at its distance from sqrt 2.
const LEVEL: Style = Style::Guide(4);
const DELTA: Style = Style::Guide(2);

fn vertical(name: &str, at: f64, y: (f64, f64), style: Style) -> Series {
    Series { name: name.to_owned(), points: vec![(at, y.0), (at, y.1)], style }
}

/// Returns the figure of rho with its first two derivatives.
pub(crate) fn figure_1() -> Figure {
    let x = (-3.0, 3.0);
    let panel = Panel {
        key: "rho",
        title: "The loss function of Catoni and Giulini".to_owned(),
        x: Axis { label: "u", range: x },
        y: Axis { label: "", range: (-1.2, 2.6) },
        series: vec![
            line("rho(u)", curve(x, rho)),
            line("rho'(u) = psi(u)", curve(x, psi)),
            line("rho''(u)", curve(x, psi_prime)),
        ],
    };
    Figure { name: "margin-pursuit-fig1", panels: vec![panel] }
}

/// Returns the figure of H, Psi, and the inverse of Psi over the level and over the scale.
pub(crate) fn figure_2() -> Result<Figure, Failure> {
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
    let h = transforms.iter().map(|(name, psi)| line(*name, curve(unit, |eta| risk_of(psi, eta))));
    let psi = transforms.iter().map(|(name, psi)| line(*name, curve(unit, |a| psi.value(a))));

    let inverse = |gamma: f64, scale: f64, risk: f64| {
        MarginPursuitPsi::new(gamma, scale).map_or(f64::NAN, |psi| psi.inverse(risk))
    };
    let levels = (0.1, 4.0);
    let over_level = RISKS
        .iter()
        .map(|&a| line(format!("a = {a}"), curve(levels, |gamma| inverse(gamma, 1.0, a))));
    let scales = (0.1, 10.0);
    let over_scale = FIXED_LEVELS.iter().map(|&gamma| {
        line(format!("gamma = {gamma}"), curve(scales, |s| inverse(gamma, s, EPSILON / s)))
    });
    // The text of the source says of eps/s what is true of eps: that the curve levels off.
    let undivided = line("gamma = 2; at eps", curve(scales, |s| inverse(2.0, s, EPSILON)));
    let inverse_range = (0.0, 1.05);
    let panels = vec![
        Panel {
            key: "H",
            title: "Least conditional risk, s = 1".to_owned(),
            x: Axis { label: "eta", range: unit },
            y: Axis { label: "H(eta)", range: (0.0, 3.2) },
            series: h.collect(),
        },
        Panel {
            key: "Psi",
            title: "Psi-transform, s = 1".to_owned(),
            x: Axis { label: "a", range: unit },
            y: Axis { label: "Psi(a)", range: (0.0, 2.3) },
            series: psi.collect(),
        },
        Panel {
            key: "inverse over gamma",
            title: "Inverse at an excess surrogate risk a, s = 1".to_owned(),
            x: Axis { label: "gamma", range: levels },
            y: Axis { label: "inverse of Psi at a", range: inverse_range },
            series: over_level.collect(),
        },
        Panel {
            key: "inverse over s",
            title: format!("Inverse at eps/s, eps = {EPSILON}"),
            x: Axis { label: "s", range: scales },
            y: Axis { label: "inverse of Psi at eps/s", range: inverse_range },
            series: over_scale.chain([undivided]).collect(),
        },
    ];
    Ok(Figure { name: "margin-pursuit-fig2", panels })
}

/// Returns the curve of `a u^3 + b u^2 + c u + d` over a range, with its real roots.
fn polynomial(
    [a, b, c, d]: [f64; 4],
    x: (f64, f64),
) -> Result<[Series; 2], margins::calibration::Error> {
    let roots = getroot(a, b, c, d)?;
    let inside = roots.as_slice().iter().filter(|root| x.0 <= **root && **root <= x.1);
    Ok([
        line("P(u)", curve(x, |u| ((a * u + b) * u + c) * u + d)),
        Series {
            name: "real roots".to_owned(),
            points: inside.map(|&root| (root, 0.0)).collect(),
            style: Style::Marks,
        },
    ])
}

/// Returns the figure of the double-cube condition at gamma = sqrt(2)/2.
pub(crate) fn figure_6() -> Result<Figure, Failure> {
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
    let mut series = Vec::from(polynomial(coefficients, x)?);
    series.push(vertical("-gamma", -g, y, LEVEL));
    series.push(vertical("gamma", g, y, LEVEL));
    let panel = Panel {
        key: "double-cube",
        title: format!("Double-cube condition, gamma = sqrt(2)/2, eta = {ETA}"),
        x: Axis { label: "u", range: x },
        y: Axis { label: "P(u)", range: y },
        series,
    };
    Ok(Figure { name: "margin-pursuit-fig6", panels: vec![panel] })
}

/// Returns the figure of the single-cube conditions at gamma = 2 sqrt(2) + 1/2, with their constant
/// terms corrected.
pub(crate) fn figure_7() -> Result<Figure, Failure> {
    let g = 2.0 * SQRT_2 + 0.5;
    let delta = (SQRT_2 - g).abs();
    let panel = |key, title: &str, eta: f64, sign: f64| -> Result<Panel, Failure> {
        let alpha = (eta - 1.0) / eta;
        let constant = if sign < 0.0 {
            6.0 * (g + alpha * SATURATION - g * g * g / 6.0)
        } else {
            -6.0 * (g + SATURATION / alpha - g * g * g / 6.0)
        };
        let coefficients = [1.0, sign * 3.0 * g, 3.0 * g * g - 6.0, constant];
        let x = if sign < 0.0 { (-4.0, 7.0) } else { (-7.0, 4.0) };
        let y = (-60.0, 60.0);
        let mut series = Vec::from(polynomial(coefficients, x)?);
        for (name, at, style) in [
            ("-gamma", -g, LEVEL),
            ("gamma", g, LEVEL),
            ("-delta", -delta, DELTA),
            ("delta", delta, DELTA),
        ] {
            series.push(vertical(name, at, y, style));
        }
        Ok(Panel {
            key,
            title: format!("{title}, gamma = 2 sqrt(2) + 1/2, eta = {eta}"),
            x: Axis { label: "u", range: x },
            y: Axis { label: "P(u)", range: y },
            series,
        })
    };
    Ok(Figure {
        name: "margin-pursuit-fig7",
        panels: vec![
            panel("minus", "Minus single-cube", 0.7, -1.0)?,
            panel("plus", "Plus single-cube", 0.3, 1.0)?,
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::{figure_1, figure_2, figure_6, figure_7};
    use crate::figure::digest;

    #[test]
    fn figures_keep_their_numbers() {
        insta::assert_snapshot!("fig1", digest(&figure_1()));
        insta::assert_snapshot!("fig2", digest(&figure_2().expect("valid parameters")));
        insta::assert_snapshot!("fig6", digest(&figure_6().expect("valid parameters")));
        insta::assert_snapshot!("fig7", digest(&figure_7().expect("valid parameters")));
    }
}

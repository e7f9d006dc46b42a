//! Pictures for the docs: every loss beside its derivative, and a path of errors.

mod error_path;

use std::path::Path;

use margins::losses::{LossRegistry, MarginLoss};
use margins::model::write_atomically;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::Outcome;

/// Specification and file name of every picture.
const LOSSES: [(&str, &str); 15] = [
    ("lhs", "lhs"),
    ("l-r:r=2", "l-r"),
    ("margin-pursuit:gamma=1,scale=1", "margin-pursuit"),
    ("log-cosh:gamma=1,scale=1", "log-cosh"),
    ("leaky-relu:lambda=0.1", "leaky-relu"),
    ("hinge", "hinge"),
    ("squared-hinge", "squared-hinge"),
    ("smoothed-hinge:width=1", "smoothed-hinge"),
    ("modified-huber", "modified-huber"),
    ("dwd:q=1", "dwd"),
    ("logistic", "logistic"),
    ("exponential", "exponential"),
    ("squared", "squared"),
    ("garg-roth:alpha=1,beta=1", "garg-roth"),
    ("zero-one", "zero-one"),
];

const MARGINS: (f64, f64) = (-2.0, 4.0);
const VALUES: (f64, f64) = (-2.5, 3.5);

pub(crate) fn draw(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    let registry = LossRegistry::standard();
    for (specification, name) in LOSSES {
        let loss = registry.parse(specification)?;
        let file = folder.join(format!("{name}.svg"));
        draw_loss(&*loss, &file)?;
        println!("{}", file.display());
    }
    let file = folder.join("error-path.svg");
    let picture = error_path::figure()?.svg()?;
    write_atomically(&file, |out| out.write_all(picture.as_bytes()))?;
    println!("{}", file.display());
    Ok(())
}

fn draw_loss(loss: &dyn MarginLoss, file: &Path) -> Outcome {
    let root = SVGBackend::new(file, (480, 320)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .caption(loss.specification(), ("sans-serif", 18))
        .x_label_area_size(34)
        .y_label_area_size(36)
        .build_cartesian_2d(MARGINS.0..MARGINS.1, VALUES.0..VALUES.1)?;
    chart
        .configure_mesh()
        .x_desc("margin u")
        .x_labels(7)
        .y_labels(7)
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .draw()?;
    let blue = RGBColor(0, 90, 181);
    let red = RGBColor(220, 50, 32);
    for (k, curve) in curves(|u| loss.value(u)).into_iter().enumerate() {
        let series = chart.draw_series(LineSeries::new(curve, blue.stroke_width(2)))?;
        if k == 0 {
            series.label("L(u)").legend(move |(x, y)| {
                PathElement::new([(x, y), (x + 20, y)], blue.stroke_width(2))
            });
        }
    }
    for (k, curve) in curves(|u| loss.derivative(u)).into_iter().enumerate() {
        let dashes = DashedLineSeries::new(curve, 6, 4, red.stroke_width(2));
        let series = chart.draw_series(dashes)?;
        if k == 0 {
            series.label("L'(u)").legend(move |(x, y)| {
                DashedPathElement::new([(x, y), (x + 20, y)], 6, 4, red.stroke_width(2))
            });
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperMiddle)
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

/// Returns the graph in pieces, cut at jumps and where it leaves the picture.
fn curves(f: impl Fn(f64) -> f64) -> Vec<Vec<(f64, f64)>> {
    const STEPS: usize = 1200;
    const JUMP: f64 = 0.2;
    let mut pieces = vec![Vec::new()];
    let mut previous: Option<f64> = None;
    for k in 0..=STEPS {
        let u = MARGINS.0 + (MARGINS.1 - MARGINS.0) * k as f64 / STEPS as f64;
        let value = f(u);
        let inside = (VALUES.0..=VALUES.1).contains(&value);
        if !inside || previous.is_some_and(|last| (value - last).abs() > JUMP) {
            pieces.push(Vec::new());
        }
        if inside && let Some(piece) = pieces.last_mut() {
            piece.push((u, value));
        }
        previous = inside.then_some(value);
    }
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

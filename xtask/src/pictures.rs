//! Pictures for the docs: every loss beside its derivative, and a path of errors.

mod error_path;

use std::path::Path;

use crate::Outcome;
use margins::losses::{LossRegistry, MarginLoss};
use margins::model::write_atomically;
use margins_experiments::Figure;
use margins_experiments::figure::{Points, Series, between, panel};

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
    let picture = error_path::figure()?.svg();
    write_atomically(&file, |out| out.write_all(picture.as_bytes()))?;
    println!("{}", file.display());
    Ok(())
}

fn draw_loss(loss: &dyn MarginLoss, file: &Path) -> Outcome {
    let losses = panel(
        "loss",
        loss.specification(),
        [between("margin u", MARGINS), between("value", VALUES)],
        vec![
            Series::line("L(u)", graph(|u| loss.value(u))),
            Series::line("L'(u)", graph(|u| loss.derivative(u))),
        ],
    );
    let picture = Figure::new("loss", vec![losses]).svg();
    write_atomically(file, |out| out.write_all(picture.as_bytes()))?;
    Ok(())
}

/// Returns a graph, with NaN at jumps and where it leaves the picture, so that the line ends there.
fn graph(f: impl Fn(f64) -> f64) -> Points {
    const STEPS: usize = 1200;
    const JUMP: f64 = 0.2;
    let (mut points, mut previous) = (Points::new(), f64::NAN);
    for k in 0..=STEPS {
        let u = MARGINS.0 + (MARGINS.1 - MARGINS.0) * k as f64 / STEPS as f64;
        let value = f(u);
        if (value - previous).abs() > JUMP {
            points.push((u, f64::NAN));
        }
        let inside = (VALUES.0..=VALUES.1).contains(&value);
        points.push((u, if inside { value } else { f64::NAN }));
        previous = value;
    }
    points
}

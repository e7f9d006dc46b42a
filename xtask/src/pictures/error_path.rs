//! The cross-validated error along lambda with the certificates of its fits.

use margins::Classifier;
use margins::data::generate::{Example, GaussianMixture};
use margins::optim::ErrorCurve;

use crate::Failure;
use crate::figure::{Axis, Figure, Panel, Points, Series, Style, line};

const POWERS: (f64, f64) = (-7.0, 0.0);

/// Cross-validates what `margins cv --data mixture:example=1,n=200,seed=1 --loss lhs` does.
pub(super) fn figure() -> Result<Figure, Failure> {
    let data = GaussianMixture::example(Example::One, 1)?.sample(200, 1)?;
    let classifier = Classifier::builder().loss_named("lhs").seed(1).build()?.fit(&data)?;
    let curve = classifier.report().curve.as_ref().ok_or("no curve of a cross-validation")?;
    let panels = vec![errors(curve), gaps(curve)];
    Ok(Figure { name: "error-path", panels })
}

fn along(curve: &ErrorCurve, values: impl Iterator<Item = f64>) -> Points {
    curve.lambdas.iter().map(|lambda| lambda.get().log10()).zip(values).collect()
}

fn errors(curve: &ErrorCurve) -> Panel {
    let mean = || curve.mean_error.iter().copied();
    let bars = curve.lambdas.iter().zip(mean().zip(&curve.standard_error));
    let ends = bars.flat_map(|(lambda, (error, spread))| {
        let place = lambda.get().log10();
        [(place, 100.0 * (error - spread)), (place, 100.0 * (error + spread))]
    });
    let chosen = along(curve, mean().map(|error| 100.0 * error))[curve.best];
    Panel {
        key: "error",
        title: "Leaky hockey stick, 200 rows, 5 folds".to_owned(),
        x: Axis { label: "log10 of lambda", range: POWERS },
        y: Axis { label: "error in percent", range: (0.0, 50.0) },
        series: vec![
            Series {
                name: "standard error".to_owned(),
                points: ends.collect(),
                style: Style::Pieces(5),
            },
            line("cross-validated error", along(curve, mean().map(|error| 100.0 * error))),
            Series { name: "chosen".to_owned(), points: vec![chosen], style: Style::Marks },
        ],
    }
}

fn gaps(curve: &ErrorCurve) -> Panel {
    // A gap of 0 is shown at the rounding of doubles.
    let gaps = curve.worst_relative_gap.iter().map(|gap| gap.max(1e-16).log10());
    let tolerance = vec![(POWERS.0, -6.0), (POWERS.1, -6.0)];
    Panel {
        key: "gap",
        title: "The certificate: largest gap of the fits".to_owned(),
        x: Axis { label: "log10 of lambda", range: POWERS },
        y: Axis { label: "log10 of the relative gap", range: (-17.0, -3.0) },
        series: vec![
            Series {
                name: "largest gap of five folds".to_owned(),
                points: along(curve, gaps),
                style: Style::Dots(0),
            },
            Series { name: "tolerance".to_owned(), points: tolerance, style: Style::Guide(1) },
        ],
    }
}

//! The cross-validated error along lambda with the certificates of its fits.

use margins::Classifier;
use margins::data::generate::{Example, GaussianMixture};
use margins::optim::ErrorCurve;
use margins_experiments::Figure;
use margins_experiments::figure::{Axis, Points, Series, Style, panel};

use crate::Failure;
use margins_report::page::chart::Chart;

/// Cross-validates what `margins cv --data mixture:example=1,n=200,seed=1 --loss lhs` does.
pub(super) fn figure() -> Result<Figure, Failure> {
    let data = GaussianMixture::example(Example::One, 1)?.sample(200, 1)?;
    let classifier = Classifier::builder().loss_named("lhs").seed(1).build()?.fit(&data)?;
    let curve = classifier.report().curve.as_ref().ok_or("no curve of a cross-validation")?;
    let panels = vec![errors(curve), gaps(curve)];
    Ok(Figure::new("error-path", panels))
}

fn along(curve: &ErrorCurve, values: impl Iterator<Item = f64>) -> Points {
    curve.lambdas.iter().map(|lambda| lambda.get()).zip(values).collect()
}

fn errors(curve: &ErrorCurve) -> Chart {
    let percent = |shares: &[f64]| shares.iter().map(|share| 100.0 * share).collect::<Vec<_>>();
    let points = along(curve, percent(&curve.mean_error).into_iter());
    let chosen = points[curve.best];
    panel(
        "error",
        "Leaky hockey stick, 200 rows, 5 folds",
        [Axis::log("lambda"), Axis::new("error, %")],
        vec![
            Series::new("mean over folds", points, Style::Bars(percent(&curve.standard_error))),
            Series::new("chosen", vec![chosen], Style::Marks),
        ],
    )
}

fn gaps(curve: &ErrorCurve) -> Chart {
    // A gap of 0 is shown at the rounding of doubles.
    let gaps = curve.worst_relative_gap.iter().map(|gap| gap.max(1e-16));
    panel(
        "gap",
        "Certificates: the largest gap of the fits",
        [Axis::log("lambda"), Axis::log("relative duality gap")],
        vec![
            Series::new("largest of five folds", along(curve, gaps), Style::Dots),
            Series::new("tolerance", along(curve, std::iter::repeat(1e-6)), Style::Dashed),
        ],
    )
}

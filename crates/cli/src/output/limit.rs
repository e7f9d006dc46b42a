//! The limit of a path of separable classes.

use margins::data::digits::gap;
use margins::estimators::regularised::DataSummary;
use margins::optim::path::SeparableLimit;
use serde::Serialize;

use super::data::DataDocument;
use super::table::number;
use super::{Lines, VERSION};

/// The limit of a path.
#[derive(Serialize)]
pub(crate) struct LimitDocument<'a> {
    format: &'static str,
    version: u32,
    data: DataDocument,
    loss: String,
    exponent: f64,
    first_lambda: f64,
    first_size: f64,
    power: f64,
    least_margin: f64,
    criterion: f64,
    relative_gap: f64,
    iterations: usize,
    coef: &'a [f64],
}

impl<'a> LimitDocument<'a> {
    pub(crate) fn new(
        name: &str,
        data: &DataSummary,
        loss: String,
        found: &'a SeparableLimit,
    ) -> Self {
        LimitDocument {
            format: "margins-limit",
            version: VERSION,
            data: DataDocument::new(name, data),
            loss,
            exponent: found.exponent,
            first_lambda: found.first_lambda,
            first_size: found.first_size(),
            power: found.power(),
            least_margin: found.least_margin,
            criterion: found.criterion,
            relative_gap: found.relative_gap,
            iterations: found.iterations,
            coef: &found.coef,
        }
    }
}

/// Returns the lines on the limit.
pub(crate) fn describe_limit(loss: String, found: &SeparableLimit) -> Lines {
    let zeros = found.coef.iter().filter(|w| **w == 0.0).count();
    vec![
        ("loss", loss),
        ("penalty", format!("lambda * sum |w|^{}", number(found.exponent))),
        ("first lambda", number(found.first_lambda)),
        (
            "minimiser",
            format!(
                "{} * ({}/lambda)^{} * coefficient, for lambda up to the first",
                number(found.first_size()),
                number(found.first_lambda),
                number(found.power())
            ),
        ),
        ("least margin", number(found.least_margin)),
        ("criterion", number(found.criterion)),
        ("relative gap", gap(found.relative_gap)),
        ("coefficients", format!("{}, {zeros} of them zero", found.coef.len())),
    ]
}

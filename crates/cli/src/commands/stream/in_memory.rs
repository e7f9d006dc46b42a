//! Stochastic gradient in epochs over data in memory, with a certificate.

use margins::Prepared;
use margins::data::Dataset;
use margins::data::metrics::{is_mistake, mistake_rate};
use margins::estimators::regularised::DataSummary;
use margins::estimators::stream::Settings;
use margins::optim::Fit;

use super::document;
use crate::arguments::stream::StreamArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::messages::step;
use crate::output::data::{DataDocument, describe};
use crate::output::files::report;
use crate::output::fits::{FitDocument, PathDocument, describe_fit, write_history};
use crate::output::model::save;
use crate::output::table::facts;
use crate::output::warnings::refuse_contradiction;
use crate::output::{VERSION, write_json};

pub(super) fn fit(arguments: &StreamArguments, settings: &Settings) -> Result<(), Failure> {
    let StreamArguments { memory, output: to, .. } = arguments;
    let data = arguments.source().dataset()?;
    let fitted = step("fitting", || settings.fit(&data))?;
    let (fit, loss) = (&fitted.fits[0], fitted.loss.specification());
    refuse_contradiction(&loss, &[fit.report.status])?;
    if let Some(path) = &memory.history {
        write_history(path, fit, data.rows())?;
    }
    if let Some(path) = to.out() {
        save(&fitted.model, path)?;
    }
    let outputs = [to.out(), memory.history.as_deref()];
    let name = &arguments.data.name();
    match to.format() {
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-fit",
                version: VERSION,
                data: DataDocument::new(name, &DataSummary::of(&data)),
                training: document(arguments, loss),
                fits: vec![FitDocument::new(fit, None)],
                platt: None,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let data = settings.class_costs.weigh(data)?;
            let mut lines = describe(name, &DataSummary::of(&data));
            lines.push(("loss", loss));
            lines.extend(describe_fit(fit, None, training_error(fit, &data)?));
            report(outputs, |out| facts(out, &lines))
        }
    }
}

/// Returns the share of training samples on the wrong side, by their weights.
fn training_error(fit: &Fit, data: &Dataset) -> Result<f64, Failure> {
    let scores = Prepared::linear(data).scores(fit)?;
    let signs = data.labels().signs();
    let wrong: Vec<bool> = scores.iter().zip(signs).map(|(&f, &y)| is_mistake(f, y)).collect();
    Ok(mistake_rate(&wrong, data.weights())?.rate)
}

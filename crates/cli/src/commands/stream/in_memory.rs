//! Stochastic gradient in epochs over data in memory, with a certificate.

use margins::data::Dataset;
use margins::data::metrics::{is_mistake, mistake_rate};
use margins::losses::MarginLoss;
use margins::optim::online::stochastic::StochasticGradient;
use margins::optim::{ClassWeights, Fit, Training};
use margins::{ClassCosts, Prepared, data_driven_scale};

use super::{document, margin_pursuit};
use crate::arguments::stream::StreamArguments;
use crate::arguments::values::{ClassWeight, OutputFormat};
use crate::failure::Failure;
use crate::output::data::{DataDocument, describe};
use crate::output::files::report;
use crate::output::fits::{FitDocument, PathDocument, describe_fit, write_history};
use crate::output::model::save_fit;
use crate::output::table::facts;
use crate::output::{VERSION, write_json};

pub(super) fn fit(
    arguments: &StreamArguments,
    loss: Box<dyn MarginLoss>,
    method: &StochasticGradient,
) -> Result<(), Failure> {
    let StreamArguments { memory, penalty, output: to, .. } = arguments;
    let data = weighed(arguments)?;
    let (fit, rescaled) = run(arguments, &*loss, &data, method)?;
    let loss = rescaled.unwrap_or(loss);
    if let Some(path) = &memory.history {
        write_history(path, &fit, data.rows())?;
    }
    let prepared = Prepared::linear(&data);
    if let Some(path) = to.out() {
        save_fit(prepared.model(&*loss, penalty.standardize, &fit), path)?;
    }
    let outputs = [to.out(), memory.history.as_deref()];
    let name = arguments.data.name();
    match to.format() {
        OutputFormat::Json => {
            let document = PathDocument {
                format: "margins-fit",
                version: VERSION,
                data: DataDocument::new(name, &data),
                training: document(arguments, &*loss),
                fits: vec![FitDocument::from(&fit)],
                platt: None,
            };
            report(outputs, |out| write_json(out, &document))
        }
        OutputFormat::Table => {
            let mut lines = describe(name, &data);
            lines.push(("loss", loss.specification()));
            lines.extend(describe_fit(&fit, training_error(&prepared, &fit, &data)?));
            report(outputs, |out| facts(out, &lines))
        }
    }
}

/// Returns the data with the costs of their classes.
fn weighed(arguments: &StreamArguments) -> Result<Dataset, Failure> {
    let data = arguments.data.source().dataset()?;
    match &arguments.loss.class_weight {
        ClassWeight::Costs(costs) => Ok(ClassCosts::new(costs.clone())?.weigh(data)?),
        ClassWeight::None | ClassWeight::Balanced => Ok(data),
    }
}

/// Returns the fit, with its loss if that was re-scaled on the way.
fn run(
    arguments: &StreamArguments,
    loss: &dyn MarginLoss,
    data: &Dataset,
    method: &StochasticGradient,
) -> Result<(Fit, Option<Box<dyn MarginLoss>>), Failure> {
    let lambda = arguments.lambda;
    let training = Training {
        intercept: !arguments.penalty.no_intercept,
        standardize: arguments.penalty.standardize,
        class_weights: match arguments.loss.class_weight {
            ClassWeight::Balanced => ClassWeights::Balanced,
            ClassWeight::None | ClassWeight::Costs(_) => ClassWeights::AsGiven,
        },
        ..Training::new(loss)
    };
    let wrong = margins::Error::Optim;
    let Some(at) = arguments.memory.rescale_at else {
        return Ok((training.stochastic(data, lambda, method).map_err(wrong)?, None));
    };
    let Some((gamma, scale)) = margin_pursuit(loss) else {
        return Err(Failure::usage("--rescale-at is for the loss margin-pursuit"));
    };
    let rule = data_driven_scale(gamma, scale, lambda);
    let fit = training.stochastic_rescaled(data, lambda, method, at, rule);
    let (fit, rescaled) = fit.map_err(wrong)?;
    Ok((fit, Some(rescaled)))
}

/// Returns the share of training samples on the wrong side, by their weights.
fn training_error(prepared: &Prepared<'_>, fit: &Fit, data: &Dataset) -> Result<f64, Failure> {
    let scores = prepared.scores(fit)?;
    let signs = data.labels().signs();
    let wrong: Vec<bool> = scores.iter().zip(signs).map(|(&f, &y)| is_mistake(f, y)).collect();
    Ok(mistake_rate(&wrong, data.weights())?.rate)
}

//! The command that describes data, or a model.

mod columns;

use std::path::Path;

use margins::Registry;
use margins::calibration::least_risk::{LeastRisk, share_without_noise};
use margins::data::{ClassLabels, Classes, Dataset, Standardizer, same_class};
use margins::estimators::regularised::DataSummary;
use margins::optim::Lambda;

use crate::arguments::data::Source;
use crate::arguments::inspect::InspectArguments;
use crate::arguments::values::OutputFormat;
use crate::failure::Failure;
use crate::output::data::ClassDocument;
use crate::output::files::emit;
use crate::output::inspection::{
    BayesError, Feature, InspectionDocument, LeastRiskDocument, NoiselessShare,
};
use crate::output::model::{write_model, write_page};
use crate::output::{VERSION, write_json};
use crate::simulation::Simulation;
use crate::source::{read_model_at, read_models};

pub(super) fn inspect(registry: &Registry, arguments: &InspectArguments) -> Result<(), Failure> {
    let format = arguments.output.format;
    match (&arguments.model, arguments.source()) {
        (Some(path), _) => match arguments.lambda {
            Some(lambda) => inspect_model_at(registry, path, lambda, format),
            None => inspect_model(registry, path, format),
        },
        (None, Some(source)) => {
            let loss = arguments.loss.as_deref();
            inspect_data(registry, source, loss, format)
        }
        (None, None) => Err(Failure::usage("one of --model and --data is needed")),
    }
}

fn inspect_model(registry: &Registry, path: &Path, format: OutputFormat) -> Result<(), Failure> {
    let (header, models) = read_models(path, registry)?;
    emit(None, |out| match format {
        OutputFormat::Json => write_json(out, &models),
        OutputFormat::Table => write_page(out, path, &header, &models),
    })
}

fn inspect_model_at(
    registry: &Registry,
    path: &Path,
    lambda: Lambda,
    format: OutputFormat,
) -> Result<(), Failure> {
    let (header, model) = read_model_at(path, Some(lambda), registry)?;
    emit(None, |out| match format {
        OutputFormat::Json => write_json(out, &model),
        OutputFormat::Table => write_model(out, path, &header, &model),
    })
}

fn inspect_data(
    registry: &Registry,
    source: Source<'_>,
    loss: Option<&str>,
    format: OutputFormat,
) -> Result<(), Failure> {
    let simulation = source.simulation()?;
    let log_odds = simulation.as_ref().and_then(Simulation::log_odds);
    if loss.is_some() && log_odds.is_none() {
        return Err(Failure::usage(
            "--loss needs class probabilities, which only --data mixture:... has. Leave it out",
        ));
    }
    let least = log_odds.map(|log_odds| least_risk(registry, loss.unwrap_or("lhs"), &log_odds));
    let least_risk = least.transpose()?;
    let data = source.to_describe()?;
    let mut document = InspectionDocument { least_risk, ..describe(source, &data)? };
    if let Some(simulation) = simulation {
        let (rate, error) = simulation.bayes_error()?;
        document.bayes_error = Some(BayesError { rate, error });
    }
    emit(None, |out| match format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write_table(out),
    })
}

/// Returns the lowest risk of a loss over all functions, and how much of the data has hardly any label
/// noise.
fn least_risk(
    registry: &Registry,
    loss: &str,
    log_odds: &[f64],
) -> Result<LeastRiskDocument, Failure> {
    let loss = registry.losses.parse(loss).map_err(Failure::usage)?;
    let least = LeastRisk::of(&*loss, log_odds).map_err(Failure::job)?;
    let shares = [0.1, 0.01].map(|delta| {
        let share = share_without_noise(log_odds, delta).map_err(Failure::job)?;
        Ok::<_, Failure>(NoiselessShare { delta, share })
    });
    Ok(LeastRiskDocument {
        loss: loss.specification(),
        risk: least.risk,
        error: least.standard_error,
        noiseless: shares.into_iter().collect::<Result<_, _>>()?,
    })
}

/// Returns the positive class, by its index, and the negative one, of two; `None` for more classes.
fn signs_of(source: Source<'_>, names: &[String]) -> Result<Option<(usize, usize)>, Failure> {
    match (names, source.positive) {
        ([_, _], None) => Ok(Some((1, 0))),
        ([one, other], Some(positive)) => {
            match [one, other].iter().position(|name| same_class(name, positive)) {
                Some(at) => Ok(Some((at, 1 - at))),
                None => Err(Failure::job(format!(
                    "{}: the positive class '{positive}' is not one of the classes, '{one}' and '{other}'",
                    source.file.name()
                ))),
            }
        }
        (_, None) => Ok(None),
        (several, Some(positive)) => Err(Failure::job(format!(
            "{}: --positive {positive} is for two classes, and there are {}: leave it out",
            source.file.name(),
            several.len()
        ))),
    }
}

fn describe<'a>(
    source: Source<'a>,
    data: &'a Dataset<Classes>,
) -> Result<InspectionDocument<'a>, Failure> {
    let design = data.design();
    let classes = ClassDocument::all(data.labels().names(), &DataSummary::of(data).class_rows);
    let signs = signs_of(source, data.labels().names())?;
    let (rows, columns) = (data.rows(), data.columns());
    let standardizer = Standardizer::fit(design, None);
    let constant_columns = standardizer.constant_columns();
    Ok(InspectionDocument {
        format: "margins-inspection",
        version: VERSION,
        name: source.file.name(),
        rows,
        unlabelled_rows: data.dropped_rows(),
        columns,
        sparse: design.is_sparse(),
        stored_share: design.stored() as f64 / (rows as f64 * columns as f64),
        positive_class: signs.map(|(positive, _)| classes[positive].name),
        negative_class: signs.map(|(_, negative)| classes[negative].name),
        positives: signs.map(|(positive, _)| classes[positive].rows),
        classes,
        raw_columns: columns::raw_columns(data, source.dropped()),
        duplicate_columns: columns::duplicates(data, &constant_columns),
        determining_columns: columns::determining(data),
        constant_columns: constant_columns.iter().map(|column| column + 1).collect(),
        bayes_error: None,
        least_risk: None,
        features: features(data, &standardizer),
    })
}

fn features(data: &Dataset<Classes>, standardizer: &Standardizer) -> Vec<Feature> {
    let (design, rows, columns) = (data.design(), data.rows(), data.columns());
    let mut extremes = vec![(f64::INFINITY, f64::NEG_INFINITY); columns];
    let mut stored = vec![0; columns];
    for sample in design.samples() {
        sample.for_each(|column, x| {
            let (low, high) = &mut extremes[column];
            *low = low.min(x);
            *high = high.max(x);
            stored[column] += 1;
        });
    }
    (0..columns)
        .map(|k| {
            // A column that is not stored in every row has a zero somewhere.
            let zero = stored[k] < rows;
            let (low, high) = extremes[k];
            Feature {
                name: data.feature_names().map(|names| names[k].clone()),
                mean: standardizer.means()[k],
                standard_deviation: standardizer.deviations()[k],
                minimum: if zero { low.min(0.0) } else { low },
                maximum: if zero { high.max(0.0) } else { high },
            }
        })
        .collect()
}

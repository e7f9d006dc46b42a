//! The command that describes a data file, or a model.

use margins::Registry;
use margins::data::{Dataset, Standardizer};
use serde::Serialize;

use crate::args::{InspectArguments, OutputFormat};
use crate::document::VERSION;
use crate::source::Simulation;
use crate::table::{MOST_LISTED, Table, facts, number};
use crate::{Failure, emit, model};

#[derive(Serialize)]
struct InspectionDocument<'a> {
    format: &'static str,
    version: u32,
    name: &'a str,
    rows: usize,
    columns: usize,
    sparse: bool,
    stored_share: f64,
    positive_class: &'a str,
    negative_class: &'a str,
    positives: usize,
    constant_columns: Vec<usize>,
    /// Null for data from a file.
    bayes_error: Option<BayesError>,
    features: Vec<Feature>,
}

/// Of simulated data: the least error possible, and how far from it that number may be.
#[derive(Serialize)]
struct BayesError {
    rate: f64,
    error: f64,
}

#[derive(Serialize)]
struct Feature {
    name: Option<String>,
    mean: f64,
    standard_deviation: f64,
    minimum: f64,
    maximum: f64,
}

pub(crate) fn inspect(registry: &Registry, arguments: &InspectArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.model {
        return model::inspect(registry, path, arguments.format);
    }
    let Some(source) = &arguments.data else {
        return Err(Failure::Usage("one of --model and --data is needed".to_owned()));
    };
    let name = &source.data;
    let data = source.dataset()?;
    let mut document = describe(name, &data);
    if let Some(simulation) = Simulation::named(name)? {
        let (rate, error) = simulation.bayes_error()?;
        document.bayes_error = Some(BayesError { rate, error });
    }
    match arguments.format {
        OutputFormat::Json => emit(None, |out| {
            serde_json::to_writer(&mut *out, &document)?;
            writeln!(out)
        }),
        OutputFormat::Table => emit(None, |out| {
            let share = format!("{:.2} %", 100.0 * document.stored_share);
            let mut lines = vec![
                ("data", name.clone()),
                ("rows", document.rows.to_string()),
                ("columns", document.columns.to_string()),
                (
                    "storage",
                    if document.sparse {
                        format!("sparse, {share} stored")
                    } else {
                        "dense".to_owned()
                    },
                ),
                (
                    "classes",
                    format!(
                        "'{}' positive ({}), '{}' negative ({})",
                        document.positive_class,
                        document.positives,
                        document.negative_class,
                        document.rows - document.positives
                    ),
                ),
                ("constant columns", document.constant_columns.len().to_string()),
            ];
            if let Some(bayes) = &document.bayes_error {
                lines.push((
                    "Bayes error",
                    format!("{:.3} % +- {:.3}", 100.0 * bayes.rate, 100.0 * bayes.error),
                ));
            }
            facts(out, &lines)?;
            writeln!(out)?;
            let mut table = Table::new(&["column", "name", "mean", "sd", "minimum", "maximum"]);
            for (k, feature) in document.features.iter().take(MOST_LISTED).enumerate() {
                table.row(vec![
                    (k + 1).to_string(),
                    feature.name.clone().unwrap_or_default(),
                    number(feature.mean),
                    number(feature.standard_deviation),
                    number(feature.minimum),
                    number(feature.maximum),
                ]);
            }
            table.write(out)?;
            if document.columns > MOST_LISTED {
                writeln!(out, "... and {} more columns", document.columns - MOST_LISTED)?;
            }
            Ok(())
        }),
    }
}

fn describe<'a>(name: &'a str, data: &'a Dataset) -> InspectionDocument<'a> {
    let (design, labels) = (data.design(), data.labels());
    let (rows, columns) = (data.rows(), data.columns());
    let standardizer = Standardizer::fit(design, None);
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
    let features = (0..columns)
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
        .collect();
    InspectionDocument {
        format: "margins-inspection",
        version: VERSION,
        name,
        rows,
        columns,
        sparse: design.is_sparse(),
        stored_share: design.stored() as f64 / (rows as f64 * columns as f64),
        positive_class: labels.positive_class(),
        negative_class: labels.negative_class(),
        positives: labels.count_positive(),
        constant_columns: standardizer.constant_columns().iter().map(|column| column + 1).collect(),
        bayes_error: None,
        features,
    }
}

//! The command that describes a data file, or a model.

use std::io::Write;

use margins::Registry;
use margins::data::{ClassLabels, Classes, Dataset, Standardizer, same_class};
use serde::Serialize;

use crate::Failure;
use crate::args::{DataArguments, InspectArguments};
use crate::choices::OutputFormat;
use crate::document::{ClassDocument, VERSION};
use crate::files::emit;
use crate::job::write_json;
use crate::model;
use crate::table::{MOST_LISTED, Table, facts, number};

#[derive(Serialize)]
struct InspectionDocument<'a> {
    format: &'static str,
    version: u32,
    name: &'a str,
    rows: usize,
    columns: usize,
    sparse: bool,
    stored_share: f64,
    /// Null for more than two classes; and so the two after it.
    positive_class: Option<&'a str>,
    negative_class: Option<&'a str>,
    positives: Option<usize>,
    classes: Vec<ClassDocument<'a>>,
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
    let data = source.any_classes()?;
    let mut document = describe(source, &data)?;
    if let Some(simulation) = source.simulation()? {
        let (rate, error) = simulation.bayes_error()?;
        document.bayes_error = Some(BayesError { rate, error });
    }
    emit(None, |out| match arguments.format {
        OutputFormat::Json => write_json(out, &document),
        OutputFormat::Table => document.write_table(out),
    })
}

impl InspectionDocument<'_> {
    fn write_table(&self, out: &mut dyn Write) -> std::io::Result<()> {
        facts(out, &self.lines())?;
        writeln!(out)?;
        let mut table = Table::new(&["column", "name", "mean", "sd", "minimum", "maximum"]);
        for (k, feature) in self.features.iter().take(MOST_LISTED).enumerate() {
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
        if self.columns > MOST_LISTED {
            writeln!(out, "... and {} more columns", self.columns - MOST_LISTED)?;
        }
        Ok(())
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let share = format!("{:.2} %", 100.0 * self.stored_share);
        let storage =
            if self.sparse { format!("sparse, {share} stored") } else { "dense".to_owned() };
        let mut lines = vec![
            ("data", self.name.to_owned()),
            ("rows", self.rows.to_string()),
            ("columns", self.columns.to_string()),
            ("storage", storage),
            ("classes", self.class_line()),
            ("constant columns", self.constant_columns.len().to_string()),
        ];
        lines.extend(self.bayes_error.as_ref().map(|bayes| {
            let (rate, error) = (100.0 * bayes.rate, 100.0 * bayes.error);
            ("Bayes error", format!("{rate:.3} % +- {error:.3}"))
        }));
        lines
    }

    fn class_line(&self) -> String {
        if let (Some(positive), Some(negative), Some(positives)) =
            (self.positive_class, self.negative_class, self.positives)
        {
            let negatives = self.rows - positives;
            return format!(
                "'{positive}' positive ({positives}), '{negative}' negative ({negatives})"
            );
        }
        ClassDocument::line(&self.classes)
    }
}

/// The positive class, by its index, and the negative one, of two; `None` for more classes.
fn signs_of(source: &DataArguments, names: &[String]) -> Result<Option<(usize, usize)>, Failure> {
    match (names, &source.positive) {
        ([_, _], None) => Ok(Some((1, 0))),
        ([one, other], Some(positive)) => {
            match [one, other].iter().position(|name| same_class(name, positive)) {
                Some(at) => Ok(Some((at, 1 - at))),
                None => Err(Failure::job(format!(
                    "{}: the positive class '{positive}' is none of the classes, '{one}' and '{other}'",
                    source.data
                ))),
            }
        }
        (_, None) => Ok(None),
        (several, Some(positive)) => Err(Failure::job(format!(
            "{}: --positive {positive} is for two classes, and there are {}: leave it out",
            source.data,
            several.len()
        ))),
    }
}

fn describe<'a>(
    source: &'a DataArguments,
    data: &'a Dataset<Classes>,
) -> Result<InspectionDocument<'a>, Failure> {
    let design = data.design();
    let classes = ClassDocument::all(data);
    let signs = signs_of(source, data.labels().names())?;
    let (rows, columns) = (data.rows(), data.columns());
    let standardizer = Standardizer::fit(design, None);
    Ok(InspectionDocument {
        format: "margins-inspection",
        version: VERSION,
        name: &source.data,
        rows,
        columns,
        sparse: design.is_sparse(),
        stored_share: design.stored() as f64 / (rows as f64 * columns as f64),
        positive_class: signs.map(|(positive, _)| classes[positive].name),
        negative_class: signs.map(|(_, negative)| classes[negative].name),
        positives: signs.map(|(positive, _)| classes[positive].rows),
        classes,
        constant_columns: standardizer.constant_columns().iter().map(|column| column + 1).collect(),
        bayes_error: None,
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

//! The summary of data, and labelled samples for evaluations.

use std::collections::HashMap;

use margins_data::encode::{ColumnEncoding, Kind};
use margins_data::read::RowLabels;
use margins_data::{ClassLabels, Dataset, Design, Listed};
use margins_model::Model;
use serde::Serialize;

use crate::Error;

/// Samples with the classes that a model gives names to.
#[derive(Debug, Clone)]
pub struct Labelled<'a> {
    /// The name of the data, such as `training`.
    pub name: &'a str,
    /// The features.
    pub design: &'a Design,
    /// The class of every row, as an index into the classes of the model.
    pub classes: Vec<usize>,
    /// The weights of the samples, if they have any.
    pub weights: Option<&'a [f64]>,
    /// The raw columns that the features were encoded from, if the raw table is in memory.
    pub raw_columns: Vec<RawColumnSummary>,
    /// The row of every sample in its file, from 1, where rows without a label were left out.
    pub rows: Option<Vec<usize>>,
    /// The number of rows left out.
    pub left_out: usize,
}

/// The data at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataSummary {
    /// The name of the data.
    pub name: String,
    /// The number of samples.
    pub rows: usize,
    /// The number of further rows of the file, which have no label.
    pub left_out: usize,
    /// The number of features.
    pub columns: usize,
    /// The share of the values that are stored, of sparse data.
    pub stored: Option<f64>,
    /// True if the samples have weights.
    pub weighted: bool,
    /// The classes in order.
    pub classes: Vec<ClassShare>,
    /// The columns of a raw table that features were made of; empty of other data.
    pub raw_columns: Vec<RawColumnSummary>,
}

/// A column of a raw table that features were made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RawColumnSummary {
    /// The name of the column.
    pub name: String,
    /// `number`, `boolean` or `categorical`.
    pub kind: &'static str,
    /// The number of rows that have a missing value there.
    pub missing: usize,
    /// The categories in the order of first sight, of a categorical column.
    pub levels: Option<Vec<String>>,
}

/// A class with its samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassShare {
    /// The name of the class.
    pub name: String,
    /// The number of its samples.
    pub rows: usize,
    /// The share of its samples.
    pub share: f64,
}

impl<'a> Labelled<'a> {
    /// Returns a data set as samples for the model. Costs of classes do not count.
    ///
    /// # Errors
    /// [`Error::UnknownClass`]: a class of the data is not a class of the model.
    pub fn new<Y: ClassLabels>(
        name: &'a str,
        data: &'a Dataset<Y>,
        model: &Model,
    ) -> Result<Self, Error> {
        let labels = data.labels();
        let of_model = known_classes(name, labels.names(), model)?;
        let classes = (0..data.rows()).map(|row| of_model[labels.index(row)]).collect();
        let (design, weights) = (data.design(), data.own_weights());
        let raw_columns = RawColumnSummary::all(data);
        let labelled =
            Labelled { name, design, classes, weights, raw_columns, rows: None, left_out: 0 };
        Ok(labelled.without(data.dropped_rows(), |sample| data.row_of(sample)))
    }

    /// Returns samples with labels as they were read.
    ///
    /// # Errors
    /// [`Error::UnknownClass`]: a label is no class of the model. [`Error::Data`]: there is not one
    /// label per row.
    pub fn with_labels(
        name: &'a str,
        design: &'a Design,
        labels: &RowLabels,
        weights: Option<&'a [f64]>,
        model: &Model,
    ) -> Result<Self, Error> {
        let of_names = known_classes(name, labels.names(), model)?;
        let classes = labels.indices().map(|label| of_names[label]).collect();
        let raw_columns = Vec::new();
        Ok(Labelled { name, design, classes, weights, raw_columns, rows: None, left_out: 0 })
    }

    /// Takes the number of rows of the file that were left out, and a function from samples to rows of
    /// the file, both counted from 0.
    #[must_use]
    pub fn without(mut self, left_out: usize, row_of: impl Fn(usize) -> usize) -> Self {
        let rows = || (0..self.classes.len()).map(|sample| row_of(sample) + 1).collect();
        self.rows = (left_out > 0).then(rows);
        self.left_out = left_out;
        self
    }

    /// Returns the row of a sample in its file, from 1.
    pub(crate) fn row(&self, sample: usize) -> usize {
        self.rows.as_ref().map_or(sample + 1, |rows| rows[sample])
    }

    /// Returns the data at a glance.
    pub fn summary(&self, model: &Model) -> DataSummary {
        let weighted = self.weights.is_some();
        let classes = self.classes.iter().copied();
        let raw_columns = self.raw_columns.clone();
        let names = model.classes();
        DataSummary {
            raw_columns,
            left_out: self.left_out,
            ..DataSummary::new(self.name, self.design, weighted, names, classes)
        }
    }

    /// Returns the sign of every sample: +1 for those of a class, -1 for the rest.
    pub(crate) fn signs(&self, class: usize) -> Vec<f64> {
        self.classes.iter().map(|&other| if other == class { 1.0 } else { -1.0 }).collect()
    }
}

impl DataSummary {
    /// Returns a data set at a glance.
    pub fn of<Y: ClassLabels>(name: &str, data: &Dataset<Y>) -> Self {
        let (labels, weighted) = (data.labels(), data.own_weights().is_some());
        let classes = (0..data.rows()).map(|row| labels.index(row));
        let raw_columns = RawColumnSummary::all(data);
        let names = labels.names();
        DataSummary {
            raw_columns,
            left_out: data.dropped_rows(),
            ..DataSummary::new(name, data.design(), weighted, names, classes)
        }
    }

    fn new(
        name: &str,
        design: &Design,
        weighted: bool,
        names: &[String],
        classes: impl Iterator<Item = usize>,
    ) -> Self {
        let (rows, columns) = (design.rows(), design.columns());
        let mut counts = vec![0usize; names.len()];
        classes.for_each(|class| counts[class] += 1);
        let all = rows as f64;
        let stored = design.stored() as f64 / (all * columns as f64);
        let share = |(name, rows): (&String, usize)| ClassShare {
            name: name.clone(),
            rows,
            share: rows as f64 / all,
        };
        DataSummary {
            name: name.to_owned(),
            rows,
            left_out: 0,
            columns,
            stored: design.is_sparse().then_some(stored),
            weighted,
            classes: names.iter().zip(counts).map(share).collect(),
            raw_columns: Vec::new(),
        }
    }
}

impl RawColumnSummary {
    /// Returns the raw columns that the features of data were encoded from; none unless the raw table is
    /// in memory.
    fn all<Y: ClassLabels>(data: &Dataset<Y>) -> Vec<Self> {
        let Some((encoding, table)) = data.encoding().zip(data.raw_table()) else {
            return Vec::new();
        };
        let missing: HashMap<&str, usize> =
            table.columns().iter().map(|raw| (raw.name(), raw.missing())).collect();
        let summary = |column: &ColumnEncoding| RawColumnSummary {
            name: column.name().to_owned(),
            kind: match column.kind() {
                Kind::Number(_) => "number",
                Kind::Boolean(_) => "boolean",
                Kind::Categorical(_) | Kind::Codes(_) => "categorical",
            },
            missing: missing.get(column.name()).copied().unwrap_or(0),
            levels: column.kind().levels().map(<[String]>::to_vec),
        };
        encoding.columns().iter().map(summary).collect()
    }
}

fn known_classes(name: &str, labels: &[String], model: &Model) -> Result<Vec<usize>, Error> {
    let class = |label: &String| {
        model.class_of(label).ok_or_else(|| Error::UnknownClass {
            data: name.to_owned(),
            label: label.clone(),
            classes: Listed(model.classes()).to_string(),
        })
    };
    labels.iter().map(class).collect()
}

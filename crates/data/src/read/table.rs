//! What the formats have in common.

use std::io::Read;

use super::columns::Features;
use super::folds::FileFolds;
use super::labels::{PlacedLabels, in_file};
use super::lines::Lines;
#[cfg(feature = "parquet")]
use super::parquet;
use super::{FeatureColumns, Format, ReadOptions, Unlabelled, csv, svmlight};
use crate::{ClassLabels, Dataset, Error, Place};

/// The content of a file of either format; labels go through a [`LabelSink`].
pub(super) struct Table {
    pub(super) features: Features,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) folds: Option<FileFolds>,
}

/// The amount that a reader takes in at once: rows until either bound is reached.
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    pub(super) rows: usize,
    pub(super) values: usize,
}

impl Buffer {
    pub(super) const UNLIMITED: Buffer = Buffer { rows: usize::MAX, values: usize::MAX };

    pub(super) fn has_room(self, rows: usize, values: usize) -> bool {
        rows < self.rows && values < self.values
    }
}

/// A function that takes the label of the next row, and what tells its place.
pub(super) type LabelSink<'a> = dyn FnMut(&str, &dyn Fn() -> Place) -> Result<(), Error> + 'a;

/// The purpose for which a file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Labels are needed; weights and folds are taken.
    Fit,
    /// Labels are taken if they are there, and weights with them; folds are dropped.
    Predict,
}

pub(super) fn assemble<Y: ClassLabels>(
    table: Table,
    labels: Y,
    name: &str,
    columns: &FeatureColumns,
) -> Result<Dataset<Y>, Error> {
    let mut data = match (table.features, columns) {
        (Features::Raw(raw, places), FeatureColumns::Learn(options)) => {
            let data = Dataset::encoded(raw, labels, options.clone());
            data.map_err(|error| places.locate(error))?
        }
        (features, columns) => {
            let (design, names) = features.encoded(columns)?;
            let data = Dataset::new(design, labels)?;
            match names {
                Some(names) => data.with_feature_names(names)?,
                None => data,
            }
        }
    };
    if let Some(weights) = table.weights {
        data = data.with_weights(weights)?;
    }
    if let Some(folds) = table.folds {
        data = data.with_folds(folds.numbers(name)?)?;
    }
    Ok(data)
}

/// Calls `turn` for the rows of every block, several at the same time, and `take` for the results in
/// the order of the rows. Parquet is one block. Unless the columns of an svmlight file are told, each table has its own number.
pub(super) fn each_table<T: Send, E: From<Error>>(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
    purpose: Purpose,
    turn: impl Fn(Table, PlacedLabels) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    match format {
        Format::Csv => {
            csv::Rows::open(lines(reader, name, options)?, options, purpose)?.each_block(turn, take)
        }
        Format::Svmlight => {
            svmlight::Rows::open(lines(reader, name, options)?, options)?.each_block(turn, take)
        }
        Format::Parquet => {
            let read =
                |labels: &mut LabelSink<'_>| table(reader, name, format, options, purpose, labels);
            let (table, labels) = collect_labels(read)?;
            take(turn(table, labels))
        }
    }
}

fn lines<'a>(
    reader: impl Read + 'a,
    name: &str,
    options: &ReadOptions,
) -> Result<Lines<'a>, Error> {
    Ok(Lines::new(reader, name)?.followed_by(&options.further_files))
}

/// Returns what `read` does, with the labels that it hands over.
pub(super) fn collect_labels<T>(
    read: impl FnOnce(&mut LabelSink<'_>) -> Result<T, Error>,
) -> Result<(T, PlacedLabels), Error> {
    let mut labels = PlacedLabels::default();
    let result = read(&mut |value, place| {
        labels.push(value, place);
        Ok(())
    })?;
    Ok((result, labels))
}

/// Returns the samples of a table.
pub(super) fn unlabelled(
    table: Table,
    labels: &PlacedLabels,
    name: &str,
    options: &ReadOptions,
) -> Result<Unlabelled, Error> {
    let labels: Vec<String> = labels.values.iter().map(str::to_owned).collect();
    let encoded = table.features.encoded(&options.features);
    let (design, feature_names) = encoded.map_err(|error| in_file(name, error))?;
    Ok(Unlabelled {
        design,
        feature_names,
        weights: table.weights,
        labels: (!labels.is_empty()).then_some(labels),
    })
}

pub(super) fn table(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
    purpose: Purpose,
    labels: &mut LabelSink<'_>,
) -> Result<Table, Error> {
    check_columns(options)?;
    match format {
        Format::Csv => csv::read(lines(reader, name, options)?, options, purpose, labels),
        Format::Svmlight => svmlight::read(lines(reader, name, options)?, options, labels),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(reader, name, options, purpose, labels),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let requirement = "one that this build reads: Parquet needs the feature parquet";
            Err(in_file(name, Error::parameter("the format", "Parquet", requirement)))
        }
    }
}

pub(super) fn check_columns(options: &ReadOptions) -> Result<(), Error> {
    match options.columns {
        Some(0) => Err(Error::parameter("the number of features to expect", 0, "at least 1")),
        _ => Ok(()),
    }
}

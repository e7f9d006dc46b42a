//! Code that all formats of tables share.

use std::fs::File;
use std::io::{self, Read};

use super::columns::FeatureTable;
use super::folds::FileFolds;
use super::labels::{PlacedLabels, in_file};
use super::{FeatureColumns, ReadOptions, Unlabelled};
use crate::encode::Encoding;
use crate::{ClassLabels, Dataset, Error, Place};

pub(super) enum Source<'a> {
    File(File),
    Reader(Box<dyn Read + 'a>),
}

impl<'a> Source<'a> {
    pub(super) fn of(reader: impl Read + 'a) -> Self {
        Source::Reader(Box::new(reader))
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            Source::Reader(reader) => reader.read(buffer),
        }
    }
}

/// The content of a file of either format; labels go through a [`LabelSink`].
pub(super) struct Table {
    pub(super) features: FeatureTable,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) folds: Option<FileFolds>,
    /// The rows that were left out, by their numbers among all rows.
    pub(super) dropped: Vec<usize>,
}

/// The amount that a reader takes in at once: rows until either bound is reached.
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    pub(super) rows: usize,
    pub(super) values: usize,
}

impl Buffer {
    pub(super) const UNLIMITED: Buffer = Buffer { rows: usize::MAX, values: usize::MAX };

    /// Returns the number of rows with so many values each that the buffer takes.
    #[cfg(feature = "parquet")]
    pub(super) fn rows_of(self, values: usize) -> usize {
        self.rows.min(self.values.div_ceil(values.max(1)))
    }

    pub(super) fn has_room(self, rows: usize, values: usize) -> bool {
        rows < self.rows && values < self.values
    }
}

/// A function that takes the label of the next row, and a function that returns its place.
pub(super) type LabelSink<'a> = dyn FnMut(&str, &dyn Fn() -> Place) -> Result<(), Error> + 'a;

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
        (FeatureTable::Raw(raw, places), FeatureColumns::Learn(options)) => {
            let data = Dataset::encoded(raw, labels, options.clone());
            data.map_err(|error| places.locate(error))?
        }
        (FeatureTable::Raw(raw, places), FeatureColumns::LearnUncrowded(options)) => {
            let options = Encoding::uncrowded(&raw, options.clone());
            let data = Dataset::encoded(raw, labels, options);
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
    data = data.without(table.dropped);
    if let Some(weights) = table.weights {
        data = data.with_weights(weights)?;
    }
    if let Some(folds) = table.folds {
        data = data.in_folds(folds.folds(name)?);
    }
    Ok(data)
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

pub(super) fn unlabelled(
    table: Table,
    labels: PlacedLabels,
    name: &str,
    options: &ReadOptions,
) -> Result<Unlabelled, Error> {
    let unknown_levels = table.features.unknown_levels(&options.features);
    let unknown_levels = unknown_levels.map_err(|error| in_file(name, error))?;
    let encoded = table.features.encoded(&options.features);
    let (design, feature_names) = encoded.map_err(|error| in_file(name, error))?;
    Ok(Unlabelled {
        design,
        unknown_levels,
        feature_names,
        weights: table.weights,
        dropped: table.dropped,
        labels: labels.of_rows(),
    })
}

/// Adds the name of the file to the error of a table that does not fit in memory.
pub(super) fn without_room(name: &str, error: Error) -> Error {
    if matches!(error, Error::Memory { .. }) { in_file(name, error) } else { error }
}

pub(super) fn check_columns(options: &ReadOptions) -> Result<(), Error> {
    match options.columns {
        Some(0) => Err(Error::parameter("the number of features to expect", 0, "at least 1")),
        _ => Ok(()),
    }
}

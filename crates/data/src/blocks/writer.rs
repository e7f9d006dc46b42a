//! Writes block files from rows with labels, in the memory of one block.

use std::path::Path;

use super::BlockSettings;
use super::rows::{CodedRows, Ending, RowWriter};
use crate::class_collector::ClassCollector;
use crate::codes::Codes;
use crate::dataset::Folds;
use crate::encode::Encoding;
use crate::{ClassLabels, Dataset, Design, Error};

/// A writer of a block file, which takes rows as they come and holds one block of them at a time.
/// The file has its name when it is complete.
///
/// ```
/// use margins_data::blocks::{BlockFile, BlockSettings, BlockWriter, LabelledRows};
/// use margins_data::{Dataset, Design};
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("small.blocks");
/// let mut writer = BlockWriter::create(&path, BlockSettings::default())?;
/// for labels in [["spam", "ham"], ["spam", "spam"]] {
///     let design = Design::from_rows(&[[0.0, 1.0], [2.0, 3.0]])?;
///     writer.push(&LabelledRows { design: &design, labels: &labels, weights: None, folds: None })?;
/// }
/// writer.finish(None)?;
///
/// let file = BlockFile::open(&path)?;
/// assert_eq!((file.rows(), file.features(), file.partitions()), (4, 2, 1));
/// let data: Dataset = file.read(0)?;
/// assert_eq!(data.labels().signs(), [1.0, -1.0, 1.0, 1.0]);
/// # Ok::<(), margins_data::Error>(())
/// ```
pub struct BlockWriter {
    rows: RowWriter,
    labels: ClassCollector,
    folds: Codes,
    feature_names: Option<Vec<String>>,
    features: Option<usize>,
    encoding: Option<Encoding>,
}

/// Rows for a [`BlockWriter`].
#[derive(Debug)]
pub struct LabelledRows<'r, S> {
    /// The samples.
    pub design: &'r Design,
    /// The names of the classes, one per row, of which there may be any number.
    pub labels: &'r [S],
    /// The weights, of all rows of the file or of none.
    pub weights: Option<&'r [f64]>,
    /// The names of the folds, of all rows of the file or of none, in whose order they are numbered.
    pub folds: Option<&'r [S]>,
}

impl BlockWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// A path that the system does not let write; a number of rows of 0.
    pub fn create(path: impl AsRef<Path>, settings: BlockSettings) -> Result<Self, Error> {
        Ok(BlockWriter {
            rows: RowWriter::create(path.as_ref(), settings)?,
            labels: ClassCollector::of_labels(),
            folds: Codes::default(),
            feature_names: None,
            features: None,
            encoding: None,
        })
    }

    /// Gives the features names.
    #[must_use]
    pub fn with_feature_names(mut self, names: Vec<String>) -> Self {
        self.feature_names = Some(names);
        self
    }

    /// Sets the number of features of sparse rows, the last of which may be zero everywhere.
    #[must_use]
    pub fn with_features(mut self, features: usize) -> Self {
        self.features = Some(features);
        self
    }

    /// Sets the encoding of the features, which gives them their names.
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.feature_names = Some(encoding.feature_names());
        self.encoding = Some(encoding);
        self
    }

    /// Writes more rows.
    ///
    /// # Errors
    /// Not one label, weight or fold per row; another number of features in dense rows; a value that
    /// 32 bits cannot hold where they are asked for; a label that is a missing value; the file
    /// cannot be written.
    pub fn push<S: AsRef<str>>(&mut self, rows: &LabelledRows<'_, S>) -> Result<(), Error> {
        rows.labels.iter().try_for_each(|label| self.labels.push(label.as_ref()))?;
        let labels = self.labels.take_codes();
        let folds = rows.folds.map(|folds| {
            folds.iter().for_each(|fold| self.folds.push(fold.as_ref()));
            self.folds.take_rows()
        });
        let LabelledRows { design, weights, .. } = *rows;
        self.rows.push(CodedRows { design, labels: &labels, weights, folds: folds.as_deref() })
    }

    /// Completes the file; with two classes one of them may be named as the positive one.
    ///
    /// # Errors
    /// No rows; one class only; labels that are measurements; one fold only; a positive class that is
    /// none of two; names of features that are not one per column, or not distinct; the file cannot be
    /// written.
    pub fn finish(mut self, positive: Option<&str>) -> Result<(), Error> {
        let (classes, class_ranks) = self.labels.take_classes(positive, self.rows.rows())?;
        let folds = self.folds.into_names();
        if !folds.is_empty() {
            Folds::check_two(&folds)?;
        }
        let ending = Ending {
            classes,
            class_ranks,
            folds,
            features: self.features,
            feature_names: self.feature_names,
            encoding: self.encoding,
        };
        self.rows.finish(ending)
    }
}

/// Writes a data set as a block file.
///
/// # Errors
/// The file cannot be written; a value that 32 bits cannot hold where they are asked for.
pub fn write<Y: ClassLabels>(
    data: &Dataset<Y>,
    path: impl AsRef<Path>,
    settings: BlockSettings,
) -> Result<(), Error> {
    let mut writer = RowWriter::create(path.as_ref(), settings)?;
    let folds: Option<Vec<u32>> =
        data.folds().map(|folds| folds.iter().map(|&fold| fold as u32).collect());
    let all = |count: usize| (0..count as u32).collect::<Vec<u32>>();
    writer.push(CodedRows {
        design: data.design(),
        labels: &data.labels().shared_indices(),
        weights: data.own_weights(),
        folds: folds.as_deref(),
    })?;
    let classes = data.labels().names().to_vec();
    let ending = Ending {
        class_ranks: all(classes.len()),
        classes,
        folds: data.fold_names().unwrap_or_default().to_vec(),
        features: Some(data.columns()),
        feature_names: data.feature_names().map(<[String]>::to_vec),
        encoding: data.encoding().cloned(),
    };
    writer.finish(ending)
}

//! Data sets from CSV and svmlight files, plain or gzip, and from Parquet.
//!
//! * CSV: a header line, then one sample per line, cells separated by commas. One column is the
//!   label; weights and folds may be columns too; every other column is a feature and must hold
//!   finite numbers. The design is dense.
//! * svmlight (LIBSVM): a label, then `index:value` for the features that are not zero, counted
//!   from 1. `# comments` and a `qid:` after the label are skipped, the latter because queries
//!   matter to ranking only. The design is sparse.
//! * Parquet, with the feature `parquet`: flat columns of numbers, booleans and words, in the place
//!   of the cells of CSV. A null is an empty cell.
//!
//! CSV is parsed in blocks of whole lines on all threads, and so is what [`each_block`] reads; all
//! else is read line by line. Errors name the line either way. Text is UTF-8, with or without a
//! byte order mark; lines end in LF, CR LF or CR, the last one need not; blank lines are skipped. A
//! first line `sep=,` of CSV, which is for spreadsheets, is skipped as well. A file is taken as gzip
//! if it starts so, for any name; other files that are not text are refused by what they are.
//!
//! A [block file](crate::blocks) is known by its first bytes, for any name, and read as the others
//! are, but not from standard input and not beside other files. [`to_blocks`] makes one of text.
//!
//! A [`Stream`] gives the same rows in buffers of bounded size, for files larger than memory, of every
//! format.
//!
//! ```
//! use margins_data::read::{self, Format, ReadOptions};
//!
//! let text = "age,income,label\n31,1.5e3,no\n54,2e3,yes\n";
//! let options = ReadOptions::default();
//! let data = read::dataset_from(text.as_bytes(), "people.csv", Format::Csv, &options)?;
//! assert_eq!((data.rows(), data.columns()), (2, 2));
//! assert_eq!(data.labels().positive_class(), "yes");
//!
//! let text = "age,income,label\n31,1.5e3,no\n54,much,yes\n";
//! let result = read::dataset_from(text.as_bytes(), "people.csv", Format::Csv, &options);
//! let message = result.unwrap_err().to_string();
//! assert!(message.starts_with("people.csv, line 3, column 'income': 'much' is not a number"));
//! # Ok::<(), margins_data::Error>(())
//! ```

mod blocks;
mod by_format;
mod cells;
mod columns;
mod content;
mod csv;
mod estimate;
mod folds;
mod format;
mod from_blocks;
mod header;
mod label_gaps;
mod labels;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod stream;
mod svmlight;
mod table;
mod targets;
mod to_blocks;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::class_collector::ClassCollector;
use crate::dataset::row_among;
use crate::{Classes, Dataset, Design, Error, Labels, Place};
use by_format::{each_table, table};
use content::not_text;
use labels::FileLabels;
use table::{Purpose, Source, assemble, check_columns, collect_labels, unlabelled};

pub use columns::FeatureColumns;
use format::endings_in_words;
pub use format::{Format, formats_in_words};
pub use from_blocks::open as block_file;
pub use labels::RowLabels;
pub use stream::{Chunk, Stream};
pub use targets::{Targets, targets, targets_from};
pub use to_blocks::{to_blocks, to_blocks_from};

/// The options for reading a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// The name of the label column of CSV; by default "label".
    pub label: Option<String>,
    /// The name of a column of sample weights of CSV.
    pub weights_column: Option<String>,
    /// The name of a column of CSV whose values, of any kind, are the cross-validation folds. Folds
    /// are numbered by these values in order.
    pub fold_column: Option<String>,
    /// The class that becomes +1; by default the later one in order, see
    /// [`Labels::new`](crate::Labels::new).
    pub positive: Option<String>,
    /// The number of features to expect, such as that of the training file. An svmlight file may
    /// have fewer (its last ones may be zero everywhere), never more; a CSV file must have as many.
    pub columns: Option<usize>,
    /// The format; by default that of the file's name.
    pub format: Option<Format>,
    /// How the features of CSV are encoded; by default they are numbers.
    pub features: FeatureColumns,
    /// Further files of the same format, and of the same header, whose rows follow.
    pub further_files: Vec<PathBuf>,
    /// True if rows of CSV and Parquet without a label are left out, with their weights and folds,
    /// before their other cells are read; otherwise they are refused. Such a label is empty, NaN,
    /// `NA`, `N/A` or `?`, or one of the missing words of the encoding where these are not the usual
    /// ones.
    pub drop_unlabelled: bool,
}

/// Samples to predict, read by [`features`].
#[derive(Debug, Clone, PartialEq)]
pub struct Unlabelled {
    /// The samples.
    pub design: Design,
    /// The names of the columns, from CSV.
    pub feature_names: Option<Vec<String>>,
    /// The labels as they stand in the file, if they do.
    pub labels: Option<RowLabels>,
    /// The sample weights, from CSV with labels, if the options name their column and the file has
    /// it. Measures of predictions take them; predictions do not depend on them.
    pub weights: Option<Vec<f64>>,
    /// The rows that were left out because they have no label, counted from 0 among all that were read
    /// with these samples.
    pub dropped: Vec<usize>,
    /// The number of cells with a category that the given encoding does not know and takes as none.
    pub unknown_levels: usize,
}

impl Unlabelled {
    /// Returns the number of a sample among all rows that were read with it, including the rows left
    /// out; both are counted from 0.
    pub fn row_of(&self, sample: usize) -> usize {
        row_among(&self.dropped, sample)
    }
}

/// Reads a data set of two classes. [`Classes::of_labels`] says which labels are taken for
/// measurements.
///
/// # Errors
/// The file cannot be read, its format is not known, its content is malformed, it has other than
/// two classes, or its labels are measurements. The message names the file, the line and the
/// column.
pub fn dataset(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset, Error> {
    if let Some(blocks) = from_blocks::open(path.as_ref(), options)? {
        return blocks.dataset();
    }
    let (file, name, format) = open(path.as_ref(), options)?;
    estimate::check_room(path.as_ref(), format, options)?;
    dataset_from(file, &name, format, options)
}

/// Reads what [`dataset`] does, from any reader; `name` stands for the file in messages, and
/// `format` prevails over that of the options.
///
/// # Errors
/// The errors of [`dataset`].
pub fn dataset_from(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, Error> {
    let mut labels = FileLabels::new(ClassCollector::of_two_labels());
    let mut sink = |value: &str, place: &dyn Fn() -> Place| labels.push(value, place);
    let table = table(reader, name, format, options, Purpose::Fit, &mut sink)?;
    let found = Labels::collected(&mut labels.classes, options.positive.as_deref());
    let assembled = found.and_then(|found| assemble(table, found, name, &options.features));
    assembled.map_err(|error| labels.in_file(name, error))
}

/// Reads a data set of two classes or more. [`Classes::of_labels`] says which labels are taken for
/// measurements.
///
/// # Errors
/// The file cannot be read, its format is not known, its content is malformed, it has one class
/// only, or its labels are measurements; the options name a positive class for more than two.
pub fn classes(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset<Classes>, Error> {
    if let Some(blocks) = from_blocks::open(path.as_ref(), options)? {
        refuse_positive(options)?;
        return blocks.dataset();
    }
    let (file, name, format) = open(path.as_ref(), options)?;
    estimate::check_room(path.as_ref(), format, options)?;
    classes_from(file, &name, format, options)
}

/// Reads what [`classes`] does, from any reader; `name` stands for the file in messages, and
/// `format` prevails over that of the options.
///
/// ```
/// use margins_data::ClassLabels;
/// use margins_data::read::{self, Format, ReadOptions};
///
/// let text = "b 1:0.5\na 1:2\nc 2:1\n";
/// let options = ReadOptions::default();
/// let data = read::classes_from(text.as_bytes(), "memory", Format::Svmlight, &options)?;
/// assert_eq!(data.labels().names(), ["a", "b", "c"]);
/// assert_eq!(data.labels().indices(), [1, 0, 2]);
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// The errors of [`classes`].
pub fn classes_from(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset<Classes>, Error> {
    refuse_positive(options)?;
    let mut labels = FileLabels::new(ClassCollector::of_labels());
    let mut sink = |value: &str, place: &dyn Fn() -> Place| labels.push(value, place);
    let table = table(reader, name, format, options, Purpose::Fit, &mut sink)?;
    let found = Classes::collected(&mut labels.classes);
    let assembled = found.and_then(|found| assemble(table, found, name, &options.features));
    assembled.map_err(|error| labels.in_file(name, error))
}

/// Refuses a positive class where there may be several.
fn refuse_positive(options: &ReadOptions) -> Result<(), Error> {
    let Some(positive) = &options.positive else { return Ok(()) };
    let requirement = "left out where there may be several classes";
    Err(Error::parameter("the positive class", format!("'{positive}'"), requirement))
}

/// Reads samples to predict: labels may be absent (from CSV), all the same, or anything else;
/// weights are taken where there are labels, and may be absent; a column of folds is dropped.
///
/// # Errors
/// The file cannot be read, its format is not known, or its content is malformed.
pub fn features(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Unlabelled, Error> {
    if let Some(blocks) = from_blocks::open(path.as_ref(), options)? {
        return Ok(from_blocks::unlabelled(&blocks.dataset()?));
    }
    let (file, name, format) = open(path.as_ref(), options)?;
    estimate::check_room(path.as_ref(), format, options)?;
    features_from(file, &name, format, options)
}

/// Reads what [`features`] does, from any reader; `name` stands for the file in messages, and
/// `format` prevails over that of the options.
///
/// # Errors
/// The errors of [`features`].
pub fn features_from(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Unlabelled, Error> {
    let (table, labels) =
        collect_labels(|labels| table(reader, name, format, options, Purpose::Predict, labels))?;
    unlabelled(table, labels, name, options)
}

/// Reads what [`features`] does in bounded memory: calls `turn` for every block of rows, several at
/// the same time, and `take` for the results in the order of the rows. A row group of Parquet is one
/// block. Returns the number of rows that were left out because they have no label.
///
/// The number of columns of an svmlight file must be given, and an encoding must be known.
///
/// # Errors
/// The errors of [`features`] and of `take`.
pub fn each_block<T: Send, E: From<Error>>(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    turn: impl Fn(Unlabelled) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<usize, E> {
    if let Some(blocks) = from_blocks::open(path.as_ref(), options)? {
        return from_blocks::each_block(&blocks, turn, take).map(|()| 0);
    }
    let (file, name, format) = open(path.as_ref(), options)?;
    each_block_of(Source::File(file), &name, format, options, turn, take)
}

/// Reads what [`each_block`] does, from any reader; `name` stands for the file in messages, and
/// `format` prevails over that of the options.
///
/// ```
/// use margins_data::Error;
/// use margins_data::read::{self, Format, ReadOptions};
///
/// let text = "age,income\n31,1.5e3\n54,2e3\n";
/// let mut rows = 0;
/// let count = |some: read::Unlabelled| some.design.rows();
/// let add = |count| {
///     rows += count;
///     Ok::<(), Error>(())
/// };
/// let options = ReadOptions::default();
/// read::each_block_from(text.as_bytes(), "people.csv", Format::Csv, &options, count, add)?;
/// assert_eq!(rows, 2);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of [`each_block`].
pub fn each_block_from<T: Send, E: From<Error>>(
    reader: impl Read,
    name: &str,
    format: Format,
    options: &ReadOptions,
    turn: impl Fn(Unlabelled) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<usize, E> {
    each_block_of(Source::of(reader), name, format, options, turn, take)
}

fn each_block_of<T: Send, E: From<Error>>(
    source: Source<'_>,
    name: &str,
    format: Format,
    options: &ReadOptions,
    turn: impl Fn(Unlabelled) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<usize, E> {
    check_columns(options)?;
    let turn = |table, labels| Ok(turn(unlabelled(table, labels, name, options)?));
    let take = |result: Result<T, Error>| take(result?);
    each_table(source, name, format, options, Purpose::Predict, turn, take)
}

/// Refuses a further file whose name stands for another format than the first.
fn check_further(format: Format, options: &ReadOptions) -> Result<(), Error> {
    for path in &options.further_files {
        if let Some(other) = Format::of(path).filter(|other| *other != format) {
            let place = Place::of_file(path.display().to_string());
            let (first, other) = (format.name(), other.name());
            let reason = format!(
                "its name stands for {other}, but the first file is {first}: all files need one format"
            );
            return Err(Error::Malformed { place, reason });
        }
    }
    Ok(())
}

fn open(path: &Path, options: &ReadOptions) -> Result<(File, String, Format), Error> {
    let name = path.display().to_string();
    let Some(format) = options.format.or_else(|| Format::of(path)) else {
        // The name may be that of a compressed file, whose first bytes say more.
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
        return Err(match not_text(&start).filter(|_| read.is_ok()) {
            Some(reason) => Error::Malformed { place: Place::of_file(name), reason },
            None => Error::UnknownFormat { file: name, endings: endings_in_words() },
        });
    };
    if options.format.is_none() {
        check_further(format, options)?;
    }
    match File::open(path) {
        Ok(file) => Ok((file, name, format)),
        Err(source) => Err(Error::Io { file: name, source }),
    }
}

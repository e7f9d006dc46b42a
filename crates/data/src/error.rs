//! The error type of the crate; each variant names the value and its place.

mod checks;
mod place;
mod words;

use std::fmt;
use std::io;

use thiserror::Error;

use crate::Shortage;

pub(crate) use checks::{check_count, check_entries, check_len, check_signs, check_weights};
pub use place::{Column, Place, RowNumber};
use words::and_columns;
pub use words::{Counted, Listed};
pub(crate) use words::{
    LABEL_ADVICE, columns_in_words, late_class, measurement, missing_label, quoted, third_class,
};

/// The reason why data are refused.
///
/// Rows and columns of data in memory are counted from 0, lines and characters of files from 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The stored columns of a sparse row are not ascending, or one of them does not exist.
    #[error("row {row}: column {column} is out of order, or not below {columns}")]
    SparseColumn {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// Number of columns.
        columns: usize,
    },
    /// Two parts of a data set do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that does not fit, such as "labels for 10 rows".
        what: &'static str,
        /// The size that fits.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// Another number of labels, weights or folds than of rows, or of names than of columns.
    #[error("{found} {what} for {expected} {places}: the numbers must be equal")]
    Count {
        /// The values that each place needs, such as "labels".
        what: &'static str,
        /// The number of things.
        found: usize,
        /// "rows" or "columns".
        places: &'static str,
        /// The number of places.
        expected: usize,
    },
    /// Rows of different lengths.
    #[error("row {row} has {}, but row 0 has {expected}: all rows need the same number", Counted(*found, "feature"))]
    Ragged {
        /// Zero-based row.
        row: usize,
        /// The number of its features.
        found: usize,
        /// The number of features of the first row.
        expected: usize,
    },
    /// A feature is NaN or infinite.
    #[error("row {row}, column {column}: the value is {value}, but features must be finite")]
    NotFinite {
        /// Zero-based row.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A table does not fit in memory.
    #[error("a table of {}{} does not fit into memory: {shortage}", Counted(*rows, "row"), and_columns(*columns))]
    Memory {
        /// The number of rows, or an estimate of it.
        rows: usize,
        /// The number of columns, if it is known: the beginning of an svmlight file does not determine it.
        columns: Option<usize>,
        /// The memory that is needed and that is free.
        shortage: Shortage,
    },
    /// The copies of a table do not fit in memory beside it.
    #[error(
        "a table of {} and {} is too large to be copied for each thread: {shortage}. Use fewer threads.",
        Counted(*rows, "row"),
        Counted(*columns, "column")
    )]
    Copies {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// The memory that is needed and that is free.
        shortage: Shortage,
    },
    /// No rows or no columns.
    #[error("the data has no {0}")]
    Empty(&'static str),
    /// All labels are the same.
    #[error("the only class among {rows} label(s) is '{class}', but two classes are needed")]
    OneClass {
        /// The only class.
        class: String,
        /// The number of labels.
        rows: usize,
    },
    /// More than two different labels.
    #[error("row {row}: {}", third_class(value, classes))]
    ThirdClass {
        /// Zero-based row of the first label of a third class.
        row: usize,
        /// The label.
        value: String,
        /// The two classes that came before it.
        classes: [String; 2],
    },
    /// Labels that are all numbers are measurements: one of them is not whole.
    #[error("row {row}: {}", measurement(value))]
    ContinuousLabel {
        /// Zero-based row of the first such label.
        row: usize,
        /// The label.
        value: String,
    },
    /// A label of a stream is not among its classes.
    #[error("row {row}: {}", late_class(value, *count))]
    LateClass {
        /// Zero-based row.
        row: usize,
        /// The label.
        value: String,
        /// The number of classes.
        count: usize,
    },
    /// A file has more than two different labels.
    #[error("{place}: {reason}")]
    ThirdClassInFile {
        /// File, line and column.
        place: Place,
        /// The label, and the two classes that came before it.
        reason: String,
    },
    /// Two names of classes stand for the same one.
    #[error("classes {first} and {second} are '{same}' and '{name}', but classes must be distinct")]
    DuplicateClass {
        /// The first of the names.
        same: String,
        /// The second of the names.
        name: String,
        /// Zero-based class where it comes first.
        first: usize,
        /// Zero-based class where it comes again.
        second: usize,
    },
    /// A class that has no name.
    #[error("row {row}: the class is {class}, but there are {count}, counted from 0")]
    ClassIndex {
        /// Zero-based row.
        row: usize,
        /// The class.
        class: usize,
        /// Number of classes.
        count: usize,
    },
    /// A class was asked for that the labels do not have.
    #[error("there is no class '{class}': the labels are '{}' and '{}'", classes[0], classes[1])]
    UnknownClass {
        /// The class that was asked for.
        class: String,
        /// The two classes that there are.
        classes: [String; 2],
    },
    /// A sign, weight, score or probability is outside its range.
    #[error("row {row}: the {what} is {value}, but must be {requirement}")]
    Entry {
        /// The kind of entry, such as "weight".
        what: &'static str,
        /// Zero-based row.
        row: usize,
        /// The value.
        value: f64,
        /// The range in words, such as "1 or -1".
        requirement: &'static str,
    },
    /// All samples have weight zero.
    #[error("all weights are 0, but at least one must be positive")]
    NoWeight,
    /// A cell of a raw table that cannot be taken.
    #[error("row {row}, column '{column}': {reason}")]
    Cell {
        /// The row, from 0.
        row: usize,
        /// The name of the column.
        column: String,
        /// The fault.
        reason: String,
    },
    /// A column of a raw table that cannot be encoded.
    #[error("column '{column}' {reason}")]
    EncodedColumn {
        /// The name of the column.
        column: String,
        /// The fault.
        reason: String,
    },
    /// Two columns have the same name.
    #[error("columns {first} and {second} are both named '{name}', but names must be distinct")]
    DuplicateName {
        /// The name.
        name: String,
        /// Zero-based column where it comes first.
        first: usize,
        /// Zero-based column where it comes again.
        second: usize,
    },
    /// All rows are in one fold.
    #[error("every row is in fold '{fold}', but cross-validation needs at least two folds")]
    OneFold {
        /// The name of the fold.
        fold: String,
    },
    /// A parameter is outside its range.
    #[error("{parameter} is {value}, but must be {requirement}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value that was refused.
        value: String,
        /// The range in words, such as "at least 2".
        requirement: String,
    },
    /// The operation needs dense data.
    #[error("{operation} needs dense data, but this is sparse: it would fill in every zero")]
    NeedsDense {
        /// The operation that was asked for.
        operation: &'static str,
    },
    /// The content of a file is not as its format wants it.
    #[error("{place}: {reason}")]
    Malformed {
        /// File, line and column.
        place: Place,
        /// The fault, naming the value, and what to do about it.
        reason: String,
    },
    /// No column has a name that the options give.
    #[error("no column '{name}' {purpose}; {}", columns_in_words(columns))]
    UnknownColumn {
        /// The name.
        name: String,
        /// The purpose of the column, such as "for the label".
        purpose: &'static str,
        /// The names that there are.
        columns: Vec<String>,
    },
    /// The content of a file is well-formed, but is not a data set.
    #[error("{file}: {error}")]
    InFile {
        /// Name of the file.
        file: String,
        /// The fault of its data.
        error: Box<Error>,
    },
    /// A label stands for a missing value.
    #[error("row {row}: {}", missing_label(value))]
    MissingLabel {
        /// Zero-based row.
        row: usize,
        /// The label.
        value: String,
    },
    /// The format of a file does not follow from its name.
    #[error(
        "{file}: the name does not show the format: end it in {endings} (text may be followed by \
         .gz), or choose the format"
    )]
    UnknownFormat {
        /// Name of the file.
        file: String,
        /// The endings that would, such as ".csv or .txt".
        endings: String,
    },
    /// A file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// The message of the operating system or the decompressor.
        source: io::Error,
    },
    /// A block of a file cannot be taken.
    #[error("{file}, block {block}: {reason}")]
    Block {
        /// Name of the file.
        file: String,
        /// The block, from 0.
        block: usize,
        /// The fault.
        reason: String,
    },
    /// A file cannot be created or written.
    #[error("{file}: cannot be written: {source}")]
    Create {
        /// Name of the file.
        file: String,
        /// The message of the operating system.
        source: io::Error,
    },
    /// Data cannot be written.
    #[error("cannot write the data: {0}")]
    Write(#[source] io::Error),
}

impl Error {
    pub(crate) fn parameter(
        parameter: &'static str,
        value: impl fmt::Display,
        requirement: impl Into<String>,
    ) -> Self {
        let (value, requirement) = (value.to_string(), requirement.into());
        Error::Parameter { parameter, value, requirement }
    }
}

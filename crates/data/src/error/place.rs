//! The place of an error in a file: its line or row, and its column.

use std::fmt;

/// A place in a file: `train.csv, line 7, column 'age'`, or `train.parquet, row 5, column 'age'`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Line, or row.
    pub row: Option<RowNumber>,
    /// Column within the line or row.
    pub column: Option<Column>,
}

/// The number of a row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowNumber {
    /// Line of a text file, counted from 1.
    Line(u64),
    /// Row of a file without lines, counted from 0.
    Row(u64),
}

impl Place {
    pub(crate) fn of_file(file: impl Into<String>) -> Self {
        Place { file: file.into(), row: None, column: None }
    }
}

/// A column of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// Column of a table, by its name in the header.
    Name(String),
    /// Character within the line, counted from 1.
    Character(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.row {
            Some(RowNumber::Line(line)) => write!(f, ", line {line}")?,
            Some(RowNumber::Row(row)) => write!(f, ", row {row}")?,
            None => {}
        }
        match &self.column {
            Some(Column::Name(name)) => write!(f, ", column '{name}'"),
            Some(Column::Character(at)) => write!(f, ", character {at}"),
            None => Ok(()),
        }
    }
}
